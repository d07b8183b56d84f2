use core::fmt;

use ssp::{Message, SecurityContext};
use wire::{Encode, WriteCursor};

use crate::pdu::{CommonHeader, PfcFlags, SecTrailer, Verifier, length_field};
use crate::{Auth, AuthLevel, Error};

/// The security context of an association, and what its fragments go through.
pub(crate) struct Protector {
    pub(crate) context: Box<dyn SecurityContext>,
    pub(crate) auth: Auth,
}

impl Protector {
    /// The `sec_trailer` of every PDU of the association.
    pub(crate) const fn trailer(&self) -> SecTrailer {
        SecTrailer {
            auth_type: self.auth.service,
            auth_level: self.auth.level,
            auth_pad_length: 0,
            auth_context_id: self.auth.context_id,
        }
    }

    /// What a PDU needs beside header and stub data, padding not counted.
    pub(crate) fn overhead(&self) -> usize {
        match self.auth.level.protection() {
            Some(protection) => SecTrailer::FIXED_PART_SIZE + self.context.signature_len(protection),
            None => 0,
        }
    }

    /// Refuses a verifier of another level or security context than the association's.
    pub(crate) fn check(&self, trailer: &SecTrailer) -> Result<(), Error> {
        if trailer.auth_level != self.auth.level {
            return Err(Error::LevelDowngrade { expected: self.auth.level, actual: trailer.auth_level });
        }
        if trailer.auth_type != self.auth.service || trailer.auth_context_id != self.auth.context_id {
            return Err(Error::WrongSecurityContext);
        }
        Ok(())
    }

    /// Completes an outgoing PDU whose stub data begins at `stub_start` and ends at the end of `pdu`: pads, appends
    /// `sec_trailer` and signature, and encrypts where the level says so.
    fn protect(&mut self, pdu: &mut Vec<u8>, stub_start: usize) -> Result<(), Error> {
        let Some(protection) = self.auth.level.protection() else {
            return finish_lengths(pdu, 0);
        };
        let signature_len = self.context.signature_len(protection);
        let body_end = stub_start + (pdu.len() - stub_start).next_multiple_of(STUB_ALIGNMENT);
        let padding = body_end - pdu.len();
        let mut dst = WriteCursor::new(pdu);
        dst.write_zeros(padding);
        // Less than sixteen.
        let auth_pad_length = u8::try_from(padding).unwrap_or_default();
        SecTrailer { auth_pad_length, ..self.trailer() }.encode(&mut dst)?;
        dst.write_zeros(signature_len);
        finish_lengths(pdu, signature_len)?;
        let (message, signature) = pdu.split_at_mut(body_end + SecTrailer::FIXED_PART_SIZE);
        let (message, trailer) = message.split_at_mut(body_end);
        let (header, body) = message.split_at_mut(stub_start);
        self.context
            .wrap(Message { protection, header, body, trailer, signature })
            .map_err(|source| Error::Security { doing: "protect a fragment", source })
    }

    /// Checks an incoming PDU, decrypts it in place, and answers its stub data.
    fn unprotect<'p>(
        &mut self,
        header: &CommonHeader,
        pdu: &'p mut [u8],
        stub_start: usize,
    ) -> Result<&'p [u8], Error> {
        let (stub_end, verifier) = Verifier::split(header, pdu, stub_start)?;
        let Some(protection) = self.auth.level.protection() else {
            // At the level CONNECT nothing is signed; Windows sends a token there that means nothing.
            return Ok(&pdu[stub_start..stub_end]);
        };
        let Some(Verifier { trailer, .. }) = verifier else {
            return Err(Error::LevelDowngrade { expected: self.auth.level, actual: AuthLevel::NONE });
        };
        self.check(&trailer)?;
        let body_end = stub_end + usize::from(trailer.auth_pad_length);
        let (message, signature) = pdu.split_at_mut(body_end + SecTrailer::FIXED_PART_SIZE);
        let (message, trailer) = message.split_at_mut(body_end);
        let (header, body) = message.split_at_mut(stub_start);
        self.context
            .unwrap(Message { protection, header, body, trailer, signature })
            .map_err(|source| Error::Security { doing: "check a fragment", source })?;
        Ok(&pdu[stub_start..stub_end])
    }
}

impl fmt::Debug for Protector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protector").field("auth", &self.auth).finish_non_exhaustive()
    }
}

/// Completes an outgoing PDU; see [`Protector::protect`].
pub(crate) fn protect(
    protector: Option<&mut Protector>,
    pdu: &mut Vec<u8>,
    stub_start: usize,
) -> Result<(), Error> {
    match protector {
        Some(protector) => protector.protect(pdu, stub_start),
        None => finish_lengths(pdu, 0),
    }
}

/// Checks an incoming PDU; see [`Protector::unprotect`].
pub(crate) fn unprotect<'p>(
    protector: Option<&mut Protector>,
    header: &CommonHeader,
    pdu: &'p mut [u8],
    stub_start: usize,
) -> Result<&'p [u8], Error> {
    match protector {
        Some(protector) => protector.unprotect(header, pdu, stub_start),
        None if header.auth_length == 0 => Ok(&pdu[stub_start..]),
        None => Err(Error::WrongSecurityContext),
    }
}

/// One fragment of a call's stub data.
pub(crate) struct Fragment<'a> {
    pub(crate) flags: PfcFlags,
    /// Stub data from here to the end of the call.
    pub(crate) alloc_hint: u32,
    pub(crate) stub: &'a [u8],
}

/// Cuts the stub data of a call into fragments of at most `frag_bytes_max` with everything around them. What begins at
/// `trailer_start`, which is less than a fragment, stays in one piece: [MS-RPCE] 2.2.2.13 wants a verification trailer
/// in the last PDU.
pub(crate) fn fragments(
    stub: &[u8],
    frag_bytes_max: u16,
    overhead: usize,
    trailer_start: usize,
) -> impl Iterator<Item = Fragment<'_>> {
    let room = usize::from(frag_bytes_max).saturating_sub(overhead);
    // All but the last end where the padding would end; the associations see to it that there is room.
    let step = (room / STUB_ALIGNMENT * STUB_ALIGNMENT).max(STUB_ALIGNMENT);
    let count = stub.len().div_ceil(step).max(1);
    let cut = move |index: usize| if index == count { stub.len() } else { index * step };
    (0..count).map(move |index| {
        let uncut = |at: usize| if trailer_start < at && at < stub.len() { trailer_start } else { at };
        let (start, end) = (uncut(cut(index)), uncut(cut(index + 1)));
        let first = if index == 0 { PfcFlags::FIRST_FRAG } else { PfcFlags(0) };
        let last = if index + 1 == count { PfcFlags::LAST_FRAG } else { PfcFlags(0) };
        let alloc_hint = u32::try_from(stub.len() - start).unwrap_or(u32::MAX);
        Fragment { flags: first | last, alloc_hint, stub: &stub[start..end] }
    })
}

/// [MS-RPCE] 2.2.2.11 wants four; sixteen also suits ciphers with blocks, and is what Windows sends.
const STUB_ALIGNMENT: usize = 16;

fn finish_lengths(pdu: &mut [u8], signature_len: usize) -> Result<(), Error> {
    let frag_length = length_field("frag_length", pdu.len())?;
    let auth_length = length_field("auth_length", signature_len)?;
    pdu[CommonHeader::FRAG_LENGTH_OFFSET..][..2].copy_from_slice(&frag_length.to_le_bytes());
    pdu[CommonHeader::AUTH_LENGTH_OFFSET..][..2].copy_from_slice(&auth_length.to_le_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_cover_the_stub_data_and_fit_with_all_around_them() {
        for length in [0, 1, 1376, 1377, 5000] {
            let stub: Vec<u8> = (0..length).map(|index: u32| index.to_le_bytes()[0]).collect();
            let all: Vec<_> = fragments(&stub, 1432, 24 + 8 + 16, stub.len()).collect();
            let joined: Vec<u8> = all.iter().flat_map(|fragment| fragment.stub.to_vec()).collect();
            assert_eq!(joined, stub);
            assert!(all.iter().all(|fragment| fragment.stub.len().next_multiple_of(16) <= 1432 - 48));
            assert_eq!(all[0].alloc_hint, length);
            assert!(all[0].flags.contains(PfcFlags::FIRST_FRAG));
            assert!(all[all.len() - 1].flags.contains(PfcFlags::LAST_FRAG));
        }
    }

    #[test]
    fn a_trailer_is_never_cut() {
        const TRAILER: usize = 60;
        for length in (0..4000).step_by(4) {
            let body: Vec<u8> = (0..length + TRAILER).map(|index| index.to_le_bytes()[0]).collect();
            let all: Vec<_> = fragments(&body, 1432, 24 + 8 + 16, length).collect();
            let joined: Vec<u8> = all.iter().flat_map(|fragment| fragment.stub.to_vec()).collect();
            assert_eq!(joined, body);
            assert!(all.iter().all(|fragment| fragment.stub.len().next_multiple_of(16) <= 1432 - 48));
            assert!(all[all.len() - 1].stub.len() >= TRAILER, "{length} bytes before it");
        }
    }
}
