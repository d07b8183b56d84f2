//! What holds for all values.

use ms_dtyp::{FileTime, Guid, Win32Error};
use ms_rrp::types::{AccessMask, KeyHandle, LastWriteTime, UnicodeString};
use ms_rrp::winreg::dispatch;
use ms_rrp::winreg::ops::{EnumKeyReply, EnumKeyRequest, OpenKeyRequest, Request};
use proptest::prelude::*;

use crate::fixture::FakeRegistry;

fn key() -> impl Strategy<Value = KeyHandle> {
    (any::<u32>(), any::<u128>())
        .prop_map(|(attributes, uuid)| KeyHandle { attributes, uuid: Guid::from_u128(uuid) })
}

fn string() -> impl Strategy<Value = UnicodeString> {
    (any::<u16>(), proptest::option::of("[^\0]{0,40}")).prop_map(|(room, text)| {
        let bytes = text.as_ref().map_or(0, |text| 2 * text.encode_utf16().count() + 2);
        UnicodeString { maximum_length: room.max(u16::try_from(bytes).unwrap()), text }
    })
}

proptest! {
    #[test]
    fn a_request_is_read_as_it_was_written(key in key(), index: u32, name_room: u16, class_room: u16, path in "[^\0]{0,60}") {
        let request = EnumKeyRequest { key, index, name_room, class_room };
        prop_assert_eq!(EnumKeyRequest::from_stub(&request.to_stub().unwrap()).unwrap(), request);
        let request = OpenKeyRequest { key, sub_key: path, sam_desired: AccessMask(index) };
        prop_assert_eq!(OpenKeyRequest::from_stub(&request.to_stub().unwrap()).unwrap(), request);
    }

    #[test]
    fn a_reply_is_read_as_it_was_written(
        name in string(),
        class in proptest::option::of(string()),
        time in proptest::option::of(any::<u64>()),
        status: u32,
    ) {
        let last_write_time = time.map(|time| LastWriteTime(FileTime(time)));
        let reply = EnumKeyReply { name, class, last_write_time, status: Win32Error(status) };
        prop_assert_eq!(EnumKeyReply::from_stub(&reply.to_stub().unwrap()).unwrap(), reply);
    }

    #[test]
    fn no_request_makes_a_server_panic(opnum in 0_u16..20, stub in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _answer = dispatch(&mut FakeRegistry::default(), opnum, &stub);
    }
}
