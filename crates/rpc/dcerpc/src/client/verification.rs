use std::collections::BTreeSet;

use wire::{Encode, WriteCursor};

use crate::pdu::{Command, CommandKind, VerificationTrailer};
use crate::{ContextId, Error, SyntaxId};

/// What was negotiated in the clear and then said again in a protected request.
#[derive(Debug, Default)]
pub(super) struct Verified {
    /// That headers can be signed, which the bind said.
    header_signing: bool,
    contexts: BTreeSet<ContextId>,
}

impl Verified {
    /// The stub data with a verification trailer behind it, and where that begins; nothing where none is due.
    ///
    /// [MS-RPCE] <41> to <43>: the bitmask goes with the first request of the connection, the presentation context with
    /// the first request on it. The header is not repeated, since NTLM and SPNEGO sign it.
    pub(super) fn with_trailer(
        &mut self,
        context_id: ContextId,
        interface: SyntaxId,
        stub: &[u8],
    ) -> Result<Option<(Vec<u8>, usize)>, Error> {
        let mut commands = Vec::new();
        if !core::mem::replace(&mut self.header_signing, true) {
            commands.push(CommandKind::Bitmask1(VerificationTrailer::CLIENT_SUPPORT_HEADER_SIGNING));
        }
        if self.contexts.insert(context_id) {
            commands.push(CommandKind::PresentationContext { interface, transfer_syntax: SyntaxId::NDR });
        }
        if commands.is_empty() {
            return Ok(None);
        }
        let trailer = VerificationTrailer { commands: commands.into_iter().map(Command::new).collect() };
        let mut body = Vec::with_capacity(stub.len() + VerificationTrailer::ALIGNMENT + trailer.size());
        let mut dst = WriteCursor::new(&mut body);
        dst.write_slice(stub);
        dst.align(VerificationTrailer::ALIGNMENT);
        let start = dst.pos();
        trailer.encode(&mut dst)?;
        Ok(Some((body, start)))
    }
}
