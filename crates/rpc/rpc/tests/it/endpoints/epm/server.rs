//! What a server's half decides.

use rpc::endpoints::epm::ept::{EptLookupHandleFreeRequest, EptLookupRequest, EptMapRequest, EptServer};
use rpc::endpoints::epm::types::{Entry, InquiryType, Twr, VersionOption};
use rpc::endpoints::epm::wire::{Binding, Tower};
use rpc::ndr::ContextHandle;
use rpc::{CallInfo, ErrorStatus, FaultStatus, Message, RpcIfId, SyntaxId};
use wire::Guid;

use crate::endpoints::epm::fixture::{FakeMapper, OBJECT, bindings, entry, interface, tcp, winreg};

fn lookup(inquiry_type: InquiryType) -> EptLookupRequest {
    EptLookupRequest {
        inquiry_type,
        object: None,
        interface: None,
        versions: VersionOption::RPC_C_VERS_ALL,
        entry_handle: ContextHandle::NULL,
        entries_max: 10,
    }
}

#[test]
fn versions_are_compared_as_the_option_says() {
    let at = |major, minor| SyntaxId::new(OBJECT, major, minor);
    let wanted = at(2, 5);
    let found = [at(1, 9), at(2, 4), at(2, 5), at(2, 6), at(3, 0)];
    let selected = |option: VersionOption| found.map(|found| option.selects(&wanted, &found).unwrap());
    assert_eq!(selected(VersionOption::RPC_C_VERS_ALL), [true; 5]);
    assert_eq!(selected(VersionOption::RPC_C_VERS_COMPATIBLE), [false, false, true, true, false]);
    assert_eq!(selected(VersionOption::RPC_C_VERS_EXACT), [false, false, true, false, false]);
    assert_eq!(selected(VersionOption::RPC_C_VERS_MAJOR_ONLY), [false, true, true, true, false]);
    assert_eq!(selected(VersionOption::RPC_C_VERS_UPTO), [true, true, true, false, false]);
    assert_eq!(VersionOption(0).selects(&wanted, &wanted), None);
}

#[test]
fn an_inquiry_is_about_an_interface_or_an_object_or_both() {
    let object = Some(OBJECT);
    let of_object = Entry { object, ..entry(interface(1), tcp(1)) };
    let entries = [of_object, entry(interface(1), tcp(2)), entry(interface(2), tcp(3))];
    let selected = |request: &EptLookupRequest| -> Vec<bool> {
        entries.iter().map(|entry| request.selects(entry).unwrap()).collect()
    };
    assert_eq!(selected(&lookup(InquiryType::RPC_C_EP_ALL_ELTS)), [true; 3]);
    let interface = Some(Box::new(RpcIfId::from(interface(1))));
    let by = |inquiry_type, object: Option<Guid>| EptLookupRequest {
        interface: interface.clone(),
        object: object.map(Box::new),
        ..lookup(inquiry_type)
    };
    assert_eq!(selected(&by(InquiryType::RPC_C_EP_MATCH_BY_IF, None)), [true, true, false]);
    assert_eq!(selected(&by(InquiryType::RPC_C_EP_MATCH_BY_OBJ, object)), [true, false, false]);
    assert_eq!(selected(&by(InquiryType::RPC_C_EP_MATCH_BY_BOTH, object)), [true, false, false]);
    let null = Some(Guid::NULL);
    assert_eq!(selected(&by(InquiryType::RPC_C_EP_MATCH_BY_BOTH, null)), [false, true, false]);

    let refused = Err(ErrorStatus::EPT_S_CANT_PERFORM_OP);
    let types = [InquiryType::RPC_C_EP_MATCH_BY_IF, InquiryType::RPC_C_EP_MATCH_BY_OBJ, InquiryType(7)];
    for inquiry_type in types {
        assert_eq!(lookup(inquiry_type).selects(&entries[0]), refused, "{inquiry_type}");
    }
    let other = by(InquiryType::RPC_C_EP_MATCH_BY_IF, None);
    assert_eq!(EptLookupRequest { versions: VersionOption(9), ..other }.selects(&entries[0]), refused);
}

#[test]
fn a_tower_serves_who_asks_for_its_interface_by_its_protocol_sequence() {
    let all = bindings();
    for (index, found) in all.iter().enumerate() {
        for (other, wanted) in all.iter().enumerate() {
            let found = Tower::ndr(interface(1), found.clone());
            let serves = found.serves(&Tower::ndr(interface(1), wanted.clone()));
            assert_eq!(serves, index == other, "{found:?} {wanted:?}");
        }
    }
    let found = Tower::ndr(SyntaxId::new(OBJECT, 1, 2), tcp(1));
    let wants = |major, minor| Tower::ndr(SyntaxId::new(OBJECT, major, minor), Binding::ANY_TCP);
    assert!(found.serves(&wants(1, 0)) && found.serves(&wants(1, 2)));
    assert!(!found.serves(&wants(1, 3)) && !found.serves(&wants(2, 0)));
    let ndr64 = Tower { transfer_syntax: SyntaxId::new(OBJECT, 1, 0), ..wants(1, 2) };
    assert!(!found.serves(&ndr64));
}

#[test]
fn an_endpoint_of_an_object_is_for_those_who_ask_for_the_object() {
    let wanted = Tower::ndr(winreg(), Binding::ANY_TCP);
    let request = |object: Option<Guid>| EptMapRequest {
        object: object.map(Box::new),
        map_tower: Some(Box::new(Twr::new(&wanted).unwrap())),
        entry_handle: ContextHandle::NULL,
        towers_max: 2,
    };
    let (of_any, of_object) =
        (entry(winreg(), tcp(1)), Entry { object: Some(OBJECT), ..entry(winreg(), tcp(2)) });
    for (object, expected) in [
        (None, [true, false]),
        (Some(Guid::NULL), [true, false]),
        (Some(OBJECT), [true, true]),
        (Some(Guid::from_u128(9)), [true, false]),
    ] {
        let served = [&of_any, &of_object].map(|entry| request(object).is_served_by(entry, &wanted));
        assert_eq!(served, expected, "{object:?}");
    }
    let towers = [&of_any.tower; 3];
    assert_eq!(request(None).answer(towers).unwrap().count, 2, "as many as there is room for");
    let none = EptMapRequest { map_tower: None, ..request(None) };
    assert_eq!(none.wanted(), Err(ErrorStatus::EPT_S_INVALID_ENTRY));
}

#[test]
fn a_handle_that_is_not_open_and_an_opnum_that_is_not_served_are_faults() {
    let mapper = &mut FakeMapper::default();
    let entry_handle = ContextHandle { attributes: 0, uuid: OBJECT };
    let stub = EptLookupHandleFreeRequest { entry_handle }.to_stub().unwrap();
    let mut call = |opnum, stub: &[u8]| mapper.dispatch(&CallInfo::default(), opnum, stub);
    assert_eq!(call(4, &stub), Err(FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH));
    for opnum in [0, 1, 5, 6, 7] {
        assert_eq!(call(opnum, &stub), Err(FaultStatus::NCA_S_OP_RNG_ERROR), "{opnum}");
    }
    let too_many =
        EptLookupRequest { entries_max: 501, ..lookup(InquiryType::RPC_C_EP_ALL_ELTS) }.to_stub().unwrap();
    assert_eq!(call(2, &too_many), Err(FaultStatus::RPC_S_INVALID_BOUND));
}
