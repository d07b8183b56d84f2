//! Records of who had which set started or stopped.

use plugin_session::command::{HostAccess, user};

use crate::host::{AUDIT, Order};

/// An attempt to control a set: it is recorded before a host hears of it, and when it ends, however it ends.
#[derive(Debug)]
pub(super) struct Attempt {
    user: String,
    identity: String,
    target: String,
    set: String,
    order: &'static str,
    is_ended: bool,
}

/// Characters of an option in a record.
const FIELD_CHARS_MAX: usize = 320;

impl Attempt {
    pub(super) fn new(access: &HostAccess, set: &str, order: Order) -> Self {
        let cut = |text: &str| text.chars().take(FIELD_CHARS_MAX).collect();
        Self {
            user: user(),
            identity: cut(access.identity()),
            target: cut(access.host()),
            set: cut(set),
            order: order.as_str(),
            is_ended: false,
        }
    }

    /// The configuration allows it, and the host is asked next.
    pub(super) fn requested(&self) {
        let Self { user, identity, target, set, order, .. } = self;
        tracing::warn!(
            audit = AUDIT,
            user,
            identity,
            target,
            set,
            order,
            "Control of a data collector set requested"
        );
    }

    /// How it ended, in one line: `started`, `refused: …`, `failed: …`.
    pub(super) fn end(mut self, outcome: &str) {
        self.record(outcome);
    }

    fn record(&mut self, outcome: &str) {
        self.is_ended = true;
        let Self { user, identity, target, set, order, .. } = self;
        tracing::warn!(
            audit = AUDIT,
            user,
            identity,
            target,
            set,
            order,
            outcome,
            "Control of a data collector set ended"
        );
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if !self.is_ended {
            self.record("cancelled: the host may do it nevertheless");
        }
    }
}
