use wire::open_enum;

use crate::cell::Kind;

open_enum! {
    /// How much of the state is kept in cells.
    pub struct Level(u8) {
        NONE = 0,
        /// Endpoints, threads, connections, server calls, and client calls that are made within a server call.
        SERVER = 1,
        FULL = 2,
    }
}

/// Where a client call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallOrigin {
    /// Within a server call, whose caller waits for both.
    ServerCall,
    Client,
}

impl Level {
    /// Whether objects of a kind have cells. A client call has its origin; other objects have none.
    #[must_use]
    pub fn keeps(self, kind: Kind, origin: Option<CallOrigin>) -> bool {
        let is_client_call = kind == Kind::CLIENT_CALL || kind == Kind::CALL_TARGET;
        match self {
            Self::FULL => true,
            // "Information about client calls made within a server call is maintained even when only Server state
            // information is being gathered."
            Self::SERVER => !is_client_call || origin == Some(CallOrigin::ServerCall),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_state_has_only_the_client_calls_of_server_calls() {
        for (kind, origin, server, full) in [
            (Kind::ENDPOINT, None, true, true),
            (Kind::THREAD, None, true, true),
            (Kind::CONNECTION, None, true, true),
            (Kind::SERVER_CALL, None, true, true),
            (Kind::INTERFACE, None, true, true),
            (Kind::OPERATION, None, true, true),
            (Kind::OBJECT_CALL, None, true, true),
            (Kind::CONNECTION_TOTALS, None, true, true),
            (Kind::CLIENT_CALL, Some(CallOrigin::ServerCall), true, true),
            (Kind::CALL_TARGET, Some(CallOrigin::ServerCall), true, true),
            (Kind::CLIENT_CALL, Some(CallOrigin::Client), false, true),
            (Kind::CALL_TARGET, Some(CallOrigin::Client), false, true),
        ] {
            assert_eq!(Level::SERVER.keeps(kind, origin), server, "{kind} {origin:?}");
            assert_eq!(Level::FULL.keeps(kind, origin), full, "{kind} {origin:?}");
            assert!(!Level::NONE.keeps(kind, origin), "{kind}");
            assert!(!Level(9).keeps(kind, origin), "{kind}");
        }
    }
}
