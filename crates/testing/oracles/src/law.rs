use core::fmt::Debug;

use wire::{Decode, Encode, ReadCursor};

/// Writes what was read: that is possible, and takes as many bytes as it says.
pub(crate) fn encoded(value: &(impl Encode + ?Sized)) -> Vec<u8> {
    let bytes = wire::encode_vec(value).expect("what was read can be written");
    assert_eq!(bytes.len(), value.size(), "{} keeps its size law", value.name());
    bytes
}

/// A structure whose bytes are all accounted for: it takes as many as it says, and what is written in their place
/// reads the same.
pub(crate) fn exact<T>(bytes: &[u8])
where
    T: for<'de> Decode<'de> + Encode + PartialEq + Debug,
{
    let mut src = ReadCursor::new(bytes);
    let Ok(value) = T::decode(&mut src) else { return };
    let mut again = encoded(&value);
    assert_eq!(src.pos(), again.len(), "{} takes what it says", value.name());
    again.extend_from_slice(src.remaining());
    let mut src = ReadCursor::new(&again);
    assert_eq!(T::decode(&mut src).as_ref(), Ok(&value), "{} reads the same again", value.name());
    assert_eq!(again.len() - src.len(), value.size());
}

/// A structure with padding that is not kept, or with parts in an order of the writer's: written again it reads the
/// same. A macro, since what borrows from its source has a type of its own for each source.
macro_rules! lossless {
    ($bytes:expr, $type:ty) => {{
        let mut src = ::wire::ReadCursor::new($bytes);
        if let Ok(value) = <$type as ::wire::Decode<'_>>::decode(&mut src) {
            assert!(src.pos() <= $bytes.len());
            let again = $crate::law::encoded(&value);
            let mut src = ::wire::ReadCursor::new(&again);
            let read = <$type as ::wire::Decode<'_>>::decode(&mut src);
            assert_eq!(read.as_ref(), Ok(&value), "{} reads the same again", stringify!($type));
        }
    }};
}
pub(crate) use lossless;

/// Whether a borrowed slice lies in the buffer that it has to come from.
pub(crate) fn is_inside(buffer: &[u8], slice: &[u8]) -> bool {
    let (outer, inner) = (buffer.as_ptr_range(), slice.as_ptr_range());
    slice.is_empty() || (outer.start <= inner.start && inner.end <= outer.end)
}
