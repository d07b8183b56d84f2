use std::sync::Arc;

use crate::protector::Protector;

/// One security context of an association ([MS-RPCE] 3.3.1.5.4).
#[derive(Debug)]
pub(super) struct SecurityEntry {
    pub(super) protector: Protector,
    pub(super) state: SecurityState,
    /// The authenticated account; known once the context is established.
    pub(super) peer: Option<Arc<ssp::Account>>,
}

/// Where a security context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecurityState {
    /// It waits for a further leg of the client.
    Authenticating {
        legs: usize,
    },
    Established,
    /// Authentication failed.
    Denied,
}

/// Names a security context within its association. Contexts are never removed.
pub(super) type SecurityIndex = usize;
