//! The exporter's handle of one source on one target.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use plugin_abi::CollectionId;

use super::InstanceShared;
use crate::error::{CollectError, ConfigureError};
use crate::library::LiveInstance as _;
use crate::state::{InstanceConfig, InstanceState};
use crate::violation::Violations;

/// One source on one target. Dropping it destroys the instance in the plugin, asynchronously.
///
/// Calling order: [`Instance::collect`] (any number, one at a time; each ends with one
/// [`plugin_abi::DataSink::complete`]), [`Instance::reconfigure`] at any time in between.
pub struct Instance(pub(crate) Arc<InstanceShared>);

impl Instance {
    /// Starts a collection that must end before `deadline_ns` on the monotonic clock ([`crate::monotonic_ns`]).
    /// Never blocks. Its end is reported with [`plugin_abi::DataSink::complete`], from any thread,
    /// possibly before this returns.
    ///
    /// # Errors If it cannot begin; then nothing is reported to the sink.
    pub fn collect(&self, deadline_ns: u64) -> Result<CollectionId, CollectError> {
        self.0.collect(deadline_ns)
    }

    /// Asks the plugin to end the collection early. Idempotent; does nothing after its end.
    pub fn cancel(&self, collection: CollectionId) {
        self.0.cancel(collection.0);
    }

    /// Gives the source new settings. On an error the old ones stay. Blocks up to `configure_ms_max`. A blocking source checks
    /// them now and gets them with the next collection; if it does not take them then, the instance is made again with them.
    ///
    /// # Errors
    /// What the source does not accept.
    pub fn reconfigure(&self, config: &InstanceConfig) -> Result<(), ConfigureError> {
        self.0.reconfigure(config)
    }

    /// The interval that the source asks for, if any. It may change with each collection.
    #[must_use]
    pub fn min_interval(&self) -> Option<Duration> {
        self.0.min_interval()
    }

    /// What it is doing.
    #[must_use]
    pub fn state(&self) -> InstanceState {
        self.0.state_at(self.0.library.now_ns())
    }

    /// Its violations of the contract.
    #[must_use]
    pub fn violations(&self) -> &Violations {
        &self.0.violations
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.0.destroy(plugin_abi::raw::END_REMOVED, self.0.library.end_deadline_ns());
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("plugin", &self.0.library.info.name)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
