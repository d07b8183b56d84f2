//! The open alerts of an instance.

use std::collections::HashSet;

use parking_lot::Mutex;
use plugin_abi::{Alert, AlertState};

use super::InstanceShared;
use crate::violation::Violation;

/// The open alerts of an instance.
#[derive(Default)]
pub(super) struct OpenAlerts(Mutex<HashSet<String>>);

impl InstanceShared {
    /// Tracks open alerts. An alert that is opened again is returned as still open. `None` if too many are open.
    pub(crate) fn note_alert<'a>(&self, alert: Option<Alert<'a>>) -> Option<Option<Alert<'a>>> {
        let Some(Alert { id, state, labels }) = alert else { return Some(None) };
        let mut open = self.alerts.0.lock();
        if state == AlertState::Closed {
            open.remove(id);
            return Some(alert);
        }
        let was_open = open.contains(id);
        if !was_open && open.len() >= self.library.limits().alerts_max as usize {
            drop(open);
            self.violation(Violation::OverLimit, 1);
            return None;
        }
        open.insert(id.to_owned());
        let state = if was_open { AlertState::Open } else { state };
        Some(Some(Alert { id, state, labels }))
    }

    /// Whether this alert is open.
    pub(crate) fn is_open(&self, id: &str) -> bool {
        self.alerts.0.lock().contains(id)
    }

    /// Called after a restart: all alerts are unknown.
    pub(crate) fn forget_alerts(&self) {
        self.alerts.0.lock().clear();
    }
}
