//! How much one target may bring, and why something was not taken.

use std::sync::atomic::{AtomicU64, Ordering};

use plugin_abi::DropReason;

/// Limits of one target, over all its plugin instances where not said otherwise. A histogram counts as many series as
/// Prometheus makes of it: its bounds and three more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub series_max: usize,
    /// Live series of one instance.
    pub instance_series_max: usize,
    /// Live series of one family of an instance.
    pub family_series_max: usize,
    /// Families of one instance.
    pub families_max: usize,
    /// Labels that one series may have beside those of its target.
    pub labels_max: usize,
    /// Bytes of one label's value.
    pub label_value_bytes_max: usize,
    /// Bytes of a family's name.
    pub name_bytes_max: usize,
    /// Bytes of a family's help; longer ones are cut.
    pub help_bytes_max: usize,
    /// Whether series outlive a collection that fails, until [`super::Store::expire`] says that they are too old.
    pub keeps_stale: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            series_max: 200_000,
            instance_series_max: usize::MAX,
            family_series_max: usize::MAX,
            families_max: 20_000,
            labels_max: 16,
            label_value_bytes_max: 1_024,
            name_bytes_max: 400,
            help_bytes_max: 2_048,
            keeps_stale: false,
        }
    }
}

/// Why a family, a series or a value is not on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The target has as many series as it may.
    SeriesLimit,
    /// The instance has as many families as it may.
    FamilyLimit,
    /// The name belongs to a family of another kind, or to another counter of the same instance.
    FamilyCollision,
    /// It is the base of two counters that divide by the same thing, and is on the page once: `Avg. Disk Bytes/Read` and
    /// `Avg. Disk sec/Read` have one number of reads.
    SharedBase,
    /// The target has this series already.
    DuplicateSeries,
    /// The series has more labels than it may.
    TooManyLabels,
    /// A label's value is too long.
    LabelTooLong,
    /// The family's name is too long.
    NameTooLong,
    /// The series names a family that was never taken.
    UnknownFamily,
    /// The value is for a series that is retired, or never was.
    RetiredSeries,
    /// The value is of another type than its family's.
    WrongValueKind,
    /// A counter that is negative or not a number.
    InvalidCount,
    /// Rules left the series no valid name, or a label no valid one.
    InvalidName,
    /// Rules would write the label `target`.
    TargetLabel,
    /// A rule drops it: nothing that anybody has to look at.
    DroppedByRule,
}

impl Refusal {
    pub const ALL: [Self; 15] = [
        Self::SeriesLimit,
        Self::FamilyLimit,
        Self::FamilyCollision,
        Self::SharedBase,
        Self::DuplicateSeries,
        Self::TooManyLabels,
        Self::LabelTooLong,
        Self::NameTooLong,
        Self::UnknownFamily,
        Self::RetiredSeries,
        Self::WrongValueKind,
        Self::InvalidCount,
        Self::InvalidName,
        Self::TargetLabel,
        Self::DroppedByRule,
    ];

    /// The word for a label `reason`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SeriesLimit => "series_limit",
            Self::FamilyLimit => "family_limit",
            Self::FamilyCollision => "family_collision",
            Self::SharedBase => "shared_base",
            Self::DuplicateSeries => "duplicate_series",
            Self::TooManyLabels => "too_many_labels",
            Self::LabelTooLong => "label_too_long",
            Self::NameTooLong => "name_too_long",
            Self::UnknownFamily => "unknown_family",
            Self::RetiredSeries => "retired_series",
            Self::WrongValueKind => "wrong_value_kind",
            Self::InvalidCount => "invalid_count",
            Self::InvalidName => "invalid_name",
            Self::TargetLabel => "target_label",
            Self::DroppedByRule => "rule",
        }
    }

    /// What happened, as a sentence for people.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::SeriesLimit => "The target, the module or the family has its maximum number of series.",
            Self::FamilyLimit => "The module has its maximum number of families.",
            Self::FamilyCollision => "Two counters would have the same name.",
            Self::SharedBase => "Two counters have the same base, which is shown once.",
            Self::DuplicateSeries => "The target has this series already.",
            Self::TooManyLabels => "A series has too many labels.",
            Self::LabelTooLong => "The value of a label is too long.",
            Self::NameTooLong => "The name of a metric is too long.",
            Self::UnknownFamily => "The plugin sent a series of a family that it had not registered.",
            Self::RetiredSeries => "The plugin sent a value for a series that had ended.",
            Self::WrongValueKind => "The plugin sent a value of another type than its family's.",
            Self::InvalidCount => "A counter was negative or not a number.",
            Self::InvalidName => "Rules left a metric or a label no valid name.",
            Self::TargetLabel => "Rules would write the label `target`.",
            Self::DroppedByRule => "A rule or the naming profile drops it.",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn next_step(self) -> &'static str {
        match self {
            Self::SeriesLimit => "Select less in the modules, or raise max_series.",
            Self::FamilyLimit => "Split the module, or raise normalize.limits.max_families.",
            Self::FamilyCollision => "Select one of them, or use another naming.",
            Self::SharedBase => "Nothing: the same numbers are in the series that is there.",
            Self::DuplicateSeries => {
                "Set instance_id, remove a counterset that two modules have, or look at the rules for labels."
            }
            Self::TooManyLabels => "Drop labels by a rule, or raise normalize.limits.max_labels.",
            Self::LabelTooLong => "Shorten it by a rule, or raise normalize.limits.max_label_bytes.",
            Self::NameTooLong => "Rename it by a rule, or raise normalize.limits.max_name_bytes.",
            Self::UnknownFamily | Self::RetiredSeries | Self::WrongValueKind => {
                "Report it to the plugin's author."
            }
            Self::InvalidCount => {
                "Look at the counter in Performance Monitor; the value is left out as long as that is so."
            }
            Self::InvalidName => "Correct the rules: `check-config` names them where it can.",
            Self::TargetLabel => "Write another label: `target` is the exporter's.",
            Self::DroppedByRule => "Nothing, if the rule is meant.",
        }
    }

    /// Whether nothing is lost that anybody wants: the configuration requests it, or the same numbers are there.
    #[must_use]
    pub fn is_wanted(self) -> bool {
        matches!(self, Self::DroppedByRule | Self::SharedBase)
    }

    /// The verdict for the plugin.
    pub(super) fn verdict(self) -> DropReason {
        match self {
            Self::SeriesLimit | Self::FamilyLimit | Self::TooManyLabels => DropReason::Limit,
            Self::FamilyCollision | Self::SharedBase | Self::DuplicateSeries => DropReason::Duplicate,
            Self::UnknownFamily => DropReason::UnknownFamily,
            Self::DroppedByRule => DropReason::Rule,
            Self::InvalidName
            | Self::TargetLabel
            | Self::LabelTooLong
            | Self::NameTooLong
            | Self::RetiredSeries
            | Self::WrongValueKind
            | Self::InvalidCount => DropReason::Invalid,
        }
    }
}

/// How often each reason applied since the store was made.
#[derive(Debug, Default)]
pub struct Refusals([AtomicU64; Refusal::ALL.len()]);

impl Refusals {
    pub(super) fn add(&self, refusal: Refusal, count: u64) {
        if count > 0 {
            self.0[refusal as usize].fetch_add(count, Ordering::Relaxed);
        }
    }

    /// How often this reason applied.
    #[must_use]
    pub fn count(&self, refusal: Refusal) -> u64 {
        self.0[refusal as usize].load(Ordering::Relaxed)
    }

    /// Each reason that applied, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Refusal, u64)> {
        Refusal::ALL.into_iter().map(|refusal| (refusal, self.count(refusal))).filter(|&(_, count)| count > 0)
    }
}
