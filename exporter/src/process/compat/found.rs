//! What a file reads and records.

use std::collections::BTreeSet;

use super::promql::Reference;

/// Maximum expressions of one file.
const EXPRESSIONS_MAX: usize = 10_000;
/// Maximum bytes of the title of a panel, or the name of a rule, that are kept.
const TITLE_BYTES_MAX: usize = 100;

/// What a file reads and records.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Each expression with its place.
    pub(super) reads: Vec<(String, BTreeSet<Reference>)>,
    /// Each expression that is no PromQL: its place, and what the parser says.
    pub(super) unreadable: Vec<(String, String)>,
    /// The names that recording rules make.
    pub(super) recorded: BTreeSet<String>,
    count: usize,
}

impl Found {
    /// Adds an expression that was read at a place.
    pub(super) fn add(&mut self, place: &str, references: Result<BTreeSet<Reference>, String>) {
        match references {
            Ok(references) => self.reads.push((place.to_owned(), references)),
            Err(error) => self.unreadable.push((place.to_owned(), error)),
        }
    }

    /// Counts an expression before it is read.
    ///
    /// # Errors
    /// When there are too many.
    pub(super) fn count(&mut self) -> Result<(), String> {
        self.count += 1;
        self.check_count()
    }

    /// Whether there was no expression at all, not even one that cannot be read.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && self.unreadable.is_empty()
    }

    /// Adds what was found in a part of the file.
    ///
    /// # Errors
    /// When there are too many expressions.
    pub(super) fn add_part(&mut self, part: &str, found: Self) -> Result<(), String> {
        let at = |place: String| format!("{part}: {place}");
        self.reads.extend(found.reads.into_iter().map(|(place, references)| (at(place), references)));
        self.unreadable.extend(found.unreadable.into_iter().map(|(place, why)| (at(place), why)));
        self.recorded.extend(found.recorded);
        self.count += found.count;
        self.check_count()
    }

    fn check_count(&self) -> Result<(), String> {
        if self.count > EXPRESSIONS_MAX {
            return Err(format!("has more than {EXPRESSIONS_MAX} expressions, which is the limit"));
        }
        Ok(())
    }
}

pub(super) fn titled(what: &str, title: &str) -> String {
    let end = (0..=TITLE_BYTES_MAX.min(title.len())).rev().find(|end| title.is_char_boundary(*end));
    let (shown, rest) = title.split_at(end.unwrap_or_default());
    format!("{what} \"{shown}{}\"", if rest.is_empty() { "" } else { "…" })
}
