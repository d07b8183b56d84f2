use wire::{
    Decode, DecodeResult, Encode, EncodeError, EncodeResult, ReadCursor, WriteCursor, ensure_size, open_enum,
};

open_enum! {
    /// C706 appendix I: the protocol of a floor.
    pub struct ProtocolId(u8) {
        /// TCP: the right side is a port.
        TCP = 0x07,
        /// UDP: the right side is a port.
        UDP = 0x08,
        /// IP: the right side is an address.
        IP = 0x09,
        NCADG = 0x0a,
        NCACN = 0x0b,
        /// RPC within one host.
        NCALRPC = 0x0c,
        /// The left side begins with a UUID.
        UUID = 0x0d,
        /// A named pipe of SMB: the right side is its name.
        SMB = 0x0f,
        /// An endpoint within one host: the right side is its name.
        LOCAL_ENDPOINT = 0x10,
        /// NetBIOS: the right side is the name of a host.
        NETBIOS = 0x11,
        /// HTTP: the right side is a port.
        HTTP = 0x1f,
    }
}

/// C706 appendix L: a floor of a tower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Floor {
    /// Its protocol, which the left side begins with.
    pub protocol: ProtocolId,
    /// The rest of the left side: what the protocol is about.
    pub lhs: Vec<u8>,
    /// The right side: the address in it.
    pub rhs: Vec<u8>,
}

impl Floor {
    const NAME: &'static str = "tower floor";
    const FIXED_PART_SIZE: usize = 2 /* LHS byte count */ + 1 /* protocol identifier */ + 2 /* RHS byte count */;

    /// A floor whose left side is the protocol alone.
    #[must_use]
    pub fn new(protocol: ProtocolId, rhs: impl Into<Vec<u8>>) -> Self {
        Self { protocol, lhs: Vec::new(), rhs: rhs.into() }
    }
}

impl Encode for Floor {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let count = |field, count: usize| {
            u16::try_from(count).map_err(|_| EncodeError::new(Self::NAME, field, "is above 16 bits"))
        };
        dst.write_u16(count("LHS byte count", 1 /* protocol identifier */ + self.lhs.len())?);
        dst.write_u8(self.protocol.0);
        dst.write_slice(&self.lhs);
        dst.write_u16(count("RHS byte count", self.rhs.len())?);
        dst.write_slice(&self.rhs);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.lhs.len() + self.rhs.len()
    }
}

impl<'de> Decode<'de> for Floor {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        let mut side = |field| {
            ensure_size!(in: src, name: Self::NAME, field: field, size: 2);
            let size = src.read_u16();
            let offset = src.pos();
            Ok((offset, src.take_slice(Self::NAME, field, usize::from(size))?))
        };
        let (offset, left) = side("LHS")?;
        let (_, right) = side("RHS")?;
        let Some((protocol, lhs)) = left.split_first() else {
            let reason = "has no protocol identifier";
            return Err(wire::DecodeError::invalid_field(Self::NAME, "LHS", offset, reason));
        };
        Ok(Self { protocol: ProtocolId(*protocol), lhs: lhs.to_vec(), rhs: right.to_vec() })
    }
}
