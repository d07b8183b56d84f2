use core::fmt;

use wire::{Decode, DecodeResult, Encode, EncodeError, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use super::ResultList;

/// C706 12.6.4.4 `rpcconn_bind_ack_hdr_t`, without the common header
///
/// A server accepts an association, and answers to each presentation context.
#[doc(alias = "rpcconn_bind_ack_hdr_t")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindAck {
    /// The longest fragment that the server will send.
    pub max_xmit_frag: u16,
    /// The longest fragment that the server will take.
    pub max_recv_frag: u16,
    /// The group whose context handles the association shares.
    pub assoc_group_id: u32,
    /// Where further connections of the group may go: a port or a pipe. Without its terminating NUL.
    pub sec_addr: Vec<u8>,
    /// One for each context of the bind.
    pub results: ResultList,
}

impl BindAck {
    const FIXED_PART_SIZE: usize = 2 /* max_xmit_frag */
        + 2 /* max_recv_frag */
        + 4 /* assoc_group_id */
        + 2 /* sec_addr.length */;
    const NAME: &'static str = "rpcconn_bind_ack_hdr_t";

    /// The address with its NUL; Windows sends none at all for an empty one.
    fn sec_addr_len(&self) -> usize {
        if self.sec_addr.is_empty() { 0 } else { self.sec_addr.len() + 1 }
    }

    /// Up to the results, which are aligned to four from the beginning of the PDU; the common header is sixteen
    /// bytes, so that its length does not matter here.
    fn results_offset(&self) -> usize {
        (Self::FIXED_PART_SIZE + self.sec_addr_len()).next_multiple_of(4)
    }
}

impl Encode for BindAck {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let start = dst.pos();
        dst.write_u16(self.max_xmit_frag);
        dst.write_u16(self.max_recv_frag);
        dst.write_u32(self.assoc_group_id);
        let length = u16::try_from(self.sec_addr_len())
            .map_err(|_| EncodeError::new(Self::NAME, "sec_addr", "more than 65535 bytes"))?;
        dst.write_u16(length);
        dst.write_slice(&self.sec_addr);
        dst.write_zeros(self.results_offset() - (dst.pos() - start));
        self.results.encode(dst)
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        self.results_offset() + self.results.size()
    }
}

impl<'de> Decode<'de> for BindAck {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let start = src.pos();
        let max_xmit_frag = src.read_u16();
        let max_recv_frag = src.read_u16();
        let assoc_group_id = src.read_u32();
        let length = usize::from(src.read_u16());
        let sec_addr = src.take_slice(Self::NAME, "sec_addr", length)?;
        let consumed = src.pos() - start;
        src.skip(Self::NAME, "pad2", consumed.next_multiple_of(4) - consumed)?;
        Ok(Self {
            max_xmit_frag,
            max_recv_frag,
            assoc_group_id,
            sec_addr: sec_addr.strip_suffix(&[0]).unwrap_or(sec_addr).to_vec(),
            results: ResultList::decode(src)?,
        })
    }
}

impl fmt::Display for BindAck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bind_ack with fragments of {} and {} bytes", self.max_xmit_frag, self.max_recv_frag)
    }
}
