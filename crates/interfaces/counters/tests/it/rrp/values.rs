//! Values of keys, and those that say how large they are only to who has room for them.

use counters::rrp::Error;
use counters::rrp::types::ValueType;
use counters::rrp::winreg::{
    EnumerateRegistryValueReply, EnumerateRegistryValueRequest, Limits, OpenPerformanceDataRequest,
    QueryRegistryValueReply, QueryRegistryValueRequest, RegistryClient, ValueRoom,
};
use rpc::FromStub;
use test_support::future::now;
use wire::Win32Error;

use crate::rrp::fixture::{Canned, FakeRegistry, KEY, Loop, PERFORMANCE_DATA};
use crate::rrp::hex;

/// A registry with one value of performance data, of so many bytes, and one below a key.
fn client(bytes: usize) -> RegistryClient<Loop> {
    let mut server = FakeRegistry::default();
    server.add("SOFTWARE");
    let data: Vec<u8> = (0..=u8::MAX).cycle().take(bytes).collect();
    server.values.insert(format!(r"{PERFORMANCE_DATA}\2 238"), (ValueType::REG_BINARY, data));
    let build = [b'2', 0, b'0', 0, b'3', 0, b'4', 0, b'8', 0, 0, 0];
    server.values.insert(r"\software\CurrentBuild".to_owned(), (ValueType::REG_SZ, build.into()));
    RegistryClient::new(Loop::new(server))
}

#[test]
fn performance_data_is_read_with_room_that_doubles_and_is_kept() {
    let mut client = client(1_000);
    let key = now(client.open_performance_data()).unwrap();
    let mut room = ValueRoom::new(100);
    for calls in [5, 1] {
        let before = client.channel().calls;
        let value = now(client.query_value(&key, "2 238", &mut room)).unwrap();
        assert_eq!(value.value_type, ValueType::REG_BINARY);
        assert!(value.bytes().iter().copied().eq((0..=u8::MAX).cycle().take(1_000)));
        assert_eq!(client.channel().calls - before, calls, "100, 200, 400, 800, 1,600; then 1,600 at once");
    }
    assert_eq!(room.bytes(), 1_600);
}

#[test]
fn a_value_that_says_its_size_is_read_by_the_second_call() {
    let mut client = client(0);
    let root = now(client.open_local_machine()).unwrap();
    let key = now(client.open_key(&root, "SOFTWARE")).unwrap();
    let before = client.channel().calls;
    let value = now(client.query_value(&key, "CurrentBuild", &mut ValueRoom::new(1))).unwrap();
    assert_eq!((value.value_type, value.bytes().len()), (ValueType::REG_SZ, 12));
    assert_eq!(client.channel().calls - before, 2);
}

#[test]
fn a_value_that_is_not_there_is_not_found_and_an_empty_one_has_no_bytes() {
    let mut client = client(0);
    let key = now(client.open_performance_data()).unwrap();
    let refused = now(client.query_value(&key, "4", &mut ValueRoom::new(10))).unwrap_err();
    assert_eq!(refused.status(), Some(Win32Error::ERROR_FILE_NOT_FOUND));
    assert!(now(client.query_value(&key, "2 238", &mut ValueRoom::new(0))).unwrap().bytes().is_empty());
}

#[test]
fn values_are_enumerated_with_room_that_grows_until_there_are_no_more() {
    let mut client = client(0);
    let long = "n".repeat(300);
    let value = (ValueType::REG_BINARY, vec![7; 100]);
    client.channel().server.values.insert(format!(r"\software\{long}"), value);
    let root = now(client.open_local_machine()).unwrap();
    let key = now(client.open_key(&root, "SOFTWARE")).unwrap();
    let mut room = ValueRoom::new(1);
    let mut names = Vec::new();
    for index in 0.. {
        let Some((name, value)) = now(client.enum_value(&key, index, &mut room)).unwrap() else { break };
        names.push((name, value.value_type, value.bytes().len()));
    }
    let first = ("CurrentBuild".to_owned(), ValueType::REG_SZ, 12);
    assert_eq!(names, [first, (long, ValueType::REG_BINARY, 100)]);
    assert_eq!(room.bytes(), 100, "room is kept from one value to the next");
}

#[test]
fn a_value_that_no_room_is_enough_for_ends_the_enumeration() {
    let mut client = client(0).with_limits(Limits { value_bytes_max: 11, ..Limits::default() });
    let root = now(client.open_local_machine()).unwrap();
    let key = now(client.open_key(&root, "SOFTWARE")).unwrap();
    let refused = now(client.enum_value(&key, 0, &mut ValueRoom::new(1)));
    assert!(matches!(refused, Err(Error::LimitExceeded { unit: "bytes of a value", limit: 11, .. })));
}

#[test]
fn a_server_for_which_no_room_is_enough_is_given_up() {
    let limits = Limits { value_bytes_max: 1_000, ..Limits::default() };
    let mut client = client(1_001).with_limits(limits);
    let key = now(client.open_performance_data()).unwrap();
    let refused = now(client.query_value(&key, "2 238", &mut ValueRoom::new(100)));
    assert_eq!(client.channel().calls, 6, "100, 200, 400, 800, 1,000");
    assert!(matches!(refused, Err(Error::LimitExceeded { unit: "bytes of a value", limit: 1_000, .. })));
}

#[test]
fn requests_of_impacket_are_read() {
    let request = OpenPerformanceDataRequest::from_stub(&hex(include_str!(
        "../../data/rrp/request_open_performance_data.hex"
    )));
    assert!(request.is_ok_and(|request| request.server_name.is_none()));
    let stub = hex(include_str!("../../data/rrp/request_query_value.hex"));
    let request = QueryRegistryValueRequest::from_stub(&stub).unwrap();
    assert_eq!((request.key, request.name.as_str()), (KEY, "2 238"));
    assert_eq!((request.value_type.as_deref(), request.size.as_deref()), (Some(&ValueType(0)), Some(&8)));
    assert_eq!(request.data.as_ref().map(|data| data.bytes.as_ref()), Some(&b"        "[..]));
    let stub = hex(include_str!("../../data/rrp/request_enum_value.hex"));
    let request = EnumerateRegistryValueRequest::from_stub(&stub).unwrap();
    assert_eq!((request.key, request.index, request.name.maximum_length), (KEY, 3, 128));
    assert_eq!((request.size.as_deref(), request.length.as_deref()), (Some(&8), Some(&8)));
}

#[test]
fn responses_of_impacket_are_read() {
    let stub = hex(include_str!("../../data/rrp/response_query_value.hex"));
    let reply = QueryRegistryValueReply::from_stub(&stub).unwrap();
    assert_eq!(reply.status, Win32Error::ERROR_SUCCESS);
    assert_eq!(reply.data.as_ref().map(|data| data.bytes.as_ref()), Some(&b"P\0E\0R\0F\0"[..]));
    let stub_of_value = hex(include_str!("../../data/rrp/response_enum_value.hex"));
    let reply = EnumerateRegistryValueReply::from_stub(&stub_of_value).unwrap();
    assert_eq!((reply.name.as_str(), reply.value_type.as_deref()), ("Start", Some(&ValueType::REG_DWORD)));
    assert_eq!(reply.data.as_ref().map(|data| data.bytes.as_ref()), Some(&[2, 0, 0, 0][..]));
    // A server that has no room to speak of sends no buffer at all.
    let more = hex(include_str!("../../data/rrp/response_query_value_more.hex"));
    let channel = Canned::new([more, stub]);
    let mut client = RegistryClient::new(channel);
    let key = performance_key(&mut client);
    let value = now(client.query_value(&key, "2 238", &mut ValueRoom::new(4))).unwrap();
    assert_eq!(value.bytes(), b"P\0E\0R\0F\0");
    assert_eq!(client.channel().requests.len(), 3);
}

/// An open key: the first response is that of an `OpenPerformanceData`.
fn performance_key(client: &mut RegistryClient<Canned>) -> counters::rrp::winreg::Key {
    let opened = [&[0, 0, 0, 0][..], &[7; 16], &[0; 4]].concat();
    client.channel().responses.push_front(opened);
    now(client.open_performance_data()).unwrap()
}
