//! The endpoint mapper of a host (C706 appendix O, [MS-RPCE] 2.2.1.2): where its interfaces are.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use dcerpc::{FaultStatus, SyntaxId};
use rpc::endpoints::epm::ept::{
    Ept, EptLookupHandleFreeReply, EptLookupHandleFreeRequest, EptLookupReply, EptLookupRequest, EptMapReply,
    EptMapRequest, EptServer,
};
use rpc::endpoints::epm::types::Entry;
use rpc::endpoints::epm::wire::{Binding, Tower};
use rpc::ndr::ContextHandle;
use rpc::{ErrorStatus, FromStub, Interface, Message, Request, ServerResult};
use wire::Guid;

use super::refused::refused;
use super::{Call, Endpoint, Handler, Service, TcpPort};
use crate::host_state::HostState;
use crate::rule::Action;
use crate::{Place, Registered};

/// The name of the mapper in rules, counts and recordings.
pub const NAME: &str = "epm";

/// Lookups of one association group that are not at their end.
pub const LOOKUPS_MAX: usize = 16;

/// The mapper. It lists what services [say of themselves](Service::annotation).
pub struct EndpointMapper;

impl Service for EndpointMapper {
    fn name(&self) -> &'static str {
        NAME
    }

    fn syntax_id(&self) -> SyntaxId {
        Ept::SYNTAX_ID
    }

    fn endpoints(&self) -> &[Endpoint] {
        &[Endpoint::Tcp(TcpPort::Resolver)]
    }

    fn handler(&self, host: &Arc<HostState>) -> Box<dyn Handler> {
        Box::new(Calls { host: Arc::clone(host), lookups: BTreeMap::new() })
    }
}

struct Calls {
    host: Arc<HostState>,
    /// The entries that are still to be answered, by the handle of the lookup.
    lookups: BTreeMap<Guid, Vec<Entry>>,
}

impl Calls {
    /// The entries of a new lookup, or the rest of one that was begun.
    fn entries(&mut self, request: &EptLookupRequest) -> ServerResult<Vec<Entry>, ErrorStatus> {
        if !request.entry_handle.is_null() {
            let rest = self.lookups.remove(&request.entry_handle.uuid);
            return rest.ok_or(FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH.into());
        }
        let mut entries = entries(&self.host);
        let mut refusal = None;
        entries.retain(|entry| {
            request.selects(entry).unwrap_or_else(|status| {
                refusal = Some(status);
                false
            })
        });
        refusal.map_or(Ok(entries), |status| Err(status.into()))
    }
}

impl Handler for Calls {
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        self.dispatch(&call.info(), call.opnum, call.stub)
    }

    fn lose_handles(&mut self) {
        self.lookups.clear();
    }

    fn apply(&mut self, action: &Action, call: &Call<'_>, response: &mut Vec<u8>) {
        if let Action::Status(status) = action {
            *response = refused(call, ErrorStatus(status.0)).unwrap_or_default();
        }
    }
}

fn refused(call: &Call<'_>, status: ErrorStatus) -> Option<Vec<u8>> {
    refused!(call.opnum, call.stub, status, [EptLookupRequest EptMapRequest EptLookupHandleFreeRequest])
}

impl EptServer for Calls {
    fn is_open(&self, handle: ContextHandle) -> bool {
        self.lookups.contains_key(&handle.uuid)
    }

    fn ept_lookup(&mut self, request: &EptLookupRequest) -> ServerResult<EptLookupReply, ErrorStatus> {
        let mut entries = self.entries(request)?;
        let room = usize::try_from(request.entries_max).unwrap_or(usize::MAX);
        let rest = entries.split_off(room.min(entries.len()));
        let mut next = ContextHandle::NULL;
        if !rest.is_empty() {
            if self.lookups.len() == LOOKUPS_MAX {
                return Err(ErrorStatus::EPT_S_NO_MEMORY.into());
            }
            next.uuid = crate::random_guid();
            self.lookups.insert(next.uuid, rest);
        }
        request.page(&entries, next).map_err(|_| ErrorStatus::EPT_S_CANT_PERFORM_OP.into())
    }

    fn ept_map(&mut self, request: &EptMapRequest) -> ServerResult<EptMapReply, ErrorStatus> {
        let wanted = request.wanted()?;
        let entries = entries(&self.host);
        let served = entries.iter().filter(|entry| request.is_served_by(entry, &wanted));
        let answer = request.answer(served.map(|entry| &entry.tower));
        answer.map_err(|_| ErrorStatus::EPT_S_CANT_PERFORM_OP.into())
    }

    fn ept_lookup_handle_free(
        &mut self,
        request: &EptLookupHandleFreeRequest,
    ) -> ServerResult<EptLookupHandleFreeReply, ErrorStatus> {
        self.lookups.remove(&request.entry_handle.uuid);
        Ok(EptLookupHandleFreeReply { entry_handle: ContextHandle::NULL, status: ErrorStatus::RPC_S_OK })
    }
}

/// What the host's programs have registered, in the order of its services.
fn entries(host: &HostState) -> Vec<Entry> {
    let of_interface = |&Registered { interface, place, annotation }: &Registered| {
        bindings(host, place).into_iter().map(move |binding| Entry {
            object: None,
            tower: Tower::ndr(interface, binding),
            annotation: annotation.to_owned(),
        })
    };
    host.registered().iter().flat_map(of_interface).collect()
}

/// Where it is now. A program with a port has an endpoint within the host, too. There are no towers of IPv6.
fn bindings(host: &HostState, place: Place) -> Vec<Binding> {
    match place {
        Place::NamedPipe(pipe) => {
            vec![Binding::NamedPipe { host: format!(r"\\{}", host.name()), pipe: format!(r"\PIPE\{pipe}") }]
        }
        Place::Objects => match host.exporter_address().map(|at| (at, at.ip())) {
            Some((at, IpAddr::V4(address))) => vec![Binding::Tcp { address, port: at.port() }, local(at)],
            Some((at, IpAddr::V6(_))) => vec![local(at)],
            None => Vec::new(),
        },
    }
}

/// The name of a program within the host, in the form of Windows.
fn local(address: SocketAddr) -> Binding {
    Binding::Local { endpoint: format!("LRPC-{:018x}", address.port()) }
}
