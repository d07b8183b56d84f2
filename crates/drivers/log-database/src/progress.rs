//! What of a log is in its database.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher};

use counter_log::{Batch, Row};

/// How far a log is written. The database counts the records in the same transaction that adds them, so the count says whether
/// a transaction whose end nobody heard of was done.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Records of the log in the database: `NumberOfRecords` after the last transaction that is known to be done.
    stored: Option<u32>,
    /// The records of a transaction whose end is not known.
    attempt: Vec<Fingerprint>,
    /// Records that are in the database, and of which the caller does not know that.
    unreported: VecDeque<Fingerprint>,
}

/// A record, as far as it takes to know it again.
type Fingerprint = u64;

/// The log has other records than this writer has written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AnotherWriter {
    pub(crate) expected: u32,
    pub(crate) found: u32,
}

impl Progress {
    /// Compares with what the database counts, after it was opened.
    pub(crate) fn settle(&mut self, found: u32) -> Result<(), AnotherWriter> {
        let expected = self.stored.unwrap_or(found);
        let with_attempt = u32::try_from(self.attempt.len()).ok().and_then(|more| expected.checked_add(more));
        if found <= expected {
            // It was not done. Fewer records than before: an older copy of the database was restored.
            self.attempt.clear();
        } else if with_attempt == Some(found) {
            self.unreported.extend(self.attempt.drain(..));
        } else {
            return Err(AnotherWriter { expected, found });
        }
        self.stored = Some(found);
        Ok(())
    }

    /// How many of the first records of `batch` are in the database already. The caller may have dropped records since it
    /// wrote them, so these are looked for.
    pub(crate) fn written_before(&mut self, batch: &Batch) -> usize {
        if self.unreported.is_empty() {
            return 0;
        }
        let given: Vec<_> = batch.rows().take(self.unreported.len()).map(|row| fingerprint(&row)).collect();
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

    /// Begins a transaction that adds `rows`, and answers how many records there were before.
    pub(crate) fn begin<'a>(&mut self, rows: impl Iterator<Item = Row<'a>>) -> u32 {
        self.attempt.clear();
        self.attempt.extend(rows.map(|row| fingerprint(&row)));
        self.stored.unwrap_or(0)
    }

    /// The transaction is done: the database counts so many records.
    pub(crate) fn done(&mut self, stored: u32) {
        self.attempt.clear();
        self.stored = Some(stored);
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
    use counter_log::Sample;
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

    /// A writer of which 100 records are stored, and that tried to add those of the seconds 0 to 9.
    fn interrupted() -> Progress {
        let mut progress = Progress::default();
        progress.settle(100).expect("a new writer takes what there is");
        assert_eq!(progress.begin(batch(0..10).rows()), 100);
        progress
    }

    #[test]
    fn a_transaction_that_was_lost_is_done_again() {
        let mut progress = interrupted();
        progress.settle(100).expect("nothing was added");
        assert_eq!(progress.written_before(&batch(0..10)), 0);
        assert_eq!(progress.begin(batch(0..10).rows()), 100);
    }

    #[test]
    fn a_transaction_whose_answer_was_lost_is_not_done_twice() {
        let mut progress = interrupted();
        progress.settle(110).expect("the ten were added");
        assert_eq!(progress.written_before(&batch(0..20)), 10);
        assert_eq!(progress.written_before(&batch(10..20)), 0);
        assert_eq!(progress.begin(batch(10..20).rows()), 110);
    }

    #[test]
    fn records_are_known_again_in_smaller_batches_and_after_some_were_dropped() {
        let mut progress = interrupted();
        progress.settle(110).expect("the ten were added");
        assert_eq!(progress.written_before(&batch(3..6)), 3);
        assert_eq!(progress.written_before(&batch(6..30)), 4);
        assert_eq!(progress.written_before(&batch(10..30)), 0);

        let mut progress = interrupted();
        progress.settle(110).expect("the ten were added");
        assert_eq!(progress.written_before(&batch(10..20)), 0, "all ten were dropped");
    }

    #[test]
    fn records_of_another_writer_are_noticed() {
        let mut progress = interrupted();
        assert_eq!(progress.settle(105), Err(AnotherWriter { expected: 100, found: 105 }));
        let mut progress = Progress::default();
        progress.settle(1).expect("a new writer takes what there is");
        progress.done(1);
        assert_eq!(progress.settle(2), Err(AnotherWriter { expected: 1, found: 2 }));
    }

    #[test]
    fn an_older_copy_of_the_database_is_continued() {
        let mut progress = interrupted();
        progress.settle(40).expect("fewer records are an older copy");
        assert_eq!(progress.begin(batch(0..10).rows()), 40);
    }
}
