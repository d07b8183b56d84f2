//! An instance's line to the host, for use at any time from any task.

use std::sync::Arc;
use std::time::Duration;

use crate::credential::{self, Credential};
use crate::event::{Event, Severity};
use crate::failure::Failure;
use crate::host;
use crate::output::Output;
use crate::token::Signal;

/// An instance's line to the host. Cheap to clone; does nothing any more when the instance is gone.
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

    /// Leases the secret of `identity`, to be proven to `host`. Waits while another target tries it.
    ///
    /// # Errors
    /// When the exporter withholds it.
    pub async fn credential(&self, host: &str, identity: &str) -> Result<Credential, Failure> {
        credential::acquire(self.instance, &self.wake, host, identity).await
    }

    /// Tells what the target says of itself, such as its `os.type` and `os.version`; `name` is `[a-z][a-z0-9_.]*`. The
    /// last value counts, and an empty one takes it back. A host that is older than this, or does not know the name, passes over it.
    pub fn fact(&self, name: &str, value: &str) {
        host::fact(self.instance, name, value);
    }

    /// Asks that collections begin so far apart or more, since what they bring changes no faster, or costs the target
    /// much. The last wish counts, and zero takes it back. The exporter keeps its own interval where that is longer; one
    /// before version 1.3 does not hear of it. At most a day.
    pub fn min_interval(&self, interval: Duration) {
        host::min_interval(self.instance, u64::try_from(interval.as_millis()).unwrap_or(u64::MAX));
    }

    /// Reports something that happened on the target.
    pub fn event(
        &self,
        name: &str,
        severity: Severity,
        time_unix_nanos: Option<i64>,
        body: &str,
        fields: &[(&str, &str)],
    ) {
        self.report(&Event { name, severity, time_unix_nanos, body, fields, alert: None });
    }

    /// Reports something that happened on the target, of an alert or not.
    pub fn report(&self, event: &Event<'_>) {
        host::event(self.instance, event);
    }
}
