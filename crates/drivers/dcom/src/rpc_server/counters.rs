use core::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Declares the reasons with their word for labels and a sentence.
macro_rules! refusals {
    ($($(#[$meta:meta])* $name:ident = $word:literal, $sentence:literal;)*) => {
        /// Why a connection was refused or ended. A closed list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Refusal {
            $($(#[$meta])* $name,)*
        }

        impl Refusal {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word for labels and logs.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }

        impl fmt::Display for Refusal {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$name => $sentence,)* })
            }
        }
    };
}

refusals! {
    /// Its address is not allowed.
    Address = "address", "the address is not allowed";
    /// There are too many connections.
    Connections = "connections", "too many connections";
    /// There are too many connections of its address, by the limit or because others need one.
    PeerConnections = "peer_connections", "too many connections of the address";
    /// It did not bind in time.
    SlowBind = "slow_bind", "no complete bind in time";
    /// It did not send the rest of a fragment, or of a call, in time.
    SlowRequest = "slow_request", "no complete call in time";
    /// It did not take an answer in time.
    SlowReader = "slow_reader", "the answer was not taken in time";
    /// It made no call for long.
    Idle = "idle", "no call for too long";
    /// There is too much unfinished data, and its address has the most.
    PendingBytes = "pending_bytes", "too much unfinished data of the address";
    /// A call is longer than the limit.
    TooLarge = "too_large", "a call exceeds the limit";
    /// It wants to authenticate, and cannot.
    Authentication = "authentication", "authentication is not accepted";
    /// It violates the protocol.
    Protocol = "protocol", "the peer violates the protocol";
}

/// What a server did. Only ever counted up.
#[derive(Debug, Default)]
pub struct Counters {
    connections: AtomicU64,
    calls: AtomicU64,
    faults: AtomicU64,
    refused: [AtomicU64; Refusal::ALL.len()],
}

impl Counters {
    /// Connections that were taken.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Calls that were executed; each has a response or a fault.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Calls that were answered with a fault.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }

    /// Connections that were refused or ended, by reason; zeros too.
    pub fn refused(&self) -> impl Iterator<Item = (Refusal, u64)> {
        let count = |reason: Refusal| self.refused_for(reason);
        Refusal::ALL.iter().map(move |&reason| (reason, count(reason)))
    }

    /// Connections that were refused or ended for this reason.
    #[must_use]
    pub fn refused_for(&self, reason: Refusal) -> u64 {
        self.refused[reason as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn count_connection(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_call(&self, is_fault: bool) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.faults.fetch_add(is_fault.into(), Ordering::Relaxed);
    }

    pub(crate) fn count_refusal(&self, reason: Refusal) {
        self.refused[reason as usize].fetch_add(1, Ordering::Relaxed);
    }
}
