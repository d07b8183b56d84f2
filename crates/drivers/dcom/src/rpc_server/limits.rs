use std::time::Duration;

/// What peers may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open connections. Above it, the address with the most gives one for one with fewer.
    pub connections_max: usize,
    /// Open connections of one address.
    pub connections_per_peer_max: usize,
    /// The longest fragment that is taken. At least 1,432.
    pub fragment_bytes_max: u16,
    /// Memory for PDUs and calls that peers began and did not finish, of all connections. Above it, the
    /// address with the most ends the connection that has the most.
    pub pending_bytes_max: usize,
    /// What one connection may send.
    pub association: dcerpc::Limits,
}

impl Default for Limits {
    /// For small calls of a few hundred peers.
    fn default() -> Self {
        Self {
            connections_max: 1024,
            connections_per_peer_max: 16,
            fragment_bytes_max: 5840,
            pending_bytes_max: 64 << 20,
            association: dcerpc::Limits {
                stub_bytes_max: 4 << 20,
                fragments_max: 8192,
                contexts_max: 16,
                security_contexts_max: 4,
                calls_max: 4,
                ..dcerpc::Limits::default()
            },
        }
    }
}

/// How long peers may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// From the beginning of a connection until calls can be made: bound, and authenticated unless it needs not be.
    pub bind_max: Duration,
    /// From the first byte of a fragment to its last, and from one fragment of a call to the next.
    pub fragment_max: Duration,
    /// From the first byte of a call to its last.
    pub request_max: Duration,
    /// Until an answer is taken.
    pub answer_max: Duration,
    /// Between two calls.
    pub idle_max: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            bind_max: Duration::from_secs(10),
            fragment_max: Duration::from_secs(5),
            request_max: Duration::from_secs(30),
            answer_max: Duration::from_secs(10),
            idle_max: Duration::from_secs(600),
        }
    }
}
