use std::borrow::Cow;

use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeResult, Guid, ReadCursor, WriteCursor, ensure_size,
};

use super::Objref;
use crate::dcom::types::{CLSID_CONTEXT_MARSHALER, IID_CONTEXT};

const VERSION: (u16, u16) = (1, 1);
const CTXMSHLFLAGS_BYVAL: u32 = 2;

/// [MS-DCOM] 2.2.20 `Context`: where an object is used. A client that asks for one says its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context<'a> {
    /// What names the context.
    pub id: Guid,
    /// How many properties there are.
    pub count: u32,
    /// The properties, as bytes: an array of `PROPMARSHALHEADER`.
    pub properties: Cow<'a, [u8]>,
}

impl Context<'static> {
    /// A context without properties.
    #[must_use]
    pub const fn new(id: Guid) -> Self {
        Self { id, count: 0, properties: Cow::Borrowed(&[]) }
    }
}

impl Context<'_> {
    const NAME: &'static str = "Context";
    const FIXED_PART_SIZE: usize = 2 /* MajorVersion */ + 2 /* MinVersion */ + Guid::FIXED_PART_SIZE + 4 /* Flags */
        + 4 /* Reserved */ + 4 /* dwNumExtents */ + 4 /* cbExtents */ + 4 /* MshlFlags */ + 4 /* Count */ + 4 /* Frozen */;

    /// The context as an object that marshals itself.
    ///
    /// # Errors
    /// Those of [`Encode::encode`].
    pub fn to_objref(&self) -> EncodeResult<Objref<'static>> {
        Ok(Objref::custom(IID_CONTEXT, CLSID_CONTEXT_MARSHALER, wire::encode_vec(self)?))
    }
}

impl Encode for Context<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(VERSION.0);
        dst.write_u16(VERSION.1);
        self.id.encode(dst)?;
        dst.write_u32(CTXMSHLFLAGS_BYVAL);
        dst.write_u32(0 /* Reserved */);
        dst.write_u32(0 /* dwNumExtents */);
        dst.write_u32(0 /* cbExtents */);
        dst.write_u32(0 /* MshlFlags */);
        dst.write_u32(self.count);
        dst.write_u32(1 /* Frozen */);
        dst.write_slice(&self.properties);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.properties.len()
    }
}

impl<'de> Decode<'de> for Context<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let begin = src.pos();
        let invalid =
            |field, at, reason| Err(DecodeError::invalid_field(Self::NAME, field, begin + at, reason));
        if (src.read_u16(), src.read_u16()) != VERSION {
            return invalid("MajorVersion", 0, "is not 1.1");
        }
        let id = Guid::decode(src)?;
        if src.read_u32() != CTXMSHLFLAGS_BYVAL {
            return invalid("Flags", 20, "is not CTXMSHLFLAGS_BYVAL");
        }
        src.skip(Self::NAME, "Reserved", 4)?;
        if (src.read_u32(), src.read_u32()) != (0, 0) {
            return invalid("dwNumExtents", 28, "there are extents");
        }
        src.skip(Self::NAME, "MshlFlags", 4)?;
        let count = src.read_u32();
        src.skip(Self::NAME, "Frozen", 4)?;
        Ok(Self { id, count, properties: Cow::Borrowed(src.read_slice(src.len())) })
    }
}
