//! The client's walk of a map, and what it asks of a mapping.

use rpc::endpoints::epm::ept::{EndpointMapper, EptLookupReply, EptMapReply, Inquiry, Limits};
use rpc::endpoints::epm::types::{Entry, EptEntry, Twr, VersionOption};
use rpc::endpoints::epm::wire::{Binding, Tower};
use rpc::ndr::{ConformantVarying, ContextHandle, FixedString};
use rpc::{ErrorStatus, Message};
use test_support::future::now;
use wire::Guid;

use crate::endpoints::epm::fixture::{
    FakeMapper, Loop, OBJECT, Script, bindings, entry, interface, tcp, winreg,
};

fn mapper(count: u16) -> FakeMapper {
    let entries = (0..count).map(|number| entry(interface(number), tcp(1000 + number))).collect();
    FakeMapper { entries, ..FakeMapper::default() }
}

const PAGES_OF_TWO: Limits = Limits { entries_max: 100, pages_max: 10, page_entries: 2, towers_max: 4 };

#[test]
fn a_map_is_read_in_pages_to_its_end() {
    for count in [0, 1, 2, 3, 5] {
        let mut host = mapper(count);
        let mut client = EndpointMapper::new(Loop(&mut host)).with_limits(PAGES_OF_TWO);
        let map = now(client.lookup(Inquiry::All)).unwrap();
        assert_eq!((map.is_whole, map.unreadable), (true, 0));
        assert_eq!(map.entries, host.entries, "{count}");
        assert_eq!((host.lookups, host.open.len()), (u32::from(count).div_ceil(2).max(1), 0));
    }
}

#[test]
fn a_map_of_more_entries_or_pages_than_the_limits_is_read_in_part_and_ended() {
    for (limits, expected) in [
        (Limits { entries_max: 3, ..PAGES_OF_TWO }, 3),
        (Limits { entries_max: 4, ..PAGES_OF_TWO }, 4),
        (Limits { pages_max: 2, ..PAGES_OF_TWO }, 4),
    ] {
        let mut host = mapper(9);
        let map = now(EndpointMapper::new(Loop(&mut host)).with_limits(limits).lookup(Inquiry::All)).unwrap();
        assert_eq!((map.entries.len(), map.is_whole), (expected, false), "{limits:?}");
        assert!(host.open.is_empty(), "the lookup is ended at the server");
    }
}

#[test]
fn a_server_that_answers_nothing_for_ever_is_left_after_a_number_of_pages() {
    let entry_handle = ContextHandle { attributes: 0, uuid: OBJECT };
    let entries = ConformantVarying { max_count: 2, elements: Vec::new() };
    let nothing = EptLookupReply { entry_handle, count: 0, entries, status: ErrorStatus::RPC_S_OK };
    let mut calls = Vec::new();
    let answers = [nothing.to_stub().unwrap()].into();
    let channel = Script { answers, calls: &mut calls };
    let map = now(EndpointMapper::new(channel).with_limits(PAGES_OF_TWO).lookup(Inquiry::All)).unwrap();
    assert_eq!((map.entries.len(), map.is_whole), (0, false));
    let opnums: Vec<u16> = calls.iter().map(|(opnum, _)| *opnum).collect();
    assert_eq!(opnums, [[2; 10].as_slice(), &[4]].concat());
}

#[test]
fn entries_that_come_with_the_end_are_taken_and_unreadable_ones_are_counted() {
    let good = entry(interface(1), tcp(7));
    let odd = |tower: Option<Twr>| EptEntry {
        object: Guid::NULL,
        tower: tower.map(Box::new),
        annotation: FixedString::default(),
    };
    let no_tower = Twr { tower_length: 3, tower_octet_string: vec![9, 9, 9] };
    let elements = vec![EptEntry::try_from(&good).unwrap(), odd(Some(no_tower)), odd(None)];
    let last = EptLookupReply {
        entry_handle: ContextHandle::NULL,
        count: 3,
        entries: ConformantVarying { max_count: 100, elements },
        status: ErrorStatus::EPT_S_NOT_REGISTERED,
    };
    let mut calls = Vec::new();
    let channel = Script { answers: [last.to_stub().unwrap()].into(), calls: &mut calls };
    let map = now(EndpointMapper::new(channel).lookup(Inquiry::All)).unwrap();
    assert_eq!((map.entries, map.unreadable, map.is_whole), (vec![good], 2, true));
    assert_eq!(calls.len(), 1);
}

#[test]
fn a_lookup_that_fails_says_so_and_is_ended() {
    let entry_handle = ContextHandle { attributes: 0, uuid: OBJECT };
    let reply = |status| EptLookupReply {
        entry_handle,
        count: 0,
        entries: ConformantVarying { max_count: 2, elements: Vec::new() },
        status,
    };
    for second in [reply(ErrorStatus::EPT_S_CANT_PERFORM_OP).to_stub().unwrap(), vec![1, 2, 3]] {
        let mut calls = Vec::new();
        let first = reply(ErrorStatus::RPC_S_OK).to_stub().unwrap();
        let channel = Script { answers: [first, second].into(), calls: &mut calls };
        let error = now(EndpointMapper::new(channel).lookup(Inquiry::All)).unwrap_err();
        assert!(error.to_string().starts_with("ept lookup: "), "{error}");
        let opnums: Vec<u16> = calls.iter().map(|(opnum, _)| *opnum).collect();
        assert_eq!(opnums, [2, 2, 4]);
        assert_eq!(calls[2].1[4..], OBJECT.to_bytes());
    }
}

#[test]
fn a_lookup_can_be_about_one_interface() {
    let mut host = mapper(5);
    host.entries.push(entry(interface(3), bindings().remove(2)));
    let inquiry = Inquiry::Interface(interface(3), VersionOption::RPC_C_VERS_COMPATIBLE);
    let map = now(EndpointMapper::new(Loop(&mut host)).lookup(inquiry)).unwrap();
    assert_eq!(map.entries, [host.entries[3].clone(), host.entries[5].clone()]);
}

#[test]
fn the_port_of_an_interface_is_that_of_its_first_tower_over_tcp() {
    let mut host = mapper(2);
    host.entries.extend(bindings().into_iter().map(|binding| entry(winreg(), binding)));
    host.entries.push(Entry { object: Some(OBJECT), ..entry(winreg(), tcp(9)) });
    host.entries.push(entry(winreg(), tcp(10)));
    let mut client = EndpointMapper::new(Loop(&mut host));
    assert_eq!(now(client.tcp_port(winreg())).unwrap(), Some(49664));
    assert_eq!(now(client.tcp_port(interface(7))).unwrap(), None);
    let pipe = Tower::ndr(winreg(), Binding::NamedPipe { host: String::new(), pipe: String::new() });
    assert_eq!(now(client.map(&pipe)).unwrap(), [Tower::ndr(winreg(), bindings().remove(2))]);
}

#[test]
fn a_mapping_that_was_not_asked_for_and_one_to_no_port_are_not_believed() {
    let towers = [
        Tower::ndr(interface(1), tcp(7)),
        Tower::ndr(winreg(), bindings().remove(1)),
        Tower::ndr(winreg(), tcp(0)),
    ];
    let mut elements: Vec<_> = towers.iter().map(|tower| Some(Box::new(Twr::new(tower).unwrap()))).collect();
    elements.push(None);
    let reply = EptMapReply {
        entry_handle: ContextHandle { attributes: 0, uuid: OBJECT },
        count: 4,
        towers: ConformantVarying { max_count: 32, elements },
        status: ErrorStatus::RPC_S_OK,
    };
    let mut calls = Vec::new();
    let answers = [reply.to_stub().unwrap()].into();
    let mut client = EndpointMapper::new(Script { answers, calls: &mut calls });
    assert_eq!(now(client.tcp_port(winreg())).unwrap(), None);
    assert_eq!(calls.iter().map(|(opnum, _)| *opnum).collect::<Vec<_>>(), [3, 4], "its handle is given back");
}

#[test]
fn a_mapping_that_fails_says_so() {
    let status = ErrorStatus::EPT_S_NO_MEMORY;
    let towers = ConformantVarying { max_count: 32, elements: Vec::new() };
    let reply = EptMapReply { entry_handle: ContextHandle::NULL, count: 0, towers, status };
    let mut calls = Vec::new();
    let answers = [reply.to_stub().unwrap()].into();
    let mut client = EndpointMapper::new(Script { answers, calls: &mut calls });
    let error = now(client.tcp_port(winreg())).unwrap_err();
    assert_eq!(error.to_string(), "ept map: EPT_S_NO_MEMORY");
}
