//! Servers and clients that lie.

use counters::rrp::types::{KeyHandle, Room, UnicodeString};
use counters::rrp::winreg::{
    EnumerateRegistryKeyReply, EnumerateRegistryKeyRequest, Limits, OpenLocalMachineReply,
    QueryInfoOfRegistryKeyReply, QueryInfoOfRegistryKeyRequest, RegistryClient,
};
use counters::rrp::{Error, enumerate_counter_sets};
use rpc::ndr::Reader;
use rpc::{FromStub, Message, Request};
use test_support::future::now;
use wire::{DecodeError, Win32Error};

use crate::rrp::fixture::{Canned, KEY};
use crate::rrp::hex;

fn decode(text: &str) -> Result<UnicodeString, String> {
    let stub = hex(text);
    let mut src = Reader::new(&stub, "Test");
    src.read::<UnicodeString>("lpNameOut").map_err(|error| error.to_string())
}

#[test]
fn a_text_whose_lengths_contradict_each_other_is_refused() {
    let good = "0600 0600 01000000 03000000 00000000 03000000 6100 6200 0000";
    assert_eq!(decode(good).unwrap().as_str(), "ab");
    // Without the NUL, as some clients write it.
    assert_eq!(decode("0400 0600 01000000 03000000 00000000 02000000 6100 6200").unwrap().as_str(), "ab");
    let check = |stub: &str, expected: &str| {
        let error = decode(stub).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    check("0800 0800 01000000 03000000 00000000 03000000 6100 6200 0000", "not half of Length");
    check("0500 0600 01000000 03000000 00000000 03000000 6100 6200 0000", "not half of Length");
    check("0600 0600 00000000", "not half of Length");
    check("0600 0600 01000000 02000000 00000000 03000000 6100 6200 0000", "above max_count");
    check("0600 0600 01000000 03000000 01000000 03000000 6100 6200 0000", "offset");
    check("0600 0600 01000000 03000000 00000000 03000000 6100 0000 6200", "NUL before its end");
    check("0200 0200 01000000 01000000 00000000 01000000 00d8", "no UTF-16");
}

#[test]
fn a_count_takes_no_memory_before_its_bytes_are_there() {
    let error = decode("ffff ffff 01000000 ffff0f00 00000000 ffff0f00 6100").unwrap_err();
    assert!(error.contains("2097150 bytes needed"), "{error}");
    let error = decode("ffff ffff 01000000 ffffffff 00000000 ffffffff 6100").unwrap_err();
    assert!(error.contains("limit"), "{error}");
}

fn opened() -> Vec<u8> {
    OpenLocalMachineReply { key: KEY, status: Win32Error::ERROR_SUCCESS }.to_stub().unwrap()
}

fn named(name: &str) -> Vec<u8> {
    let (class, last_write_time, status) = (None, None, Win32Error::ERROR_SUCCESS);
    EnumerateRegistryKeyReply { name: UnicodeString::new(name), class, last_write_time, status }
        .to_stub()
        .unwrap()
}

fn counted(sub_keys: u32) -> Vec<u8> {
    QueryInfoOfRegistryKeyReply { sub_keys, ..info(Win32Error::ERROR_SUCCESS) }.to_stub().unwrap()
}

fn info(status: Win32Error) -> QueryInfoOfRegistryKeyReply {
    QueryInfoOfRegistryKeyRequest { key: KEY, class_room: Room::new(0) }.refused(status)
}

#[test]
fn an_enumeration_without_an_end_is_given_up() {
    // The root is closed before the list is read.
    let endless = Canned::new([opened(), opened(), opened(), counted(3), named("{383487a6")]);
    let limits = Limits { sub_keys_max: 100, ..Limits::default() };
    let mut client = RegistryClient::new(endless).with_limits(limits);
    let error = now(enumerate_counter_sets(&mut client)).unwrap_err();
    assert!(matches!(error, Error::LimitExceeded { limit: 100, .. }), "{error}");
    // Two keys are opened and closed, one is asked for its size, and 101 names are too many.
    assert_eq!(client.channel().requests.len(), 2 + 1 + 101 + 2);
}

#[test]
fn a_number_of_subkeys_above_the_limit_is_not_counted_up_to() {
    let mut client = RegistryClient::new(Canned::new([opened(), counted(u32::MAX)]));
    let root = now(client.open_local_machine()).unwrap();
    assert!(matches!(now(client.sub_keys(&root)), Err(Error::LimitExceeded { .. })));
    assert_eq!(client.channel().requests.len(), 2);
}

#[test]
fn a_response_that_ends_early_is_no_response() {
    let whole = named("{383487a6}");
    for length in 0..whole.len() {
        let mut client = RegistryClient::new(Canned::new([opened(), whole[..length].to_vec()]));
        let root = now(client.open_local_machine()).unwrap();
        let error = now(client.enum_key(&root, 0)).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Rpc(rpc::Error::Stub { source: rpc::ndr::Error::Decode(DecodeError { .. }), .. })
            ),
            "{length}"
        );
    }
}

#[test]
fn a_key_that_is_null_is_not_taken_for_one() {
    let reply = OpenLocalMachineReply { key: KeyHandle::NULL, status: Win32Error::ERROR_SUCCESS };
    let reply = reply.to_stub().unwrap();
    let mut client = RegistryClient::new(Canned::new([reply]));
    let error = now(client.open_local_machine()).unwrap_err();
    assert!(matches!(error, Error::Rpc(rpc::Error::Stub { .. })), "{error}");
    assert!(error.to_string().contains("NULL"), "{error}");
}

/// The rooms that a client offers, when each is too small.
const ROOMS: [u16; 8] = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_534];

/// It may be the name or the class that has no room.
#[test]
fn a_server_that_wants_more_room_gets_twice_as_much_up_to_what_16_bits_can_count() {
    for status in [Win32Error::ERROR_MORE_DATA, Win32Error::ERROR_INSUFFICIENT_BUFFER] {
        let too_small = EnumerateRegistryKeyReply {
            name: UnicodeString::with_room(0),
            class: None,
            last_write_time: None,
            status,
        };
        let mut client = RegistryClient::new(Canned::new([opened(), too_small.to_stub().unwrap()]));
        let key = now(client.open_local_machine()).unwrap();
        let error = now(client.enum_key(&key, 0)).unwrap_err();
        assert_eq!(error.status(), Some(status));
        let requests = &client.channel().requests[1..];
        let requests = requests.iter().map(|(_, stub)| EnumerateRegistryKeyRequest::from_stub(stub).unwrap());
        let rooms: Vec<_> = requests
            .map(|request| (request.name.maximum_length, request.class.unwrap().maximum_length))
            .collect();
        assert_eq!(rooms, ROOMS.map(|room| (room, room)));
    }
}

#[test]
fn a_class_that_wants_more_room_gets_it_up_to_what_16_bits_can_count() {
    for status in [Win32Error::ERROR_MORE_DATA, Win32Error::ERROR_INSUFFICIENT_BUFFER] {
        let too_small = info(status).to_stub().unwrap();
        let mut client = RegistryClient::new(Canned::new([opened(), too_small.clone(), counted(7)]));
        let key = now(client.open_local_machine()).unwrap();
        assert_eq!(now(client.query_info_key(&key)).unwrap().sub_keys, 7);
        assert_eq!(client.channel().requests.len(), 3);

        let mut client = RegistryClient::new(Canned::new([opened(), too_small]));
        let key = now(client.open_local_machine()).unwrap();
        assert_eq!(now(client.query_info_key(&key)).unwrap_err().status(), Some(status));
        let requests = &client.channel().requests[1..];
        let rooms = requests
            .iter()
            .map(|(_, stub)| QueryInfoOfRegistryKeyRequest::from_stub(stub).unwrap().class_room.bytes());
        assert_eq!(rooms.collect::<Vec<_>>(), ROOMS);
    }
}
