use std::sync::Arc;
use std::time::SystemTime;

use plugin_contract::Event;

use super::registry::Registry;

/// Whose alerts a feed brings.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The target.
    pub target: Arc<str>,
    /// The module.
    pub module: Arc<str>,
    /// Its plugin.
    pub plugin: Arc<str>,
    /// The target's labels.
    pub labels: Vec<(String, String)>,
}

/// The events of one module on one target. The newest feed of a module counts; those before it are not heard any more.
#[derive(Debug)]
pub struct Feed {
    pub(crate) registry: Arc<Registry>,
    pub(crate) origin: Origin,
    pub(crate) number: u64,
}

impl Feed {
    /// Something happened on the target, and was seen at `now`.
    pub fn event(&self, event: &Event<'_>, now: SystemTime) {
        if let Some(alert) = event.alert {
            self.registry.event(self, event, alert, now);
        }
    }

    /// The instance was restarted, and knows no alert.
    pub fn restarted(&self) {
        self.registry.restarted(self);
    }

    /// A full collection of the module ended at `now`.
    pub fn collected(&self, now: SystemTime) {
        self.registry.collected(self, now);
    }
}
