use crate::Row;
use jiff::Timestamp;

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
