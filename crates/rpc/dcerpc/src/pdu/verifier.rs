use wire::{Decode, DecodeError, DecodeResult, ReadCursor};

use super::{CommonHeader, SecTrailer};

/// The end of a PDU: a `sec_trailer` and its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verifier<'a> {
    /// What the token is.
    pub trailer: SecTrailer,
    /// The token: a leg of an authentication, or a signature.
    pub token: &'a [u8],
}

impl Verifier<'_> {
    /// Finds the verifier of a whole PDU whose body begins at `body_start`, and where the body ends before its
    /// padding.
    ///
    /// # Errors
    /// When body and verifier do not fit into the PDU.
    pub fn split<'a>(
        header: &CommonHeader,
        pdu: &'a [u8],
        body_start: usize,
    ) -> DecodeResult<(usize, Option<Verifier<'a>>)> {
        let Some(trailer_start) =
            pdu.len().checked_sub(header.verifier_len()).filter(|&end| end >= body_start)
        else {
            return Err(DecodeError::not_enough_bytes(
                SecTrailer::NAME,
                "",
                body_start,
                pdu.len().saturating_sub(body_start),
                header.verifier_len(),
            ));
        };
        if header.auth_length == 0 {
            return Ok((trailer_start, None));
        }
        let mut src = ReadCursor::new(&pdu[trailer_start..]);
        let trailer = SecTrailer::decode(&mut src)?;
        let padding = usize::from(trailer.auth_pad_length);
        if padding > trailer_start - body_start {
            return Err(DecodeError::invalid_field(
                SecTrailer::NAME,
                "auth_pad_length",
                trailer_start + 2,
                "more padding than the body has bytes",
            ));
        }
        Ok((trailer_start - padding, Some(Verifier { trailer, token: src.remaining() })))
    }
}
