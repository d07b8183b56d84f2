//! Families and series as a plugin declares them, and the host's verdicts.

use plugin_abi::Display;

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
    /// Unknown; exported unchanged.
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
}

/// The column type of a family's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// Double precision.
    F64,
    /// Unsigned: counters exceed 2⁵³.
    U64,
    /// Signed.
    I64,
    /// Counts of buckets, and a sum: [`crate::HistogramBatch`].
    Histogram,
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
    /// to [`HISTOGRAM_BOUNDS_MAX`](plugin_abi::HISTOGRAM_BOUNDS_MAX), finite and strictly ascending; else empty.
    pub bounds: &'a [f64],
    /// How pages show them. INVARIANT: its base is empty if and only if the rule needs none, and is not `part`.
    pub display: Display<'a>,
}

/// A series as the plugin declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesDef<'a> {
    /// An id that [`register_families`](crate::InstanceSink::register_families) accepted.
    pub family: u32,
    /// Name and value of each label; names are distinct and match `[a-zA-Z_][a-zA-Z0-9_]*`.
    pub labels: &'a [(&'a str, &'a str)],
    /// When the series began to count, if known.
    pub start_time_unix_nanos: Option<i64>,
    /// How that is known. INVARIANT: `Unknown` if and only if there is no start time.
    pub start_time_kind: StartTimeKind,
}

impl<'a> SeriesDef<'a> {
    /// A series whose start, if there is one, is known and not inferred.
    #[must_use]
    pub const fn new(
        family: u32,
        labels: &'a [(&'a str, &'a str)],
        start_time_unix_nanos: Option<i64>,
    ) -> Self {
        let start_time_kind = match start_time_unix_nanos {
            None => StartTimeKind::Unknown,
            Some(_) => StartTimeKind::Known,
        };
        Self { family, labels, start_time_unix_nanos, start_time_kind }
    }
}

/// How it is known when a series began to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StartTimeKind {
    /// It is not known.
    #[default]
    Unknown,
    /// The target reported it, or the plugin observed it.
    Known,
    /// It is derived from something else, such as the start of the target.
    Inferred,
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
