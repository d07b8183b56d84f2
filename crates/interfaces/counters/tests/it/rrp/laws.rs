//! What holds for all values.

use counters::rrp::types::{AccessMask, KeyHandle, UnicodeString};
use counters::rrp::winreg::{
    EnumerateRegistryKeyReply, EnumerateRegistryKeyRequest, OpenRegistryKeyRequest, WinregServer,
};
use proptest::prelude::*;
use rpc::{CallInfo, FromStub, Message};
use wire::{FileTime, Guid, Win32Error};

use crate::rrp::fixture::FakeRegistry;

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
    fn a_request_is_read_as_it_was_written(
        key in key(),
        index: u32,
        name in string(),
        class in proptest::option::of(string()),
        sub_key in string(),
    ) {
        let class = class.map(Box::new);
        let request = EnumerateRegistryKeyRequest { key, index, name, class, last_write_time: None };
        prop_assert_eq!(EnumerateRegistryKeyRequest::from_stub(&request.to_stub().unwrap()).unwrap(), request);
        let request = OpenRegistryKeyRequest { key, sub_key, options: index, sam_desired: AccessMask(index) };
        prop_assert_eq!(OpenRegistryKeyRequest::from_stub(&request.to_stub().unwrap()).unwrap(), request);
    }

    #[test]
    fn a_reply_is_read_as_it_was_written(
        name in string(),
        class in proptest::option::of(string()),
        time in proptest::option::of(any::<u64>()),
        status: u32,
    ) {
        let last_write_time = time.map(|time| Box::new(FileTime(time)));
        let class = class.map(Box::new);
        let reply = EnumerateRegistryKeyReply { name, class, last_write_time, status: Win32Error(status) };
        prop_assert_eq!(EnumerateRegistryKeyReply::from_stub(&reply.to_stub().unwrap()).unwrap(), reply);
    }

    #[test]
    fn no_request_makes_a_server_panic(opnum in 0_u16..20, stub in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _answer = FakeRegistry::default().dispatch(&CallInfo::default(), opnum, &stub);
    }
}
