//! Laws of `counters::rrp`.

use core::convert::Infallible;
use core::future::{Future, ready};

use counters::rrp::enumerate_counter_sets;
use counters::rrp::types::{AccessMask, KeyHandle, Room, UnicodeString, ValueType};
use counters::rrp::winreg::{
    CloseRegistryKeyReply, CloseRegistryKeyRequest, EnumerateRegistryKeyReply, EnumerateRegistryKeyRequest,
    EnumerateRegistryValueReply, EnumerateRegistryValueRequest, Limits, OpenLocalMachineReply,
    OpenLocalMachineRequest, OpenPerformanceDataReply, OpenPerformanceDataRequest, OpenRegistryKeyReply,
    OpenRegistryKeyRequest, QueryInfoOfRegistryKeyReply, QueryInfoOfRegistryKeyRequest,
    QueryRegistryValueReply, QueryRegistryValueRequest, RegistryClient, ValueRoom, Winreg, WinregServer,
};
use counters::rrp::wire::{MemoryRange, ResourceList};
use dcerpc::{Channel, FaultStatus};
use rpc::ndr::ConformantVaryingBytes;
use rpc::{CallInfo, Direction, Interface, Message, Request, ServerResult};
use test_support::future::now;
use wire::{Guid, Win32Error};

use crate::input::{Input, chunk};
use crate::interfaces::is_read;

/// Calls in one input.
const CALLS_MAX: usize = 16;

/// Requests to a server, each an opnum and a stub: exactly what can be read is executed, and the answer is one that the
/// method can have.
pub fn requests(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut server = Registry::default();
    for _ in 0..CALLS_MAX {
        let opnum = u16::from(input.byte() & 0x1f);
        let Some(stub) = input.chunk() else { return };
        let reply = server.dispatch(&CallInfo::default(), opnum, stub);
        if Winreg::method(opnum).is_none() {
            assert_eq!(reply, Err(FaultStatus::NCA_S_OP_RNG_ERROR));
            continue;
        }
        match (is_read::<Winreg>(Direction::Request, opnum, stub), reply) {
            (true, Ok(reply)) => assert!(is_read::<Winreg>(Direction::Reply, opnum, &reply)),
            (true, Err(fault)) => assert_eq!(fault, FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH),
            (false, reply) => assert_eq!(reply, Err(FaultStatus::RPC_X_BAD_STUB_DATA)),
        }
    }
}

const SUB_KEYS: u32 = 2;
const VALUES: u32 = 2;
const VALUE_BYTES: usize = 40;

/// A key that is its own subkey, by the names of providers and countersets.
#[derive(Debug, Default)]
struct Registry {
    is_open: bool,
}

const KEY: KeyHandle =
    KeyHandle { attributes: 0, uuid: Guid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10) };

const SUCCESS: Win32Error = Win32Error::ERROR_SUCCESS;

impl WinregServer for Registry {
    fn is_open(&self, key: KeyHandle) -> bool {
        self.is_open && key == KEY
    }

    fn open_local_machine(
        &mut self,
        _request: &OpenLocalMachineRequest,
    ) -> ServerResult<OpenLocalMachineReply, Win32Error> {
        self.is_open = true;
        Ok(OpenLocalMachineReply { key: KEY, status: SUCCESS })
    }

    fn open_performance_data(
        &mut self,
        _request: &OpenPerformanceDataRequest,
    ) -> ServerResult<OpenPerformanceDataReply, Win32Error> {
        self.is_open = true;
        Ok(OpenPerformanceDataReply { key: KEY, status: SUCCESS })
    }

    fn query_registry_value(
        &mut self,
        request: &QueryRegistryValueRequest<'_>,
    ) -> ServerResult<QueryRegistryValueReply<'static>, Win32Error> {
        assert!(self.is_open(request.key), "a method gets open keys only");
        Ok(request.answer(ValueType::REG_BINARY, vec![7; VALUE_BYTES]))
    }

    fn close_registry_key(
        &mut self,
        request: &CloseRegistryKeyRequest,
    ) -> ServerResult<CloseRegistryKeyReply, Win32Error> {
        assert!(self.is_open(request.key), "a method gets open keys only");
        Ok(CloseRegistryKeyReply { key: KeyHandle::NULL, status: SUCCESS })
    }

    fn enumerate_registry_key(
        &mut self,
        request: &EnumerateRegistryKeyRequest,
    ) -> ServerResult<EnumerateRegistryKeyReply, Win32Error> {
        assert!(self.is_open(request.key), "a method gets open keys only");
        let index = request.index;
        let name = (index < SUB_KEYS).then(|| format!("{{{}}}", Guid::from_u128(index.into())));
        Ok(request.answer(&name.ok_or(Win32Error::ERROR_NO_MORE_ITEMS)?))
    }

    fn enumerate_registry_value(
        &mut self,
        request: &EnumerateRegistryValueRequest<'_>,
    ) -> ServerResult<EnumerateRegistryValueReply<'static>, Win32Error> {
        assert!(self.is_open(request.key), "a method gets open keys only");
        if request.index >= VALUES {
            return Err(Win32Error::ERROR_NO_MORE_ITEMS.into());
        }
        Ok(request.answer("Start", ValueType::REG_BINARY, vec![7; VALUE_BYTES]))
    }

    fn open_registry_key(
        &mut self,
        request: &OpenRegistryKeyRequest,
    ) -> ServerResult<OpenRegistryKeyReply, Win32Error> {
        assert!(self.is_open(request.key), "a method gets open keys only");
        Ok(OpenRegistryKeyReply { opened: KEY, status: SUCCESS })
    }

    fn query_info_of_registry_key(
        &mut self,
        request: &QueryInfoOfRegistryKeyRequest,
    ) -> ServerResult<QueryInfoOfRegistryKeyReply, Win32Error> {
        assert!(self.is_open(request.key), "a method gets open keys only");
        let (sub_keys, sub_key_bytes_max) = (SUB_KEYS, 76);
        Ok(QueryInfoOfRegistryKeyReply { sub_keys, sub_key_bytes_max, ..request.refused(SUCCESS) })
    }
}

const LIMITS: Limits = Limits { sub_keys_max: 8, counter_sets_max: 16, value_bytes_max: 4_096 };
/// Each with twice the room of the one before, from 512 bytes to what 16 bits can count.
const CALLS_FOR_A_TEXT: usize = 8;
/// Opening it, and room for 16 bytes, and then twice as much each time up to 4,096.
const CALLS_OF_A_VALUE: usize = 1 + 9;
/// Root and list: open, size, names and the end, close; for each of at most as many providers the same.
const CALLS_OF_A_LIST: usize = 2 + 10 * CALLS_FOR_A_TEXT + 2 + 8 * (1 + 10 * CALLS_FOR_A_TEXT + 1);

/// Responses to a client that lists the registered countersets: it gives up after so many calls as its limits say, and
/// lists no more than these, in order, each once.
pub fn responses(bytes: &[u8]) {
    list(Answers::Canned(Input::new(bytes)));
}

/// What a server that is right answers, as an input.
pub(crate) fn honest_responses() -> Vec<u8> {
    match list(Answers::Served(Registry::default(), Vec::new())) {
        Answers::Served(_, said) => said,
        Answers::Canned(_) => Vec::new(),
    }
}

/// Requests that a server that is right executes, as an input.
pub(crate) fn honest_requests() -> Vec<u8> {
    let input = |(opnum, stub, _): (u16, Vec<u8>, _)| [&[opnum.to_le_bytes()[0]], &chunk(&stub)[..]].concat();
    honest_calls().into_iter().flat_map(input).collect()
}

/// A call of each method: opnum, request, and what a server that is right answers.
pub(crate) fn honest_calls() -> Vec<(u16, Vec<u8>, Vec<u8>)> {
    let key = KEY;
    let (sub_key, sam_desired) = (UnicodeString::new("a"), AccessMask::KEY_READ);
    let (name, class) = (UnicodeString::with_room(80), Some(Box::new(UnicodeString::with_room(8))));
    let query = QueryRegistryValueRequest {
        key,
        name: UnicodeString::new("2 238"),
        value_type: Some(Box::new(ValueType::REG_NONE)),
        data: Some(Box::new(ConformantVaryingBytes { max_count: 64, bytes: (&[][..]).into() })),
        size: Some(Box::new(64)),
        length: Some(Box::new(0)),
    };
    let values = EnumerateRegistryValueRequest {
        key,
        index: 1,
        name: UnicodeString::with_room(80),
        value_type: query.value_type.clone(),
        data: query.data.clone(),
        size: query.size.clone(),
        length: query.length.clone(),
    };
    let stubs = [
        (2, OpenLocalMachineRequest { server_name: None, sam_desired }.to_stub()),
        (15, OpenRegistryKeyRequest { key, sub_key, options: 0, sam_desired }.to_stub()),
        (16, QueryInfoOfRegistryKeyRequest { key, class_room: Room::new(512) }.to_stub()),
        (9, EnumerateRegistryKeyRequest { key, index: 1, name, class, last_write_time: None }.to_stub()),
        (10, values.to_stub()),
        (3, OpenPerformanceDataRequest { server_name: None, sam_desired }.to_stub()),
        (17, query.to_stub()),
        (5, CloseRegistryKeyRequest { key }.to_stub()),
    ];
    let mut server = Registry::default();
    let mut call = |(opnum, stub): (u16, wire::EncodeResult<Vec<u8>>)| {
        const RIGHT: &str = "the request is right";
        let stub = stub.expect(RIGHT);
        let reply = server.dispatch(&CallInfo::default(), opnum, &stub).expect(RIGHT);
        (opnum, stub, reply)
    };
    stubs.into_iter().map(&mut call).collect()
}

fn list(answers: Answers<'_>) -> Answers<'_> {
    let mut client = RegistryClient::new(Watched { answers, calls: 0 }).with_limits(LIMITS);
    if let Ok(found) = now(enumerate_counter_sets(&mut client)) {
        assert!(found.counter_sets.len() <= 16 && found.denied_providers <= 8);
        assert!(found.counter_sets.is_sorted_by(|one, next| one < next));
    }
    assert!(client.channel().calls <= CALLS_OF_A_LIST, "it gives up");
    read_value(&mut client);
    let channel = client.into_channel();
    channel.answers
}

/// Reads a value with room that grows: it gives up after so many calls as its limit says.
fn read_value(client: &mut RegistryClient<Watched<'_>>) {
    let before = client.channel().calls;
    if let Ok(key) = now(client.open_performance_data()) {
        let mut room = ValueRoom::new(16);
        let value = now(client.query_value(&key, "2 238", &mut room));
        assert!(room.bytes() <= LIMITS.value_bytes_max);
        assert!(value.is_ok() || client.channel().calls > before + 1);
        assert!(client.channel().calls <= before + CALLS_OF_A_VALUE, "it gives up");
        let (mut room, before) = (ValueRoom::new(16), client.channel().calls);
        for index in 0..=VALUES {
            let _found = now(client.enum_value(&key, index, &mut room));
            assert!(room.bytes() <= LIMITS.value_bytes_max);
        }
        assert!(client.channel().calls <= before + 3 * CALLS_OF_A_VALUE, "it gives up");
    }
}

/// Where answers come from.
enum Answers<'a> {
    /// The input's stubs, one to each call.
    Canned(Input<'a>),
    /// A server, and what it said.
    Served(Registry, Vec<u8>),
}

/// Looks at the requests.
struct Watched<'a> {
    answers: Answers<'a>,
    calls: usize,
}

impl Channel for Watched<'_> {
    type Error = Infallible;

    fn call(
        &mut self,
        opnum: u16,
        _object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Infallible>> + Send {
        self.calls += 1;
        let is_read = is_read::<Winreg>(Direction::Request, opnum, stub);
        assert!(is_read, "our server reads what our client writes");
        ready(Ok(match &mut self.answers {
            Answers::Canned(input) => input.chunk().unwrap_or_default().to_vec(),
            Answers::Served(server, said) => {
                let stub = server.dispatch(&CallInfo::default(), opnum, stub).unwrap_or_default();
                said.extend(chunk(&stub));
                stub
            }
        }))
    }
}

/// The bytes of a value, read as each type: what is read is not larger than they are, and reads the same after it was
/// written again.
pub fn values(bytes: &[u8]) {
    if let Ok(text) = counters::rrp::wire::text(ValueType::REG_SZ, bytes) {
        assert!(!text.contains('\0') && text.chars().count() <= bytes.len() / 2);
        assert_eq!(counters::rrp::wire::text(ValueType::REG_SZ, &wire::encode_utf16(&text)), Ok(text));
    }
    if let Ok(texts) = counters::rrp::wire::texts(ValueType::REG_MULTI_SZ, bytes) {
        let again: Vec<u8> =
            texts.iter().flat_map(|text| [&wire::encode_utf16(text)[..], &[0, 0]].concat()).collect();
        assert!(again.len() <= bytes.len() + 2 /* a NUL that was not there */);
        assert_eq!(counters::rrp::wire::texts(ValueType::REG_MULTI_SZ, &again), Ok(texts));
    }
    if let Ok(list) = ResourceList::decode(bytes) {
        assert!(list.memory.len() <= bytes.len() / 16, "each range has its bytes");
        assert_eq!(ResourceList::decode(&resource_list(&list.memory)), Ok(list));
    }
}

/// A `CM_RESOURCE_LIST` of a 64-bit host, by wdm.h.
pub(crate) fn resource_list(memory: &[MemoryRange]) -> Vec<u8> {
    let mut list = Vec::new();
    for word in [1 /* full descriptors */, 0, 0, 0x0001_0001 /* Version, Revision */] {
        list.extend(u32::to_le_bytes(word));
    }
    list.extend(u32::try_from(memory.len()).expect("they were read").to_le_bytes());
    for MemoryRange { start, length_bytes } in memory {
        let fits = |bits: u32| {
            u32::try_from(length_bytes >> bits).ok().filter(|_| length_bytes.trailing_zeros() >= bits)
        };
        let units = [(3, 0, 0), (7, 0x0200, 8), (7, 0x0400, 16), (7, 0x0800_u16, 32)];
        let found = units.iter().find_map(|(kind, flags, bits)| Some((kind, flags, fits(*bits)?)));
        let (kind, flags, length) = found.expect("what was read has a unit");
        list.extend([*kind, 0]);
        list.extend(flags.to_le_bytes());
        list.extend(start.to_le_bytes());
        list.extend(length.to_le_bytes());
        list.extend([0; 4]);
    }
    list
}

/// A range in each unit.
pub(crate) fn honest_resource_list() -> Vec<u8> {
    let range = |start, length_bytes| MemoryRange { start, length_bytes };
    resource_list(&[
        range(1 << 20, 3 << 30),
        range(4 << 30, 1 << 36),
        range(1 << 40, 1 << 45),
        range(1 << 50, 1 << 50),
    ])
}
