use wire::{Decode, DecodeError, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

/// [MS-SMB2] 2.2.3.1.1: the only hash algorithm that there is.
pub const HASH_SHA512: u16 = 1;

/// [MS-SMB2] 2.2.3.1 `SMB2_NEGOTIATE_CONTEXT`: what 3.1.1 negotiates beyond the dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(alias = "SMB2_NEGOTIATE_CONTEXT")]
pub enum NegotiateContext {
    /// 2.2.3.1.1: the hash over the messages so far, which detects tampering.
    PreauthIntegrity { hash_algorithms: Vec<u16>, salt: Vec<u8> },
    /// 2.2.3.1.2: ciphers, the best first; one in a response, which is 0 where there is none in common.
    Encryption(Vec<u16>),
    /// 2.2.3.1.4: the server's name.
    Netname(String),
    /// 2.2.3.1.7: signing algorithms, the best first; one in a response.
    Signing(Vec<u16>),
    /// Another one, such as compression, which is not for pipes.
    Unknown(u16),
}

impl NegotiateContext {
    /// Bytes of the part that all kinds share.
    pub const FIXED_PART_SIZE: usize = 2 /* ContextType */ + 2 /* DataLength */ + 4 /* Reserved */;
    /// Maximum number of contexts of one message that are read.
    const CONTEXTS_MAX: u16 = 32;
    const NAME: &'static str = "SMB2_NEGOTIATE_CONTEXT";

    const fn context_type(&self) -> u16 {
        match self {
            Self::PreauthIntegrity { .. } => 1,
            Self::Encryption(_) => 2,
            Self::Netname(_) => 5,
            Self::Signing(_) => 8,
            Self::Unknown(context_type) => *context_type,
        }
    }

    fn data_len(&self) -> usize {
        match self {
            Self::PreauthIntegrity { hash_algorithms, salt } => 4 + 2 * hash_algorithms.len() + salt.len(),
            Self::Encryption(ids) | Self::Signing(ids) => 2 + 2 * ids.len(),
            Self::Netname(name) => wire::utf16_len_bytes(name),
            Self::Unknown(_) => 0,
        }
    }

    /// Appends all of them, each but the first at a multiple of eight.
    pub(super) fn encode_all(contexts: &[Self], dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        for (position, context) in contexts.iter().enumerate() {
            if position > 0 {
                dst.write_zeros(padding(contexts[position - 1].size()));
            }
            context.encode(dst)?;
        }
        Ok(())
    }

    /// How many bytes [`Self::encode_all`] will append.
    pub(super) fn size_all(contexts: &[Self]) -> usize {
        let sizes: usize = contexts.iter().map(|context| context.size() + padding(context.size())).sum();
        sizes - contexts.last().map_or(0, |last| padding(last.size()))
    }

    /// Reads `count` of them from `offset` of the message on.
    pub(super) fn decode_all(src: &ReadCursor<'_>, offset: u32, count: u16) -> DecodeResult<Vec<Self>> {
        // Where there are none, the offset is none either.
        if count == 0 {
            return Ok(Vec::new());
        }
        let offset = super::index(Self::NAME, "NegotiateContextOffset", offset)?;
        if count > Self::CONTEXTS_MAX {
            let (value, limit) = (count.into(), Self::CONTEXTS_MAX.into());
            return Err(DecodeError::limit_exceeded(
                Self::NAME,
                "NegotiateContextCount",
                src.pos(),
                value,
                limit,
            ));
        }
        let size = src.buffer().len().saturating_sub(offset).max(1);
        let mut src =
            ReadCursor::new(super::buffer_at(src, Self::NAME, "NegotiateContextOffset", offset, size)?);
        let mut contexts = Vec::with_capacity(usize::from(count));
        for position in 0..count {
            if position > 0 {
                src.align(Self::NAME, 8)?;
            }
            contexts.push(Self::decode(&mut src)?);
        }
        Ok(contexts)
    }
}

const fn padding(size: usize) -> usize {
    size.next_multiple_of(8) - size
}

fn encode_ids(dst: &mut WriteCursor<'_>, ids: &[u16]) {
    for &id in ids {
        dst.write_u16(id);
    }
}

fn decode_ids(src: &mut ReadCursor<'_>, field: &'static str, count: u16) -> DecodeResult<Vec<u16>> {
    let mut ids = src.take_cursor(NegotiateContext::NAME, field, 2 * usize::from(count))?;
    Ok((0..count).map(|_| ids.read_u16()).collect())
}

impl Encode for NegotiateContext {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(self.context_type());
        dst.write_u16(super::length_u16(Self::NAME, "DataLength", self.data_len())?);
        dst.write_u32(0);
        match self {
            Self::PreauthIntegrity { hash_algorithms, salt } => {
                dst.write_u16(super::length_u16(Self::NAME, "HashAlgorithmCount", hash_algorithms.len())?);
                dst.write_u16(super::length_u16(Self::NAME, "SaltLength", salt.len())?);
                encode_ids(dst, hash_algorithms);
                dst.write_slice(salt);
            }
            Self::Encryption(ids) | Self::Signing(ids) => {
                dst.write_u16(super::length_u16(Self::NAME, "Count", ids.len())?);
                encode_ids(dst, ids);
            }
            Self::Netname(name) => dst.write_slice(&wire::encode_utf16(name)),
            Self::Unknown(_) => {}
        }
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.data_len()
    }
}

impl<'de> Decode<'de> for NegotiateContext {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let context_type = src.read_u16();
        let data_len = usize::from(src.read_u16());
        src.read_u32();
        let mut data = src.take_cursor(Self::NAME, "Data", data_len)?;
        match context_type {
            1 => {
                ensure_size!(in: data, name: Self::NAME, field: "HashAlgorithmCount", size: 4);
                let (hashes, salt_len) = (data.read_u16(), usize::from(data.read_u16()));
                let hash_algorithms = decode_ids(&mut data, "HashAlgorithms", hashes)?;
                let salt = data.take_slice(Self::NAME, "Salt", salt_len)?.to_vec();
                Ok(Self::PreauthIntegrity { hash_algorithms, salt })
            }
            2 | 8 => {
                ensure_size!(in: data, name: Self::NAME, field: "Count", size: 2);
                let count = data.read_u16();
                let ids = decode_ids(&mut data, "Ids", count)?;
                Ok(if context_type == 2 { Self::Encryption(ids) } else { Self::Signing(ids) })
            }
            // A name that is no valid UTF-16 is ignored.
            5 => Ok(wire::decode_utf16(data.remaining()).map_or(Self::Unknown(5), Self::Netname)),
            other => Ok(Self::Unknown(other)),
        }
    }
}
