//! Waiting for wake-ups from the host.

use tokio::sync::Notify;

/// Can be raised any number of times; wakes all current waiters.
#[derive(Debug, Default)]
pub(crate) struct Signal(Notify);

impl Signal {
    pub(crate) fn raise(&self) {
        self.0.notify_waiters();
    }

    /// Ends when it is raised after this call (not after the first poll).
    pub(crate) fn raised(&self) -> impl Future<Output = ()> + Send + '_ {
        self.0.notified()
    }
}
