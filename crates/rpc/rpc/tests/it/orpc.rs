use proptest::prelude::*;
use rpc::ndr::{Reader, Writer};
use rpc::orpc::{
    ComVersion, EXTENTS_MAX, ObjectInterface, OrpcExtent, OrpcExtentArray, OrpcThat, OrpcThis, Proxy,
    read_reply, reply_stub, request_stub,
};
use rpc::{CallInfo, Direction, Error, FaultStatus, Interface, Message};
use test_support::future::now;
use wire::{Guid, HResult};

use crate::lamp::{
    DimReply, DimRequest, DimSlowlyRequest, GetBrightnessReply, GetBrightnessRequest, GetCallerRequest,
    IDimmer, IDimmer2, IDimmer3, ILamp, IPID, Lamp, Wire,
};

const CID: Guid = Guid::from_u128(u128::MAX);

fn dimmer(wire: Wire) -> Proxy<Wire, IDimmer3> {
    Proxy::new(wire, IPID, ComVersion::V5_7, CID)
}

fn dispatch(lamp: &mut Lamp, this: &OrpcThis<'_>) -> Result<Vec<u8>, FaultStatus> {
    let call = CallInfo { object: Some(IPID), ..CallInfo::default() };
    IDimmer::dispatch(lamp, &call, 3, &request_stub(this, &GetBrightnessRequest {}).unwrap())
}

fn this(minor: u16) -> OrpcThis<'static> {
    OrpcThis::new(ComVersion { major: 5, minor }, CID)
}

#[test]
fn a_proxy_calls_the_methods_of_its_interface_and_of_those_that_it_inherits() {
    let mut dimmer = dimmer(Wire::default());
    assert_eq!(now(dimmer.call(&DimRequest { brightness: 7 })).unwrap().before, 3);
    assert_eq!(now(dimmer.call(&GetBrightnessRequest {})).unwrap().brightness, 7);
    let error = now(dimmer.call(&DimRequest { brightness: 11 })).unwrap_err();
    assert_eq!(error.to_string(), "dim: E_INVALIDARG");
    assert_eq!(dimmer.channel().lamp.called, ["Dim", "GetBrightness", "Dim"]);
}

#[test]
fn each_call_names_the_object_the_version_and_a_causality_of_its_own() {
    let mut dimmer = dimmer(Wire::default());
    // Success with another answer is success.
    assert_eq!(now(dimmer.call(&GetCallerRequest {})).unwrap().cid, CID);
    assert_eq!(now(dimmer.call(&GetCallerRequest {})).unwrap().cid, Guid::from_u128(0));
    let header: Vec<u8> = [&[5, 0, 7, 0][..], &[0; 8], &[0xff; 16], &[0; 4]].concat();
    assert_eq!(dimmer.channel().stubs[0], header);

    let mut stranger: Proxy<_, ILamp> =
        Proxy::new(Wire::default(), Guid::from_u128(2), ComVersion::V5_6, CID);
    let error = now(stranger.call(&GetCallerRequest {})).unwrap_err();
    assert!(matches!(error, Error::Call { source: FaultStatus::RPC_E_DISCONNECTED, .. }), "{error}");
}

#[test]
fn an_interface_knows_the_methods_that_it_inherits() {
    assert_eq!(IDimmer3::SYNTAX_ID.to_string(), "0a74ef1c-41a4-4e06-83ae-dc74fb1cdd57 v0.0");
    assert_eq!(IDimmer3::IID, IDimmer3::SYNTAX_ID.uuid);
    let names = |methods: &[rpc::Method]| methods.iter().map(|method| method.name).collect::<Vec<_>>();
    assert_eq!((names(IDimmer3::METHODS), names(IDimmer2::METHODS)), (vec!["DimSlowly"], vec![]));
    let inherited = [3, 5, 6, 9].map(|opnum| IDimmer3::method(opnum).unwrap());
    assert_eq!(inherited.map(|method| method.interface), ["ILamp", "ILamp", "IDimmer", "IDimmer3"]);
    assert_eq!((IDimmer3::method(4), IDimmer3::method(0), IDimmer::method(9)), (None, None, None));
    assert_eq!([ILamp::OPNUMS_END, IDimmer2::OPNUMS_END, IDimmer3::OPNUMS_END], [6, 7, 10]);
}

#[test]
fn what_an_object_does_not_have_is_an_opnum_out_of_range() {
    let mut dimmer = dimmer(Wire::default());
    let error = now(dimmer.call(&DimSlowlyRequest { brightness: 1, ms: 2 })).unwrap_err();
    assert!(matches!(error, Error::Call { source: FaultStatus::NCA_S_OP_RNG_ERROR, .. }), "{error}");
    let stub = request_stub(&this(7), &DimRequest { brightness: 1 }).unwrap();
    for opnum in [0, 1, 2, 4, 7, 9, u16::MAX] {
        let answer = IDimmer2::dispatch(&mut Lamp::default(), &CallInfo::default(), opnum, &stub);
        assert_eq!(answer, Err(FaultStatus::NCA_S_OP_RNG_ERROR), "{opnum}");
    }
}

#[test]
fn a_later_version_or_another_major_one_is_refused_before_the_parameters_are_read() {
    let old = &mut Lamp { version: ComVersion::V5_6, ..Lamp::default() };
    let reply = dispatch(old, &this(1)).unwrap();
    assert_eq!(read_reply::<GetBrightnessReply>(&reply).unwrap().1.brightness, 3);
    dispatch(old, &this(6)).unwrap();
    assert_eq!(dispatch(old, &this(7)), Err(FaultStatus::RPC_E_VERSION_MISMATCH));
    let other = OrpcThis::new(ComVersion { major: 6, minor: 0 }, CID);
    assert_eq!(dispatch(old, &other), Err(FaultStatus::RPC_E_VERSION_MISMATCH));
    let mut header = Writer::new();
    header.write(&this(8)).unwrap();
    let answer = IDimmer::dispatch(old, &CallInfo::default(), 6, &header.into_stub());
    assert_eq!(answer, Err(FaultStatus::RPC_E_VERSION_MISMATCH));
    assert_eq!(old.called, ["GetBrightness"; 2]);
}

#[test]
fn flags_before_a_request_are_refused_and_extents_are_not() {
    let lamp = &mut Lamp::default();
    let mut header = this(7);
    header.flags = 1;
    assert_eq!(dispatch(lamp, &header), Err(FaultStatus::RPC_E_INVALID_HEADER));
    let extent = OrpcExtent::new(Guid::from_u128(9), b"context").unwrap();
    let extensions = Some(Box::new(OrpcExtentArray::new(vec![extent]).unwrap()));
    dispatch(lamp, &OrpcThis { extensions, ..this(7) }).unwrap();
}

#[test]
fn versions_are_spoken_down_and_the_unused_ones_never() {
    let minor = |minor| ComVersion { major: 5, minor };
    let spoken: Vec<_> =
        (1..9).map(|server| ComVersion::V5_7.negotiate(minor(server)).unwrap().minor).collect();
    assert_eq!(spoken, [1, 2, 2, 4, 4, 6, 7, 7]);
    assert_eq!(ComVersion::V5_1.negotiate(ComVersion::V5_7), Some(ComVersion::V5_1));
    assert_eq!(ComVersion::V5_7.negotiate(ComVersion { major: 4, minor: 7 }), None);
    assert_eq!(ComVersion::V5_6.to_string(), "5.6");
}

#[test]
fn extents_come_with_a_reply_and_the_parameters_behind_them_are_read() {
    let reply = DimReply { before: 5, status: HResult::S_OK };
    let extents = [(1, &b"twelve bytes"[..]), (2, &b"sixteen bytes ok"[..]), (3, &b""[..])];
    for count in 0..=extents.len() {
        let extents = extents[..count].iter();
        let made = extents.map(|&(id, data)| OrpcExtent::new(Guid::from_u128(id), data).unwrap());
        let that = OrpcThat::with_extents(made.collect()).unwrap();
        let stub = reply_stub(&that, &reply).unwrap();
        let (read, again) = read_reply::<DimReply>(&stub).unwrap();
        assert_eq!((&read, &again), (&that, &reply));
        assert_eq!(read.extent(Guid::from_u128(1)), (count > 0).then_some(&b"twelve bytes"[..]));
        assert_eq!(read.extent(Guid::from_u128(3)), (count > 2).then_some(&b""[..]));
    }
    let too_many = vec![OrpcExtent::new(CID, b"").unwrap(); 65];
    assert!(OrpcThat::with_extents(too_many).is_err());
}

/// ORPCTHAT with an array of one extent: pointer; size, reserved, pointer; max_count, pointers; the extent.
fn extended(size: u32, max_count: u32, extent_size: u32, extent_max_count: u32) -> Vec<u8> {
    let words = [0, 1, size, 7, 2, max_count, 3, 0, extent_max_count, 0, 0, 0, 0, extent_size, 0, 0];
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn counts_of_extents_that_contradict_each_other_or_are_too_large_are_refused() {
    let read = |stub: &[u8]| {
        let read = Reader::new(stub, "Test").read::<OrpcThat<'_>>("ORPCTHAT");
        read.map(|that| that.extent(Guid::NULL).map(<[u8]>::len)).map_err(|error| error.to_string())
    };
    assert_eq!(read(&extended(1, 2, 5, 8)), Ok(Some(5)));
    let check = |stub: &[u8], expected: &str| {
        let error = read(stub).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    check(&extended(1, 1, 5, 8), "ORPC_EXTENT_ARRAY: `extent`: max_count is not even (size)");
    check(&extended(1, 2, 9, 8), "ORPC_EXTENT: `data`: max_count is not padded (size)");
    check(&extended(1, 2, u32::MAX, 8), "max_count is not padded");
    check(&extended(1, 2, 5, u32::MAX), "4294967295 bytes needed at offset 56, 8 there");
    check(&extended(EXTENTS_MAX + 1, 2, 5, 8), "`size`: 65 is outside of the range 0 to 64");
    check(&extended(1, u32::MAX, 5, 8), "limit");
}

#[test]
fn a_reply_that_ends_early_says_where() {
    let stub = reply_stub(&OrpcThat::default(), &DimReply { before: 5, status: HResult::S_OK }).unwrap();
    let proxy = dimmer(Wire::default());
    for end in 0..stub.len() {
        let error = proxy.decode(&DimRequest { brightness: 1 }, &stub[..end]).unwrap_err();
        assert!(matches!(error, Error::Stub { .. }), "{end}: {error}");
    }
    // Old servers append bytes that mean nothing.
    let stub = [&stub[..], &[0xaa; 5]].concat();
    assert_eq!(proxy.decode(&DimRequest { brightness: 1 }, &stub).unwrap().1.before, 5);
    assert_eq!(DimRequest::METHOD.opnum, 6);
}

proptest! {
    #[test]
    fn what_is_read_is_written_as_it_is_and_no_bytes_panic(
        opnum in 0_u16..13,
        is_request: bool,
        stub in proptest::collection::vec(prop_oneof![4 => 0_u8..4, 1 => any::<u8>()], 0..150),
    ) {
        let direction = if is_request { Direction::Request } else { Direction::Reply };
        if let Some(Ok(Ok(written))) = IDimmer3::recode(direction, opnum, &stub) {
            let again = IDimmer3::recode(direction, opnum, &written).unwrap().unwrap().unwrap();
            prop_assert_eq!(again, written);
        }
        let call = CallInfo { object: Some(IPID), ..CallInfo::default() };
        let _answer = IDimmer3::dispatch(&mut Lamp::default(), &call, opnum, &stub);
    }
}
