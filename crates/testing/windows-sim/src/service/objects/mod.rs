//! A program with objects of DCOM [MS-DCOM]: its classes, the objects that clients have activated, and their interfaces.
//!
//! A new class is an implementation of [`ComClass`] and of [`ComObject`], and an element of the list in
//! [`standard`](super::standard). Clients activate it through the [resolver](super::resolver).

mod remote_unknown;
mod table;

use std::any::Any;
use std::sync::Arc;

use com::dcom::types::StdObjref;
use dcerpc::{FaultStatus, SyntaxId};
use parking_lot::Mutex;
use rpc::orpc::{IUnknownServer, OrpcThis};
use rpc::{CallInfo, Method, ServerResult};
use wire::{FileTime, Guid, HResult};

pub(crate) use self::table::is_overdue;
pub use self::table::{OBJECTS_MAX, ObjectTable, PING_TIMEOUT};

use super::Service;
use crate::host_state::HostState;
use crate::rule::Action;
use crate::service::{Call, Endpoint, Handler, TcpPort};

/// The interfaces that clients of this program bind: one service each.
pub(super) fn services(objects: &Arc<ObjectTable>) -> Vec<Arc<dyn Service>> {
    let mut services: Vec<Arc<dyn Service>> = vec![
        Arc::new(remote_unknown::RemUnknown::first(Arc::clone(objects))),
        Arc::new(remote_unknown::RemUnknown::second(Arc::clone(objects))),
    ];
    for class in objects.classes() {
        for interface in class.interfaces() {
            if services.iter().any(|known| known.syntax_id() == interface.syntax_id) {
                continue;
            }
            let called = CalledInterface::new(*interface, class.annotation(), Arc::clone(objects));
            services.push(Arc::new(called));
        }
    }
    services
}

/// An interface of the objects of a class: calls name the object by an IPID.
struct CalledInterface {
    interface: ComInterface,
    annotation: Option<&'static str>,
    objects: Arc<ObjectTable>,
}

impl CalledInterface {
    const fn new(
        interface: ComInterface,
        annotation: Option<&'static str>,
        objects: Arc<ObjectTable>,
    ) -> Self {
        Self { interface, annotation, objects }
    }
}

impl Service for CalledInterface {
    fn name(&self) -> &'static str {
        self.interface.name
    }

    fn syntax_id(&self) -> SyntaxId {
        self.interface.syntax_id
    }

    fn endpoints(&self) -> &[Endpoint] {
        &[Endpoint::Tcp(TcpPort::Exporter)]
    }

    fn annotation(&self) -> Option<&'static str> {
        self.annotation
    }

    fn handler(&self, _host: &Arc<HostState>) -> Box<dyn Handler> {
        Box::new(Calls { interface: self.interface, objects: Arc::clone(&self.objects) })
    }
}

struct Calls {
    interface: ComInterface,
    objects: Arc<ObjectTable>,
}

impl Handler for Calls {
    //= [MS-DCOM] 3.1.1.5.4
    //# If the IPID entry is not found, the object exporter MUST return RPC_E_DISCONNECTED
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        call.require_privacy()?;
        let iid = self.interface.syntax_id.uuid;
        let now = call.host.source().moment().time;
        let object = self.objects.find(call.object.unwrap_or_default(), iid, now)?;
        let mut object = object.lock();
        object.call(iid, call, &*self.objects)
    }

    fn apply(&mut self, action: &Action, call: &Call<'_>, response: &mut Vec<u8>) {
        if let Action::Status(status) = action {
            let mut refusing = Refusing(HResult(status.0));
            let refused = (self.interface.refuse)(&mut refusing, &call.info(), call.opnum, call.stub);
            *response = refused.unwrap_or_default();
        }
    }
}

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
    /// The name in rules, counts and recordings, as that of a [`Service`].
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
