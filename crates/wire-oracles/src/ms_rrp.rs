//! Laws of `ms-rrp`.

use core::convert::Infallible;
use core::fmt::Debug;
use core::future::{Future, ready};

use dcerpc::{Channel, FaultStatus};
use ms_dtyp::{Guid, Win32Error};
use ms_rrp::types::{AccessMask, KeyHandle};
use ms_rrp::winreg::ops::{
    CloseKeyRequest, EnumKeyReply, EnumKeyRequest, HandleReply, OpenKeyRequest, OpenLocalMachineRequest,
    QueryInfoKeyReply, QueryInfoKeyRequest, Request,
};
use ms_rrp::winreg::{KeyInfo, Limits, RegistryClient, RegistryServer, dispatch};
use ms_rrp::{Method, enumerate_counter_sets};

use crate::input::Input;
use crate::ms_pcq::now;
use crate::seeds::chunk;

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
        let reply = dispatch(&mut server, opnum, stub);
        let Some(method) = Method::from_opnum(opnum) else {
            assert_eq!(reply, Err(FaultStatus::NCA_S_OP_RNG_ERROR));
            continue;
        };
        match (is_read(method, stub), reply) {
            (true, Ok(reply)) => check_reply(method, &reply),
            (true, Err(fault)) => assert_eq!(fault, FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH),
            (false, reply) => assert_eq!(reply, Err(FaultStatus::RPC_X_BAD_STUB_DATA)),
        }
    }
}

/// Reads a request, and writes and reads it again.
fn is_read(method: Method, stub: &[u8]) -> bool {
    match method {
        Method::OpenLocalMachine => again::<OpenLocalMachineRequest>(stub),
        Method::BaseRegCloseKey => again::<CloseKeyRequest>(stub),
        Method::BaseRegEnumKey => again::<EnumKeyRequest>(stub),
        Method::BaseRegOpenKey => again::<OpenKeyRequest>(stub),
        Method::BaseRegQueryInfoKey => again::<QueryInfoKeyRequest>(stub),
    }
}

fn again<R: Request + PartialEq + Debug>(stub: &[u8]) -> bool {
    let Ok(request) = R::from_stub(stub) else { return false };
    // A text that just fits without the NUL that some leave out does not fit with it.
    if let Ok(written) = request.to_stub() {
        assert_eq!(R::from_stub(&written).as_ref(), Ok(&request));
    }
    true
}

fn check_reply(method: Method, reply: &[u8]) {
    const READABLE: &str = "our client reads what our server writes";
    match method {
        Method::BaseRegEnumKey => drop(EnumKeyReply::from_stub(reply).expect(READABLE)),
        Method::BaseRegQueryInfoKey => drop(QueryInfoKeyReply::from_stub(reply).expect(READABLE)),
        _ => drop(HandleReply::from_stub(reply, method).expect(READABLE)),
    }
}

const SUB_KEYS: u32 = 2;

/// A key that is its own subkey, by the names of providers and countersets.
#[derive(Debug, Default)]
struct Registry {
    is_open: bool,
}

const KEY: KeyHandle =
    KeyHandle { attributes: 0, uuid: Guid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10) };

impl RegistryServer for Registry {
    fn open_local_machine(&mut self, _sam_desired: AccessMask) -> Result<KeyHandle, Win32Error> {
        self.is_open = true;
        Ok(KEY)
    }

    fn is_open(&self, key: KeyHandle) -> bool {
        self.is_open && key == KEY
    }

    fn close_key(&mut self, key: KeyHandle) -> Result<(), Win32Error> {
        assert!(self.is_open(key), "a method gets open keys only");
        Ok(())
    }

    fn enum_key(&mut self, key: KeyHandle, index: u32) -> Result<String, Win32Error> {
        assert!(self.is_open(key), "a method gets open keys only");
        let name = (index < SUB_KEYS).then(|| format!("{{{}}}", Guid::from_u128(index.into())));
        name.ok_or(Win32Error::ERROR_NO_MORE_ITEMS)
    }

    fn open_key(&mut self, key: KeyHandle, path: &str, _sam: AccessMask) -> Result<KeyHandle, Win32Error> {
        assert!(self.is_open(key), "a method gets open keys only");
        if path.contains('\0') { Err(Win32Error::ERROR_FILE_NOT_FOUND) } else { Ok(KEY) }
    }

    fn query_info_key(&mut self, key: KeyHandle) -> Result<KeyInfo, Win32Error> {
        assert!(self.is_open(key), "a method gets open keys only");
        Ok(KeyInfo { sub_keys: SUB_KEYS, sub_key_bytes_max: 76 })
    }
}

const LIMITS: Limits = Limits { sub_keys_max: 8, counter_sets_max: 16 };
/// Each with twice the room of the one before, from 512 bytes to what 16 bits can count.
const CALLS_FOR_A_TEXT: usize = 8;
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
    let key = KEY;
    let (sub_key, sam_desired) = ("a".to_owned(), AccessMask::KEY_READ);
    let stubs = [
        (2, OpenLocalMachineRequest { sam_desired }.to_stub()),
        (15, OpenKeyRequest { key, sub_key, sam_desired }.to_stub()),
        (16, QueryInfoKeyRequest { key, class_room: 512 }.to_stub()),
        (9, EnumKeyRequest { key, index: 1, name_room: 80, class_room: 8 }.to_stub()),
        (5, CloseKeyRequest { key }.to_stub()),
    ];
    let input = |(opnum, stub): (u8, codec::EncodeResult<Vec<u8>>)| {
        [&[opnum], &chunk(&stub.expect("the request is right"))[..]].concat()
    };
    stubs.into_iter().flat_map(input).collect()
}

fn list(answers: Answers<'_>) -> Answers<'_> {
    let mut client = RegistryClient::new(Watched { answers, calls: 0 }).with_limits(LIMITS);
    if let Ok(found) = now(enumerate_counter_sets(&mut client)) {
        assert!(found.counter_sets.len() <= 16 && found.denied_providers <= 8);
        assert!(found.counter_sets.is_sorted_by(|one, next| one < next));
    }
    let channel = client.into_channel();
    assert!(channel.calls <= CALLS_OF_A_LIST, "it gives up");
    channel.answers
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
        let method = Method::from_opnum(opnum).expect("the client calls methods");
        assert!(is_read(method, stub), "our server reads what our client writes");
        ready(Ok(match &mut self.answers {
            Answers::Canned(input) => input.chunk().unwrap_or_default().to_vec(),
            Answers::Served(server, said) => {
                let stub = dispatch(server, opnum, stub).unwrap_or_default();
                said.extend(chunk(&stub));
                stub
            }
        }))
    }
}
