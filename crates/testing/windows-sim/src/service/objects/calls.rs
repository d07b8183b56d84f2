use std::sync::Arc;

use dcerpc::{FaultStatus, SyntaxId};
use wire::HResult;

use super::class::{ComInterface, Refusing};
use super::table::ObjectTable;
use crate::host_state::HostState;
use crate::rule::Action;
use crate::service::{Call, Endpoint, Handler, Service, TcpPort};

/// An interface of the objects of a class: calls name the object by an IPID.
pub(super) struct CalledInterface {
    interface: ComInterface,
    annotation: Option<&'static str>,
    objects: Arc<ObjectTable>,
}

impl CalledInterface {
    pub(super) const fn new(
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
