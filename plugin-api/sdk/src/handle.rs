//! An instance's handle of the host, for use at any time from any task.

use std::sync::Arc;
use std::time::Duration;

use plugin_abi::{Event, Level, NoRoom};

use crate::credential::{self, Credential};
use crate::failure::Failure;
use crate::host;
use crate::output::Output;
use crate::token::Signal;

/// An instance's handle of the host. Cheap to clone; does nothing after the instance has ended.
#[derive(Clone, Debug)]
pub struct Handle {
    pub(crate) instance: u64,
    pub(crate) wake: Arc<Signal>,
}

impl Handle {
    /// A new, empty buffer for values, for sources that push outside of collections.
    #[must_use]
    pub fn output(&self) -> Output {
        Output::new(self.instance)
    }

    /// Leases the secret of `identity`, to authenticate to `host`. Waits while another target tries it.
    ///
    /// # Errors If the exporter withholds it.
    pub async fn credential(&self, host: &str, identity: &str) -> Result<Credential, Failure> {
        credential::acquire(self.instance, &self.wake, host, identity).await
    }

    /// Reports a fact about the target, such as its `os.type` and `os.version`; `name` is `[a-z][a-z0-9_.]*`. The
    /// last value counts, and an empty one removes the fact. Older hosts, and hosts that do not know the name,
    /// ignore it.
    pub fn fact(&self, name: &str, value: &str) {
        host::fact(self.instance, name, value);
    }

    /// Asks for at least `interval` between the starts of two collections, because the data changes no faster, or
    /// is expensive for the target. The last call counts, and zero removes the request. The exporter keeps its own
    /// interval if that is longer. At most a day.
    pub fn min_interval(&self, interval: Duration) {
        host::min_interval(self.instance, u64::try_from(interval.as_millis()).unwrap_or(u64::MAX));
    }

    /// Reports something that happened on the target.
    pub fn event(
        &self,
        name: &str,
        level: Level,
        time_unix_nanos: Option<i64>,
        body: &str,
        fields: &[(&str, &str)],
    ) {
        // What finds no room is counted by the host.
        let _ = self.report(&Event { name, level, time_unix_nanos, body, fields, alert: None });
    }

    /// Reports something that happened on the target, with or without an alert.
    ///
    /// # Errors
    /// If it is not taken now. Report an alert again with a later collection.
    pub fn report(&self, event: &Event<'_>) -> Result<(), NoRoom> {
        host::event(self.instance, event)
    }
}
