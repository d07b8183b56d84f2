//! Laws of `ndr`.

use core::fmt::Debug;

use ms_dtyp::Guid;
use ndr::{
    Conformant, ConformantVarying, ConformantVaryingBytes, ContextHandle, InterfacePointer, Limits,
    NdrDecode, NdrEncode, Reader, Ref, Varying, WideString, Writer, from_pickle, to_pickle,
};

use crate::input::Input;
use crate::law::is_inside;

const LIMITS: Limits = Limits { array_elements_max: 1 << 12, string_units_max: 1 << 12, depth_max: 8 };

/// Every construct, alone and within others: what is read takes as many bytes as its own writing does, and reads the
/// same again.
pub fn constructs(bytes: &[u8]) {
    let bytes = Input::new(bytes).rest();
    check::<Conformant<u8>>(bytes);
    check::<Conformant<u64>>(bytes);
    check::<Varying<u16>>(bytes);
    check::<ConformantVarying<Guid>>(bytes);
    check::<WideString>(bytes);
    check::<ContextHandle>(bytes);
    check::<Option<Box<WideString>>>(bytes);
    check::<Conformant<Option<Box<WideString>>>>(bytes);
    check::<Option<Box<ConformantVarying<Option<Box<u64>>>>>>(bytes);
    if let Some(list) = check::<Node>(bytes) {
        let links = core::iter::successors(Some(&list), |node| node.next.as_deref()).count();
        assert!(links <= usize::try_from(LIMITS.depth_max).unwrap_or(0) + 1, "{links} nodes");
    }
    check::<Info>(bytes);
    check::<Conformant<Info>>(bytes);
    twice(bytes, |bytes| recode::<Member<'_>>(bytes));
    twice(bytes, |bytes| recode::<List<'_>>(bytes));
    twice(bytes, |bytes| recode::<InterfacePointer<'_>>(bytes));
    if let Ok(value) = from_pickle::<Node>(bytes, "pickle") {
        let pickled = to_pickle(&value).expect("what was read can be written");
        assert_eq!(from_pickle::<Node>(&pickled, "pickle").as_ref(), Ok(&value));
    }
    byte_arrays(bytes);
}

/// What is written is read, and written again as it is.
fn twice(bytes: &[u8], recode: impl Fn(&[u8]) -> Option<Vec<u8>>) {
    if let Some(written) = recode(bytes) {
        assert_eq!(recode(&written).as_ref(), Some(&written));
    }
}

/// As [`check`], of a type that borrows from its stub.
fn recode<'stub, T: NdrDecode<'stub> + NdrEncode>(bytes: &'stub [u8]) -> Option<Vec<u8>> {
    let mut src = Reader::new(bytes, "stub").with_limits(LIMITS);
    let value = src.read::<T>("value").ok()?;
    let mut dst = Writer::new();
    dst.write(&value).expect("what was read can be written");
    let stub = dst.into_stub();
    assert_eq!(stub.len(), src.pos());
    Some(stub)
}

fn check<T>(bytes: &[u8]) -> Option<T>
where
    T: for<'stub> NdrDecode<'stub> + NdrEncode + PartialEq + Debug,
{
    let read = |stub| {
        let mut src = Reader::new(stub, "stub").with_limits(LIMITS);
        let value = src.read::<T>("value");
        (value, src.pos())
    };
    let (Ok(value), taken) = read(bytes) else { return None };
    let mut dst = Writer::new();
    dst.write(&value).expect("what was read can be written");
    let stub = dst.into_stub();
    assert_eq!(stub.len(), taken, "{value:?}");
    let (again, taken_again) = read(&stub);
    assert_eq!(again.as_ref(), Ok(&value));
    assert_eq!(taken_again, taken);
    Some(value)
}

fn byte_arrays(bytes: &[u8]) {
    let src = &mut Reader::new(bytes, "stub");
    while let Ok(array) = src.conformant_varying_bytes("array") {
        assert!(is_inside(bytes, &array.bytes) && array.bytes.len() <= bytes.len());
        assert!(u32::try_from(array.bytes.len()).is_ok_and(|size| size <= array.max_count));
        if let Ok(array) = src.conformant_bytes("array") {
            assert!(is_inside(bytes, array));
        }
    }
    assert_eq!(src.pos() + src.remaining().len(), bytes.len());
}

/// A list, which nests as deeply as its writer likes.
#[derive(Debug, PartialEq, NdrDecode, NdrEncode)]
#[ndr(name = "NODE")]
struct Node {
    value: u8,
    name: Option<Box<WideString>>,
    next: Option<Box<Self>>,
}

/// What else the derives know.
#[derive(Debug, PartialEq, NdrDecode, NdrEncode)]
#[ndr(name = "MEMBER", check = even)]
struct Member<'stub> {
    #[ndr(range = 0..=512)]
    size: u32,
    level: u16,
    #[ndr(size_is = size)]
    data: Option<Box<ConformantVaryingBytes<'stub>>>,
    #[ndr(switch_is = level)]
    info: Info,
    name: Ref<WideString>,
    numbers: [u16; 3],
}

fn even(member: &Member<'_>) -> Result<(), &'static str> {
    if member.numbers[0].is_multiple_of(2) { Ok(()) } else { Err("the first number is odd") }
}

#[derive(Debug, PartialEq, NdrDecode, NdrEncode)]
#[ndr(name = "INFO", switch = u16)]
enum Info {
    #[ndr(case = 0)]
    Nothing,
    #[ndr(case = 1)]
    Wide(u64),
    #[ndr(case = 2)]
    Names(Option<Box<Conformant<Option<Box<WideString>>>>>),
    #[ndr(default)]
    Other(u16),
}

/// Its count stands before it.
#[derive(Debug, PartialEq, NdrDecode, NdrEncode)]
#[ndr(name = "LIST")]
struct List<'stub> {
    first: u64,
    length: u8,
    #[ndr(conformant, size_is = length)]
    members: Vec<Member<'stub>>,
}
