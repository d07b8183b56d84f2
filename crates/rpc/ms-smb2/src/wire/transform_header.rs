use core::fmt;

use wire::{Decode, DecodeError, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

/// [MS-SMB2] 2.2.41 `SMB2_TRANSFORM_HEADER`: precedes an encrypted message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "SMB2_TRANSFORM_HEADER")]
pub struct TransformHeader {
    pub signature: [u8; 16],
    /// 11 bytes for CCM or 12 for GCM, then zeros.
    pub nonce: [u8; 16],
    pub original_message_size: u32,
    /// The session whose key is used.
    pub session_id: u64,
}

impl TransformHeader {
    /// The first four bytes of every encrypted message.
    pub const PROTOCOL_ID: [u8; 4] = [0xFD, b'S', b'M', b'B'];
    pub const SIGNATURE_OFFSET: usize = 4;
    /// From here to its end the header is authenticated.
    pub const NONCE_OFFSET: usize = 20;
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* ProtocolId */
        + 16 /* Signature */
        + 16 /* Nonce */
        + 4 /* OriginalMessageSize */
        + 2 /* Reserved */
        + 2 /* Flags, or EncryptionAlgorithm */
        + 8 /* SessionId */;
    const NAME: &'static str = "SMB2_TRANSFORM_HEADER";
    /// "Encrypted" as a flag of 3.1.1, and AES-128-CCM as an algorithm of 3.0.
    const ENCRYPTED: u16 = 1;
}

impl Encode for TransformHeader {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_slice(&Self::PROTOCOL_ID);
        dst.write_slice(&self.signature);
        dst.write_slice(&self.nonce);
        dst.write_u32(self.original_message_size);
        dst.write_u16(0);
        dst.write_u16(Self::ENCRYPTED);
        dst.write_u64(self.session_id);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for TransformHeader {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let start = src.pos();
        if src.read_array::<4>() != Self::PROTOCOL_ID {
            return Err(DecodeError::invalid_field(
                Self::NAME,
                "ProtocolId",
                start,
                "is not encrypted SMB 3",
            ));
        }
        let signature = src.read_array();
        let nonce = src.read_array();
        let original_message_size = src.read_u32();
        src.read_u16();
        if src.read_u16() != Self::ENCRYPTED {
            return Err(DecodeError::invalid_field(Self::NAME, "Flags", start + 42, "is not \"encrypted\""));
        }
        Ok(Self { signature, nonce, original_message_size, session_id: src.read_u64() })
    }
}

impl fmt::Display for TransformHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "encrypted, {} bytes, session {:#x}", self.original_message_size, self.session_id)
    }
}
