use wire::{Decode, DecodeError, DecodeResult, ReadCursor, ensure_size};

/// [MS-SMB] 2.2.4.5.1 `SMB_COM_NEGOTIATE`, as far as a server of SMB 2 needs it: old clients begin with it and name
/// SMB 2 among their dialects ([MS-SMB2] 3.3.5.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Smb1Negotiate {
    /// Whether the client takes any dialect from 2.1 on.
    pub offers_smb2: bool,
}

impl Smb1Negotiate {
    /// The first four bytes of every SMB1 message.
    pub const PROTOCOL_ID: [u8; 4] = [0xFF, b'S', b'M', b'B'];
    /// Bytes in front of the dialects.
    pub const FIXED_PART_SIZE: usize = 4 /* Protocol */
        + 1 /* Command */
        + 27 /* Status to MID */
        + 1 /* WordCount */
        + 2 /* ByteCount */;
    const NAME: &'static str = "SMB_COM_NEGOTIATE";
    const COMMAND: u8 = 0x72;
    /// A dialect is this byte, then text, then a NUL.
    const DIALECT: u8 = 2;
    const SMB2_WILDCARD: &'static [u8] = b"SMB 2.???";
}

impl<'de> Decode<'de> for Smb1Negotiate {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let start = src.pos();
        if src.read_array::<4>() != Self::PROTOCOL_ID || src.read_u8() != Self::COMMAND {
            return Err(DecodeError::invalid_field(Self::NAME, "Command", start, "is not SMB_COM_NEGOTIATE"));
        }
        src.read_array::<27>();
        if src.read_u8() != 0 {
            return Err(DecodeError::invalid_field(Self::NAME, "WordCount", start + 32, "is not zero"));
        }
        let size = usize::from(src.read_u16());
        let dialects = src.take_slice(Self::NAME, "Dialects", size)?;
        let mut names =
            dialects.split(|&byte| byte == 0).filter_map(|name| name.strip_prefix(&[Self::DIALECT]));
        Ok(Self { offers_smb2: names.any(|name| name == Self::SMB2_WILDCARD) })
    }
}
