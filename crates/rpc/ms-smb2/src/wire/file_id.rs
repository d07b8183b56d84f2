use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

/// [MS-SMB2] 2.2.14.1 `SMB2_FILEID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "SMB2_FILEID")]
pub struct FileId {
    /// Survives a reconnect where the file does.
    pub persistent: u64,
    /// Names the open.
    pub volatile: u64,
}

impl FileId {
    /// No file: a pipe-wide control code, or "the file of the request before" in a compound.
    pub const NONE: Self = Self { persistent: u64::MAX, volatile: u64::MAX };
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 8 /* Persistent */ + 8 /* Volatile */;
    const NAME: &'static str = "SMB2_FILEID";
}

impl Encode for FileId {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u64(self.persistent);
        dst.write_u64(self.volatile);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for FileId {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        Ok(Self { persistent: src.read_u64(), volatile: src.read_u64() })
    }
}
