use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use safe_text::OneLine;

use super::node::Position;

/// Maximum printed problems; the rest is a count.
const PROBLEMS_SHOWN_MAX: usize = 50;
const PROBLEMS_MAX: usize = 10_000;
/// Maximum places shown for one problem. One line counts the others.
const PLACES_SHOWN: usize = 3;
/// Maximum bytes of a problem's message, which repeats parts of the file.
const TEXT_BYTES_MAX: usize = 1_024;

/// One thing that is wrong with the configuration, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, unless the problem is the file itself.
    pub position: Option<Position>,
    /// The way to the place: `targets[0].identity`; empty for the whole file.
    pub path: String,
    /// What is wrong, lower case and without a full stop.
    pub message: String,
    /// The next step, if there is an obvious one.
    pub hint: Option<String>,
}

/// Everything that is wrong with one file. Its display has one line a problem, `FILE:LINE:COLUMN: …`, as
/// compilers print them, so that editors jump there; a problem that many entries have is one line with a count.
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
        let (mut lines, mut shown) = (0, 0);
        for group in groups(&self.problems).into_iter().take(PROBLEMS_SHOWN_MAX) {
            if lines > 0 {
                f.write_str("\n")?;
            }
            lines += 1;
            shown += group.len();
            f.write_str(&self.file)?;
            if let Some(position) = group[0].position {
                write!(f, ":{position}")?;
            }
            write!(f, ": {}", group[0])?;
            write_count(f, &group)?;
        }
        if let Some(more @ 1..) = self.problems.len().checked_sub(shown) {
            write!(f, "\n{}: and {more} more", self.file)?;
        }
        self.more.iter().try_for_each(|report| write!(f, "\n{report}"))
    }
}

/// The problems in their order; those that many entries have are together, where the first of them is.
fn groups(problems: &[Problem]) -> Vec<Vec<&Problem>> {
    let mut alike: BTreeMap<_, Vec<&Problem>> = BTreeMap::new();
    for problem in problems {
        alike.entry(problem.shape()).or_default().push(problem);
    }
    let groups = problems.iter().filter_map(|problem| match alike.get(&problem.shape()) {
        // A few are read faster one by one.
        Some(group) if group.len() > PLACES_SHOWN => std::ptr::eq(group[0], problem).then(|| group.clone()),
        _ => Some(vec![problem]),
    });
    groups.collect()
}

/// How often a problem is there, and where first.
fn write_count(f: &mut fmt::Formatter<'_>, group: &[&Problem]) -> fmt::Result {
    if group.len() == 1 {
        return Ok(());
    }
    let places = group.iter().filter_map(|problem| problem.position).take(PLACES_SHOWN);
    let places: Vec<String> = places.map(|position| position.to_string()).collect();
    write!(f, " ({} times: {}, …)", group.len(), places.join(", "))
}

impl std::error::Error for Report {}

impl Problem {
    /// The problem without indexes of lists and names in parentheses: the same for each occurrence of this mistake.
    fn shape(&self) -> (String, &str, Option<&str>) {
        let path = self.path.split(" (").next().unwrap_or_default();
        let without_numbers =
            path.split('[').map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        (without_numbers.collect::<Vec<_>>().join("["), &self.message, self.hint.as_deref())
    }
}

impl fmt::Display for Problem {
    /// One line, even if it quotes texts with line breaks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            OneLine(&self.path).fmt(f)?;
            f.write_str(": ")?;
        }
        OneLine(&self.message).fmt(f)?;
        match &self.hint {
            Some(hint) => {
                f.write_str("; ")?;
                OneLine(hint).fmt(f)
            }
            None => Ok(()),
        }
    }
}

/// The text, cut to `bytes_max` bytes.
pub(super) fn shortened(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        text.into()
    } else {
        format!("{}…", &text[..text.floor_char_boundary(bytes_max)]).into()
    }
}

/// Where the readers of the configuration put what they find, so that one bad key does not hide the next.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: RefCell<Vec<Problem>>,
    /// Those of other files.
    reports: RefCell<Vec<Report>>,
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
        let mut found = self.found.borrow_mut();
        if found.len() == PROBLEMS_MAX {
            return;
        }
        let short = |text: &str| shortened(text, TEXT_BYTES_MAX).into_owned();
        found.push(Problem {
            position: Some(position),
            path: short(path),
            message: short(&message.into()),
            hint: hint.map(|hint| short(&hint)),
        });
    }

    /// What is wrong with another file, once.
    pub(crate) fn push_report(&self, report: Report) {
        let mut reports = self.reports.borrow_mut();
        if !reports.iter().any(|known| known.file == report.file) {
            reports.push(report);
        }
    }

    pub(crate) fn take_reports(&self) -> Vec<Report> {
        self.reports.take()
    }

    pub(crate) fn into_vec(self) -> Vec<Problem> {
        self.found.into_inner()
    }
}
