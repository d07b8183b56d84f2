//! Bytes that others wrote; each file says who.

use core::net::Ipv4Addr;

use rpc::endpoints::epm::ept::{
    Ept, EptLookupHandleFreeReply, EptLookupReply, EptLookupRequest, EptMapReply, EptMapRequest,
};
use rpc::endpoints::epm::types::{Entry, InquiryType, VersionOption};
use rpc::endpoints::epm::wire::{Binding, Tower};
use rpc::ndr::ContextHandle;
use rpc::{Direction, ErrorStatus, FromStub, Interface, RpcIfId, SyntaxId};

use crate::endpoints::epm::fixture::winreg;
use crate::endpoints::epm::hex;

macro_rules! data {
    ($name:literal) => {
        hex(include_str!(concat!("../../../data/endpoints/epm/", $name, ".hex")))
    };
}

fn pipe(pipe: &str) -> Binding {
    Binding::NamedPipe { host: String::new(), pipe: pipe.to_owned() }
}

fn entries(reply: EptLookupReply) -> Vec<Entry> {
    reply.entries.elements.into_iter().map(|entry| entry.try_into().unwrap()).collect()
}

#[test]
fn a_page_of_sambas_map_is_read_and_written_as_samba_wrote_it() {
    let stub = data!("response_lookup");
    let reply = EptLookupReply::from_stub(&stub).unwrap();
    assert_eq!((reply.count, reply.entries.max_count, reply.status), (3, 3, ErrorStatus::RPC_S_OK));
    assert!(!reply.entry_handle.is_null());
    let entries = entries(reply);
    let shown: Vec<_> =
        entries.iter().map(|entry| (&*entry.annotation, entry.tower.binding.to_string())).collect();
    let expected = [("eventlog", "eventlog"), ("ntsvcs", "ntsvcs"), ("ntsvcs", "plugplay")];
    assert_eq!(shown, expected.map(|(name, pipe)| (name, format!(r"ncacn_np:[\pipe\{pipe}]"))));
    let eventlog = SyntaxId::new("82273fdc-e32a-18c3-3f78-827929dc23ea".parse().unwrap(), 0, 0);
    assert_eq!(entries[0].tower, Tower::ndr(eventlog, pipe(r"\pipe\eventlog")));
    assert_eq!(entries[0].object, None);
    // But for the names of referents, which everybody chooses, and the padding.
    let again = Ept::recode(Direction::Reply, 2, &stub).unwrap().unwrap().unwrap();
    assert_eq!(again.len(), stub.len());
    assert_eq!(EptLookupReply::from_stub(&again), EptLookupReply::from_stub(&stub));
}

#[test]
fn the_last_page_of_sambas_map_has_entries_and_says_that_there_are_no_more() {
    let reply = EptLookupReply::from_stub(&data!("response_lookup_rest")).unwrap();
    assert_eq!((reply.count, reply.entry_handle), (35, ContextHandle::NULL));
    assert_eq!(reply.status, ErrorStatus::EPT_S_NOT_REGISTERED);
    let bindings = entries(reply).into_iter().map(|entry| entry.tower.binding);
    let other = bindings.clone().filter(|binding| matches!(binding, Binding::Other(_)));
    assert_eq!(other.collect::<Vec<_>>(), [], "all are of protocol sequences that are known");
    let count = |is: fn(&Binding) -> bool| bindings.clone().filter(is).count();
    assert!(count(|binding| matches!(binding, Binding::Tcp { port: 49152.., .. })) > 3);
    assert!(count(|binding| matches!(binding, Binding::Local { endpoint } if !endpoint.is_empty())) > 3);
}

#[test]
fn where_samba_says_that_an_interface_is_is_read_and_written_as_samba_wrote_it() {
    let stub = data!("response_map_tcp");
    let reply = EptMapReply::from_stub(&stub).unwrap();
    let tower = reply.towers.elements[0].as_ref().unwrap().tower().unwrap();
    let binding = Binding::Tcp { address: Ipv4Addr::LOCALHOST, port: 49152 };
    assert_eq!(tower, Tower::ndr(winreg(), binding));
    let mut again = Ept::recode(Direction::Reply, 3, &stub).unwrap().unwrap().unwrap();
    // The name of the referent, which everybody chooses.
    let referent = 20 /* entry_handle */ + 4 /* num_towers */ + 3 * 4 /* max_count, offset, actual_count */;
    again[referent..referent + 4].copy_from_slice(&stub[referent..referent + 4]);
    assert_eq!(again, stub);

    let reply = EptMapReply::from_stub(&data!("response_map_pipe")).unwrap();
    let tower = reply.towers.elements[0].as_ref().unwrap().tower().unwrap();
    assert_eq!(tower.binding, pipe(r"\pipe\winreg"));

    let reply = EptMapReply::from_stub(&data!("response_map_none")).unwrap();
    assert_eq!((reply.count, reply.status), (0, ErrorStatus::EPT_S_NOT_REGISTERED));
    let freed = EptLookupHandleFreeReply::from_stub(&data!("response_lookup_handle_free")).unwrap();
    assert_eq!((freed.entry_handle.is_null(), freed.status), (false, ErrorStatus::RPC_S_OK));
}

#[test]
fn requests_of_impacket_are_read() {
    let all = EptLookupRequest::from_stub(&data!("request_lookup")).unwrap();
    let expected = EptLookupRequest {
        inquiry_type: InquiryType::RPC_C_EP_ALL_ELTS,
        object: None,
        interface: None,
        versions: VersionOption::RPC_C_VERS_ALL,
        entry_handle: ContextHandle::NULL,
        entries_max: 3,
    };
    assert_eq!(all, expected);
    let of_interface = EptLookupRequest::from_stub(&data!("request_lookup_interface")).unwrap();
    let expected = EptLookupRequest {
        inquiry_type: InquiryType::RPC_C_EP_MATCH_BY_IF,
        interface: Some(Box::new(RpcIfId::from(winreg()))),
        versions: VersionOption::RPC_C_VERS_COMPATIBLE,
        entries_max: 5,
        ..expected
    };
    assert_eq!(of_interface, expected);
    let map = EptMapRequest::from_stub(&data!("request_map_tcp")).unwrap();
    assert_eq!((map.wanted(), map.towers_max), (Ok(Tower::ndr(winreg(), Binding::ANY_TCP)), 4));
    let map = EptMapRequest::from_stub(&data!("request_map_pipe")).unwrap();
    let host = "127.0.0.1".to_owned();
    let binding = Binding::NamedPipe { host, pipe: String::new() };
    assert_eq!(map.wanted(), Ok(Tower::ndr(winreg(), binding)));
}
