//! Waiting for what the host says.

use tokio::sync::Notify;

/// Raised any number of times; wakes everybody who waits at that moment.
#[derive(Debug, Default)]
pub(crate) struct Signal(Notify);

impl Signal {
    /// Wakes who waits.
    pub(crate) fn raise(&self) {
        self.0.notify_waiters();
    }

    /// Ends when it is raised after this call (not after the first poll).
    pub(crate) fn raised(&self) -> impl Future<Output = ()> + Send + '_ {
        self.0.notified()
    }
}
