//! What a call knows, and how objects are returned and taken.

use std::any::Any;
use std::sync::Arc;

use com::dcom::wire::Objref;
use com::oaut::{GetTypeInfoCountReply, GetTypeInfoCountRequest, IDispatchServer};
use ms_pla::Object;
use rpc::ServerResult;
use rpc::ndr::EnumForm;
use rpc::orpc::IUnknownServer;
use wire::{FileTime, Guid, HResult};

use crate::choices::{PlaChanges, PlaChoices};
use crate::host_state::HostState;
use crate::service::Call;
use crate::service::objects::{ComObject, Program};
use crate::service::resolver_bindings;

/// What a call knows beside its object.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) host: &'a Arc<HostState>,
    program: &'a dyn Program,
    pub(super) now: FileTime,
    pub(super) choices: PlaChoices,
}

/// An object during one call.
pub(super) struct Calls<'a, T> {
    pub(super) object: &'a mut T,
    pub(super) context: Context<'a>,
}

/// An object that methods return.
pub(super) trait Returned: ComObject + Sized {
    /// Its class, which has its interfaces.
    fn class(&self) -> Guid;
}

impl<'a> Context<'a> {
    pub(super) fn of(call: &Call<'a>, program: &'a dyn Program) -> Self {
        let choices = call.host.behaviour().choices.performance_logs;
        Self { host: call.host, program, now: call.host.source().moment().time, choices }
    }

    /// A reference to an interface of a new object.
    pub(super) fn returned<T: Returned>(self, object: T, iid: Guid) -> Result<Object<'static>, HResult> {
        let std = self.program.adopt(object.class(), Box::new(object), iid, self.now)?;
        let objref = Objref::standard(iid, std, resolver_bindings(self.host));
        objref.to_pointer().map(|pointer| Some(Box::new(pointer))).map_err(|_| HResult::E_OUTOFMEMORY)
    }

    /// What `take` finds in the object that a parameter refers to, which is one of this program and not the one that is
    /// called.
    pub(super) fn taken<R>(
        self,
        object: &Object<'_>,
        take: impl FnOnce(&dyn Any) -> Option<R>,
    ) -> Result<R, HResult> {
        let pointer = object.as_ref().ok_or(HResult::E_POINTER)?;
        let objref = Objref::from_pointer(pointer).map_err(|_| HResult::RPC_E_INVALID_OBJREF)?;
        let std = objref.std().ok_or(HResult::E_INVALIDARG)?;
        let found = self.program.object(std.ipid, self.now).ok_or(HResult::E_INVALIDARG)?;
        let locked = found.try_lock().ok_or(HResult::E_INVALIDARG)?;
        let taken = take(&**locked);
        drop(locked);
        self.program.release(std, self.now);
        taken.ok_or(HResult::E_INVALIDARG)
    }

    /// Refuses what would change what is stored, unless the host allows it.
    pub(super) fn require_changes(self) -> Result<(), HResult> {
        match self.choices.pla_changes {
            PlaChanges::Refused => Err(HResult::E_ACCESSDENIED),
            PlaChanges::Allowed => Ok(()),
        }
    }
}

impl<T> IUnknownServer for Calls<'_, T> {
    fn enums(&self) -> EnumForm {
        self.context.choices.pla_enums.form()
    }
}

impl<T> IDispatchServer for Calls<'_, T> {
    /// There are no type libraries: clients know the methods.
    fn get_type_info_count(
        &mut self,
        _: &GetTypeInfoCountRequest,
    ) -> ServerResult<GetTypeInfoCountReply, HResult> {
        Ok(GetTypeInfoCountReply { count: 0, status: HResult::S_OK })
    }
}
