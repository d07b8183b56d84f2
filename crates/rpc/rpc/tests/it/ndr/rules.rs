//! What the derives check of values: counts, ranges, tags, and rules of their own; and what they compute.

use std::cell::Cell;

use rpc::ndr::{Conformant, EncodeError, NdrDecode, NdrEncode, Reader, Ref, Reserved, WideString, Writer};

use crate::ndr::structures::{
    DualStringArray, Holder, Info, Item, Mixed, OpenInfo, Pointers, RpcSid, Switched, Text, WideList, text,
};

fn written<T: NdrEncode>(value: &T) -> Vec<u8> {
    let mut dst = Writer::new();
    dst.write(value).unwrap();
    dst.into_stub()
}

fn not_written<T: NdrEncode>(value: &T) -> String {
    Writer::new().write(value).unwrap_err().to_string()
}

fn read<T: for<'stub> NdrDecode<'stub>>(stub: &[u8]) -> Result<T, String> {
    Reader::new(stub, "Call").read("p").map_err(|error| error.to_string())
}

fn switched() -> Switched {
    let data = Some(Box::new(Conformant(vec![1, 2, 3, 4])));
    Switched { level: 1, info: OpenInfo::Number(5), uses: 2, data }
}

/// The stub of [`switched`] with another 32-bit number somewhere.
fn changed(at: usize, value: u32) -> String {
    let mut stub = written(&switched());
    stub[at..at + 4].copy_from_slice(&value.to_le_bytes());
    read::<Switched>(&stub).unwrap_err()
}

#[test]
fn a_value_that_contradicts_itself_is_neither_read_nor_written() {
    assert_eq!(read::<Switched>(&written(&switched())).unwrap(), switched());
    // Level and tag, padding, the number, uses, the pointer, max_count.
    let (level, uses, max_count) = (0, 16, 24);
    assert_eq!(changed(level, 0x0001_0002), "SWITCHED: `info`: the union's tag is not level (offset 28)");
    assert_eq!(changed(uses, 1), "SWITCHED: `Data`: max_count is not uses * 2 (offset 28)");
    assert_eq!(changed(max_count, 3), "SWITCHED: `Data`: max_count is not uses * 2 (offset 27)");
    let level = Switched { level: 2, ..switched() };
    assert_eq!(not_written(&level), "SWITCHED: `info`: the union's tag is not level");
    let uses = Switched { uses: 1, ..switched() };
    assert_eq!(not_written(&uses), "SWITCHED: `Data`: max_count is not uses * 2");
}

#[test]
fn a_null_pointer_has_no_count_that_could_be_wrong() {
    let probe = Switched { data: None, ..switched() };
    assert_eq!(read::<Switched>(&written(&probe)).unwrap(), probe);
}

#[test]
fn a_member_out_of_its_range_is_refused_where_it_stands() {
    assert_eq!(changed(16, 10), "SWITCHED: `uses`: 10 is outside of the range 1 to 9 (offset 16)");
}

#[test]
fn a_rule_of_its_own_is_checked_both_ways() {
    let reserved = Switched { level: 7, info: OpenInfo::Other(7), ..switched() };
    assert_eq!(not_written(&reserved), "SWITCHED: level 7 is reserved");
    let mut stub = written(&Switched { level: 6, info: OpenInfo::Other(6), ..switched() });
    stub[..4].copy_from_slice(&[7, 0, 7, 0]);
    assert!(read::<Switched>(&stub).unwrap_err().contains("level 7 is reserved"));
}

#[test]
fn a_tag_without_an_arm_is_refused_or_kept_by_the_default_arm() {
    let mut stub = written(&Holder { kind: 7, info: Info::Nothing, after: 9 });
    stub[4] = 5;
    let error = read::<Holder>(&stub).unwrap_err();
    assert_eq!(error, "INFO: `tag`: no arm of the union has this tag (offset 4)");
    assert_eq!(read::<OpenInfo>(&[9, 0]).unwrap(), OpenInfo::Other(9));
    assert_eq!(not_written(&OpenInfo::Other(1)), "INFO: `tag`: is that of another arm");
}

#[test]
fn a_conformant_structure_says_as_many_elements_as_it_has() {
    let array = DualStringArray { num_entries: 2, security_offset: 0, array: vec![7, 0] };
    let mut stub = written(&array);
    stub[4] = 1;
    assert!(read::<DualStringArray>(&stub).unwrap_err().contains("max_count is not num_entries"));
    // A count without its elements is refused before memory is taken.
    stub[..4].copy_from_slice(&0x000f_ffff_u32.to_le_bytes());
    assert_eq!(
        read::<DualStringArray>(&stub).unwrap_err(),
        "DUALSTRINGARRAY: `array`: 2097150 bytes needed at offset 8, 4 there"
    );
}

#[test]
fn alignments_and_least_sizes_are_those_of_the_members() {
    fn layout<'stub, T: NdrDecode<'stub> + NdrEncode>() -> (usize, usize) {
        assert_eq!(<T as NdrDecode<'_>>::ALIGNMENT, <T as NdrEncode>::ALIGNMENT);
        (<T as NdrDecode<'_>>::ALIGNMENT, T::INLINE_SIZE_MIN)
    }
    assert_eq!(layout::<Mixed>(), (8, 20));
    assert_eq!(layout::<Item>(), (4, 12));
    // The count comes before the structure, which is aligned after it.
    assert_eq!(layout::<RpcSid>(), (4, 4 + 8));
    assert_eq!(layout::<WideList>(), (4, 4 + 9));
    // A tag, and the smallest arm.
    assert_eq!(layout::<Info>(), (4, 4));
    assert_eq!(layout::<OpenInfo>(), (2, 2));
    assert_eq!(layout::<Text>(), (4, 4));
}

#[test]
fn members_of_eight_bytes_are_aligned_behind_the_count() {
    let list = WideList { first: 1, small: 2, items: vec![Item { name: text("a"), kind: 3, remark: None }] };
    let mut dst = Writer::new();
    dst.u32(7);
    dst.write(&list).unwrap();
    let stub = dst.into_stub();
    // What is before it, max_count at 4, the members at 8.
    assert_eq!(stub[..17], [7, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
    let src = &mut Reader::new(&stub, "Call");
    src.u32("before").unwrap();
    assert_eq!(src.read::<WideList>("list").unwrap(), list);
}

#[test]
fn embedded_reference_pointers_are_never_null_and_any_number_stands_for_them() {
    let item = Item { name: text("a"), kind: 3, remark: None };
    let pointers = Pointers { first: Ref::new(item), second: 4, third: Ref::new(WideString("b".to_owned())) };
    let mut stub = written(&pointers);
    assert_eq!(stub[..12], [0, 0, 2, 0, 4, 0, 0, 0, 4, 0, 2, 0]);
    assert_eq!(read::<Pointers>(&stub).unwrap(), pointers);
    stub[..4].fill(0);
    assert_eq!(read::<Pointers>(&stub).unwrap(), pointers);
}

/// A name that counts how often its form on the wire is made.
#[derive(Debug, Default, NdrEncode)]
#[ndr(wire = WireName)]
struct Name {
    made: Cell<u32>,
}

#[derive(Debug, NdrEncode)]
struct WireName {
    size: u16,
    buffer: Option<Box<WideString>>,
}

impl TryFrom<&Name> for WireName {
    type Error = EncodeError;

    fn try_from(name: &Name) -> Result<Self, EncodeError> {
        name.made.set(name.made.get() + 1);
        Ok(Self { size: 7, buffer: Some(Box::new(WideString("a".to_owned()))) })
    }
}

/// A union whose arms hold such a name.
#[derive(Debug, NdrEncode)]
#[ndr(switch = u32)]
enum Named {
    #[ndr(case = 1)]
    One(Name),
    #[ndr(case = 2)]
    Many(Conformant<Name>),
}

#[test]
fn another_form_on_the_wire_is_made_once() {
    let names = Named::Many(Conformant(vec![Name::default(), Name::default()]));
    // Tag, count, twice size and pointer, then both names.
    assert_eq!(written(&names).len(), 4 + 4 + 2 * (2 + 2 + 4) + 16 + 16);
    let Named::Many(names) = names else { unreachable!() };
    assert_eq!(names.0.iter().map(|name| name.made.get()).collect::<Vec<_>>(), [1, 1]);
    let one = Named::One(Name::default());
    assert_eq!(written(&one).len(), 4 + (2 + 2 + 4) + 16);
    assert!(matches!(&one, Named::One(name) if name.made.get() == 1), "{one:?}");
    let held = Ref::new(Name::default());
    written(&held);
    assert_eq!(held.0.made.get(), 1);
}

/// Members that mean nothing, one of them a pointer.
#[derive(Debug, PartialEq, NdrDecode, NdrEncode)]
struct Padded {
    zero: Reserved<u32>,
    null: Reserved<Text>,
    value: u16,
}

#[test]
fn a_reserved_member_is_dropped_whatever_it_is_and_written_as_nothing() {
    let padded = Padded { zero: Reserved::NEW, null: Reserved::NEW, value: 7 };
    let mut expected = [0; 10];
    expected[8] = 7;
    assert_eq!(written(&padded), expected);
    let noise = [1, 2, 3, 4, 9, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'a', 0, 0, 0, 0xff];
    let mut src = Reader::new(&noise, "Test");
    assert_eq!(src.read::<Padded>("padded").unwrap(), padded);
    assert_eq!(src.remaining(), [0xff]);
    assert!(Reader::new(&noise[..20], "Test").read::<Padded>("padded").is_err());
}
