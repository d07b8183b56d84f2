//! Laws of `ndr`.

use core::fmt::Debug;

use ms_dtyp::Guid;
use ndr::{
    Conformant, ConformantVarying, ContextHandle, EncodeResult, Limits, NdrDecode, NdrEncode, Reader,
    Varying, WideString, Writer,
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
    byte_arrays(bytes);
}

fn check<T: NdrDecode + NdrEncode + PartialEq + Debug>(bytes: &[u8]) -> Option<T> {
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
        assert!(is_inside(bytes, array.bytes) && array.bytes.len() <= bytes.len());
        assert!(u32::try_from(array.bytes.len()).is_ok_and(|size| size <= array.max_count));
        if let Ok(array) = src.conformant_bytes("array") {
            assert!(is_inside(bytes, array));
        }
    }
    assert_eq!(src.pos() + src.remaining().len(), bytes.len());
}

/// A list, which nests as deeply as its writer likes.
#[derive(Debug, PartialEq)]
struct Node {
    value: u8,
    name: Option<Box<WideString>>,
    next: Option<Box<Self>>,
}

impl NdrDecode for Node {
    type Inline = (u8, bool, bool);
    const NAME: &'static str = "NODE";
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 12;

    fn decode_inline(src: &mut Reader<'_>) -> ndr::Result<Self::Inline> {
        let value = src.inline::<u8>("value")?;
        let name = src.inline::<Option<Box<WideString>>>("name")?;
        Ok((value, name, src.inline::<Option<Box<Self>>>("next")?))
    }

    fn decode_deferred((value, name, next): Self::Inline, src: &mut Reader<'_>) -> ndr::Result<Self> {
        Ok(Self { value, name: src.deferred("name", name)?, next: src.deferred("next", next)? })
    }
}

impl NdrEncode for Node {
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.inline(&self.value)?;
        dst.inline(&self.name)?;
        dst.inline(&self.next)
    }

    fn encode_deferred(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.deferred(&self.name)?;
        dst.deferred(&self.next)
    }
}
