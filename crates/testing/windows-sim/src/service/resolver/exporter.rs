use std::sync::Arc;

use com::dcom::resolver::{
    ComplexPingReply, ComplexPingRequest, IObjectExporter, IObjectExporterServer, ResolveOxid2Reply,
    ResolveOxid2Request, ResolveOxidReply, ResolveOxidRequest, ServerAlive2Reply, ServerAlive2Request,
    ServerAliveReply, ServerAliveRequest, SimplePingReply, SimplePingRequest,
};
use dcerpc::{FaultStatus, SyntaxId};
use parking_lot::Mutex;
use rpc::ndr::Reserved;
use rpc::orpc::ComVersion;
use rpc::{FromStub, Interface, Message, Request, ServerResult};
use wire::{FileTime, Win32Error};

use super::PingSets;
use crate::host_state::HostState;
use crate::rule::Action;
use crate::service::objects::ObjectTable;
use crate::service::refused::refused;
use crate::service::{Call, Endpoint, Handler, Service, TcpPort, exporter_bindings, resolver_bindings};

/// `RPC_C_AUTHN_LEVEL_PKT_PRIVACY`: the least level at which the host's objects take calls.
pub(super) const AUTHN_HINT: u32 = 6;

/// `IObjectExporter` of a host.
pub(super) struct Resolver {
    objects: Arc<ObjectTable>,
    sets: Arc<Mutex<PingSets>>,
}

impl Resolver {
    pub(super) fn new(objects: Arc<ObjectTable>) -> Self {
        Self { objects, sets: Arc::default() }
    }
}

impl Service for Resolver {
    fn name(&self) -> &'static str {
        "resolver"
    }

    fn syntax_id(&self) -> SyntaxId {
        IObjectExporter::SYNTAX_ID
    }

    fn endpoints(&self) -> &[Endpoint] {
        &[Endpoint::Tcp(TcpPort::Resolver)]
    }

    fn handler(&self, host: &Arc<HostState>) -> Box<dyn Handler> {
        let (objects, sets) = (Arc::clone(&self.objects), Arc::clone(&self.sets));
        Box::new(Calls { host: Arc::clone(host), objects, sets })
    }
}

struct Calls {
    host: Arc<HostState>,
    objects: Arc<ObjectTable>,
    sets: Arc<Mutex<PingSets>>,
}

impl Calls {
    fn now(&self) -> FileTime {
        self.host.source().moment().time
    }

    fn resolve(&self, request: &ResolveOxid2Request) -> Result<ResolveOxid2Reply, Win32Error> {
        if request.oxid != self.objects.oxid() {
            return Err(Win32Error::OR_INVALID_OXID);
        }
        let bindings = exporter_bindings(&self.host).ok_or(Win32Error::OR_INVALID_OXID)?;
        Ok(ResolveOxid2Reply {
            bindings: Some(Box::new(bindings)),
            ipid_rem_unknown: self.objects.ipid_rem_unknown(),
            authn_hint: AUTHN_HINT,
            version: ComVersion::V5_7,
            status: SUCCESS,
        })
    }
}

impl Handler for Calls {
    /// Two methods are called before a client knows how to prove who it is; the others need privacy. Windows is content
    /// with integrity.
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        if ![ServerAliveRequest::METHOD.opnum, ServerAlive2Request::METHOD.opnum].contains(&call.opnum) {
            call.require_privacy()?;
        }
        self.dispatch(&call.info(), call.opnum, call.stub)
    }

    fn apply(&mut self, action: &Action, call: &Call<'_>, response: &mut Vec<u8>) {
        if let Action::Status(status) = action {
            *response = refused(call, *status).unwrap_or_default();
        }
    }
}

fn refused(call: &Call<'_>, status: Win32Error) -> Option<Vec<u8>> {
    refused!(call.opnum, call.stub, status, [
        ResolveOxidRequest SimplePingRequest ComplexPingRequest ServerAliveRequest ResolveOxid2Request
        ServerAlive2Request
    ])
}

const SUCCESS: Win32Error = Win32Error::ERROR_SUCCESS;

impl IObjectExporterServer for Calls {
    fn resolve_oxid(&mut self, request: &ResolveOxidRequest) -> ServerResult<ResolveOxidReply, Win32Error> {
        let ResolveOxidRequest { oxid, protocol_count, protocols } = request.clone();
        let request = ResolveOxid2Request { oxid, protocol_count, protocols };
        let ResolveOxid2Reply { bindings, ipid_rem_unknown, authn_hint, status, .. } =
            self.resolve(&request)?;
        Ok(ResolveOxidReply { bindings, ipid_rem_unknown, authn_hint, status })
    }

    fn simple_ping(&mut self, request: &SimplePingRequest) -> ServerResult<SimplePingReply, Win32Error> {
        self.sets.lock().simple_ping(request.set_id, &self.objects, self.now())?;
        Ok(SimplePingReply { status: SUCCESS })
    }

    fn complex_ping(&mut self, request: &ComplexPingRequest) -> ServerResult<ComplexPingReply, Win32Error> {
        let set_id = self.sets.lock().complex_ping(request, &self.objects, self.now())?;
        Ok(ComplexPingReply { set_id, backoff: 0, status: SUCCESS })
    }

    fn server_alive(&mut self, _: &ServerAliveRequest) -> ServerResult<ServerAliveReply, Win32Error> {
        Ok(ServerAliveReply { status: SUCCESS })
    }

    fn resolve_oxid2(
        &mut self,
        request: &ResolveOxid2Request,
    ) -> ServerResult<ResolveOxid2Reply, Win32Error> {
        Ok(self.resolve(request)?)
    }

    fn server_alive2(&mut self, _: &ServerAlive2Request) -> ServerResult<ServerAlive2Reply, Win32Error> {
        let bindings = Some(Box::new(resolver_bindings(&self.host)));
        let (version, reserved) = (ComVersion::V5_7, Reserved::NEW);
        Ok(ServerAlive2Reply { version, bindings, reserved, status: SUCCESS })
    }
}
