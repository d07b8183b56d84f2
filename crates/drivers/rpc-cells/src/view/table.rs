use std::fmt;

use serde::Serialize;

/// A line of a table.
pub trait Row {
    /// What was searched for.
    const SOUGHT: &str;
    /// The names of the columns.
    const HEADING: &str;
    /// The length of the line below them.
    const RULE: usize;

    /// Writes the columns.
    ///
    /// # Errors
    /// When the formatter has one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// Rows, which print as `dbgrpc` prints them. As JSON it is an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Table<R> {
    /// The rows.
    pub rows: Vec<R>,
}

impl<R: Row> fmt::Display for Table<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Searching for {} info ...", R::SOUGHT)?;
        writeln!(f, "{}", R::HEADING)?;
        writeln!(f, "{}", "-".repeat(R::RULE))?;
        self.rows.iter().try_for_each(|row| {
            row.fmt(f)?;
            writeln!(f)
        })
    }
}
