use std::ops::Range;

use crate::{Batch, Row, SinkError, SinkErrorKind};

use crate::database::failure;
use crate::database::log::Log;
use crate::database::progress::{AnotherWriter, Counted, Progress};

/// Some records of a batch, which one transaction adds.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    /// Which records of the batch.
    pub(crate) records: Range<usize>,
    /// How many records of the log there are before these.
    pub(crate) before: u32,
    /// Whether the first of them is the first of the writer.
    pub(crate) is_first: bool,
}

/// How many values a transaction has at most, if a single record does not have more.
const VALUES_MAX: usize = 50_000;

impl Chunk {
    /// The records from `start` that go into the next transaction, which begins with this.
    pub(crate) fn next(progress: &mut Progress, batch: &Batch, start: usize, columns: usize) -> Self {
        let records_max = (VALUES_MAX / columns.max(1)).max(1);
        let records = start..batch.len().min(start + records_max);
        let is_first = progress.is_at_start();
        let before = progress.begin(batch, &records);
        Self { records, before, is_first }
    }

    pub(crate) fn rows<'a>(&self, batch: &'a Batch) -> impl Iterator<Item = Row<'a>> + use<'a> {
        batch.rows().skip(self.records.start).take(self.records.len())
    }

    /// `RecordIndex` of each record, whether it is the first of the writer, and the record. PDH counts from 1.
    pub(crate) fn numbered<'a>(
        &self,
        batch: &'a Batch,
    ) -> impl Iterator<Item = (i32, bool, Row<'a>)> + use<'a> {
        let (before, is_first) = (self.before, self.is_first);
        self.rows(batch).zip(1_u32..).map(move |(row, count)| {
            let index = before.saturating_add(count).min(RECORDS_MAX).cast_signed();
            (index, is_first && count == 1, row)
        })
    }

    /// How many records there are with these.
    pub(crate) fn after(&self, log: &Log) -> Result<u32, SinkError> {
        let more = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        let after = self.before.saturating_add(more);
        if after <= RECORDS_MAX {
            Ok(after)
        } else {
            let message = format!(
                "log {}: it has {RECORDS_MAX} records, and no room for more; give the next one another name",
                log.name
            );
            Err(failure(SinkErrorKind::Refused, message))
        }
    }
}

/// What the columns `RecordIndex` and `NumberOfRecords` have room for.
const RECORDS_MAX: u32 = i32::MAX.cast_unsigned();

/// What a transaction came to.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It is done: the log has so many records, and they took so many bytes.
    Done { records: u32, bytes: u64 },
    /// The log has this, which is not what was expected. Nothing was added.
    Moved(Counted),
}

/// The failure of a log that somebody else writes.
pub(crate) fn another_writer(database: &str, log: &Log, found: &AnotherWriter) -> SinkError {
    let AnotherWriter { expected, found } = found;
    let message = format!(
        "{database}: log {}: {found} records instead of {expected}; another program writes this log: give one of them another name",
        log.name
    );
    failure(SinkErrorKind::Refused, message)
}
