//! The server's side, asked by impacket's bytes and by such as no client of ours writes.

use counters::rrp::PROVIDERS_KEY;
use counters::rrp::types::{AccessMask, KeyHandle, UnicodeString, ValueType};
use counters::rrp::winreg::{
    CloseRegistryKeyReply, EnumerateRegistryKeyReply, EnumerateRegistryValueReply,
    EnumerateRegistryValueRequest, OpenLocalMachineReply, OpenRegistryKeyReply, OpenRegistryKeyRequest,
    QueryInfoOfRegistryKeyReply, WinregServer,
};
use dcerpc::FaultStatus;
use rpc::ndr::ConformantVaryingBytes;
use rpc::{CallInfo, FromStub, Message};
use wire::Win32Error;

use crate::rrp::fixture::{FakeRegistry, KEY, enumerate};
use crate::rrp::hex;

const PROVIDER: &str = "{383487a6-3676-4870-a4e7-d45b30c35629}";

fn dispatch(server: &mut FakeRegistry, opnum: u16, stub: &[u8]) -> Result<Vec<u8>, FaultStatus> {
    server.dispatch(&CallInfo::default(), opnum, stub)
}

fn registry() -> FakeRegistry {
    FakeRegistry::with_counter_sets(&[(PROVIDER, &[])])
}

#[test]
fn impacket_finds_its_way() {
    let mut server = registry();
    let stub = hex(include_str!("../../data/rrp/request_open_local_machine.hex"));
    let root = OpenLocalMachineReply::from_stub(&dispatch(&mut server, 2, &stub).unwrap());
    let root = root.unwrap();
    assert_eq!(root.status, Win32Error::ERROR_SUCCESS);
    assert!(!root.key.is_null());

    let mut server = registry().opened_at(PROVIDERS_KEY);
    let info = hex(include_str!("../../data/rrp/request_query_info_key.hex"));
    let info = QueryInfoOfRegistryKeyReply::from_stub(&dispatch(&mut server, 16, &info).unwrap()).unwrap();
    assert_eq!((info.sub_keys, info.sub_key_bytes_max), (1, 76));
    // The request asks for the second subkey.
    let names = hex(include_str!("../../data/rrp/request_enum_key.hex"));
    let end = EnumerateRegistryKeyReply::from_stub(&dispatch(&mut server, 9, &names).unwrap()).unwrap();
    assert_eq!(end.status, Win32Error::ERROR_NO_MORE_ITEMS);
    server.add(&format!(r"{PROVIDERS_KEY}\{{f82fb576-e941-4956-a2c7-a0cf83f6450a}}"));
    let second = EnumerateRegistryKeyReply::from_stub(&dispatch(&mut server, 9, &names).unwrap()).unwrap();
    assert_eq!(second.name.as_str(), "{f82fb576-e941-4956-a2c7-a0cf83f6450a}");
    assert_eq!(second.status, Win32Error::ERROR_SUCCESS);

    let close = hex(include_str!("../../data/rrp/request_close_key.hex"));
    let closed = CloseRegistryKeyReply::from_stub(&dispatch(&mut server, 5, &close).unwrap());
    assert_eq!(
        closed.unwrap(),
        CloseRegistryKeyReply { key: KeyHandle::NULL, status: Win32Error::ERROR_SUCCESS }
    );
    assert!(server.open.is_empty());
}

#[test]
fn a_path_is_found_whatever_its_case() {
    let mut server = registry().opened_at("SOFTWARE");
    let sub_key = UnicodeString::new(r"microsoft\WINDOWS NT\currentversion");
    let request = OpenRegistryKeyRequest { key: KEY, sub_key, options: 0, sam_desired: AccessMask::KEY_READ };
    let stub = dispatch(&mut server, 15, &request.to_stub().unwrap()).unwrap();
    let reply = OpenRegistryKeyReply::from_stub(&stub).unwrap();
    assert_eq!(reply.status, Win32Error::ERROR_SUCCESS);
}

#[test]
fn a_name_that_does_not_fit_is_more_data() {
    let mut server = registry().opened_at(PROVIDERS_KEY);
    let mut ask = |name_room| {
        let request = enumerate(0, name_room, 0);
        let stub = dispatch(&mut server, 9, &request.to_stub().unwrap()).unwrap();
        EnumerateRegistryKeyReply::from_stub(&stub).unwrap()
    };
    let room = 2 * 39 /* the GUID in braces, and a NUL */;
    assert_eq!(ask(room).name.as_str(), PROVIDER);
    let reply = ask(room - 1);
    assert_eq!((reply.name.as_str(), reply.status), ("", Win32Error::ERROR_MORE_DATA));
}

#[test]
fn a_value_whose_name_or_bytes_do_not_fit_is_more_data() {
    let mut server = registry().opened_at("SOFTWARE");
    server.values.insert(r"\software\Start".to_owned(), (ValueType::REG_DWORD, vec![2, 0, 0, 0]));
    let mut ask = |name_room, room| {
        let data = ConformantVaryingBytes { max_count: room, bytes: (&[][..]).into() };
        let request = EnumerateRegistryValueRequest {
            key: KEY,
            index: 0,
            name: UnicodeString::with_room(name_room),
            value_type: Some(Box::new(ValueType::REG_NONE)),
            data: Some(Box::new(data)),
            size: Some(Box::new(room)),
            length: Some(Box::new(0)),
        };
        let stub = dispatch(&mut server, 10, &request.to_stub().unwrap()).unwrap();
        let reply = EnumerateRegistryValueReply::from_stub(&stub).unwrap();
        (reply.name.as_str().to_owned(), reply.status, reply.size.map(|size| *size))
    };
    let (fits, more) = (Win32Error::ERROR_SUCCESS, Win32Error::ERROR_MORE_DATA);
    assert_eq!(ask(12, 4), ("Start".to_owned(), fits, Some(4)));
    assert_eq!(ask(11, 4), (String::new(), more, Some(4)));
    assert_eq!(ask(12, 3), ("Start".to_owned(), more, Some(4)));
}

#[test]
fn what_is_no_open_key_never_reaches_a_method() {
    let mut server = registry();
    let close = hex(include_str!("../../data/rrp/request_close_key.hex"));
    assert_eq!(dispatch(&mut server, 5, &close), Err(FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH));
    assert_eq!(dispatch(&mut server, 5, &[0; 20]), Err(FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH));
}

#[test]
fn other_methods_and_other_stubs_are_faults() {
    let mut server = registry();
    for opnum in [0, 1, 4, 6, 14, 18, 26, 40, u16::MAX] {
        assert_eq!(dispatch(&mut server, opnum, &[]), Err(FaultStatus::NCA_S_OP_RNG_ERROR), "{opnum}");
    }
    for opnum in [2, 3, 5, 9, 10, 15, 16, 17] {
        assert_eq!(dispatch(&mut server, opnum, &[0; 3]), Err(FaultStatus::RPC_X_BAD_STUB_DATA), "{opnum}");
    }
}

#[test]
fn a_client_may_name_the_server_by_one_character() {
    // [MS-RRP] 2.2.2: a pointer to a wchar_t, which is no string.
    let stub = hex("00000200 5c00 0000 19000200");
    let reply = dispatch(&mut registry(), 2, &stub).unwrap();
    assert_eq!(OpenLocalMachineReply::from_stub(&reply).unwrap().status.0, 0);
}
