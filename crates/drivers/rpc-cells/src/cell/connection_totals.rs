use super::sealed::Stored;
use super::{Fields, Malformed};

/// What a [`Connection`](super::Connection) has carried since it was made. It only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ConnectionTotals {
    /// Fragments that were sent.
    pub fragments_sent: u64,
    /// Fragments that were received.
    pub fragments_received: u64,
    /// Bytes of the fragments that were sent.
    pub bytes_sent: u64,
    /// Bytes of the fragments that were received.
    pub bytes_received: u64,
}

impl Stored for ConnectionTotals {
    fn write(&self, fields: &mut Fields) {
        fields.put(8, self.fragments_sent.to_le_bytes());
        fields.put(16, self.fragments_received.to_le_bytes());
        fields.put(24, self.bytes_sent.to_le_bytes());
        fields.put(32, self.bytes_received.to_le_bytes());
    }

    fn read(fields: &Fields) -> Result<Self, Malformed> {
        Ok(Self {
            fragments_sent: fields.u64(8),
            fragments_received: fields.u64(16),
            bytes_sent: fields.u64(24),
            bytes_received: fields.u64(32),
        })
    }
}
