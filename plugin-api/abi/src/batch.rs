//! Values.

use crate::family::ValueKind;

/// Values of one type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Column<'a> {
    F64(&'a [f64]),
    U64(&'a [u64]),
    I64(&'a [i64]),
}

impl Column<'_> {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
        }
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of its values.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::F64(_) => ValueKind::F64,
            Self::U64(_) => ValueKind::U64,
            Self::I64(_) => ValueKind::I64,
        }
    }
}

/// Values by series id.
///
/// INVARIANT: all columns have the length of `ids`, and every id is at most the highest id that was ever accepted.
/// The sink checks whether the series is still live and of this value kind when it stores the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch<'a> {
    /// Series ids, in any order.
    pub ids: &'a [u32],
    /// The value of each.
    pub values: Column<'a>,
    /// The time of each in Unix nanoseconds, if it is not "now".
    pub timestamps: Option<&'a [i64]>,
    /// The start of each in Unix nanoseconds; 0 if it is not known.
    pub start_times: Option<&'a [i64]>,
}

/// The outcome of a batch. Rows that are not stored are counted and dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchOutcome {
    pub stored: u64,
    /// Rows whose series is retired.
    pub retired: u64,
    /// Rows with another value kind than their family, or of another family.
    pub wrong_kind: u64,
}
