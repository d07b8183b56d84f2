//! Stubs that another implementation wrote or read; each file says which.

use rpc::ndr::{Conformant, ConformantVarying, InterfacePointer, NdrDecode, NdrEncode, Reader, Writer};
use wire::Guid;

use crate::ndr::hex;
use crate::ndr::structures::{
    Container, DualStringArray, Holder, Info, Item, Leaf, Mixed, Pickled, PolicyInformation, RpcSid, Tree,
    text,
};

fn container() -> Container {
    let items = vec![
        Item { name: text("IPC$"), kind: 3, remark: text("Remote IPC") },
        Item { name: text("C$"), kind: 0, remark: None },
    ];
    Container { count: 2, buffer: Some(Box::new(Conformant(items))), next: 0xdead_beef }
}

#[test]
fn embedded_pointers_follow_the_outermost_construct_in_order() {
    let stub = hex(include_str!("../../data/ndr/container.hex"));
    let src = &mut Reader::new(&stub, "Call");
    assert_eq!(src.read::<Container>("c").unwrap(), container());
    assert_eq!(src.read::<u16>("tail").unwrap(), 0x1234);
    assert_eq!(src.remaining(), []);
}

#[test]
fn referents_are_deferred_depth_first() {
    let stub = hex(include_str!("../../data/ndr/nested.hex"));
    let src = &mut Reader::new(&stub, "Call");
    let tree = Tree { b: Some(Box::new(Leaf { d: Some(Box::new(0xd1)), v: 0xb2 })), c: text("c") };
    assert_eq!(src.read::<Tree>("a").unwrap(), tree);
    assert_eq!(src.u32("tail").unwrap(), 9);
}

#[test]
fn the_count_of_a_conformant_structure_comes_before_it() {
    let stub = hex(include_str!("../../data/ndr/sid.hex"));
    let src = &mut Reader::new(&stub, "Call");
    let administrators = RpcSid {
        revision: 1,
        sub_authority_count: 2,
        identifier_authority: [0, 0, 0, 0, 0, 5],
        sub_authority: vec![32, 544],
    };
    assert_eq!(src.read::<Option<Box<RpcSid>>>("sid").unwrap(), Some(Box::new(administrators)));
    assert_eq!(src.u32("tail").unwrap(), 7);
}

#[test]
fn members_are_aligned_and_padding_is_not_looked_at() {
    let stub = hex(include_str!("../../data/ndr/alignment.hex"));
    let src = &mut Reader::new(&stub, "Call");
    assert_eq!(src.read::<u8>("x").unwrap(), 1);
    let mixed = Mixed { a: 2, b: 0x0304, c: 0x0506_0708_090a_0b0c, d: 0x0d0e_0f10 };
    assert_eq!(src.read::<Mixed>("s").unwrap(), mixed);
    assert_eq!(src.read::<u64>("y").unwrap(), 0x1112_1314_1516_1718);
}

#[test]
fn a_string_counts_its_nul_twice() {
    let stub = hex(include_str!("../../data/ndr/machine.hex"));
    let src = &mut Reader::new(&stub, "Call");
    assert_eq!(src.wide_string("szMachine").unwrap(), "web1");
    assert_eq!(src.range_u32("dwInSize", 0..=256).unwrap(), 256);
}

/// Ours differs from the peer's bytes in referent ids and padding only.
#[test]
fn what_we_write_is_what_the_peer_writes_but_for_referent_ids_and_padding() {
    let theirs = hex(include_str!("../../data/ndr/container.hex"));
    let mut dst = Writer::new();
    dst.write(&container()).unwrap();
    dst.write(&0x1234_u16).unwrap();
    let ours = dst.into_stub();
    assert_eq!(ours.len(), theirs.len());
    // Referent ids of `buffer`, and of the two names and the remark.
    let ids = [4, 16, 24, 28];
    let padding = [62, 63, 98, 99];
    for (at, (our, their)) in ours.iter().zip(&theirs).enumerate() {
        let is_id = ids.iter().any(|id| (*id..id + 4).contains(&at));
        assert!(
            our == their || is_id || padding.contains(&at),
            "byte {at}: {our:#x}, the peer has {their:#x}"
        );
    }
    let id = |at: usize| u32::from_le_bytes(ours[at..at + 4].try_into().unwrap());
    assert_eq!(ids.map(id), [0x0002_0000, 0x0002_0004, 0x0002_0008, 0x0002_000c]);
}

#[test]
fn a_conformant_varying_array_says_room_and_length() {
    let processor_information: Guid = "b4fc721a-0378-476f-89ba-a5a79f810b36".parse().unwrap();
    let check = |text: &str, counts: (u32, u32), array: ConformantVarying<Guid>, status: u32| {
        let stub = hex(text);
        let src = &mut Reader::new(&stub, "Call");
        assert_eq!((src.u32("pdwOutSize").unwrap(), src.u32("pdwRtnSize").unwrap()), counts);
        assert_eq!(src.read::<ConformantVarying<Guid>>("lpData").unwrap(), array);
        assert_eq!(src.u32("status").unwrap(), status);
        let mut dst = Writer::new();
        dst.u32(counts.0);
        dst.u32(counts.1);
        dst.write(&array).unwrap();
        dst.u32(status);
        assert_eq!(dst.into_stub(), stub);
    };
    let none = ConformantVarying { max_count: 0, elements: vec![] };
    check(include_str!("../../data/ndr/enumerate_counter_set_probe.hex"), (0, 1), none, 8);
    let one = ConformantVarying { max_count: 16, elements: vec![processor_information] };
    check(include_str!("../../data/ndr/enumerate_counter_set_data.hex"), (1, 1), one, 0);
}

/// Reads a value and the number 5 after it, as another implementation wrote them; what we write reads the same.
fn check<T>(text: &str, expected: &T)
where
    T: for<'stub> NdrDecode<'stub> + NdrEncode + PartialEq + core::fmt::Debug,
{
    let read = |stub: &[u8]| {
        let src = &mut Reader::new(stub, "Call");
        assert_eq!(&src.read::<T>("value").unwrap(), expected);
        assert_eq!(src.u32("tail").unwrap(), 5);
        assert_eq!(src.remaining(), []);
    };
    read(&hex(text));
    let mut dst = Writer::new();
    dst.write(expected).unwrap();
    dst.u32(5);
    let stub = dst.into_stub();
    assert_eq!(stub.len(), hex(text).len());
    read(&stub);
}

#[test]
fn a_union_is_its_tag_and_the_arm_that_it_says() {
    let holder = |info| Holder { kind: 7, info, after: 9 };
    check(include_str!("../../data/ndr/union_number.hex"), &holder(Info::Number(0x1122_3344_5566_7788)));
    check(include_str!("../../data/ndr/union_name.hex"), &holder(Info::Name(text("ab"))));
    check(include_str!("../../data/ndr/union_small.hex"), &holder(Info::Small(0x0304)));
}

/// [MS-RPCE] 2.2.5.3.4.4 aligns the arm to the whole union in NDR64 alone.
#[test]
fn an_arm_has_no_alignment_but_its_own() {
    let expected = Some(Box::new(PolicyInformation::AuditFullSet(1)));
    check(include_str!("../../data/ndr/union_byte.hex"), &expected);
}

#[test]
fn a_conformant_structure_of_short_integers_has_its_count_first() {
    let expected = DualStringArray { num_entries: 4, security_offset: 2, array: vec![7, 0, 10, 0] };
    check(include_str!("../../data/ndr/dual_string_array.hex"), &expected);
}

#[test]
fn an_interface_pointer_borrows_its_bytes() {
    let stub = hex(include_str!("../../data/ndr/interface_pointer.hex"));
    let src = &mut Reader::new(&stub, "Call");
    let pointer = src.read::<Option<Box<InterfacePointer<'_>>>>("p").unwrap().unwrap();
    assert_eq!((pointer.size, &*pointer.data), (5, &b"MEOW!"[..]));
    assert!(matches!(pointer.data, std::borrow::Cow::Borrowed(_)));
    assert_eq!(src.u32("tail").unwrap(), 5);
}

#[test]
fn a_value_is_pickled_as_a_peer_does_but_for_padding() {
    let theirs = hex(include_str!("../../data/ndr/pickle.hex"));
    let expected = Pickled { a: 7, name: text("ab"), h: 3 };
    assert_eq!(rpc::ndr::from_pickle::<Pickled>(&theirs, "blob").unwrap(), expected);
    let ours = rpc::ndr::to_pickle(&expected).unwrap();
    assert_eq!(ours[..8], theirs[..8]);
    // Ours has the length of a multiple of 8, and zeros to fill.
    assert_eq!(ours[8..16], [0x28, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((ours.len(), &ours[16..20]), (16 + 0x28, &theirs[16..20]));
    assert_eq!(rpc::ndr::from_pickle::<Pickled>(&ours, "blob").unwrap(), expected);
}

#[test]
fn floats_are_those_of_ieee_754() {
    let stub = hex(include_str!("../../data/ndr/floats.hex"));
    let src = &mut Reader::new(&stub, "Call");
    assert_eq!(src.read::<u8>("a").unwrap(), 1);
    assert_eq!(src.read::<f32>("f").unwrap().to_bits(), 1.5_f32.to_bits());
    assert_eq!(src.read::<f64>("d").unwrap().to_bits(), (-2.25_f64).to_bits());
}
