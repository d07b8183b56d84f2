//! A program with objects of DCOM [MS-DCOM]: its classes, the objects that clients have activated, and their interfaces.
//!
//! A new class is an implementation of [`ComClass`] and of [`ComObject`], and an element of the list in
//! [`standard`](super::standard). Clients activate it through the [resolver](super::resolver).

mod class;
mod remote_unknown;
mod table;

use std::sync::Arc;

use dcerpc::{FaultStatus, SyntaxId};
use wire::HResult;

use super::Service;
use crate::host_state::HostState;
use crate::rule::Action;
use crate::service::{Call, Endpoint, Handler, TcpPort};

pub use self::class::{ComClass, ComInterface, ComObject, Program, Refusing, RefusingDispatch, SharedObject};
pub(crate) use self::table::is_overdue;
pub use self::table::{OBJECTS_MAX, ObjectTable, PING_TIMEOUT};

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
