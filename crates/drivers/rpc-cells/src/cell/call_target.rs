use super::sealed::Stored;
use super::{Fields, Malformed, Name, ProtocolSequence};

/// Where a client call goes, or a client's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CallTarget {
    /// How the server is reached.
    pub protocol_sequence: ProtocolSequence,
    /// When this cell or the call's was last updated, in milliseconds after boot.
    pub last_update_ms: u64,
    /// The front of the name of the server. The empty name is this machine's.
    #[doc(alias = "TargetServer")]
    pub server: Name<24>,
    /// The front of the endpoint on the server.
    pub endpoint: Name<12>,
}

impl Stored for CallTarget {
    fn write(&self, fields: &mut Fields) {
        fields.put(2, self.protocol_sequence.0.to_le_bytes());
        fields.put(8, self.last_update_ms.to_le_bytes());
        fields.put_name(16, &self.server);
        fields.put_name(42, &self.endpoint);
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        Ok(Self {
            protocol_sequence: ProtocolSequence(fields.u16(2)),
            last_update_ms: fields.u64(8),
            server: fields.name(16, "TargetServer")?,
            endpoint: fields.name(42, "Endpoint")?,
        })
    }
}
