use std::sync::Arc;
use std::time::Duration;

use crate::{Batch, LogSink, SinkError, SinkErrorKind};
use tokio::time::{Instant, sleep, sleep_until};

use super::state::{SPARE_BYTES, records_within};
use super::{QueueOptions, Shared};

/// The side of the sink. Somebody has to run it; when it is dropped, the log has ended.
#[derive(Debug)]
pub struct LogWriter<S> {
    shared: Arc<Shared>,
    sink: S,
    /// The records in flight.
    pub(super) batch: Batch,
    /// How many records it had room for at most since it was made.
    batch_records: usize,
    /// How many it keeps room for while there is nothing to write.
    batch_records_kept: usize,
    batch_records_max: usize,
    pause_min: Duration,
    pause_max: Duration,
    failures_in_a_row: u32,
}

/// Why a wait ended.
enum Waited {
    /// What was waited for has come.
    Done,
    /// The time to finish is over.
    TooLate,
}

impl<S: LogSink> LogWriter<S> {
    pub(super) fn new(shared: Arc<Shared>, columns: usize, sink: S, options: &QueueOptions) -> Self {
        Self {
            shared,
            sink,
            batch: Batch::new(columns),
            batch_records: 0,
            batch_records_kept: records_within(columns, SPARE_BYTES).max(1),
            batch_records_max: records_within(columns, BATCH_BYTES_MAX).min(options.batch_records_max).max(1),
            pause_min: options.pause_min,
            pause_max: options.pause_max.max(options.pause_min),
            failures_in_a_row: 0,
        }
    }

    /// Writes what is pushed until the log is finished, or all sides of the collection are gone.
    pub async fn run(mut self) {
        while self.next_batch().await {
            if matches!(self.write_batch().await, Waited::TooLate) {
                return;
            }
        }
        self.finish_sink().await;
    }

    /// Waits for records. Returns false when all are written and the log shall end.
    pub(super) async fn next_batch(&mut self) -> bool {
        loop {
            let deadline = {
                let mut state = self.shared.state();
                state.take(&mut self.batch, self.batch_records_max);
                state.deadline()
            };
            self.batch_records = self.batch_records.max(self.batch.len());
            if !self.batch.is_empty() || deadline.is_some() {
                return !self.batch.is_empty();
            }
            if self.batch_records > self.batch_records_kept {
                (self.batch, self.batch_records) = (Batch::new(self.batch.columns()), 0);
            }
            self.shared.pushed.notified().await;
        }
    }

    /// Writes the records in flight, again and again until they all are kept.
    async fn write_batch(&mut self) -> Waited {
        while !self.batch.is_empty() {
            self.shared.state().begin_write(Instant::now());
            let written = tokio::select! {
                biased;
                written = self.sink.write(&self.batch) => written,
                () = too_late(&self.shared) => return Waited::TooLate,
            };
            let records = written.records.min(self.batch.len());
            let failure = written.failure.or_else(|| (records == 0).then(nothing_taken));
            self.shared.state().end_write(records, written.bytes, failure.as_ref());
            self.batch.remove_first(records);
            if records > 0 {
                self.failures_in_a_row = 0;
            }
            if failure.is_some() && matches!(self.pause().await, Waited::TooLate) {
                return Waited::TooLate;
            }
        }
        Waited::Done
    }

    async fn finish_sink(&mut self) {
        self.failures_in_a_row = 0;
        loop {
            let finished = tokio::select! {
                biased;
                finished = self.sink.finish() => finished,
                () = too_late(&self.shared) => return,
            };
            match finished {
                Ok(bytes) => return self.shared.state().end_log(bytes),
                Err(failure) => self.shared.state().fail(&failure),
            }
            if matches!(self.pause().await, Waited::TooLate) {
                return;
            }
        }
    }

    /// Waits before another attempt, less long if the log is told to end meanwhile.
    async fn pause(&mut self) -> Waited {
        let pause =
            self.pause_min.saturating_mul(1_u32.checked_shl(self.failures_in_a_row).unwrap_or(u32::MAX));
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        let pause = pause.min(self.pause_max);
        let was_finishing = self.shared.state().deadline().is_some();
        tokio::select! {
            biased;
            () = sleep(pause) => Waited::Done,
            () = self.shared.finishing.notified(), if !was_finishing => Waited::Done,
            () = too_late(&self.shared), if was_finishing => Waited::TooLate,
        }
    }
}

impl<S> Drop for LogWriter<S> {
    fn drop(&mut self) {
        self.shared.state().end();
        self.shared.ended.send_replace(true);
    }
}

/// The most memory of records in flight, if that is more than one.
const BATCH_BYTES_MAX: usize = 4 << 20;

/// Ends when the log shall have ended.
async fn too_late(shared: &Shared) {
    loop {
        let deadline = shared.state().deadline();
        match deadline {
            // An earlier deadline may come while this one is waited for.
            Some(deadline) => tokio::select! {
                () = sleep_until(deadline) => return,
                () = shared.finishing.notified() => {}
            },
            None => shared.finishing.notified().await,
        }
    }
}

fn nothing_taken() -> SinkError {
    SinkError { kind: SinkErrorKind::Other, message: "the log took no record and gave no reason".to_owned() }
}
