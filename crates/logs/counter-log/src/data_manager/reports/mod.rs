//! Reports of data collector sets, [MS-PLA] 2.2.3.3, and the rules that add to them, 2.2.3.4 to 2.2.8.
//!
//! No input or output, and no clock. Records go into [`Statistics`] while a run goes on; at its end, they become a [`Report`],
//! to which [`Rules`] add warnings, and which is written as XML and as a page.
//!
//! Schemas and rules come with exported sets, names of counters from hosts: all of it is untrusted. What cannot be used is
//! named in the report, work and sizes have [`Limits`], and a host does not choose by a name what a rule selects.
//!
//! ```
//! use counter_log::{Batch, Column, Sample};
//! use jiff::{Timestamp, tz::TimeZone};
//! use counter_log::data_manager::reports::{Limits, Options, Report, RunFacts, Rules, Source, Statistics};
//!
//! let column = Column {
//!     machine: "web1".into(), object: "Memory".into(), parent: None, instance: None, instance_index: 0,
//!     counter: "Pages/sec".into(), counter_type: 0, default_scale: 0, time_base: 0,
//! };
//! let mut batch = Batch::new(1);
//! batch.push(Timestamp::UNIX_EPOCH, [Sample { value: Some(4000.0), raw: None }]);
//! let mut statistics = Statistics::new(1);
//! batch.rows().for_each(|row| statistics.add(row));
//! let facts = RunFacts {
//!     set: "Shop".into(), host: "web1".into(), start: Timestamp::UNIX_EPOCH, end: Timestamp::UNIX_EPOCH, zone: TimeZone::UTC,
//!     serial_number: None, files: vec![], gaps: vec![], records: Some(1), records_lost: Some(0), remarks: vec![],
//! };
//! let source = Source { columns: &[column], statistics: &statistics, facts: &facts };
//! let mut report = Report::build(None, &source, &Options::default());
//!
//! let rules = r#"<Rules><Group name="Memory"><Rule name="Paging"><Step select="//Item[Data='Pages/sec']/Data[@name='mean']">
//!     <Exists><When expression=". > 1000"><Warning select="." table="//Table[@name='warning']" tag="Paging">
//!       <Item><Data name="symptom" link="Paging">The host pages.</Data></Item></Warning></When></Exists>
//!   </Step></Rule></Group></Rules>"#;
//! let rules = Rules::read_document(rules.as_bytes(), &Limits::default())?;
//! let mut documents = |name: &str| Err(format!("the folder has no file `{name}`"));
//! let applied = rules.apply(&mut report, &mut documents, &Limits::default());
//! assert_eq!((applied.warnings, applied.failures.len()), (1, 0));
//! assert!(report.to_xml().contains(r#"<Data name="mean" warning="Paging">4000</Data>"#));
//! # Ok::<(), counter_log::data_manager::reports::Error>(())
//! ```
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod html;
mod report;
mod rules;
mod tree;
pub mod xpath;

use jiff::Timestamp;

pub use self::report::{Gap, Options, Report, RunFacts, RunFile, Source};
pub use self::rules::{Applied, Documents, Failure, Limits, Rules};
pub use self::tree::Tree;

use crate::Row;

/// Why rules are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The document is not XML that is read here.
    #[error("read the rules: {0}")]
    Document(#[from] ms_pla::xml::Error),
    /// An element is not what [MS-PLA] 2.2.3.4 to 2.2.8 say.
    #[error("rules, {place}: {reason}")]
    Rule {
        /// Where: the names of group and rule as far as they are known, and line and column.
        place: String,
        /// What is wrong, and what is expected.
        reason: String,
    },
}

/// Figures of each column of a log, gathered record by record.
///
/// A record costs no allocation. Figures of segments of one run are merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    columns: Vec<Column>,
    records: u64,
}

/// What is kept of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Column {
    samples: u64,
    sum: f64,
    min: f64,
    max: f64,
    /// INVARIANT: set where there are samples.
    first: Timestamp,
    last: Timestamp,
}

/// The figures of one column that has values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// How many values there are. Records without a value are not among them.
    pub samples: u64,
    /// The sum of the values divided by their number.
    pub mean: f64,
    pub min: f64,
    pub max: f64,
    /// When the first value was taken.
    pub first: Timestamp,
    /// When the last value was taken.
    pub last: Timestamp,
}

impl Statistics {
    /// Statistics of a log with so many columns.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self { columns: vec![Column::EMPTY; columns], records: 0 }
    }

    /// Adds a record. Values that are no finite number count as missing, and columns above those of the log are dropped.
    pub fn add(&mut self, row: Row<'_>) {
        self.records += 1;
        for (column, sample) in self.columns.iter_mut().zip(row.samples) {
            if let Some(value) = sample.value.filter(|value| value.is_finite()) {
                column.merge(&Column {
                    samples: 1,
                    sum: value,
                    min: value,
                    max: value,
                    first: row.time,
                    last: row.time,
                });
            }
        }
    }

    /// Adds the statistics of another part of the same run, in any order of time. Columns count by their places.
    pub fn merge(&mut self, other: &Self) {
        self.records += other.records;
        if self.columns.len() < other.columns.len() {
            self.columns.resize(other.columns.len(), Column::EMPTY);
        }
        for (column, added) in self.columns.iter_mut().zip(&other.columns) {
            column.merge(added);
        }
    }

    /// The figures of a column; nothing where it has no value.
    #[must_use]
    pub fn figures(&self, column: usize) -> Option<Figures> {
        let column = self.columns.get(column).filter(|column| column.samples > 0)?;
        let Column { samples, sum, min, max, first, last } = *column;
        // The sum may have been rounded, or be above what a number holds. Where there are values, `min` is at most `max`.
        let mean = (sum / samples as f64).clamp(min, max);
        Some(Figures { samples, mean, min, max, first, last })
    }

    /// How many records were added.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }
}

impl Column {
    const EMPTY: Self = Self {
        samples: 0,
        sum: 0.0,
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        first: Timestamp::MAX,
        last: Timestamp::MIN,
    };

    fn merge(&mut self, other: &Self) {
        self.samples += other.samples;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}
