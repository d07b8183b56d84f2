use core::fmt;

use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use super::ContextList;

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
