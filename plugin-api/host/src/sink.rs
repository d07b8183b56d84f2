//! The boundary to the exporter: what a plugin's calls become after they were checked.
//!
//! The exporter implements [`InstanceSink`] once per instance and [`CredentialBroker`] once per process.
//! Everything that arrives here is already valid: strings are UTF-8 within the limits, columns have one length,
//! ids lie below what was handed out, enum values are known. Nothing here may block: the caller is a thread of the plugin.

use std::fmt;
use std::sync::Arc;

pub use plugin_abi::{Display, DisplayRule};
use plugin_abi::{GeneralReason, Stage};

pub use crate::credential::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, Lease, LeaseId,
    NoCredentials, Secret, Waiter,
};

/// What a family's values mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A value that goes up and down.
    Gauge,
    /// A sum that only grows, or starts anew.
    Counter,
    /// Labels that describe something; the value is 1.
    Info,
    /// Nobody knows; shown as it is.
    Unknown,
}

/// The column type of a family's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueKind {
    /// Double precision.
    F64,
    /// Unsigned: counters pass 2⁵³.
    U64,
    /// Signed.
    I64,
}

/// A family as the plugin declares it. The exporter makes the metric's name of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyDef<'a> {
    /// Which world it is from: empty for performance counters, `complus`, `pla`, `rpc`.
    pub namespace: &'a str,
    /// The object in the source's own words: `Processor Information`.
    pub object: &'a str,
    /// The item of the object: `% Processor Time`.
    pub item: &'a str,
    /// Which part of the item, where it has several: empty, `base`, `inactive` …
    pub part: &'a str,
    /// What the values mean.
    pub kind: Kind,
    /// The base unit: empty, `seconds`, `bytes`, `ratio` …
    pub unit: &'a str,
    /// A sentence for people.
    pub help: &'a str,
    /// Where it comes from: `\Processor Information(*)\% Processor Time [PERF_100NSEC_TIMER_INV]`.
    pub origin: &'a str,
    /// The column type of its values.
    pub value: ValueKind,
    /// How they are shown to a person. INVARIANT: its base is empty exactly where the rule needs none, and is not `part`.
    pub display: Display<'a>,
}

/// A series as the plugin declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesDef<'a> {
    /// An id that [`InstanceSink::register_families`] accepted.
    pub family: u32,
    /// Name and value of each label; names are distinct and match `[a-zA-Z_][a-zA-Z0-9_]*`.
    pub labels: &'a [(&'a str, &'a str)],
    /// When the series began to count, where that is known.
    pub start_time_unix_nanos: Option<i64>,
    /// How that is known. INVARIANT: `Unknown` where there is no start time, and only there.
    pub start_time_kind: StartTimeKind,
}

impl<'a> SeriesDef<'a> {
    /// A series whose start, where there is one, is known and not inferred.
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
#[non_exhaustive]
pub enum StartTimeKind {
    /// It is not.
    #[default]
    Unknown,
    /// The target said so, or the plugin saw it.
    Known,
    /// It follows from something else, such as when the target was started.
    Inferred,
}

/// The answer for one family or series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Taken, under this id. Ids are dense from 0, per instance, families and series apart.
    ///
    /// INVARIANT: an id is handed out again only after its series was retired.
    Accepted(u32),
    /// Not wanted; the plugin does not send it again.
    Dropped(DropReason),
}

/// Why a family or series was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
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

/// Values of one type.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Column<'a> {
    /// Double precision.
    F64(&'a [f64]),
    /// Unsigned.
    U64(&'a [u64]),
    /// Signed.
    I64(&'a [i64]),
}

impl Column<'_> {
    /// How many rows it has.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
        }
    }

    /// Whether it has none.
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
/// INVARIANT: all columns have the length of `ids`, and every id is below the highest that was ever accepted
/// plus one. Whether it is still live, and of this value kind, the sink finds when it stores the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch<'a> {
    /// Series ids, in any order.
    pub ids: &'a [u32],
    /// The value of each.
    pub values: Column<'a>,
    /// The time of each in Unix nanoseconds, where the source knows better than "now".
    pub timestamps: Option<&'a [i64]>,
    /// The start of each in Unix nanoseconds; 0 where it is not known.
    pub start_times: Option<&'a [i64]>,
}

/// What became of a batch. Rows that are not stored are counted and left out; they do no other harm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchOutcome {
    /// Rows stored.
    pub stored: u64,
    /// Rows whose series is retired.
    pub retired: u64,
    /// Rows whose family has another value kind.
    pub wrong_kind: u64,
}

/// One collection. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionId(pub u64);

/// How a collection ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion<'a> {
    /// With what.
    pub outcome: Outcome<'a>,
    /// Where the time went; each stage at most once, in the order of [`Stage`].
    pub stages: &'a [StageReport],
}

/// The end of a collection.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<'a> {
    /// All there is was sent: a series that got no value is gone.
    Full,
    /// These families were sent in full; of the others nothing is known.
    Partial {
        /// Ids of the families that are covered.
        families: &'a [u32],
        /// Why the others are not, where the source tells.
        failure: Option<Failure>,
    },
    /// Nothing may be believed.
    Failed(Failure),
}

/// Where and why a collection failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Where.
    pub stage: Stage,
    /// Why.
    pub reason: Reason,
    /// Details for people; may be empty.
    pub message: String,
}

impl Failure {
    /// A failure for a reason of the closed list.
    #[must_use]
    pub fn new(stage: Stage, reason: impl Into<Reason>, message: impl Into<String>) -> Self {
        Self { stage, reason: reason.into(), message: message.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.stage, self.reason.word())?;
        if self.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}

/// Why, from a closed list: the general reasons and those that the source declared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// One of the header's.
    General(GeneralReason),
    /// One of the source's own.
    Declared(Arc<DeclaredReason>),
}

impl Reason {
    /// The word for labels and logs: `[a-z][a-z0-9_]*`.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::General(reason) => reason.word(),
            Self::Declared(reason) => &reason.word,
        }
    }

    /// What happened, as a sentence.
    #[must_use]
    pub fn sentence(&self) -> &str {
        match self {
            Self::General(reason) => reason.sentence(),
            Self::Declared(reason) => &reason.sentence,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn next_step(&self) -> &str {
        match self {
            Self::General(reason) => reason.next_step(),
            Self::Declared(reason) => &reason.next_step,
        }
    }
}

impl From<GeneralReason> for Reason {
    fn from(reason: GeneralReason) -> Self {
        Self::General(reason)
    }
}

/// A reason that a source declared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeclaredReason {
    /// The word for labels and logs: `[a-z][a-z0-9_]*`, none of the general ones.
    pub word: String,
    /// What happened, as a sentence.
    pub sentence: String,
    /// What to do about it.
    pub next_step: String,
}

/// What one stage of a collection cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageReport {
    /// Which.
    pub stage: Stage,
    /// When it began, on the monotonic clock.
    pub start_ns: u64,
    /// How long it took in all.
    pub duration_ns: u64,
    /// Calls to the target.
    pub calls: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
}

/// How much a log record matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Somebody must act.
    Error,
    /// Somebody should look.
    Warn,
    /// Worth knowing.
    Info,
    /// For who searches a fault.
    Debug,
    /// Everything.
    Trace,
}

/// Something that happened on the target: an alert that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// What kind of event: `[a-z][a-z0-9_.]*`.
    pub name: &'a str,
    /// How much it matters.
    pub level: Level,
    /// When it happened, in Unix nanoseconds, where the source knows it.
    pub time_unix_nanos: Option<i64>,
    /// A sentence for people.
    pub body: &'a str,
    /// Details.
    pub fields: &'a [(&'a str, &'a str)],
}

/// Where one instance's data goes. The exporter implements it.
///
/// Calls come from any thread; those that touch data (`register_*`, `retire`, `batch`, `checked`, `complete`, `reset`)
/// never
/// overlap for one instance, `log` and `event` may. Values may arrive outside of a collection.
pub trait InstanceSink: Send + Sync {
    /// Offers families; pushes one verdict for each, in order, onto `verdicts` (empty before).
    fn register_families(&self, families: &[FamilyDef<'_>], verdicts: &mut Vec<Verdict>);

    /// Offers series; pushes one verdict for each, in order, onto `verdicts` (empty before).
    fn register_series(&self, series: &[SeriesDef<'_>], verdicts: &mut Vec<Verdict>);

    /// These series are gone. Ids that are retired already are passed over.
    fn retire(&self, ids: &[u32]);

    /// New values.
    fn batch(&self, batch: &Batch<'_>) -> BatchOutcome;

    /// Checking the batches of the collection that is about to complete took so long in all, before they came here;
    /// reckoned from the largest of them. Not called where there was none.
    fn checked(&self, took_ns: u64) {
        let _ = took_ns;
    }

    /// The collection is over; called exactly once for each that [`crate::Instance::collect`] accepted.
    fn complete(&self, collection: CollectionId, completion: Completion<'_>);

    /// The instance was started anew (after a panic): its families and series are gone, ids begin at 0 again.
    fn reset(&self);

    /// Whether a record of this level would be kept.
    fn log_enabled(&self, level: Level) -> bool;

    /// A log record: a capitalised phrase with fields, none of them secret.
    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]);

    /// Something happened on the target.
    fn event(&self, event: &Event<'_>);

    /// What the target says of itself: a name such as `os.version`, `[a-z][a-z0-9_.]*`, and its value, one line; an
    /// empty one takes back what was said. Sinks that have no use for it pass over it.
    fn fact(&self, _name: &str, _value: &str) {}
}

/// Which target an instance is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetInfo {
    /// The target's unique name in the exporter.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// The port, where the configuration names one.
    pub port: Option<u16>,
    /// The name of the identity to use; empty for none.
    pub identity: String,
}
