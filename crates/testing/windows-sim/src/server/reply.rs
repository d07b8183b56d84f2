use std::time::Duration;

/// What to send for one message.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// How long to wait first.
    pub(super) delay: Duration,
    /// PDUs, one message each.
    pub(super) messages: Vec<Vec<u8>>,
    /// What comes after them.
    pub(super) then: Then,
}

/// What happens to the connection after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Then {
    /// Nothing in particular.
    #[default]
    GoOn,
    /// The pipe breaks.
    HangUp,
    /// The whole connection ends.
    Drop,
}
