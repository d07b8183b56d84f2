use core::fmt;

use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeResult, NtStatus, ReadCursor, WriteCursor, ensure_size,
    open_enum,
};

open_enum! {
    /// `Command` of [MS-SMB2] 2.2.1.2.
    pub struct Command(u16) {
        /// Agree on a dialect.
        NEGOTIATE = 0,
        SESSION_SETUP = 1,
        LOGOFF = 2,
        /// Connect to a share.
        TREE_CONNECT = 3,
        TREE_DISCONNECT = 4,
        CREATE = 5,
        CLOSE = 6,
        /// Write what is buffered.
        FLUSH = 7,
        /// Read from a pipe.
        READ = 8,
        WRITE = 9,
        LOCK = 10,
        /// A control code, such as a transceive.
        IOCTL = 11,
        /// Give a request up.
        CANCEL = 12,
        ECHO = 13,
        QUERY_DIRECTORY = 14,
        CHANGE_NOTIFY = 15,
        /// Ask about a file.
        QUERY_INFO = 16,
        /// Tell about a file.
        SET_INFO = 17,
        /// The server takes an opportunistic lock back.
        OPLOCK_BREAK = 18,
    }
}

/// `Flags` of [MS-SMB2] 2.2.1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(pub u32);

impl Flags {
    pub const SERVER_TO_REDIR: Self = Self(1);
    /// The header has an `AsyncId`.
    pub const ASYNC_COMMAND: Self = Self(2);
    /// The request takes session, tree and file from the one before it in the frame.
    pub const RELATED_OPERATIONS: Self = Self(4);
    /// The header has a signature.
    pub const SIGNED: Self = Self(8);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What the eight bytes after `MessageId` say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A synchronous message belongs to a tree.
    Tree(u32),
    /// A request that takes long has a name of its own instead.
    Async(u64),
}

/// [MS-SMB2] 2.2.1 SMB2 packet header, `SYNC` and `ASYNC`.
///
/// INVARIANT: `flags` has `ASYNC_COMMAND` exactly where `owner` is [`Owner::Async`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "SMB2_HEADER")]
pub struct Header {
    /// Credits that the request costs.
    pub credit_charge: u16,
    /// The outcome, in responses.
    pub status: NtStatus,
    pub command: Command,
    /// Credits asked for or granted.
    pub credits: u16,
    pub flags: Flags,
    /// Bytes from this header to the next one in the frame, 0 for the last.
    pub next_command: u32,
    /// Ties the response to its request.
    pub message_id: u64,
    /// The tree, or the long request's name.
    pub owner: Owner,
    /// The session; 0 before there is one.
    pub session_id: u64,
    /// Over the whole message, this field taken as zeros.
    pub signature: [u8; 16],
}

impl Header {
    /// The first four bytes of every message that is not encrypted.
    pub const PROTOCOL_ID: [u8; 4] = [0xFE, b'S', b'M', b'B'];
    pub const FLAGS_OFFSET: usize = 16;
    pub const MESSAGE_ID_OFFSET: usize = 24;
    pub const SIGNATURE_OFFSET: usize = 48;
    /// A message that answers no request.
    pub const UNSOLICITED: u64 = u64::MAX;
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* ProtocolId */
        + 2 /* StructureSize */
        + 2 /* CreditCharge */
        + 4 /* Status */
        + 2 /* Command */
        + 2 /* Credit */
        + 4 /* Flags */
        + 4 /* NextCommand */
        + 8 /* MessageId */
        + 8 /* Reserved and TreeId, or AsyncId */
        + 8 /* SessionId */
        + 16 /* Signature */;
    const NAME: &'static str = "SMB2_HEADER";
    const STRUCTURE_SIZE: u16 = 64;
}

impl Encode for Header {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_slice(&Self::PROTOCOL_ID);
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(self.credit_charge);
        dst.write_u32(self.status.0);
        dst.write_u16(self.command.0);
        dst.write_u16(self.credits);
        dst.write_u32(self.flags.0);
        dst.write_u32(self.next_command);
        dst.write_u64(self.message_id);
        match self.owner {
            Owner::Tree(tree_id) => {
                dst.write_u32(0);
                dst.write_u32(tree_id);
            }
            Owner::Async(async_id) => dst.write_u64(async_id),
        }
        dst.write_u64(self.session_id);
        dst.write_slice(&self.signature);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for Header {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let start = src.pos();
        if src.read_array::<4>() != Self::PROTOCOL_ID {
            return Err(DecodeError::invalid_field(Self::NAME, "ProtocolId", start, "is not SMB 2"));
        }
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        let credit_charge = src.read_u16();
        let status = NtStatus(src.read_u32());
        let command = Command(src.read_u16());
        let credits = src.read_u16();
        let flags = Flags(src.read_u32());
        let next_command = src.read_u32();
        let message_id = src.read_u64();
        let owner = if flags.contains(Flags::ASYNC_COMMAND) {
            Owner::Async(src.read_u64())
        } else {
            src.read_u32();
            Owner::Tree(src.read_u32())
        };
        let session_id = src.read_u64();
        let signature = src.read_array();
        Ok(Self {
            credit_charge,
            status,
            command,
            credits,
            flags,
            next_command,
            message_id,
            owner,
            session_id,
            signature,
        })
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, message_id, session_id, status, .. } = self;
        if self.flags.contains(Flags::SERVER_TO_REDIR) {
            write!(f, "{command} response, message {message_id}, session {session_id:#x}, {status}")
        } else {
            write!(f, "{command} request, message {message_id}, session {session_id:#x}")
        }
    }
}
