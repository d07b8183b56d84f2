use std::sync::Arc;

use crate::SinkErrorKind;
use tokio::time::Instant;

/// What became of the records of a queue. `taken` = `written` + `dropped` + `waiting`, at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogCounts {
    /// Records that were pushed.
    pub taken: u64,
    /// Records that the sink keeps for sure.
    pub written: u64,
    /// Bytes that these took, as far as the sink knows.
    pub bytes: u64,
    /// Records that are lost: the queue was full, or its time to finish was over. Those whose write was in flight then are
    /// among them, though the sink may have kept some.
    pub dropped: u64,
    /// Holes in the log: runs of dropped records, one after the other. It never becomes less, also where a record between two of
    /// them is given up at the end.
    pub gaps: u64,
    /// Records that wait, those in flight among them.
    pub waiting: u64,
    /// Bytes of memory that these take.
    pub waiting_bytes: u64,
    /// Failures of writes and of the end of the log, by kind in the order of [`SinkErrorKind::ALL`].
    pub failures: [u64; SinkErrorKind::ALL.len()],
    /// The text of the last failure, also after the sink has recovered.
    pub last_failure: Option<Arc<str>>,
    /// Why the last attempt to write, or to bring the log to its end, failed; nothing if it did not.
    pub failing: Option<SinkErrorKind>,
    /// Since when a write is in flight.
    pub write_began: Option<Instant>,
    /// Whether the log has ended.
    pub is_finished: bool,
}
