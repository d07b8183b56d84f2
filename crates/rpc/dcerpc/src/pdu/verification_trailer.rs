use core::fmt;

use wire::{Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, ReadCursor, WriteCursor};

use super::PacketType;
use crate::{CallId, ContextId, SyntaxId};

/// [MS-RPCE] 2.2.2.13.1 `rpc_sec_verification_trailer`, with the commands after it
///
/// Stands behind the stub data of a request and repeats what the security provider may have left unprotected.
#[doc(alias = "rpc_sec_verification_trailer")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationTrailer {
    /// At least one, each kind at most once.
    pub commands: Vec<Command>,
}

/// `SEC_VT` of [MS-RPCE] 2.2.2.13.
#[doc(alias = "SEC_VT")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// SEC_VT_MUST_PROCESS_COMMAND: a server that does not know the command has to refuse the request.
    pub must_process: bool,
    pub kind: CommandKind,
}

/// What a command says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// [MS-RPCE] 2.2.2.13.2 `rpc_sec_vt_bitmask`: what the client can do. Unknown bits mean nothing.
    Bitmask1(u32),
    /// [MS-RPCE] 2.2.2.13.4 `rpc_sec_vt_pcontext`: the syntaxes of the request's presentation context.
    PresentationContext {
        /// As the context was bound.
        interface: SyntaxId,
        /// As the server chose it.
        transfer_syntax: SyntaxId,
    },
    /// [MS-RPCE] 2.2.2.13.3 `rpc_sec_vt_header2`: fields of the request's header.
    Header2(Header2),
    Unknown {
        command: u16,
        /// A multiple of four bytes.
        body: Vec<u8>,
    },
}

/// `rpc_sec_vt_header2` of [MS-RPCE] 2.2.2.13.3.
#[doc(alias = "rpc_sec_vt_header2")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header2 {
    pub packet_type: PacketType,
    /// The data representation, all four bytes.
    pub drep: [u8; 4],
    pub call_id: CallId,
    pub context_id: ContextId,
    pub opnum: u16,
}

impl VerificationTrailer {
    /// What it begins with.
    pub const SIGNATURE: [u8; 8] = [0x8a, 0xe3, 0x13, 0x71, 0x02, 0xf4, 0x36, 0x71];
    /// CLIENT_SUPPORT_HEADER_SIGNING: the client said in its bind that headers can be signed.
    pub const CLIENT_SUPPORT_HEADER_SIGNING: u32 = 1;
    /// Where a trailer may begin in the stub data.
    pub const ALIGNMENT: usize = 4;
    const NAME: &'static str = "rpc_sec_verification_trailer";

    /// Where the trailer begins in the stub data of a whole request, if there is one: at a multiple of four, not far
    /// from the end.
    #[must_use]
    pub fn find(stub: &[u8]) -> Option<usize> {
        let last = stub.len().checked_sub(Self::SIGNATURE.len())?;
        let first = stub.len().saturating_sub(SIZE_MAX).next_multiple_of(Self::ALIGNMENT);
        let mut starts = (first..last + 1).step_by(Self::ALIGNMENT).rev();
        starts.find(|&start| stub[start..].starts_with(&Self::SIGNATURE))
    }
}

/// A trailer is searched for in this many bytes at the end. The known commands take 80 bytes with the signature.
const SIZE_MAX: usize = 1024;

impl Encode for VerificationTrailer {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let Some((last, others)) = self.commands.split_last() else {
            return Err(EncodeError::new(Self::NAME, "commands", "none"));
        };
        dst.write_slice(&Self::SIGNATURE);
        others.iter().try_for_each(|command| command.write(dst, 0))?;
        last.write(dst, Command::END)
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::SIGNATURE.len() + self.commands.iter().map(Command::size).sum::<usize>()
    }
}

impl<'de> Decode<'de> for VerificationTrailer {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        let at = src.pos();
        if src.take_slice(Self::NAME, "signature", Self::SIGNATURE.len())? != Self::SIGNATURE {
            return Err(DecodeError::invalid_field(Self::NAME, "signature", at, "not that of a trailer"));
        }
        let mut commands: Vec<Command> = Vec::new();
        loop {
            let at = src.pos();
            let (command, is_last) = Command::read(src)?;
            let number = command.kind.number();
            if commands.iter().any(|earlier| earlier.kind.number() == number) {
                return Err(DecodeError::invalid_field(Self::NAME, "command", at, "there twice"));
            }
            commands.push(command);
            if is_last {
                return Ok(Self { commands });
            }
            if commands.len() == COMMANDS_MAX {
                return Err(DecodeError::invalid_field(Self::NAME, "command", at, "too many of them"));
            }
        }
    }
}

const COMMANDS_MAX: usize = 32;

impl Command {
    /// A command that a server which does not know it may pass over.
    #[must_use]
    pub const fn new(kind: CommandKind) -> Self {
        Self { must_process: false, kind }
    }

    const NUMBER_MASK: u16 = 0x3fff;
    const END: u16 = 0x4000;
    const MUST_PROCESS: u16 = 0x8000;
    const BITMASK_1: u16 = 1;
    const PCONTEXT: u16 = 2;
    const HEADER2: u16 = 3;
    const NAME: &'static str = "SEC_VT";

    fn size(&self) -> usize {
        2 /* command */ + 2 /* length */ + self.kind.size()
    }

    fn write(&self, dst: &mut WriteCursor<'_>, end: u16) -> EncodeResult<()> {
        let must_process = if self.must_process { Self::MUST_PROCESS } else { 0 };
        dst.write_u16(self.kind.number() & Self::NUMBER_MASK | must_process | end);
        let length = u16::try_from(self.kind.size())
            .map_err(|_| EncodeError::new(Self::NAME, "length", "more than 65535 bytes"))?;
        dst.write_u16(length);
        match &self.kind {
            CommandKind::Bitmask1(bits) => dst.write_u32(*bits),
            CommandKind::PresentationContext { interface, transfer_syntax } => {
                interface.encode(dst)?;
                transfer_syntax.encode(dst)?;
            }
            CommandKind::Header2(header) => header.write(dst),
            CommandKind::Unknown { body, .. } => dst.write_slice(body),
        }
        Ok(())
    }

    fn read(src: &mut ReadCursor<'_>) -> DecodeResult<(Self, bool)> {
        let at = src.pos();
        let mut header = src.take_cursor(Self::NAME, "command", 4)?;
        let (command, length) = (header.read_u16(), usize::from(header.read_u16()));
        let mut body = src.take_cursor(Self::NAME, "body", length)?;
        let kind = match (command & Self::NUMBER_MASK, length) {
            (Self::BITMASK_1, 4) => CommandKind::Bitmask1(body.read_u32()),
            (Self::PCONTEXT, CommandKind::PCONTEXT_SIZE) => CommandKind::PresentationContext {
                interface: SyntaxId::decode(&mut body)?,
                transfer_syntax: SyntaxId::decode(&mut body)?,
            },
            (Self::HEADER2, Header2::SIZE) => CommandKind::Header2(Header2::read(&mut body)),
            (Self::BITMASK_1..=Self::HEADER2, _) => {
                return Err(DecodeError::invalid_field(Self::NAME, "length", at + 2, "not the command's"));
            }
            (_, length) if !length.is_multiple_of(4) => {
                return Err(DecodeError::invalid_field(Self::NAME, "length", at + 2, "no multiple of 4"));
            }
            (command, _) => CommandKind::Unknown { command, body: body.remaining().to_vec() },
        };
        let must_process = command & Self::MUST_PROCESS != 0;
        Ok((Self { must_process, kind }, command & Self::END != 0))
    }
}

impl CommandKind {
    const PCONTEXT_SIZE: usize = 2 * SyntaxId::FIXED_PART_SIZE;

    const fn number(&self) -> u16 {
        match self {
            Self::Bitmask1(_) => Command::BITMASK_1,
            Self::PresentationContext { .. } => Command::PCONTEXT,
            Self::Header2(_) => Command::HEADER2,
            Self::Unknown { command, .. } => *command,
        }
    }

    const fn size(&self) -> usize {
        match self {
            Self::Bitmask1(_) => 4,
            Self::PresentationContext { .. } => Self::PCONTEXT_SIZE,
            Self::Header2(_) => Header2::SIZE,
            Self::Unknown { body, .. } => body.len(),
        }
    }
}

impl Header2 {
    const SIZE: usize = 1 /* PTYPE */
        + 1 /* Reserved1 */
        + 2 /* Reserved2 */
        + 4 /* drep */
        + 4 /* call_id */
        + 2 /* p_context_id_t */
        + 2 /* opnum */;

    fn write(self, dst: &mut WriteCursor<'_>) {
        dst.write_u8(self.packet_type.0);
        dst.write_zeros(3);
        dst.write_slice(&self.drep);
        dst.write_u32(self.call_id.0);
        dst.write_u16(self.context_id);
        dst.write_u16(self.opnum);
    }

    fn read(src: &mut ReadCursor<'_>) -> Self {
        let packet_type = PacketType(src.read_u8());
        src.read_slice(3);
        Self {
            packet_type,
            drep: src.read_array(),
            call_id: CallId(src.read_u32()),
            context_id: src.read_u16(),
            opnum: src.read_u16(),
        }
    }
}

impl fmt::Display for VerificationTrailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "verification trailer with {} commands", self.commands.len())
    }
}
