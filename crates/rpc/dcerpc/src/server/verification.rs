use wire::{Decode, ReadCursor};

use crate::SyntaxId;
use crate::pdu::{CommandKind, Header2, VerificationTrailer};

/// What a request is, by the security context and the association that it came on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// As the client bound it.
    pub(super) interface: SyntaxId,
    pub(super) header: Header2,
    /// Whether the client said before that headers can be signed.
    pub(super) signs_headers: bool,
}

/// A trailer that contradicts its request, or cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contradiction;

/// Checks the verification trailer of a whole request, if there is one, and cuts it off the stub data.
///
/// [MS-RPCE] 2.2.2.13
pub(super) fn check_trailer(stub: &mut Vec<u8>, expected: &Expected) -> Result<(), Contradiction> {
    let Some(start) = VerificationTrailer::find(stub) else {
        return Ok(());
    };
    let trailer =
        VerificationTrailer::decode(&mut ReadCursor::new(&stub[start..])).map_err(|_| Contradiction)?;
    let agrees = trailer.commands.iter().all(|command| match &command.kind {
        CommandKind::Bitmask1(bits) => {
            bits & VerificationTrailer::CLIENT_SUPPORT_HEADER_SIGNING == 0 || expected.signs_headers
        }
        CommandKind::PresentationContext { interface, transfer_syntax } => {
            *interface == expected.interface && *transfer_syntax == SyntaxId::NDR
        }
        CommandKind::Header2(header) => *header == expected.header,
        CommandKind::Unknown { .. } => !command.must_process,
    });
    if agrees {
        stub.truncate(start);
        Ok(())
    } else {
        Err(Contradiction)
    }
}
