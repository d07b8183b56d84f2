//! A bounded queue between a collection and a sink that may be slow, fail or hang.
#![allow(clippy::unimplemented, unused, reason = "signatures first")]

use std::sync::Arc;
use std::time::Duration;

use counter_log::{LogSink, Sample, SinkErrorKind};
use jiff::Timestamp;
use tokio::time::Instant;

/// Limits of a queue, and the pauses of its writer.
#[derive(Clone, Copy, Debug)]
pub struct QueueOptions {
    /// How many records wait at most, those in flight among them.
    pub records_max: usize,
    /// How many bytes of memory their samples take at most. One record always fits.
    pub bytes_max: usize,
    /// How many records are given to the sink at a time.
    pub batch_records_max: usize,
    /// The pause after a first failure; each further one is twice as long.
    pub pause_min: Duration,
    /// The longest pause.
    pub pause_max: Duration,
}

/// What became of the records of a queue. `taken` = `written` + `dropped` + `waiting`, at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogCounts {
    /// Records that were pushed.
    pub taken: u64,
    /// Records that the sink keeps for sure.
    pub written: u64,
    /// Bytes that these took, as far as the sink knows.
    pub bytes: u64,
    /// Records that are lost: the queue was full, or its time to finish was over.
    pub dropped: u64,
    /// Holes in the log: runs of dropped records between two that are kept.
    pub gaps: u64,
    /// Records that wait, those in flight among them.
    pub waiting: u64,
    /// Failed writes by kind, in the order of `SinkErrorKind`.
    pub failures: [u64; SinkErrorKind::ALL.len()],
    /// The text of the last failure, also after the sink has recovered.
    pub last_failure: Option<Arc<str>>,
    /// Whether the last write failed.
    pub is_failing: bool,
    /// Since when a write is in flight.
    pub write_began: Option<Instant>,
    /// Whether the log has ended.
    pub is_finished: bool,
}

/// The side of the collection. Clones are the same queue.
#[derive(Clone, Debug)]
pub struct LogQueue;

/// The side of the sink. Somebody has to run it.
#[derive(Debug)]
pub struct LogWriter<S>(S);

/// A queue for records of so many columns, and the writer that empties it into `sink`.
pub fn log_queue<S: LogSink>(columns: usize, sink: S, options: QueueOptions) -> (LogQueue, LogWriter<S>) {
    unimplemented!()
}

impl LogQueue {
    /// Takes a record. Never waits, and allocates nothing once the queue has had its present length before. If the queue is full,
    /// its oldest record is dropped. Samples above the columns are left out, missing ones are without a value.
    pub fn push(&self, time: Timestamp, samples: impl IntoIterator<Item = Sample>) {
        unimplemented!()
    }

    /// What became of the records so far.
    pub fn counts(&self) -> LogCounts {
        unimplemented!()
    }

    /// Ends the log: records that are pushed from now on are dropped, and what waits is written until `deadline`. What is not
    /// written then is dropped. Returns the final counts.
    pub async fn finish(&self, deadline: Instant) -> LogCounts {
        unimplemented!()
    }
}

impl<S: LogSink> LogWriter<S> {
    /// Writes what is pushed until the log is finished, or all sides of the collection are gone.
    pub async fn run(self) {
        unimplemented!()
    }
}
