use std::any::Any;
use std::sync::Arc;

use com::dcom::types::StdObjref;
use dcerpc::{FaultStatus, SyntaxId};
use parking_lot::Mutex;
use rpc::orpc::{IUnknownServer, OrpcThis};
use rpc::{CallInfo, Method, ServerResult};
use wire::{FileTime, Guid, HResult};

use crate::host_state::HostState;
use crate::service::Call;

/// A class of a host, of which clients activate objects.
pub trait ComClass: Send + Sync {
    fn clsid(&self) -> Guid;

    /// The interfaces of its objects. Other classes of the host may have them under the same names.
    fn interfaces(&self) -> &[ComInterface];

    /// What the host's endpoint mapper says of these interfaces. By default it does not list them.
    fn annotation(&self) -> Option<&'static str> {
        None
    }

    /// A new object.
    ///
    /// # Errors
    /// The status of the activation.
    fn create(&self, host: &Arc<HostState>) -> Result<Box<dyn ComObject>, HResult>;
}

/// An object of a [`ComClass`]. It is dropped when the last reference is given back, or when nobody pings it.
pub trait ComObject: Any + Send {
    /// Executes a call of the interface `iid`, one that its class has, and returns the stub of the response.
    ///
    /// # Errors
    /// The status of the fault to answer.
    fn call(&mut self, iid: Guid, call: &Call<'_>, program: &dyn Program) -> Result<Vec<u8>, FaultStatus>;
}

/// An object for one call at a time.
pub type SharedObject = Arc<Mutex<Box<dyn ComObject>>>;

/// The program that has an object, for the object.
pub trait Program {
    /// Adds an object that a call has made, of a class of the program, and returns its interface `iid`.
    ///
    /// # Errors
    /// When the class does not have it, or there are too many objects.
    fn adopt(
        &self,
        clsid: Guid,
        object: Box<dyn ComObject>,
        iid: Guid,
        now: FileTime,
    ) -> Result<StdObjref, HResult>;

    /// Takes the references back that came with a parameter of a call.
    fn release(&self, reference: &StdObjref, now: FileTime);

    /// The object that has the interface `ipid`.
    fn object(&self, ipid: Guid, now: FileTime) -> Option<SharedObject>;
}

/// An interface of the objects of a class.
#[derive(Clone, Copy)]
pub struct ComInterface {
    /// The name in rules, counts and recordings, as that of a [`Service`](crate::service::Service).
    pub name: &'static str,
    /// What clients bind; its UUID is the IID.
    pub syntax_id: SyntaxId,
    /// The interface's `dispatch` for [`Refusing`].
    pub refuse: RefusingDispatch,
}

/// The `dispatch` of an interface whose methods all fail.
pub type RefusingDispatch =
    fn(server: &mut Refusing, call: &CallInfo, opnum: u16, stub: &[u8]) -> Result<Vec<u8>, FaultStatus>;

/// An object each of whose methods returns this status alone.
#[derive(Clone, Copy, Debug)]
pub struct Refusing(pub HResult);

impl IUnknownServer for Refusing {
    fn authorize(&mut self, _: &CallInfo, _: &OrpcThis<'_>, _: &Method) -> ServerResult<(), HResult> {
        Err(self.0.into())
    }
}
