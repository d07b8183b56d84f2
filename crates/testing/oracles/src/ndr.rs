//! Laws of `ndr`.

use core::fmt::Debug;

use rpc::ndr::{
    Conformant, ConformantVarying, ConformantVaryingBytes, ContextHandle, InterfacePointer, Limits,
    NdrDecode, NdrEncode, Reader, Ref, Varying, WideString, Writer, from_pickle, to_pickle,
};
use wire::Guid;

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

/// A stub of each construct of the derives that can be read, with its name.
pub(crate) fn honest() -> Vec<(&'static str, Vec<u8>)> {
    const WRITABLE: &str = "the value keeps its rules";
    fn stub<T: NdrEncode>(value: &T) -> Vec<u8> {
        let mut dst = Writer::new();
        dst.write(value).expect(WRITABLE);
        dst.into_stub()
    }
    let text = |text: &str| Box::new(WideString(text.to_owned()));
    let names = || Some(Box::new(Conformant(vec![Some(text("a")), None])));
    let member = |level, info| Member {
        size: 4,
        level,
        data: Some(Box::new(ConformantVaryingBytes { max_count: 4, bytes: b"abc".into() })),
        info,
        name: Ref(text("member")),
        numbers: [2, 3, 5],
    };
    let members = vec![member(1, Info::Wide(7)), member(2, Info::Names(names())), member(9, Info::Other(9))];
    let next = Some(Box::new(Node { value: 2, name: Some(text("b")), next: None }));
    let pickle = to_pickle(&Node { value: 1, name: None, next }).expect(WRITABLE);
    vec![
        ("union", stub(&Info::Names(names()))),
        ("unions", stub(&Conformant(vec![Info::Nothing, Info::Wide(1 << 40), Info::Other(3)]))),
        ("member", stub(&member(0, Info::Nothing))),
        ("conformant_structure", stub(&List { first: 1, length: 3, members })),
        ("interface_pointer", stub(&InterfacePointer { size: 4, data: b"MEOW"[..].into() })),
        ("pickle", pickle),
    ]
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

/// Its count comes before it.
#[derive(Debug, PartialEq, NdrDecode, NdrEncode)]
#[ndr(name = "LIST")]
struct List<'stub> {
    first: u64,
    length: u8,
    #[ndr(conformant, size_is = length)]
    members: Vec<Member<'stub>>,
}
