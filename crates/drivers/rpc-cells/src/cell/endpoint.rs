use wire::open_enum;

use super::sealed::Stored;
use super::{Fields, Malformed, Name};

open_enum! {
    /// Whether an endpoint can be called.
    pub struct EndpointStatus(u8) {
        /// Its creation has begun and not ended.
        ALLOCATED = 0,
        /// It is in use.
        ACTIVE = 1,
        /// It is no longer in use.
        INACTIVE = 2,
    }
}

open_enum! {
    /// [C706] appendix I: how an RPC server is reached.
    pub struct ProtocolSequence(u16) {
        TCP = 0x07,
        UDP = 0x08,
        NAMED_PIPE = 0x0f,
        /// Calls within one host: `ncalrpc`.
        LOCAL = 0x10,
        /// RPC over HTTP: `ncacn_http`.
        HTTP = 0x1f,
    }
}

/// Through which a server can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Endpoint {
    /// How it is reached.
    #[doc(alias = "ProtseqType")]
    pub protocol_sequence: ProtocolSequence,
    /// Whether it can be called.
    pub status: EndpointStatus,
    /// The front of its name.
    #[doc(alias = "EndpointName")]
    pub name: Name<28>,
}

impl Stored for Endpoint {
    fn write(&self, fields: &mut Fields) {
        fields.put(1, [self.status.0]);
        fields.put(2, self.protocol_sequence.0.to_le_bytes());
        fields.put_name(4, &self.name);
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        let [status] = fields.get(1);
        Ok(Self {
            protocol_sequence: ProtocolSequence(fields.u16(2)),
            status: EndpointStatus(status),
            name: fields.name(4, "EndpointName")?,
        })
    }
}
