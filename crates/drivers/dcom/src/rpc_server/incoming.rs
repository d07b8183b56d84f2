use core::fmt;
use std::net::IpAddr;

use transport::BoxStream;

/// A connection that came in.
pub struct Incoming {
    /// Its bytes.
    pub stream: BoxStream,
    /// Where it comes from.
    pub peer: IpAddr,
    /// The port that it came to, which a bind_ack says.
    pub port: u16,
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming").field("peer", &self.peer).field("port", &self.port).finish_non_exhaustive()
    }
}
