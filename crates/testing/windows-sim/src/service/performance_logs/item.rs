//! Objects of parts, and which classes have them.

use std::any::Any;

use com::oaut::IDispatch;
use dcerpc::FaultStatus;
use ms_pla::Object;
use rpc::CallInfo;
use rpc::orpc::ObjectInterface;
use wire::{Guid, HResult};

use super::shared::{List, Shared, parts};
use super::{Calls, Context, Returned};
use crate::service::Call;
use crate::service::objects::{ComObject, Program};

/// An interface of objects, and how its calls are executed: those of an opnum, with a stub.
pub(super) struct Methods<T> {
    pub(super) iid: Guid,
    pub(super) dispatch: Dispatch<T>,
}

type Dispatch<T> = fn(&mut Calls<'_, T>, &CallInfo, u16, &[u8]) -> Result<Vec<u8>, FaultStatus>;

/// The methods of interfaces, one after the other.
macro_rules! methods {
    ($($interface:ident),+ $(,)?) => {
        &[$(crate::service::performance_logs::item::Methods {
            iid: <$interface as rpc::orpc::ObjectInterface>::IID,
            dispatch: |calls, info, opnum, stub| $interface::dispatch(calls, info, opnum, stub),
        }),+]
    };
}

pub(super) use methods;

/// Executes a call of one of the interfaces, or of `IDispatch`, which all objects have.
fn dispatch<T>(
    interfaces: &[Methods<T>],
    iid: Guid,
    calls: &mut Calls<'_, T>,
    call: &Call<'_>,
) -> Result<Vec<u8>, FaultStatus> {
    match interfaces.iter().find(|methods| methods.iid == iid) {
        Some(methods) => (methods.dispatch)(calls, &call.info(), call.opnum, call.stub),
        None => IDispatch::dispatch(calls, &call.info(), call.opnum, call.stub),
    }
}

/// A part that objects are of.
pub(super) trait Part: Send + Sized + 'static {
    /// What its objects know of what it belongs to.
    type Owner: Clone + Send + Sync + 'static;
    /// Its interfaces; methods return the first one.
    const INTERFACES: &'static [Methods<Item<Self>>];
    /// The interface that methods return.
    const IID: Guid = Self::INTERFACES[0].iid;

    /// The class of its objects.
    fn class(part: &Shared<Self>) -> Guid;
}

/// A part whose properties are in a record.
pub(super) trait Recorded: Part {
    type Record;

    fn record_mut(&mut self) -> &mut Self::Record;
}

impl<T: Recorded> Calls<'_, Item<T>> {
    /// Reads or changes the record; a result, as other accesses to properties have.
    pub(super) fn record<R>(&self, read: impl FnOnce(&mut T::Record) -> R) -> Result<R, HResult> {
        Ok(read(self.object.part.lock().record_mut()))
    }
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
        dispatch(T::INTERFACES, iid, &mut Calls { object: self, context }, call)
    }
}

/// A part that there are collections of.
pub(super) trait Listed: Part {
    /// The interface of a collection.
    const COLLECTION: &'static [Methods<Collection<Self>>];
    /// The class of a collection.
    const COLLECTION_CLASS: Guid;

    /// What no two parts of a collection have alike, and what the second one is refused with.
    fn identity(&self) -> Option<(String, HResult)> {
        None
    }
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
        context.returned(self, T::COLLECTION.first().map_or(IDispatch::IID, |methods| methods.iid))
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
        dispatch(T::COLLECTION, iid, &mut Calls { object: self, context }, call)
    }
}
