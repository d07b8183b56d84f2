//! The form that a STDOBJREF has in an OBJREF.

use wire::{Decode, DecodeResult, Encode, EncodeResult, Guid, ReadCursor, WriteCursor, ensure_size};

use crate::dcom::types::{Oid, Oxid, ReferenceFlags, StdObjref};

impl StdObjref {
    const NAME: &'static str = "STDOBJREF";
    const FIXED_PART_SIZE: usize =
        4 /* flags */ + 4 /* cPublicRefs */ + 8 /* oxid */ + 8 /* oid */ + Guid::FIXED_PART_SIZE;
}

impl Encode for StdObjref {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.flags.0);
        dst.write_u32(self.public_refs);
        dst.write_u64(self.oxid.0);
        dst.write_u64(self.oid.0);
        self.ipid.encode(dst)
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for StdObjref {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        Ok(Self {
            flags: ReferenceFlags(src.read_u32()),
            public_refs: src.read_u32(),
            oxid: Oxid(src.read_u64()),
            oid: Oid(src.read_u64()),
            ipid: Guid::decode(src)?,
        })
    }
}
