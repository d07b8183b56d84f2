//! Laws of `epm`.

use core::convert::Infallible;
use core::future::{Future, ready};
use core::net::Ipv4Addr;

use dcerpc::Channel;
use rpc::endpoints::epm::ept::{
    EndpointMapper, Ept, EptLookupHandleFreeReply, EptLookupHandleFreeRequest, EptLookupRequest,
    EptMapRequest, Inquiry, Limits,
};
use rpc::endpoints::epm::types::{Entry, InquiryType, Twr, VersionOption};
use rpc::endpoints::epm::wire::{Binding, FLOORS_MAX, Floor, ProtocolId, Tower};
use rpc::ndr::ContextHandle;
use rpc::{Direction, ErrorStatus, Message, Request, RpcIfId, SyntaxId};
use test_support::future::now;
use wire::{Guid, decode, encode_vec};

use crate::input::{Input, chunk};
use crate::interfaces::is_read;
use crate::law::lossless;

const INTERFACE: SyntaxId = SyntaxId::new(Guid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10), 1, 2);
const HANDLE: ContextHandle = ContextHandle { attributes: 0, uuid: INTERFACE.uuid };

/// A tower: what is read is written and read again as it was, takes no more bytes than it came in but for two NULs and a
/// minor version, and has a text without control characters. What is not, is refused at a place in the bytes.
pub fn tower(bytes: &[u8]) {
    lossless!(bytes, Tower);
    match decode::<Tower>(bytes) {
        Ok(tower) => {
            let again = encode_vec(&tower).expect("what was read can be written");
            assert!(again.len() <= bytes.len() + 4);
            if let Binding::Other(floors) = &tower.binding {
                assert!(floors.len() <= usize::from(FLOORS_MAX));
            }
            assert!(!tower.binding.to_string().contains(char::is_control));
            assert!(tower.serves(&tower));
        }
        Err(error) => assert!(!error.context.is_empty() && error.offset <= bytes.len(), "{error}"),
    }
}

const LIMITS: Limits = Limits { entries_max: 12, pages_max: 6, page_entries: 4, towers_max: 3 };
/// The pages of a lookup, and its end; and a mapping with its end.
const CALLS_MAX: usize = 6 + 1 + 2;

/// Responses to a client that lists a map and asks for a port: it gives up after so many calls as its limits say, lists no
/// more than these, and takes no port but of the interface.
pub fn responses(bytes: &[u8]) {
    let mut calls = 0;
    let mut mapper =
        EndpointMapper::new(Watched { answers: Input::new(bytes), calls: &mut calls }).with_limits(LIMITS);
    if let Ok(map) = now(mapper.lookup(Inquiry::All)) {
        assert!(map.entries.len() <= 12 && map.unreadable <= 12, "{map:?}");
    }
    if let Ok(port) = now(mapper.tcp_port(INTERFACE)) {
        assert_ne!(port, Some(0));
    }
    assert!(calls <= CALLS_MAX, "it gives up");
}

/// Answers with the input's stubs, one to each call.
struct Watched<'a> {
    answers: Input<'a>,
    calls: &'a mut usize,
}

impl Channel for Watched<'_> {
    type Error = Infallible;

    fn call(
        &mut self,
        opnum: u16,
        _object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Infallible>> + Send {
        *self.calls += 1;
        assert!(is_read::<Ept>(Direction::Request, opnum, stub), "our server reads what our client writes");
        ready(Ok(self.answers.chunk().unwrap_or_default().to_vec()))
    }
}

const MADE: &str = "our own encoders take it";

/// A tower of each form.
pub(crate) fn honest_towers() -> Vec<(&'static str, Vec<u8>)> {
    let address = Ipv4Addr::new(10, 0, 0, 1);
    let datagram = vec![Floor::new(ProtocolId::NCADG, [0; 2]), Floor::new(ProtocolId::UDP, [0, 135])];
    let bindings = [
        ("tcp", Binding::Tcp { address, port: 49664 }),
        ("http", Binding::Http { address, port: 593 }),
        ("pipe", Binding::NamedPipe { host: r"\\WEB1".to_owned(), pipe: r"\PIPE\winreg".to_owned() }),
        ("local", Binding::Local { endpoint: "LRPC-0123".to_owned() }),
        ("other", Binding::Other(datagram)),
    ];
    let bytes = |binding| encode_vec(&Tower::ndr(INTERFACE, binding)).expect(MADE);
    bindings.map(|(name, binding)| (name, bytes(binding))).into()
}

fn entries() -> Vec<Entry> {
    let tower = |(_, bytes): (_, Vec<u8>)| decode::<Tower>(&bytes).expect(MADE);
    let entry = |tower| Entry { object: Some(INTERFACE.uuid), tower, annotation: "A program".to_owned() };
    honest_towers().into_iter().map(tower).map(entry).collect()
}

/// A call of each method: opnum, request, and what a server that is right answers.
pub(crate) fn honest_calls() -> Vec<(u16, Vec<u8>, Vec<u8>)> {
    let entries = entries();
    let lookup = EptLookupRequest {
        inquiry_type: InquiryType::RPC_C_EP_MATCH_BY_BOTH,
        object: Some(Box::new(INTERFACE.uuid)),
        interface: Some(Box::new(RpcIfId::from(INTERFACE))),
        versions: VersionOption::RPC_C_VERS_COMPATIBLE,
        entry_handle: HANDLE,
        entries_max: 4,
    };
    let map = EptMapRequest {
        object: Some(Box::new(INTERFACE.uuid)),
        map_tower: Some(Box::new(Twr::new(&entries[0].tower).expect(MADE))),
        entry_handle: ContextHandle::NULL,
        towers_max: 3,
    };
    let free = EptLookupHandleFreeRequest { entry_handle: HANDLE };
    let freed = EptLookupHandleFreeReply { entry_handle: ContextHandle::NULL, status: ErrorStatus::RPC_S_OK };
    let (page, answer) = (lookup.page(&entries, HANDLE), map.answer([&entries[0].tower]));
    vec![both(&lookup, &page.expect(MADE)), both(&map, &answer.expect(MADE)), both(&free, &freed)]
}

/// The stubs of a call.
pub(crate) fn both(request: &impl Request, reply: &impl Message) -> (u16, Vec<u8>, Vec<u8>) {
    let opnum = method_of(request);
    (opnum, request.to_stub().expect(MADE), reply.to_stub().expect(MADE))
}

fn method_of<R: Request>(_: &R) -> u16 {
    R::METHOD.opnum
}

/// What a server answers that is right: two pages, and a port.
pub(crate) fn honest_responses() -> Vec<u8> {
    let entries = entries();
    let request = |entry_handle| EptLookupRequest {
        inquiry_type: InquiryType::RPC_C_EP_ALL_ELTS,
        object: None,
        interface: None,
        versions: VersionOption::RPC_C_VERS_ALL,
        entry_handle,
        entries_max: LIMITS.page_entries,
    };
    let first = request(ContextHandle::NULL).page(&entries, HANDLE).expect(MADE);
    let second = request(HANDLE).page(&entries[4..], ContextHandle::NULL).expect(MADE);
    let map = EptMapRequest {
        object: None,
        map_tower: None,
        entry_handle: ContextHandle::NULL,
        towers_max: LIMITS.towers_max,
    };
    let mapped = map.answer([&entries[0].tower]).expect(MADE);
    [first.to_stub(), second.to_stub(), mapped.to_stub()].map(|stub| chunk(&stub.expect(MADE))).concat()
}
