//! The log of one collector in one segment, from its first record to its end.

use std::sync::Arc;
use std::time::Duration;

use counter_log::data_manager::reports::{Gap, Statistics};
use counter_log::writer::{FileProgress, LogCounts, LogQueue, QueueOptions, log_queue};
use counter_log::{LogHeader, Row, Sample};
use jiff::Timestamp;
use tokio::time::Instant;

use super::AnySink;

/// A log that is written. Its writer is a task of its own: neither a slow disk nor a dead database delays a collection.
#[derive(Debug)]
pub(crate) struct OpenLog {
    /// The side of the collection.
    pub(super) queue: LogQueue,
    /// Its folder or its database, for people.
    pub(super) place: String,
    /// What is known of its file.
    progress: Option<Arc<FileProgress>>,
    header: Arc<LogHeader>,
    statistics: Statistics,
    /// When the last record was taken.
    last: Option<Timestamp>,
    /// The first times in which the host gave nothing.
    gaps: Vec<Gap>,
    /// How many there were.
    pub(super) unanswered: u64,
    /// Between two of these there is a gap.
    interval: Option<Duration>,
    /// Records of this segment.
    pub(super) records: u64,
}

/// A log that has ended.
#[derive(Debug)]
pub(crate) struct ClosedLog {
    /// The name of its file, if it has one.
    pub(super) file: Option<String>,
    pub(super) bytes: u64,
    pub(super) header: Arc<LogHeader>,
    pub(super) statistics: Statistics,
    pub(super) gaps: Vec<Gap>,
    pub(crate) counts: LogCounts,
}

impl OpenLog {
    /// Must be called inside the library's runtime.
    pub(super) fn open(
        header: Arc<LogHeader>,
        (place, sink): (String, AnySink),
        progress: Option<Arc<FileProgress>>,
        (interval, options): (Option<Duration>, QueueOptions),
    ) -> Self {
        let columns = header.columns.len();
        let (queue, writer) = log_queue(columns, sink, &options);
        tokio::spawn(writer.run());
        let statistics = Statistics::new(columns);
        Self {
            queue,
            place,
            progress,
            header,
            statistics,
            last: None,
            gaps: Vec::new(),
            unanswered: 0,
            interval,
            records: 0,
        }
    }

    pub(crate) fn push(&mut self, time: Timestamp, samples: &[Sample]) {
        self.statistics.add(Row { time, samples });
        self.queue.push(time, samples.iter().copied());
        self.records += 1;
        if let (Some(last), Some(interval)) = (self.last.replace(time), self.interval) {
            let passed = Duration::try_from(time.duration_since(last)).unwrap_or_default();
            if passed >= interval * INTERVALS_OF_GAP {
                self.unanswered += 1;
                if self.gaps.len() < GAPS_MAX {
                    self.gaps.push(Gap { start: last, end: time, reason: NO_VALUES.to_owned() });
                }
            }
        }
    }

    /// The size of its file.
    pub(super) fn bytes(&self) -> u64 {
        self.progress.as_ref().map_or(0, |progress| progress.bytes())
    }

    /// Writes what waits, until `deadline`.
    pub(crate) async fn close(self, deadline: Instant) -> ClosedLog {
        let Self { queue, progress, header, statistics, gaps, .. } = self;
        let counts = queue.finish(deadline).await;
        let file = progress.as_ref().and_then(|progress| progress.name());
        let bytes = progress.as_ref().map_or(counts.bytes, |progress| progress.bytes());
        ClosedLog { file, bytes, header, statistics, gaps, counts }
    }
}

/// Why there is a gap that is no fault of the log.
const NO_VALUES: &str = "the host gave no values, or was not asked";
/// Two samples are missing at least.
const INTERVALS_OF_GAP: u32 = 2;
/// Of one log, that its report lists.
const GAPS_MAX: usize = 100;
