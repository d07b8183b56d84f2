//! Groups of rules, and what is said about what of a set is no rule.

use ms_pla::xml::Position;

use super::{at, one_line};

#[derive(Debug, Default)]
pub(super) struct Translated {
    pub(super) sets: Vec<TranslatedSet>,
}

#[derive(Debug)]
pub(super) struct TranslatedSet {
    pub(super) name: String,
    pub(super) file: String,
    /// One for each interval.
    pub(super) groups: Vec<Group>,
    pub(super) remarks: Vec<Remark>,
}

/// Rules that are evaluated together.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) interval_s: u64,
    pub(super) rules: Vec<Rule>,
}

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) alert: String,
    pub(super) needs: Need,
    pub(super) expr: String,
    pub(super) labels: Vec<(&'static str, String)>,
    pub(super) summary: String,
    pub(super) notes: Vec<String>,
}

/// What the exporter has to collect for a rule.
#[derive(Clone, Debug)]
pub(super) struct Need {
    pub(super) counterset: String,
    /// Whether with its totals.
    pub(super) totals: bool,
    /// Whether with what its instances are added up to.
    pub(super) aggregate: bool,
}

/// Something that a rule does not say.
#[derive(Debug)]
pub(super) struct Remark {
    pub(super) file: String,
    pub(super) position: Position,
    /// Whether a threshold has no rule.
    pub(super) is_left_out: bool,
    pub(super) text: String,
}

impl Remark {
    /// With the file, for the standard error.
    pub(super) fn with_file(&self) -> String {
        format!("{}{}: {}", at(&self.file, self.position), self.kind(), one_line(&self.text))
    }

    /// Without, for a comment below the file's name.
    pub(super) fn without_file(&self) -> String {
        format!("{}: {}: {}", self.position, self.kind(), self.text)
    }

    const fn kind(&self) -> &'static str {
        if self.is_left_out { "left out" } else { "note" }
    }
}

impl Translated {
    /// Whether every threshold has a rule, and there is one.
    pub(super) fn is_complete(&self) -> bool {
        let mut remarks = self.sets.iter().flat_map(|set| &set.remarks);
        !remarks.any(|remark| remark.is_left_out) && self.sets.iter().any(|set| !set.groups.is_empty())
    }
}
