//! Objects of parts, and which classes have them.

use std::any::Any;

use dcerpc::FaultStatus;
use ms_dtyp::{Guid, HResult};
use ms_pla::Object;
use rpc_stub::CallInfo;

use super::context::{Calls, Context, Returned};
use super::shared::{List, Shared, parts};
use crate::service::Call;
use crate::service::objects::{ComObject, Program};

/// A part that objects are of.
pub(super) trait Part: Send + Sized + 'static {
    /// What its objects know of what it belongs to.
    type Owner: Clone + Send + Sync + 'static;
    /// The interface that methods return.
    const IID: Guid;

    /// The class of its objects.
    fn class(part: &Shared<Self>) -> Guid;

    /// Executes a call of one of its objects.
    fn dispatch(
        calls: &mut Calls<'_, Item<Self>>,
        iid: Guid,
        info: &CallInfo,
        call: &Call<'_>,
    ) -> Result<Vec<u8>, FaultStatus>;
}

/// An object of a part.
pub(super) struct Item<T: Part> {
    pub(super) part: Shared<T>,
    pub(super) owner: T::Owner,
}

impl<T: Part> Clone for Item<T> {
    fn clone(&self) -> Self {
        Self { part: Shared::clone(&self.part), owner: self.owner.clone() }
    }
}

impl<T: Part> Item<T> {
    pub(super) const fn new(part: Shared<T>, owner: T::Owner) -> Self {
        Self { part, owner }
    }

    /// A reference to it.
    pub(super) fn returned(self, context: Context<'_>) -> Result<Object<'static>, HResult> {
        context.returned(self, T::IID)
    }

    /// The part that a parameter refers to.
    pub(super) fn taken(context: Context<'_>, object: &Object<'_>) -> Result<Shared<T>, HResult> {
        context.taken(object, |any| any.downcast_ref::<Self>().map(|item| Shared::clone(&item.part)))
    }
}

impl<T: Part> Returned for Item<T> {
    fn class(&self) -> Guid {
        T::class(&self.part)
    }
}

impl<T: Part> ComObject for Item<T> {
    fn call(&mut self, iid: Guid, call: &Call<'_>, program: &dyn Program) -> Result<Vec<u8>, FaultStatus> {
        let context = Context::of(call, program);
        T::dispatch(&mut Calls { object: self, context }, iid, &call.info(), call)
    }
}

/// A part that there are collections of.
pub(super) trait Listed: Part {
    /// The interface of a collection.
    const COLLECTION_IID: Guid;
    /// The class of a collection.
    const COLLECTION_CLASS: Guid;

    /// Executes a call of a collection.
    fn dispatch_collection(
        calls: &mut Calls<'_, Collection<Self>>,
        iid: Guid,
        info: &CallInfo,
        call: &Call<'_>,
    ) -> Result<Vec<u8>, FaultStatus>;
}

/// An object that is a collection.
pub(super) struct Collection<T: Part> {
    pub(super) list: List<T>,
    pub(super) owner: T::Owner,
}

impl<T: Listed> Collection<T> {
    pub(super) fn new(list: &List<T>, owner: T::Owner) -> Self {
        Self { list: List::clone(list), owner }
    }

    /// A reference to it.
    pub(super) fn returned(self, context: Context<'_>) -> Result<Object<'static>, HResult> {
        context.returned(self, T::COLLECTION_IID)
    }

    /// What is now in the collection that an object is.
    pub(super) fn parts_of(any: &dyn Any) -> Option<Vec<Shared<T>>> {
        any.downcast_ref::<Self>().map(|collection| parts(&collection.list))
    }
}

impl<T: Listed> Returned for Collection<T> {
    fn class(&self) -> Guid {
        T::COLLECTION_CLASS
    }
}

impl<T: Listed> ComObject for Collection<T> {
    fn call(&mut self, iid: Guid, call: &Call<'_>, program: &dyn Program) -> Result<Vec<u8>, FaultStatus> {
        let context = Context::of(call, program);
        T::dispatch_collection(&mut Calls { object: self, context }, iid, &call.info(), call)
    }
}
