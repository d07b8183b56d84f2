//! Bytes that others wrote or read; each file says which.

use counters::rrp::PROVIDERS_KEY;
use counters::rrp::types::{AccessMask, Room, UnicodeString};
use counters::rrp::winreg::{
    CloseRegistryKeyRequest, EnumerateRegistryKeyReply, EnumerateRegistryKeyRequest, OpenLocalMachineRequest,
    OpenRegistryKeyRequest, QueryInfoOfRegistryKeyRequest, RegistryClient,
};
use rpc::{FromStub, Message};
use test_support::future::now;
use wire::{Guid, Win32Error};

use crate::rrp::fixture::{Canned, KEY, enumerate};
use crate::rrp::hex;

macro_rules! data {
    ($name:literal) => {
        hex(include_str!(concat!("../../data/rrp/", $name, ".hex")))
    };
}

#[test]
fn requests_of_impacket_are_read() {
    let request = OpenLocalMachineRequest::from_stub(&data!("request_open_local_machine")).unwrap();
    assert_eq!(request.sam_desired, AccessMask::MAXIMUM_ALLOWED);
    let request = OpenRegistryKeyRequest::from_stub(&data!("request_open_key")).unwrap();
    assert_eq!(request.sub_key.as_str(), PROVIDERS_KEY);
    assert_eq!((request.key, request.options, request.sam_desired), (KEY, 0, AccessMask::KEY_READ));
    let request = EnumerateRegistryKeyRequest::from_stub(&data!("request_enum_key")).unwrap();
    let rooms = (request.name.maximum_length, request.class.unwrap().maximum_length);
    assert_eq!((request.key, request.index, rooms), (KEY, 1, (1024, 128)));
    let request = QueryInfoOfRegistryKeyRequest::from_stub(&data!("request_query_info_key")).unwrap();
    assert_eq!(request, QueryInfoOfRegistryKeyRequest { key: KEY, class_room: Room::new(1024) });
    assert_eq!(
        CloseRegistryKeyRequest::from_stub(&data!("request_close_key")).unwrap(),
        CloseRegistryKeyRequest { key: KEY }
    );
}

#[test]
fn requests_are_written_as_impacket_writes_them() {
    let root = OpenLocalMachineRequest { server_name: None, sam_desired: AccessMask::MAXIMUM_ALLOWED };
    assert_eq!(root.to_stub().unwrap(), data!("request_open_local_machine"));
    let close = CloseRegistryKeyRequest { key: KEY };
    assert_eq!(close.to_stub().unwrap(), data!("request_close_key"));
    let (sub_key, sam_desired) = (UnicodeString::new(PROVIDERS_KEY), AccessMask::KEY_READ);
    let open = OpenRegistryKeyRequest { key: KEY, sub_key, options: 0, sam_desired };
    let (ours, theirs) = (open.to_stub().unwrap(), data!("request_open_key"));
    // But for the number that stands for the pointer, which is free.
    assert_eq!(ours[..24], theirs[..24]);
    assert_eq!(ours[28..], theirs[28..]);
}

/// But for the class: impacket sends a text of blanks, and we an empty one. The numbers of the pointers are free.
#[test]
fn the_name_and_class_of_a_subkey_are_offered_room_as_impacket_offers_it() {
    let request = enumerate(1, 1024, 128);
    let (ours, theirs) = (request.to_stub().unwrap(), data!("request_enum_key"));
    // The key, the index, Length and MaximumLength of the name; its max_count, offset, actual_count.
    assert_eq!(ours[..28], theirs[..28]);
    assert_eq!(ours[32..44], theirs[32..44]);
    // Pointers to the class and its buffer; Length, MaximumLength; max_count, offset, actual_count.
    assert!(ours[44..48] != [0; 4] && ours[52..56] != [0; 4]);
    assert_eq!((&ours[48..52], &theirs[48..52]), (&[0, 0, 128, 0][..], &[128, 0, 128, 0][..]));
    assert_eq!((&ours[56..60], &ours[60..68]), (&theirs[56..60], &[0; 8][..]));
    // No pointer to a time.
    assert_eq!((&ours[68..], &theirs[theirs.len() - 4..]), (&[0; 4][..], &[0; 4][..]));
}

/// But for the NUL in the buffer, without which Samba refuses it; the number of the pointer is free.
#[test]
fn the_class_of_a_key_is_offered_room_as_impacket_offers_it() {
    let ours = QueryInfoOfRegistryKeyRequest { key: KEY, class_room: Room::new(1024) }.to_stub().unwrap();
    let theirs = data!("request_query_info_key");
    assert_eq!(ours[..20], theirs[..20]);
    // Length, MaximumLength; max_count, offset, actual_count.
    assert_eq!((&ours[20..24], &theirs[20..24]), (&[2, 0, 0, 4][..], &[0, 0, 0, 4][..]));
    assert_eq!(ours[28..36], theirs[28..36]);
    assert_eq!((&ours[36..], &theirs[36..]), (&[1, 0, 0, 0, 0, 0][..], &[0; 4][..]));
}

#[test]
fn a_conversation_with_samba_is_understood() {
    let mut client = RegistryClient::new(Canned::new([
        data!("response_open_local_machine"),
        data!("response_open_key"),
        data!("response_query_info_key"),
        data!("response_enum_key"),
        data!("response_enum_key_end"),
        data!("response_open_key_missing"),
        data!("response_close_key"),
    ]));
    let root = now(client.open_local_machine()).unwrap();
    assert_eq!(root.handle().attributes, 1);
    assert_eq!(root.handle().uuid, "a01d1d8b-d537-4811-a52f-83818230bbc3".parse::<Guid>().unwrap());
    let key = now(client.open_key(&root, r"SOFTWARE\Microsoft\Windows NT\CurrentVersion")).unwrap();
    assert_ne!(key, root);
    let info = now(client.query_info_key(&key)).unwrap();
    assert_eq!((info.sub_keys, info.sub_key_bytes_max), (5, 24));
    assert_eq!(now(client.enum_key(&key, 0)).unwrap().as_deref(), Some("Print"));
    assert_eq!(now(client.enum_key(&key, 5)).unwrap(), None);
    let missing = now(client.open_key(&key, "Nothing")).unwrap_err();
    assert_eq!(missing.status(), Some(Win32Error::ERROR_FILE_NOT_FOUND));
    assert_eq!(missing.to_string(), "open registry key: ERROR_FILE_NOT_FOUND");
    now(client.close_key(key)).unwrap();
}

#[test]
fn a_name_is_written_as_samba_writes_it() {
    let stub = data!("response_enum_key");
    let reply = EnumerateRegistryKeyReply::from_stub(&stub).unwrap();
    let written = reply.to_stub().unwrap();
    // But for the number that stands for the pointer, which is free.
    assert_eq!(written[..4], stub[..4]);
    assert_eq!(written[8..32], stub[8..32]);
    assert_eq!(&stub[20..32], b"P\0r\0i\0n\0t\0\0\0");
}
