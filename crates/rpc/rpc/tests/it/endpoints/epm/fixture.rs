//! A mapper in memory, and channels that lead to it, or to a server that lies.

use core::convert::Infallible;
use core::future::{Future, ready};
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, VecDeque};

use rpc::endpoints::epm::ept::{
    EptLookupHandleFreeReply, EptLookupHandleFreeRequest, EptLookupReply, EptLookupRequest, EptMapReply,
    EptMapRequest, EptServer,
};
use rpc::endpoints::epm::types::Entry;
use rpc::endpoints::epm::wire::{Binding, Floor, ProtocolId, Tower};
use rpc::ndr::ContextHandle;
use rpc::{CallInfo, Channel, ErrorStatus, FaultStatus, ServerResult, SyntaxId};
use wire::Guid;

pub(crate) const OBJECT: Guid = Guid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);

pub(crate) fn winreg() -> SyntaxId {
    SyntaxId::new("338cd001-2244-31f1-aaaa-900038001003".parse().unwrap(), 1, 0)
}

pub(crate) fn interface(number: u16) -> SyntaxId {
    SyntaxId::new(Guid::from_u128(u128::from(number) + 1), 1, 2)
}

pub(crate) fn tcp(port: u16) -> Binding {
    Binding::Tcp { address: Ipv4Addr::new(10, 0, 0, 1), port }
}

pub(crate) fn entry(interface: SyntaxId, binding: Binding) -> Entry {
    Entry { object: None, tower: Tower::ndr(interface, binding), annotation: "A program".to_owned() }
}

/// Each of the forms that a binding has.
pub(crate) fn bindings() -> Vec<Binding> {
    let address = Ipv4Addr::new(192, 0, 2, 7);
    vec![
        Binding::Tcp { address, port: 49664 },
        Binding::Http { address, port: 593 },
        Binding::NamedPipe { host: r"\\WEB1".to_owned(), pipe: r"\PIPE\winreg".to_owned() },
        Binding::Local { endpoint: "LRPC-0123456789abcdef01".to_owned() },
        Binding::Other(vec![
            Floor::new(ProtocolId::NCADG, [0, 0]),
            Floor::new(ProtocolId::UDP, [0xc2, 0]),
            Floor { protocol: ProtocolId(0x7f), lhs: vec![1, 2], rhs: Vec::new() },
        ]),
        Binding::Other(Vec::new()),
    ]
}

/// A mapper that knows these entries.
#[derive(Default)]
pub(crate) struct FakeMapper {
    pub(crate) entries: Vec<Entry>,
    /// How many entries of each lookup were answered so far.
    pub(crate) open: BTreeMap<Guid, usize>,
    pub(crate) lookups: u32,
}

impl EptServer for FakeMapper {
    fn is_open(&self, handle: ContextHandle) -> bool {
        self.open.contains_key(&handle.uuid)
    }

    fn ept_lookup(&mut self, request: &EptLookupRequest) -> ServerResult<EptLookupReply, ErrorStatus> {
        self.lookups += 1;
        let handle = request.entry_handle;
        let from = match self.open.remove(&handle.uuid) {
            Some(from) => from,
            None if handle.is_null() => 0,
            None => return Err(FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH.into()),
        };
        let mut selected = Vec::new();
        for entry in &self.entries {
            if request.selects(entry)? {
                selected.push(entry);
            }
        }
        let to = from + usize::try_from(request.entries_max).unwrap();
        let next = if to < selected.len() {
            let uuid = Guid::from_u128(u128::from(self.lookups) + 100);
            self.open.insert(uuid, to);
            ContextHandle { attributes: 0, uuid }
        } else {
            ContextHandle::NULL
        };
        Ok(request.page(selected.into_iter().skip(from), next).unwrap())
    }

    fn ept_map(&mut self, request: &EptMapRequest) -> ServerResult<EptMapReply, ErrorStatus> {
        let wanted = request.wanted()?;
        let served = self.entries.iter().filter(|entry| request.is_served_by(entry, &wanted));
        Ok(request.answer(served.map(|entry| &entry.tower)).unwrap())
    }

    fn ept_lookup_handle_free(
        &mut self,
        request: &EptLookupHandleFreeRequest,
    ) -> ServerResult<EptLookupHandleFreeReply, ErrorStatus> {
        self.open.remove(&request.entry_handle.uuid);
        Ok(EptLookupHandleFreeReply { entry_handle: ContextHandle::NULL, status: ErrorStatus::RPC_S_OK })
    }
}

/// Leads to a mapper.
pub(crate) struct Loop<'a>(pub(crate) &'a mut FakeMapper);

impl Channel for Loop<'_> {
    type Error = FaultStatus;

    fn call(
        &mut self,
        opnum: u16,
        _object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
        ready(self.0.dispatch(&CallInfo::default(), opnum, stub))
    }
}

/// Answers what it is told, the last answer again and again; and keeps the calls.
pub(crate) struct Script<'a> {
    pub(crate) answers: VecDeque<Vec<u8>>,
    pub(crate) calls: &'a mut Vec<(u16, Vec<u8>)>,
}

impl Channel for Script<'_> {
    type Error = Infallible;

    fn call(
        &mut self,
        opnum: u16,
        _object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Infallible>> + Send {
        self.calls.push((opnum, stub.to_vec()));
        let answer = self.answers.front().cloned().unwrap_or_default();
        if self.answers.len() > 1 {
            self.answers.pop_front();
        }
        ready(Ok(answer))
    }
}
