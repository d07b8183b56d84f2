use core::fmt;

use wire::{
    Decode, DecodeResult, Encode, EncodeError, EncodeResult, ReadCursor, WriteCursor, ensure_size, open_enum,
};

use super::{ContextList, ResultList};

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

/// C706 12.6.4.5 `rpcconn_bind_nak_hdr_t`, without the common header
///
/// A server refuses an association. The extended error information of [MS-RPCE] 2.2.2.9 is not read.
#[doc(alias = "rpcconn_bind_nak_hdr_t")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindNak {
    pub reason: BindNakReason,
    /// Major and minor of the protocol versions that the server speaks.
    pub versions: Vec<(u8, u8)>,
}

impl BindNak {
    const FIXED_PART_SIZE: usize = 2 /* provider_reject_reason */;
    const NAME: &'static str = "rpcconn_bind_nak_hdr_t";

    /// A refusal that names version 5.0, as the specification requires.
    #[must_use]
    pub fn new(reason: BindNakReason) -> Self {
        Self { reason, versions: vec![(5, 0)] }
    }
}

impl Encode for BindNak {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(self.reason.0);
        let versions = u8::try_from(self.versions.len())
            .map_err(|_| EncodeError::new(Self::NAME, "n_protocols", "more than 255"))?;
        dst.write_u8(versions);
        for &(major, minor) in &self.versions {
            dst.write_u8(major);
            dst.write_u8(minor);
        }
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + 1 /* n_protocols */ + self.versions.len() * 2
    }
}

impl<'de> Decode<'de> for BindNak {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let reason = BindNakReason(src.read_u16());
        // Some servers stop after the reason.
        let count = if src.is_empty() { 0 } else { usize::from(src.read_u8()) };
        let versions = src.take_slice(Self::NAME, "versions", count * 2)?;
        Ok(Self { reason, versions: versions.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect() })
    }
}

impl fmt::Display for BindNak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bind_nak: {}", self.reason)
    }
}

open_enum! {
    /// C706 12.6.3.1 and [MS-RPCE] 2.2.2.5: why an association was refused.
    #[doc(alias = "p_reject_reason_t")]
    pub struct BindNakReason(u16) {
        REASON_NOT_SPECIFIED = 0,
        TEMPORARY_CONGESTION = 1,
        /// The server has too many associations.
        LOCAL_LIMIT_EXCEEDED = 2,
        /// The server does not know the address.
        CALLED_PADDR_UNKNOWN = 3,
        /// The server does not speak the protocol version.
        PROTOCOL_VERSION_NOT_SUPPORTED = 4,
        /// The server has no default context.
        DEFAULT_CONTEXT_NOT_SUPPORTED = 5,
        /// The server cannot read the user data.
        USER_DATA_NOT_READABLE = 6,
        /// The server has no such access point.
        NO_PSAP_AVAILABLE = 7,
        /// The server does not know the authentication service.
        AUTHENTICATION_TYPE_NOT_RECOGNIZED = 8,
        /// The server does not believe the authentication token.
        INVALID_CHECKSUM = 9,
    }
}

/// C706 12.6.4.3 `rpcconn_bind_hdr_t`, without the common header
///
/// A client opens an association.
#[doc(alias = "rpcconn_bind_hdr_t")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bind {
    /// The longest fragment that the client will send.
    pub max_xmit_frag: u16,
    /// The longest fragment that the client will take.
    pub max_recv_frag: u16,
    /// The group whose context handles the client wants to share; zero for a new one.
    pub assoc_group_id: u32,
    /// What the client wants to call.
    pub contexts: ContextList,
}

impl Bind {
    const FIXED_PART_SIZE: usize = 2 /* max_xmit_frag */ + 2 /* max_recv_frag */ + 4 /* assoc_group_id */;
    const NAME: &'static str = "rpcconn_bind_hdr_t";
}

impl Encode for Bind {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(self.max_xmit_frag);
        dst.write_u16(self.max_recv_frag);
        dst.write_u32(self.assoc_group_id);
        self.contexts.encode(dst)
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.contexts.size()
    }
}

impl<'de> Decode<'de> for Bind {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        Ok(Self {
            max_xmit_frag: src.read_u16(),
            max_recv_frag: src.read_u16(),
            assoc_group_id: src.read_u32(),
            contexts: ContextList::decode(src)?,
        })
    }
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bind to")?;
        self.contexts.0.iter().try_for_each(|context| write!(f, " {}", context.abstract_syntax))
    }
}
