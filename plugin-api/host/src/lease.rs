//! Leases of secrets.

use std::sync::Arc;

use parking_lot::Mutex;
use plugin_abi::{CredentialAnswer, CredentialRequest, CredentialVerdict, GeneralReason, Lease, Waiter};

use super::tokens::{self, Tokens};
use crate::library::LibraryShared;
use crate::violation::Violation;

static LEASES: Tokens<LeaseShared> = Tokens::new();

/// An open lease. Its strings do not move until it ends.
pub(crate) struct LeaseShared {
    pub(crate) library: Arc<LibraryShared>,
    pub(crate) lease: Lease,
    owner: Arc<Leases>,
}

/// The leases of an instance or a run.
#[derive(Default)]
pub(crate) struct Leases {
    held: Mutex<Vec<u64>>,
    /// Why the last one was denied. Plugins get only the reason; this is added to the message of the failure that
    /// follows.
    denied: Mutex<Option<(GeneralReason, String)>>,
}

/// The answer to the plugin.
pub(crate) enum LeaseAnswer {
    Lease { token: u64, lease: Arc<LeaseShared> },
    Wait { retry_after_ms: u32 },
    Denied { reason: u32 },
    OverLimit,
}

/// Asks the broker on behalf of `owner`, whose leases are `leases`.
pub(crate) fn acquire(
    library: &Arc<LibraryShared>,
    owner: u64,
    leases: &Arc<Leases>,
    request: &CredentialRequest<'_>,
) -> LeaseAnswer {
    if leases.held.lock().len() >= library.limits().leases_max as usize {
        library.violations.count(Violation::OverLimit);
        return LeaseAnswer::OverLimit;
    }
    let waiter = {
        let library = Arc::downgrade(library);
        Waiter::new(move || {
            if let Some(library) = library.upgrade() {
                library.wake(owner);
            }
        })
    };
    *leases.denied.lock() = None;
    match library.host.options.broker.acquire(request, &waiter) {
        CredentialAnswer::Lease(lease) => {
            let token = tokens::new_token(library.number);
            let lease =
                Arc::new(LeaseShared { library: Arc::clone(library), lease, owner: Arc::clone(leases) });
            leases.held.lock().push(token);
            LEASES.insert(token, Arc::clone(&lease));
            LeaseAnswer::Lease { token, lease }
        }
        CredentialAnswer::Wait { retry_after_ms } => LeaseAnswer::Wait { retry_after_ms },
        CredentialAnswer::Denied { reason, message } => {
            tracing::debug!(plugin = %library.info.name, identity = request.identity, host = request.host, %reason, message, "Credentials withheld");
            *leases.denied.lock() = Some((reason, message)).filter(|(_, message)| !message.is_empty());
            LeaseAnswer::Denied { reason: reason.code() }
        }
    }
}

/// Ends a lease. Returns false if it does not exist (any more).
pub(crate) fn end(token: u64, verdict: CredentialVerdict) -> bool {
    let Some(lease) = LEASES.remove(token) else { return false };
    lease.owner.held.lock().retain(|held| *held != token);
    lease.library.host.options.broker.result(lease.lease.id, verdict);
    true
}

impl Leases {
    /// Why the last lease was denied, once.
    pub(crate) fn take_denied(&self) -> Option<(GeneralReason, String)> {
        self.denied.lock().take()
    }

    /// The owner is gone: its open leases end without a verdict.
    pub(crate) fn end_all(&self) {
        let tokens = self.held.lock().clone();
        for token in tokens {
            end(token, CredentialVerdict::Unknown);
        }
    }
}
