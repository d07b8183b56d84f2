//! Logs in a database of PostgreSQL.

mod settings;

use std::sync::Arc;

use counter_log::{Batch, LogSink, SinkError, SinkErrorKind, Written};

pub use self::settings::{PostgresSettings, Tls};
use crate::error::failure;
use crate::log::Log;

/// Writes one log into a database of PostgreSQL, over a connection of its own, which is opened when the first records come
/// and again after it broke.
#[derive(Debug)]
pub struct PostgresSink {
    #[expect(dead_code, reason = "comes with the next commit")]
    settings: Arc<PostgresSettings>,
    #[expect(dead_code, reason = "comes with the next commit")]
    log: Log,
}

impl PostgresSink {
    /// A sink that writes `log` by these settings. Connects to nothing yet. Its futures need a runtime of tokio with time
    /// and input and output.
    #[must_use]
    pub const fn new(settings: Arc<PostgresSettings>, log: Log) -> Self {
        Self { settings, log }
    }
}

impl LogSink for PostgresSink {
    async fn write(&mut self, _batch: &Batch) -> Written {
        Written { failure: Some(failure(SinkErrorKind::Other, "not written yet")), ..Written::default() }
    }

    async fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}
