use super::request::Request;
use crate::crypto::{Opener, PreauthHash};
use crate::packet::Keys;

/// One session of a client.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) state: State,
    /// The SESSION_SETUP that waits for the application.
    pub(super) setup: Option<Request>,
    pub(super) preauth: PreauthHash,
    /// There from the first successful authentication on.
    pub(super) keys: Option<Keys>,
    /// INVARIANT: set only where `keys` has ciphers.
    pub(super) encrypts: bool,
    pub(super) trees: Vec<u32>,
}

/// How far the authentication of a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    InProgress,
    Valid,
    Expired,
}

impl Session {
    pub(super) fn opener(&self) -> Option<&Opener> {
        self.keys.as_ref()?.ciphers.as_ref().map(|(_, opener)| opener)
    }
}
