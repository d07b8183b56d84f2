//! What of a log is in its database.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use crate::{Batch, Row};

use crate::database::record::time_text;

/// How far a log is written. The database counts the records in the same transaction that adds them, and a transaction is done
/// only if the count is what it was. So the count says whether a transaction was done whose end nobody heard of.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Records of the log in the database, after the last transaction that is known to be done.
    stored: Option<u32>,
    /// The transaction that was begun last.
    attempt: Option<Attempt>,
    /// Earlier ones whose end is not known. All add to `stored`, so at most one of them is ever done.
    unknown: VecDeque<Attempt>,
    /// Records that are in the database, and of which the caller does not know that.
    unreported: VecDeque<Fingerprint>,
    /// Whether a record of this writer is in the database.
    has_begun: bool,
}

/// What the database says of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// What documents call `NumberOfRecords`.
    pub(crate) records: u32,
    /// `LogStopTime`, without blanks at its end.
    pub(crate) stop: String,
}

/// The records of a transaction.
#[derive(Debug, PartialEq, Eq)]
struct Attempt {
    records: Vec<Fingerprint>,
    /// The `LogStopTime` that it writes.
    stop: String,
}

/// A record, as far as it takes to know it again.
type Fingerprint = u64;

/// The log has other records than this writer has written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AnotherWriter {
    pub(crate) expected: u32,
    pub(crate) found: u32,
}

/// Of how many transactions the end may be unknown. Above that the oldest are forgotten.
const UNKNOWN_MAX: usize = 4;

impl Progress {
    /// Compares with what the database counts. A transaction whose end is not known may still be done later: one of this
    /// writer, or, before this writer has added records, one of the process before.
    pub(crate) fn settle(&mut self, found: &Counted) -> Result<(), AnotherWriter> {
        self.give_up();
        let expected = self.stored.unwrap_or(found.records);
        if found.records < expected {
            // An older copy of the database was restored.
            self.unknown.clear();
        } else if found.records > expected && (self.has_begun || !self.unknown.is_empty()) {
            let is_it = |attempt: &&mut Attempt| {
                attempt.stop == found.stop && attempt.records.len() == (found.records - expected) as usize
            };
            let done =
                self.unknown.iter_mut().find(is_it).map(|attempt| std::mem::take(&mut attempt.records));
            let done = done.ok_or(AnotherWriter { expected, found: found.records })?;
            self.unreported.extend(done);
            self.unknown.clear();
            self.has_begun = true;
        }
        self.stored = Some(found.records);
        Ok(())
    }

    /// How many of the records of `batch` from `start` are in the database already. The caller may have dropped records since
    /// it wrote them, so these are looked for.
    pub(crate) fn written_before(&mut self, batch: &Batch, start: usize) -> usize {
        if self.unreported.is_empty() {
            return 0;
        }
        let rows = batch.rows().skip(start).take(self.unreported.len());
        let given: Vec<_> = rows.map(|row| fingerprint(&row)).collect();
        let known = self.unreported.make_contiguous();
        for start in 0..known.len() {
            let common = given.len().min(known.len() - start);
            if known[start..start + common] == given[..common] {
                self.unreported.drain(..start + common);
                return common;
            }
        }
        self.unreported.clear();
        0
    }

    /// Begins a transaction that adds these records of `batch`, and answers how many records there were before.
    pub(crate) fn begin(&mut self, batch: &Batch, records: &Range<usize>) -> u32 {
        self.give_up();
        let rows = || batch.rows().skip(records.start).take(records.len());
        let stop = rows().last().map_or_else(String::new, |row| time_text(row.time));
        self.attempt = Some(Attempt { records: rows().map(|row| fingerprint(&row)).collect(), stop });
        self.stored.unwrap_or(0)
    }

    /// The transaction is done: the database counts so many records.
    pub(crate) fn done(&mut self, stored: u32) {
        self.attempt = None;
        self.unknown.clear();
        self.stored = Some(stored);
        self.has_begun = true;
    }

    /// The transaction is not done, and never will be.
    pub(crate) fn not_done(&mut self) {
        self.attempt = None;
    }

    /// That the database counts so many records is not by this writer.
    pub(crate) fn differs(&self, found: u32) -> AnotherWriter {
        AnotherWriter { expected: self.stored.unwrap_or(found), found }
    }

    /// Whether the next record is the first of this writer.
    pub(crate) const fn is_at_start(&self) -> bool {
        !self.has_begun
    }

    /// Nobody will hear how the transaction ended.
    fn give_up(&mut self) {
        let Some(attempt) = self.attempt.take() else { return };
        if !self.unknown.contains(&attempt) {
            self.unknown.truncate(UNKNOWN_MAX - 1);
            self.unknown.push_front(attempt);
        }
    }
}

fn fingerprint(row: &Row<'_>) -> Fingerprint {
    let mut hasher = DefaultHasher::new();
    hasher.write_i128(row.time.as_nanosecond());
    for sample in row.samples {
        hasher.write_u64(sample.value.map_or(u64::MAX, f64::to_bits));
        if let Some(raw) = sample.raw {
            hasher.write_i64(raw.first);
            hasher.write_i64(raw.second);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use crate::Sample;
    use jiff::Timestamp;

    use super::*;

    fn batch(seconds: std::ops::Range<i64>) -> Batch {
        let mut batch = Batch::new(1);
        for second in seconds {
            let time = Timestamp::from_second(second).expect("it is a small number");
            batch.push(time, [Sample { value: Some(1.0), raw: None }]);
        }
        batch
    }

    /// The database counts so many records, the last of which is of this second.
    fn counted(records: u32, second: i64) -> Counted {
        let time = Timestamp::from_second(second).expect("it is a small number");
        Counted { records, stop: time_text(time) }
    }

    /// A writer of which 100 records are stored, and that tried to add those of the seconds 0 to 9.
    fn interrupted() -> Progress {
        let mut progress = Progress::default();
        progress.settle(&counted(100, -1)).expect("a new writer takes what there is");
        assert_eq!(progress.begin(&batch(0..10), &(0..10)), 100);
        progress
    }

    #[test]
    fn a_transaction_that_was_lost_is_done_again() {
        let mut progress = interrupted();
        progress.settle(&counted(100, -1)).expect("nothing was added");
        assert_eq!(progress.written_before(&batch(0..10), 0), 0);
        assert_eq!(progress.begin(&batch(0..10), &(0..10)), 100);
    }

    #[test]
    fn a_transaction_whose_answer_was_lost_is_not_done_twice() {
        let mut progress = interrupted();
        progress.settle(&counted(110, 9)).expect("the ten were added");
        assert_eq!(progress.written_before(&batch(0..20), 0), 10);
        assert_eq!(progress.written_before(&batch(0..20), 10), 0);
        assert_eq!(progress.begin(&batch(10..20), &(0..10)), 110);
    }

    #[test]
    fn a_transaction_may_be_done_after_its_writer_looked_and_tried_another() {
        let mut progress = interrupted();
        progress.settle(&counted(100, -1)).expect("nothing was added yet");
        progress.begin(&batch(0..15), &(0..15));
        progress.not_done();
        progress.settle(&counted(110, 9)).expect("the first ten were added meanwhile");
        assert_eq!(progress.written_before(&batch(0..15), 0), 10);
    }

    #[test]
    fn records_are_known_again_in_smaller_batches_and_after_some_were_dropped() {
        let mut progress = interrupted();
        progress.settle(&counted(110, 9)).expect("the ten were added");
        assert_eq!(progress.written_before(&batch(3..6), 0), 3);
        assert_eq!(progress.written_before(&batch(6..30), 0), 4);
        assert_eq!(progress.written_before(&batch(10..30), 0), 0);

        let mut progress = interrupted();
        progress.settle(&counted(110, 9)).expect("the ten were added");
        assert_eq!(progress.written_before(&batch(10..20), 0), 0, "all ten were dropped");
    }

    #[test]
    fn records_of_another_writer_are_noticed() {
        for found in [counted(105, 9), counted(110, 8)] {
            let expected = AnotherWriter { expected: 100, found: found.records };
            assert_eq!(interrupted().settle(&found), Err(expected));
        }
        let mut progress = interrupted();
        progress.done(110);
        assert_eq!(progress.settle(&counted(120, 9)), Err(AnotherWriter { expected: 110, found: 120 }));
    }

    #[test]
    fn what_the_process_before_adds_late_is_taken() {
        let mut progress = interrupted();
        progress.not_done();
        progress.settle(&counted(110, 9)).expect("this writer has added nothing yet");
        assert_eq!(progress.written_before(&batch(0..10), 0), 0);
        assert_eq!(progress.begin(&batch(0..10), &(0..10)), 110);
    }

    #[test]
    fn an_older_copy_of_the_database_is_continued() {
        let mut progress = interrupted();
        progress.settle(&counted(40, -50)).expect("fewer records are an older copy");
        assert_eq!(progress.begin(&batch(0..10), &(0..10)), 40);
    }
}
