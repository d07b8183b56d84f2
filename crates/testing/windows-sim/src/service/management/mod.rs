//! Remote management (C706 appendix Q), which each endpoint of a host offers beside its own interfaces.

use std::sync::Arc;

use dcerpc::{FaultStatus, SyntaxId};
use rpc::endpoints::mgmt::management::{
    InqIfIdsReply, InqIfIdsRequest, InqPrincNameReply, InqPrincNameRequest, InqStatsReply, InqStatsRequest,
    IsServerListeningReply, IsServerListeningRequest, Mgmt, MgmtServer, StopServerListeningReply,
    StopServerListeningRequest,
};
use rpc::endpoints::mgmt::types::AuthenticationService;
use rpc::{ErrorStatus, FromStub, Interface, Message, Request, ServerResult};

use super::RpcCounts;
use super::refused::refused;
use super::{Call, Endpoint, Handler, Service};
use crate::host_state::HostState;
use crate::rule::Action;

/// The name of management in rules, counts and recordings, at whichever endpoint.
pub const NAME: &str = "mgmt";

/// The management of one endpoint.
pub(super) struct Management {
    endpoint: [Endpoint; 1],
    /// Those of the endpoint, this one among them.
    interfaces: Arc<[SyntaxId]>,
    counts: Arc<RpcCounts>,
}

impl Management {
    /// Of an endpoint with these interfaces.
    pub(super) fn new(
        endpoint: Endpoint,
        interfaces: impl Iterator<Item = SyntaxId>,
        counts: Arc<RpcCounts>,
    ) -> Self {
        let interfaces = interfaces.chain([rpc::endpoints::mgmt::SYNTAX_ID]).collect();
        Self { endpoint: [endpoint], interfaces, counts }
    }
}

impl Service for Management {
    fn name(&self) -> &'static str {
        NAME
    }

    fn syntax_id(&self) -> SyntaxId {
        Mgmt::SYNTAX_ID
    }

    fn endpoints(&self) -> &[Endpoint] {
        &self.endpoint
    }

    fn handler(&self, host: &Arc<HostState>) -> Box<dyn Handler> {
        let (interfaces, counts) = (Arc::clone(&self.interfaces), Arc::clone(&self.counts));
        Box::new(Calls { host: Arc::clone(host), interfaces, counts })
    }
}

struct Calls {
    host: Arc<HostState>,
    interfaces: Arc<[SyntaxId]>,
    counts: Arc<RpcCounts>,
}

/// Anybody may ask, as on Windows where a program does not say otherwise.
impl Handler for Calls {
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        self.dispatch(&call.info(), call.opnum, call.stub)
    }

    fn apply(&mut self, action: &Action, call: &Call<'_>, response: &mut Vec<u8>) {
        if let Action::Status(status) = action {
            *response = refused(call, ErrorStatus(status.0)).unwrap_or_default();
        }
    }
}

fn refused(call: &Call<'_>, status: ErrorStatus) -> Option<Vec<u8>> {
    refused!(call.opnum, call.stub, status, [
        InqIfIdsRequest InqStatsRequest IsServerListeningRequest StopServerListeningRequest InqPrincNameRequest
    ])
}

impl MgmtServer for Calls {
    fn inq_if_ids(&mut self, _: &InqIfIdsRequest) -> ServerResult<InqIfIdsReply, ErrorStatus> {
        Ok(InqIfIdsReply::new(self.interfaces.iter().copied()))
    }

    fn inq_stats(&mut self, request: &InqStatsRequest) -> ServerResult<InqStatsReply, ErrorStatus> {
        Ok(request.answer(self.counts.statistics()))
    }

    fn is_server_listening(
        &mut self,
        _: &IsServerListeningRequest,
    ) -> ServerResult<IsServerListeningReply, ErrorStatus> {
        Ok(IsServerListeningReply { is_listening: 1, status: ErrorStatus::RPC_S_OK })
    }

    /// Nobody may, as on Windows where a program does not say otherwise.
    fn stop_server_listening(
        &mut self,
        _: &StopServerListeningRequest,
    ) -> ServerResult<StopServerListeningReply, ErrorStatus> {
        Err(ErrorStatus::ACCESS_DENIED.into())
    }

    fn inq_princ_name(
        &mut self,
        request: &InqPrincNameRequest,
    ) -> ServerResult<InqPrincNameReply, ErrorStatus> {
        match request.authn_proto {
            AuthenticationService::WINNT | AuthenticationService::GSS_NEGOTIATE => {
                Ok(request.answer(format!("host/{}", self.host.name()))?)
            }
            _ => Err(ErrorStatus::RPC_S_UNKNOWN_AUTHN_SERVICE.into()),
        }
    }
}
