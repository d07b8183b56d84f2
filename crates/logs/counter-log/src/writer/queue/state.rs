//! The records of a queue, and what is counted of them.

use std::collections::VecDeque;
use std::mem::size_of;
use std::sync::Arc;

use crate::{Batch, Sample, SinkError, SinkErrorKind};
use jiff::Timestamp;
use tokio::time::Instant;

use super::{LogCounts, QueueMemory, QueueOptions};

#[derive(Debug)]
pub(super) struct State {
    columns: usize,
    /// The most records, those in flight among them.
    records_max: usize,
    times: VecDeque<Timestamp>,
    /// INVARIANT: `columns` for each time, but for what a push left that did not end.
    samples: VecDeque<Sample>,
    in_flight: usize,
    memory: Arc<QueueMemory>,
    /// How many records of `memory` are taken. INVARIANT: those that wait and those in flight, after each change.
    taken_of_memory: usize,
    /// The number of the record after the last one that was dropped.
    gap_end: Option<u64>,
    counts: LogCounts,
    finish_by: Option<Instant>,
}

impl State {
    pub(super) fn new(columns: usize, options: &QueueOptions) -> Self {
        Self {
            columns,
            records_max: records_within(columns, options.bytes_max).min(options.records_max),
            times: VecDeque::new(),
            samples: VecDeque::new(),
            in_flight: 0,
            memory: Arc::clone(&options.memory),
            taken_of_memory: 0,
            gap_end: None,
            counts: LogCounts::default(),
            finish_by: None,
        }
    }

    /// Takes a record. So many bytes are missing for it: older ones are dropped, as far as there are some.
    pub(super) fn push(
        &mut self,
        time: Timestamp,
        samples: impl IntoIterator<Item = Sample>,
        bytes_lacking: usize,
    ) {
        let number = self.counts.taken;
        if self.finish_by.is_some() {
            self.counts.taken += 1;
            self.drop_records(number, 1);
            return;
        }
        let waiting_max = self.records_max.saturating_sub(self.in_flight).max(1);
        let too_many = (self.times.len() + 1).saturating_sub(waiting_max);
        self.drop_oldest(too_many.max(bytes_lacking.div_ceil(record_bytes(self.columns))));
        self.reserve(waiting_max);
        self.samples.truncate(self.times.len() * self.columns);
        self.samples.extend(samples.into_iter().take(self.columns));
        self.times.push_back(time);
        self.samples.resize(self.times.len() * self.columns, Sample::default());
        self.counts.taken += 1;
        self.account();
    }

    /// Room for another record: a quarter more than there is, but not above the limit.
    fn reserve(&mut self, waiting_max: usize) {
        let waiting = self.times.len();
        if waiting == self.times.capacity() || (waiting + 1) * self.columns > self.samples.capacity() {
            let more = (waiting / 4).min(waiting_max.saturating_sub(waiting)).max(1);
            self.times.reserve_exact(more);
            self.samples.reserve_exact(more * self.columns);
        }
    }

    /// Gives memory back that is not used, but for a little.
    fn release(&mut self) {
        let kept = records_within(self.columns, SPARE_BYTES).max(1);
        let used = self.times.len() + self.times.len() / 4;
        if self.times.capacity() > used.max(kept) {
            self.times.shrink_to(kept);
            self.samples.shrink_to(kept * self.columns);
        }
    }

    /// Counts what is used of the memory that queues share.
    fn account(&mut self) {
        let (records, before) = (self.times.len() + self.in_flight, self.taken_of_memory);
        self.taken_of_memory = records;
        match records.checked_sub(before) {
            Some(more) => self.memory.take(more * record_bytes(self.columns)),
            None => self.memory.give_back((before - records) * record_bytes(self.columns)),
        }
    }

    /// Drops the oldest records that wait, as far as there are so many.
    fn drop_oldest(&mut self, records: usize) {
        let records = records.min(self.times.len());
        if records > 0 {
            let oldest = self.counts.taken - count(self.times.len());
            self.times.drain(..records);
            self.samples.drain(..records * self.columns);
            self.drop_records(oldest, count(records));
        }
    }

    /// Drops the oldest records that wait, which have at least so many bytes together, and gives their memory back. That is an
    /// eighth of them at least, because the others are moved.
    pub(super) fn drop_oldest_bytes(&mut self, bytes: usize) {
        self.drop_oldest(bytes.div_ceil(record_bytes(self.columns)).max(self.times.len() / 8));
        self.release();
        self.account();
    }

    fn drop_records(&mut self, first: u64, records: u64) {
        if self.gap_end != Some(first) {
            self.counts.gaps += 1;
        }
        self.gap_end = Some(first + records);
        self.counts.dropped += records;
    }

    /// Moves the oldest records into `batch`, which is empty: they are in flight now.
    pub(super) fn take(&mut self, batch: &mut Batch, records_max: usize) {
        self.samples.truncate(self.times.len() * self.columns);
        let records = self.times.len().min(records_max);
        for time in self.times.drain(..records) {
            batch.push(time, self.samples.drain(..self.columns));
        }
        self.in_flight = records;
        self.release();
        self.account();
    }

    pub(super) fn begin_write(&mut self, now: Instant) {
        self.counts.write_began = Some(now);
    }

    /// The first `records` in flight are kept for sure.
    pub(super) fn end_write(&mut self, records: usize, bytes: u64, failure: Option<&SinkError>) {
        let records = records.min(self.in_flight);
        self.in_flight -= records;
        self.account();
        self.counts.written += count(records);
        self.counts.bytes += bytes;
        self.counts.write_began = None;
        self.counts.failing = None;
        if let Some(failure) = failure {
            self.fail(failure);
        }
    }

    /// The log has come to its end, which took so many bytes.
    pub(super) const fn end_log(&mut self, bytes: u64) {
        self.counts.bytes += bytes;
        self.counts.failing = None;
    }

    pub(super) fn fail(&mut self, failure: &SinkError) {
        self.counts.failing = Some(failure.kind);
        let kind = SinkErrorKind::ALL.iter().position(|kind| *kind == failure.kind);
        if let Some(failures) = kind.and_then(|kind| self.counts.failures.get_mut(kind)) {
            *failures += 1;
        }
        if self.counts.last_failure.as_deref() != Some(failure.message.as_str()) {
            self.counts.last_failure = Some(Arc::from(failure.message.as_str()));
        }
    }

    /// Drops all that is not written.
    pub(super) fn end(&mut self) {
        let left = count(self.in_flight + self.times.len());
        if left > 0 {
            // A gap among these, which is between those in flight and the others, becomes longer on both sides.
            let first = self.counts.taken - left;
            let is_among_them = self.gap_end.is_some_and(|end| end >= first);
            self.gap_end = if is_among_them { Some(first) } else { self.gap_end };
            self.drop_records(first, left);
        }
        self.in_flight = 0;
        self.times = VecDeque::new();
        self.samples = VecDeque::new();
        self.account();
        self.finish_by.get_or_insert_with(Instant::now);
        self.counts.write_began = None;
        self.counts.is_finished = true;
    }

    pub(super) fn finish_by(&mut self, deadline: Instant) {
        self.finish_by = Some(self.finish_by.map_or(deadline, |earlier| earlier.min(deadline)));
    }

    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.finish_by
    }

    pub(super) fn counts(&self) -> LogCounts {
        let waiting = self.in_flight + self.times.len();
        let waiting_bytes = count(waiting * record_bytes(self.columns));
        LogCounts { waiting: count(waiting), waiting_bytes, ..self.counts.clone() }
    }
}

/// How many records of so many columns have room in `bytes`.
pub(super) fn records_within(columns: usize, bytes: usize) -> usize {
    bytes / record_bytes(columns)
}

/// The memory of a record of so many columns.
pub(super) const fn record_bytes(columns: usize) -> usize {
    size_of::<Timestamp>() + columns * size_of::<Sample>()
}

fn count(records: usize) -> u64 {
    records as u64
}

/// Memory that a queue keeps when it is empty, and its writer, if that is more than one record.
pub(super) const SPARE_BYTES: usize = 64 << 10;
