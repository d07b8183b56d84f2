use std::time::Duration;

use dcerpc::{CallId, FaultStatus};

/// What to send for one message.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// How long to wait first.
    pub(super) delay: Duration,
    /// PDUs, one message each.
    pub(super) messages: Vec<Vec<u8>>,
    /// Answers of calls that are in progress until then. Their PDUs are made when the wait is over.
    pub(super) late: Vec<LateAnswer>,
    /// What comes after them.
    pub(super) then: Then,
}

/// What happens to the connection after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Then {
    #[default]
    GoOn,
    HangUp,
    /// The whole connection ends.
    Drop,
}

/// The answer of a call that was executed.
#[derive(Debug)]
pub(super) struct LateAnswer {
    pub(super) call_id: CallId,
    pub(super) result: Result<Vec<u8>, FaultStatus>,
}
