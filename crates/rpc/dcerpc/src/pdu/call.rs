use core::fmt;

use wire::{Decode, DecodeResult, Encode, EncodeResult, Guid, ReadCursor, WriteCursor, ensure_size};

use super::{CommonHeader, PacketType, PfcFlags, Response, Verifier};
use crate::{CallId, ContextId, FaultStatus};

/// C706 12.6.4.9 `rpcconn_request_hdr_t`, without the common header and the stub data
///
/// One fragment of a call.
#[doc(alias = "rpcconn_request_hdr_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Stub data from here to the end of the call; no more than a hint.
    pub alloc_hint: u32,
    pub context_id: ContextId,
    pub opnum: u16,
    /// The object, where the header's flags say that there is one.
    pub object: Option<Guid>,
}

impl Request {
    const FIXED_PART_SIZE: usize = 4 /* alloc_hint */ + 2 /* p_cont_id */ + 2 /* opnum */;
    const NAME: &'static str = "rpcconn_request_hdr_t";

    /// The flag of the common header that says whether there is an object.
    #[must_use]
    pub const fn flags(&self) -> PfcFlags {
        if self.object.is_some() { PfcFlags::OBJECT_UUID } else { PfcFlags(0) }
    }

    /// Reads the fragment's own header; the flags are those of the common header.
    ///
    /// # Errors
    /// When bytes are missing.
    pub fn decode(src: &mut ReadCursor<'_>, flags: PfcFlags) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let alloc_hint = src.read_u32();
        let context_id = src.read_u16();
        let opnum = src.read_u16();
        let object = if flags.contains(PfcFlags::OBJECT_UUID) {
            ensure_size!(in: src, name: Self::NAME, field: "object", size: Guid::FIXED_PART_SIZE);
            Some(Guid::from_bytes(src.read_array()))
        } else {
            None
        };
        Ok(Self { alloc_hint, context_id, opnum, object })
    }
}

impl Encode for Request {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.alloc_hint);
        dst.write_u16(self.context_id);
        dst.write_u16(self.opnum);
        self.object.iter().try_for_each(|object| object.encode(dst))
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.object.map_or(0, |_| Guid::FIXED_PART_SIZE)
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {} on context {}", self.opnum, self.context_id)
    }
}

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

/// C706 12.6.4.7 `rpcconn_fault_hdr_t`, without the common header
///
/// A call failed. Extended error information may follow ([MS-RPCE] 2.2.2.9); it is not read.
#[doc(alias = "rpcconn_fault_hdr_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Stub data that follows; no more than a hint.
    pub alloc_hint: u32,
    /// The call's presentation context.
    pub context_id: ContextId,
    /// Cancels that the server received.
    pub cancel_count: u8,
    pub status: FaultStatus,
}

impl Fault {
    const FIXED_PART_SIZE: usize = 4 /* alloc_hint */
        + 2 /* p_cont_id */
        + 1 /* cancel_count */
        + 1 /* reserved */
        + 4 /* status */
        + 4 /* reserved2 */;
    const NAME: &'static str = "rpcconn_fault_hdr_t";
}

impl Encode for Fault {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.alloc_hint);
        dst.write_u16(self.context_id);
        dst.write_u8(self.cancel_count);
        dst.write_u8(0);
        dst.write_u32(self.status.0);
        dst.write_u32(0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for Fault {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let alloc_hint = src.read_u32();
        let context_id = src.read_u16();
        let cancel_count = src.read_u8();
        src.read_u8();
        let status = FaultStatus(src.read_u32());
        src.read_u32();
        Ok(Self { alloc_hint, context_id, cancel_count, status })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.status, f)
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
