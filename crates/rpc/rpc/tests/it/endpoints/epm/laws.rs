//! What holds for all values.

use core::net::Ipv4Addr;

use proptest::collection::vec;
use proptest::prelude::*;
use rpc::endpoints::epm::ept::{Ept, EptServer};
use rpc::endpoints::epm::types::{Entry, EptEntry};
use rpc::endpoints::epm::wire::{Binding, Floor, ProtocolId, Tower};
use rpc::ndr::{Reader, Writer};
use rpc::{CallInfo, Direction, Interface, SyntaxId};
use wire::{Encode, Guid, decode, encode_vec};

use crate::endpoints::epm::fixture::{FakeMapper, entry, interface, tcp};

fn syntax_id() -> impl Strategy<Value = SyntaxId> {
    (any::<u128>(), any::<u16>(), any::<u16>())
        .prop_map(|(uuid, major, minor)| SyntaxId::new(Guid::from_u128(uuid), major, minor))
}

fn binding() -> impl Strategy<Value = Binding> {
    let floor = (any::<u8>(), vec(any::<u8>(), 1..4), vec(any::<u8>(), 0..4))
        .prop_map(|(protocol, lhs, rhs)| Floor { protocol: ProtocolId(protocol), lhs, rhs });
    let at = (any::<u32>(), any::<u16>()).prop_map(|(address, port)| (Ipv4Addr::from(address), port));
    prop_oneof![
        at.clone().prop_map(|(address, port)| Binding::Tcp { address, port }),
        at.prop_map(|(address, port)| Binding::Http { address, port }),
        ("[^\0]{0,20}", "[^\0]{0,20}").prop_map(|(host, pipe)| Binding::NamedPipe { host, pipe }),
        "[^\0]{0,20}".prop_map(|endpoint| Binding::Local { endpoint }),
        vec(floor, 0..5).prop_map(Binding::Other),
    ]
}

fn tower() -> impl Strategy<Value = Tower> {
    (syntax_id(), syntax_id(), binding()).prop_map(|(interface, transfer_syntax, binding)| Tower {
        interface,
        transfer_syntax,
        binding,
    })
}

prop_compose! {
    fn any_entry()(
        object in proptest::option::of(1..=u128::MAX),
        tower in tower(),
        annotation in "[\u{1}-\u{ff}]{0,63}",
    ) -> Entry {
        Entry { object: object.map(Guid::from_u128), tower, annotation }
    }
}

/// Bytes that are nearly something.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![6 => 0_u8..4, 1 => any::<u8>()], 0..200)
}

proptest! {
    #[test]
    fn a_tower_is_read_as_it_was_written(tower in tower()) {
        let bytes = encode_vec(&tower).unwrap();
        prop_assert_eq!(bytes.len(), tower.size());
        prop_assert_eq!(decode::<Tower>(&bytes).unwrap(), tower);
    }

    #[test]
    fn a_tower_that_is_changed_is_read_or_refused(
        tower in tower(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = encode_vec(&tower).unwrap();
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(read) = decode::<Tower>(&bytes) {
            prop_assert_eq!(decode::<Tower>(&encode_vec(&read).unwrap()).unwrap(), read);
        }
    }

    #[test]
    fn an_entry_is_read_as_it_was_written(entry in any_entry()) {
        let mut dst = Writer::new();
        dst.write(&EptEntry::try_from(&entry).unwrap()).unwrap();
        let stub = dst.into_stub();
        let read = Reader::new(&stub, "Test").read::<EptEntry>("entry").unwrap();
        prop_assert_eq!(Entry::try_from(read).unwrap(), entry);
    }

    #[test]
    fn what_is_read_is_written_as_it_is(opnum in 0_u16..7, is_request: bool, stub in bytes()) {
        let direction = if is_request { Direction::Request } else { Direction::Reply };
        let _ = decode::<Tower>(&stub);
        if let Some(Ok(Ok(written))) = Ept::recode(direction, opnum, &stub) {
            let again = Ept::recode(direction, opnum, &written).unwrap().unwrap().unwrap();
            prop_assert_eq!(again, written);
        }
    }

    #[test]
    fn no_request_makes_a_server_panic(opnum in 0_u16..7, stub in bytes()) {
        let entries = vec![entry(interface(1), tcp(1))];
        let mut mapper = FakeMapper { entries, ..FakeMapper::default() };
        let _answer = mapper.dispatch(&CallInfo::default(), opnum, &stub);
    }
}
