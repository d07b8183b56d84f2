//! Families and series as a plugin declares them, and the host's verdicts.
#![expect(unsafe_code, reason = "says that a series id is an integer")]

use crate::raw::{
    KIND_COUNTER, KIND_GAUGE, KIND_HISTOGRAM, KIND_INFO, KIND_UNKNOWN, Plain, VALUE_F64, VALUE_HISTOGRAM,
    VALUE_I64, VALUE_U64,
};

// UNSAFETY: the one implementation below makes columns of ids what the header calls an array of uint32_t.

/// What a family's values mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A value that goes up and down.
    Gauge,
    /// A sum that only grows, or is reset.
    Counter,
    /// Labels that describe something; the value is 1.
    Info,
    /// Observations counted in buckets; the counts only grow, or are reset.
    Histogram,
    #[default]
    Unknown,
}

impl Kind {
    /// The suffix of the family's samples in OpenMetrics. The samples of a histogram have several suffixes; rules
    /// and pages use its family's name.
    #[must_use]
    pub fn sample_suffix(self) -> &'static str {
        match self {
            Self::Counter => "_total",
            Self::Info => "_info",
            Self::Gauge | Self::Histogram | Self::Unknown => "",
        }
    }

    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::Gauge => KIND_GAUGE,
            Self::Counter => KIND_COUNTER,
            Self::Info => KIND_INFO,
            Self::Histogram => KIND_HISTOGRAM,
            Self::Unknown => KIND_UNKNOWN,
        }
    }

    /// An unknown number means `Unknown`.
    #[must_use]
    pub const fn from_code(code: u32) -> Self {
        match code {
            KIND_GAUGE => Self::Gauge,
            KIND_COUNTER => Self::Counter,
            KIND_INFO => Self::Info,
            KIND_HISTOGRAM => Self::Histogram,
            _ => Self::Unknown,
        }
    }
}

/// The column type of a family's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    F64,
    /// Unsigned: counters exceed 2⁵³.
    U64,
    I64,
    /// Counts of buckets, and a sum: [`crate::HistogramBatch`].
    Histogram,
}

impl ValueKind {
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::F64 => VALUE_F64,
            Self::U64 => VALUE_U64,
            Self::I64 => VALUE_I64,
            Self::Histogram => VALUE_HISTOGRAM,
        }
    }

    /// `None` for a number of a later version.
    #[must_use]
    pub const fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            VALUE_F64 => Self::F64,
            VALUE_U64 => Self::U64,
            VALUE_I64 => Self::I64,
            VALUE_HISTOGRAM => Self::Histogram,
            _ => return None,
        })
    }
}

/// Reserved namespaces: of the exporter, of its probes, and of sources that have one each. A performance counter
/// whose object begins with such a word gets a name outside of them, whichever plugins are loaded.
pub const RESERVED_NAMESPACES: &[&str] = &["exporter", "probe", "pcq", "complus", "pla", "rpc"];

/// A family as the plugin declares it. The exporter makes the metric's name from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FamilyDef<'a> {
    /// Its namespace: empty for performance counters, else a word such as `complus`.
    pub namespace: &'a str,
    /// The object in the source's own words: `Processor Information`.
    pub object: &'a str,
    /// The item of the object: `% Processor Time`.
    pub item: &'a str,
    /// The part of the item, if it has several: empty, `base`, `inactive` …
    pub part: &'a str,
    /// What the values mean.
    pub kind: Kind,
    /// The base unit: empty, `seconds`, `bytes`, `ratio` …
    pub unit: &'a str,
    /// A sentence for people.
    pub help: &'a str,
    /// Where it comes from: `\Processor Information(*)\% Processor Time [PERF_100NSEC_TIMER_INV]`.
    pub origin: &'a str,
    /// The column type of its values. INVARIANT: `Histogram` if and only if the kind is.
    pub value: ValueKind,
    /// The inclusive upper bound of each bucket; the last bucket, up to +Inf, has none. INVARIANT: for histograms 1
    /// to [`HISTOGRAM_BOUNDS_MAX`](crate::raw::HISTOGRAM_BOUNDS_MAX), finite and strictly ascending; else empty.
    pub bounds: &'a [f64],
    /// How pages show them. INVARIANT: its base is empty if and only if the rule needs none, and is not `part`.
    pub display: Display<'a>,
}

impl<'a> FamilyDef<'a> {
    /// A gauge of whole numbers that pages show as they are, without an item and a help: what the families of an object begin
    /// with.
    #[must_use]
    pub const fn gauge(namespace: &'a str, object: &'a str) -> Self {
        Self {
            namespace,
            object,
            item: "",
            part: "",
            kind: Kind::Gauge,
            unit: "",
            help: "",
            origin: "",
            value: ValueKind::U64,
            bounds: &[],
            display: Display::by(DisplayRule::Value),
        }
    }

    /// A histogram with buckets of these inclusive upper bounds, without an item and a help. A bucket up to +Inf is added. If
    /// observations can be negative, the first bound must be, too.
    #[must_use]
    pub const fn histogram(namespace: &'a str, object: &'a str, bounds: &'a [f64]) -> Self {
        Self {
            kind: Kind::Histogram,
            value: ValueKind::Histogram,
            bounds,
            display: Display::NONE,
            ..Self::gauge(namespace, object)
        }
    }
}

/// A family by the words of its source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FamilyKey {
    pub namespace: String,
    pub object: String,
    pub item: String,
    pub part: String,
}

/// A family that the host accepted. Dense from 0 within an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FamilyId(pub u32);

/// A series that the host accepted. Dense from 0 within an instance; reused after it was retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct SeriesId(pub u32);

// SAFETY: an integer in a transparent struct.
unsafe impl Plain for SeriesId {}

impl FamilyId {
    /// As an index into tables.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl SeriesId {
    /// As an index into tables.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A series as the plugin declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeriesDef<'a> {
    /// One that was accepted.
    pub family: FamilyId,
    /// Name and value of each label: `counter_instance`, `instance_id` … Names are distinct and match
    /// `[a-zA-Z_][a-zA-Z0-9_]*`. The exporter adds the labels of the target.
    pub labels: &'a [(&'a str, &'a str)],
    /// When it began to count, if known.
    pub start: Option<Start>,
}

/// When a series began to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Start {
    /// In Unix nanoseconds. INVARIANT: not 0.
    pub unix_nanos: i64,
    /// Whether it is derived from something else, such as the start of the target, and not reported or observed.
    pub is_inferred: bool,
}

impl<'a> SeriesDef<'a> {
    /// A series whose start, if there is one, is known and not inferred.
    #[must_use]
    pub const fn new(
        family: u32,
        labels: &'a [(&'a str, &'a str)],
        start_time_unix_nanos: Option<i64>,
    ) -> Self {
        let start = match start_time_unix_nanos {
            None => None,
            Some(unix_nanos) => Some(Start { unix_nanos, is_inferred: false }),
        };
        Self { family: FamilyId(family), labels, start }
    }
}

/// The answer for one family or series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Accepted with this id. Ids are dense from 0, per instance, separately for families and series.
    ///
    /// INVARIANT: an id is reused only after its series was retired.
    Accepted(u32),
    /// Dropped; the plugin does not send it again.
    Dropped(DropReason),
}

/// Why a family or series was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The instance or the process is at its limit.
    Limit,
    /// A rule of the configuration drops it.
    Rule,
    /// The same series exists already.
    Duplicate,
    /// Something in it is malformed.
    Invalid,
    /// Its family was never accepted.
    UnknownFamily,
    /// Of a kind that this version does not know.
    Unsupported,
}

// How pages show the values of a family.

/// The rule by which pages compute a shown value from a series. N is the series, B its base, T the seconds between
/// two collections, 0 the older and 1 the newer one; the header says what happens if a formula has no result.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DisplayRule {
    /// Not declared: the value; for a counter, its rate.
    #[default]
    None = 0,
    Value = 1,
    /// 100 · N1, percent: N is a ratio.
    Percent = 2,
    Delta = 3,
    /// (N1 − N0) / T, per second.
    Rate = 4,
    /// (N1 − N0) / T, without a unit.
    QueueLength = 5,
    /// 100 · (N1 − N0) / T, percent.
    PercentOfTime = 6,
    /// 100 · (1 − (N1 − N0) / T), percent: inverse timers.
    PercentNotOfTime = 7,
    /// 100 · (N1 − N0) / T / B1, percent.
    PercentOfTimeOfMany = 8,
    /// 100 · (B1 − (N1 − N0) / T), percent.
    PercentNotOfTimeOfMany = 9,
    /// 100 · N1 / B1, percent.
    PercentOfBase = 10,
    /// 100 · (N1 − N0) / (B1 − B0), percent.
    PercentOfBaseDelta = 11,
    /// (N1 − N0) / (B1 − B0)
    Average = 12,
    /// now − N1, seconds.
    Elapsed = 13,
    /// A base of others: not shown by itself.
    Base = 14,
}

impl DisplayRule {
    /// All rules, in the order of their numbers.
    pub const ALL: [Self; 15] = [
        Self::None,
        Self::Value,
        Self::Percent,
        Self::Delta,
        Self::Rate,
        Self::QueueLength,
        Self::PercentOfTime,
        Self::PercentNotOfTime,
        Self::PercentOfTimeOfMany,
        Self::PercentNotOfTimeOfMany,
        Self::PercentOfBase,
        Self::PercentOfBaseDelta,
        Self::Average,
        Self::Elapsed,
        Self::Base,
    ];

    /// The number on the ABI.
    #[must_use]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The rule with this number, if this version knows it.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.code() == code)
    }

    /// Whether the formula has a B.
    #[must_use]
    pub const fn needs_base(self) -> bool {
        matches!(
            self,
            Self::PercentOfTimeOfMany
                | Self::PercentNotOfTimeOfMany
                | Self::PercentOfBase
                | Self::PercentOfBaseDelta
                | Self::Average
        )
    }
}

/// A rule with the base that it computes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Display<'a> {
    pub rule: DisplayRule,
    /// The part of the same item that is the base; empty if the rule needs none.
    pub base: &'a str,
}

impl<'a> Display<'a> {
    pub const NONE: Display<'static> = Display::by(DisplayRule::None);

    /// By a rule without a base.
    #[must_use]
    pub const fn by(rule: DisplayRule) -> Self {
        Self { rule, base: "" }
    }

    /// By a rule that computes with the part `base` of the same item.
    #[must_use]
    pub const fn over(rule: DisplayRule, base: &'a str) -> Self {
        Self { rule, base }
    }
}
