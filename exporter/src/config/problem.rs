use std::cell::RefCell;
use std::fmt;

use super::tree::Position;

/// So many problems are printed; the rest is a count.
const PROBLEMS_SHOWN_MAX: usize = 50;

/// One thing that is wrong with the configuration, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, unless the problem is the file itself.
    pub position: Option<Position>,
    /// The way to the place: `targets[0].identity`; empty for the whole file.
    pub path: String,
    /// What is wrong, lower case and without a full stop.
    pub message: String,
    /// The next step, where there is an obvious one.
    pub hint: Option<String>,
}

/// Everything that is wrong with one file. Its display has one line a problem, `FILE:LINE:COLUMN: …`, as
/// compilers print them, so that editors jump there.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file's name as the user gave it.
    pub file: String,
    /// In the order of the file.
    pub problems: Vec<Problem>,
    /// What is wrong with other files.
    pub more: Vec<Report>,
}

impl Report {
    /// A report of one problem with the file as a whole.
    #[must_use]
    pub fn of_file(file: &str, message: String, hint: Option<String>) -> Self {
        let problem = Problem { position: None, path: String::new(), message, hint };
        Self { file: file.to_owned(), problems: vec![problem], more: Vec::new() }
    }

    /// Collects `problems`, the first line first.
    #[must_use]
    pub fn new(file: &str, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.position);
        Self { file: file.to_owned(), problems, more: Vec::new() }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().take(PROBLEMS_SHOWN_MAX).enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&self.file)?;
            if let Some(Position { line, column }) = problem.position {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": {problem}")?;
        }
        if let Some(more @ 1..) = self.problems.len().checked_sub(PROBLEMS_SHOWN_MAX) {
            write!(f, "\n{}: and {more} more", self.file)?;
        }
        self.more.iter().try_for_each(|report| write!(f, "\n{report}"))
    }
}

impl std::error::Error for Report {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// Where the readers of the configuration put what they find, so that one bad key does not hide the next.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: RefCell<Vec<Problem>>,
    /// Each key that a section knows, by the way to it, and whether the section has it.
    #[cfg(test)]
    pub(super) known: RefCell<std::collections::BTreeMap<String, bool>>,
}

impl Problems {
    pub(crate) fn push_hint(
        &self,
        position: Position,
        path: &str,
        message: impl Into<String>,
        hint: Option<String>,
    ) {
        let problem =
            Problem { position: Some(position), path: path.to_owned(), message: message.into(), hint };
        self.found.borrow_mut().push(problem);
    }

    pub(crate) fn into_vec(self) -> Vec<Problem> {
        self.found.into_inner()
    }
}
