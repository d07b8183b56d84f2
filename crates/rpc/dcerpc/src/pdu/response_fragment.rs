use wire::{Decode, ReadCursor};

use super::{CommonHeader, PacketType, PfcFlags, Response, Verifier};
use crate::CallId;

/// The position of a fragment within its response, as the fragment states it.
///
/// Read from the parts that are never encrypted, before anything is verified: good for planning how to receive the
/// rest, and for nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseFragment {
    /// The call that is answered.
    pub call_id: CallId,
    /// First, last and the like.
    pub flags: PfcFlags,
    /// Bytes of stub data from here to the end of the response. The field is a hint: servers may send anything.
    pub alloc_hint: u32,
    /// Bytes of stub data in this fragment.
    pub stub_bytes: u32,
}

impl ResponseFragment {
    /// Reads one fragment. None where `bytes` are anything else than one whole response PDU.
    #[must_use]
    pub fn peek(bytes: &[u8]) -> Option<Self> {
        let mut src = ReadCursor::new(bytes);
        let header = CommonHeader::decode(&mut src).ok()?;
        let is_whole = usize::from(header.frag_length) == bytes.len();
        if header.packet_type != PacketType::RESPONSE || !is_whole {
            return None;
        }
        let response = Response::decode(&mut src).ok()?;
        let stub_start = src.pos();
        let (stub_end, _verifier) = Verifier::split(&header, bytes, stub_start).ok()?;
        Some(Self {
            call_id: header.call_id,
            flags: header.flags,
            alloc_hint: response.alloc_hint,
            stub_bytes: u32::try_from(stub_end - stub_start).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C706 12.6.4.10: the first fragment of a response to call 7, with 8 of 20 bytes of stub data.
    const FIRST: [u8; 32] = [
        5, 0, 2, 1, 0x10, 0, 0, 0, 32, 0, 0, 0, 7, 0, 0, 0, // rpcconn_common_hdr_t
        20, 0, 0, 0, 0, 0, 0, 0, // alloc_hint to reserved
        1, 2, 3, 4, 5, 6, 7, 8,
    ];

    #[test]
    fn a_fragment_says_how_much_follows_it() {
        let fragment = ResponseFragment::peek(&FIRST).unwrap();
        let expected = ResponseFragment {
            call_id: CallId(7),
            flags: PfcFlags::FIRST_FRAG,
            alloc_hint: 20,
            stub_bytes: 8,
        };
        assert_eq!(fragment, expected);
    }

    #[test]
    fn padding_and_signature_are_no_stub_data() {
        let mut sealed = FIRST.to_vec();
        sealed.extend([9, 6, 3 /* auth_pad_length */, 0, 0, 0, 0, 0]);
        sealed.extend([0; 16]);
        sealed[8] = 56;
        sealed[10] = 16;
        assert_eq!(ResponseFragment::peek(&sealed).unwrap().stub_bytes, 5);
        sealed[34] = 9;
        assert_eq!(ResponseFragment::peek(&sealed), None, "more padding than there are bytes");
    }

    #[test]
    fn anything_but_one_whole_response_is_none() {
        for length in 0..FIRST.len() {
            assert_eq!(ResponseFragment::peek(&FIRST[..length]), None);
        }
        assert_eq!(ResponseFragment::peek(&[FIRST, FIRST].concat()), None);
        let mut fault = FIRST;
        fault[2] = 3;
        assert_eq!(ResponseFragment::peek(&fault), None);
    }
}
