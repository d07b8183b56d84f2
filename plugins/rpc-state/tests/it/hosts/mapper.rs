//! An endpoint mapper that says whatever a test wants.

use std::net::Ipv4Addr;
use std::sync::Arc;

use parking_lot::Mutex;
use rpc::endpoints::epm::ept::{
    Ept, EptLookupHandleFreeReply, EptLookupHandleFreeRequest, EptLookupReply, EptLookupRequest, EptMapReply,
    EptMapRequest, EptServer,
};
use rpc::endpoints::epm::types::Entry;
use rpc::endpoints::epm::wire::{Binding, Tower};
use rpc::ndr::ContextHandle;
use rpc::{CallInfo, ErrorStatus, FaultStatus, Interface as _, ServerResult, SyntaxId};
use windows_sim::HostState;
use windows_sim::service::{Call, Endpoint, Handler, Service, TcpPort};
use wire::Guid;

/// The entries of the map.
#[derive(Clone, Default)]
pub(crate) struct Map(Arc<Mutex<Vec<Entry>>>);

impl Map {
    pub(crate) fn set(&self, entries: Vec<Entry>) {
        *self.0.lock() = entries;
    }

    fn entries(&self) -> Vec<Entry> {
        self.0.lock().clone()
    }
}

/// An interface that is told apart by its number, at a port.
pub(crate) fn at_port(number: u32, port: u16, annotation: &str) -> Entry {
    at(number, Ipv4Addr::LOCALHOST, port, annotation)
}

pub(crate) fn at(number: u32, address: Ipv4Addr, port: u16, annotation: &str) -> Entry {
    entry(number, Binding::Tcp { address, port }, annotation)
}

pub(crate) fn entry(number: u32, binding: Binding, annotation: &str) -> Entry {
    let interface = SyntaxId::new(Guid::from_u128(u128::from(number) << 96), 1, 2);
    Entry { object: None, tower: Tower::ndr(interface, binding), annotation: annotation.to_owned() }
}

/// Instead of the mapper of the simulated host.
pub(crate) struct Mapper(pub(crate) Map);

impl Service for Mapper {
    fn name(&self) -> &'static str {
        "epm"
    }

    fn syntax_id(&self) -> SyntaxId {
        Ept::SYNTAX_ID
    }

    fn endpoints(&self) -> &[Endpoint] {
        &[Endpoint::Tcp(TcpPort::Resolver)]
    }

    fn handler(&self, _: &Arc<HostState>) -> Box<dyn Handler> {
        Box::new(Calls { map: self.0.clone(), rest: Vec::new() })
    }
}

/// The calls of a client that has one lookup at a time.
struct Calls {
    map: Map,
    rest: Vec<Entry>,
}

const NEXT: ContextHandle = ContextHandle { attributes: 0, uuid: Guid::from_u128(7) };

impl Handler for Calls {
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        let info = CallInfo { auth_level: call.auth_level, object: call.object };
        assert!(call.caller.is_some(), "calls are sealed");
        self.dispatch(&info, call.opnum, call.stub)
    }
}

impl EptServer for Calls {
    fn is_open(&self, handle: ContextHandle) -> bool {
        handle == NEXT
    }

    fn ept_lookup(&mut self, request: &EptLookupRequest) -> ServerResult<EptLookupReply, ErrorStatus> {
        if request.entry_handle.is_null() {
            self.rest = self.map.entries();
        }
        let page = usize::try_from(request.entries_max).unwrap_or(usize::MAX).min(self.rest.len());
        let page: Vec<Entry> = self.rest.drain(..page).collect();
        let next = if self.rest.is_empty() { ContextHandle::NULL } else { NEXT };
        request.page(&page, next).map_err(|_| ErrorStatus::EPT_S_CANT_PERFORM_OP.into())
    }

    fn ept_map(&mut self, _: &EptMapRequest) -> ServerResult<EptMapReply, ErrorStatus> {
        Err(ErrorStatus::EPT_S_CANT_PERFORM_OP.into())
    }

    fn ept_lookup_handle_free(
        &mut self,
        _: &EptLookupHandleFreeRequest,
    ) -> ServerResult<EptLookupHandleFreeReply, ErrorStatus> {
        self.rest.clear();
        Ok(EptLookupHandleFreeReply { entry_handle: ContextHandle::NULL, status: ErrorStatus::RPC_S_OK })
    }
}
