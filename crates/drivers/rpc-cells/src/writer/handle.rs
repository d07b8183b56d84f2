use std::sync::Arc;

use super::Shared;
use crate::cell::{CallTarget, ClientCall, FREE, Object, encode};
use crate::layout::CellId;

/// The cell of an object. It is free again when this is dropped.
///
/// Only the handle writes the cell, and it is not cloned: so each cell has one writer.
pub struct CellHandle<O: Object> {
    object: O,
    place: Option<Place>,
}

struct Place {
    shared: Arc<Shared>,
    index: usize,
}

impl<O: Object> CellHandle<O> {
    pub(super) fn shown(object: O, shared: Arc<Shared>, index: usize) -> Self {
        shared.publish(index, &encode(&object));
        Self { object, place: Some(Place { shared, index }) }
    }

    pub(super) fn hidden(object: O) -> Self {
        Self { object, place: None }
    }

    /// How other objects name it; [`CellId::NONE`] if it has no cell.
    #[must_use]
    pub fn id(&self) -> CellId {
        self.place.as_ref().map_or(CellId::NONE, |place| place.shared.id(place.index))
    }

    /// Whether it has a cell.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.place.is_some()
    }

    /// The object as it was last written.
    #[must_use]
    pub fn get(&self) -> &O {
        &self.object
    }

    /// Changes the object and writes it.
    pub fn update(&mut self, change: impl FnOnce(&mut O)) {
        change(&mut self.object);
        if let Some(place) = &self.place {
            place.shared.publish(place.index, &encode(&self.object));
        }
    }
}

impl<O: Object> CellHandle<O> {
    /// Hides the object until it is next updated. The handle keeps the cell, which readers find free.
    pub fn hide(&mut self) {
        if let Some(place) = &self.place {
            place.shared.publish(place.index, &FREE);
        }
    }
}

impl<O: Object> Drop for CellHandle<O> {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            place.shared.release(place.index);
        }
    }
}

impl<O: Object + std::fmt::Debug> std::fmt::Debug for CellHandle<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CellHandle").field("id", &self.id()).field("object", &self.object).finish()
    }
}

/// The two cells of a client call.
#[derive(Debug)]
pub struct ClientCallHandle {
    call: CellHandle<ClientCall>,
    target: CellHandle<CallTarget>,
}

impl ClientCallHandle {
    pub(super) fn new(call: CellHandle<ClientCall>, target: CellHandle<CallTarget>) -> Self {
        Self { call, target }
    }

    /// The cell of the call.
    #[must_use]
    pub fn call(&self) -> &CellHandle<ClientCall> {
        &self.call
    }

    /// The cell of its target.
    #[must_use]
    pub fn target(&self) -> &CellHandle<CallTarget> {
        &self.target
    }

    /// Changes the call and notes the time, which is in the cell of the target.
    pub fn update(&mut self, now_ms: u64, change: impl FnOnce(&mut ClientCall)) {
        let target = self.target.id();
        self.call.update(|call| {
            change(call);
            call.target = target;
        });
        self.target.update(|target| target.last_update_ms = now_ms);
    }

    /// Hides both until the call is next updated.
    pub fn hide(&mut self) {
        self.call.hide();
        self.target.hide();
    }
}
