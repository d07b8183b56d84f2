//! Families and series that are registered with the host.
#![expect(unsafe_code, reason = "says that a series id is an integer")]
// UNSAFETY: the one implementation below makes columns of ids what the header calls an array of uint32_t.

use plugin_abi::{
    Display, DisplayRule, KIND_COUNTER, KIND_GAUGE, KIND_INFO, KIND_UNKNOWN, Plain, VALUE_F64, VALUE_I64,
    VALUE_U64,
};

/// What a family's values mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A value that goes up and down.
    Gauge,
    /// A sum that only grows, or is reset.
    Counter,
    /// Labels that describe something; send the value 1.
    Info,
    /// Unknown.
    Unknown,
}

/// The type of a family's values, which selects the `push_*` method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// [`crate::Output::push_f64`].
    F64,
    /// [`crate::Output::push_u64`].
    U64,
    /// [`crate::Output::push_i64`].
    I64,
}

/// A family. The exporter makes the metric's name from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Family<'a> {
    /// Its namespace: empty for performance counters, `complus`, `pla`, `rpc`.
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
    /// The type of its values.
    pub value: ValueKind,
    /// How pages show them; [`Display::NONE`] leaves it to the exporter.
    pub display: Display<'a>,
}

impl<'a> Family<'a> {
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
            display: Display::by(DisplayRule::Value),
        }
    }
}

/// A series of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Series<'a> {
    /// Its family.
    pub family: FamilyId,
    /// Name and value of each label: `counter_instance`, `instance_id` … The exporter adds those of the target.
    pub labels: &'a [(&'a str, &'a str)],
    /// When it began to count, if known.
    pub start: Option<Start>,
}

/// When a series began to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Start {
    /// In Unix nanoseconds.
    pub unix_nanos: i64,
    /// Whether it is derived from something else, such as the start of the target. Hosts of version 1.0 ignore it.
    pub is_inferred: bool,
}

/// A family that the host accepted. Dense from 0 within an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FamilyId(pub(crate) u32);

/// A series that the host accepted. Dense within an instance; reused after [`crate::Output::retire`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct SeriesId(pub(crate) u32);

// SAFETY: an integer in a transparent struct.
unsafe impl Plain for SeriesId {}

impl FamilyId {
    /// As an index into the plugin's tables.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl SeriesId {
    /// As an index into the plugin's tables.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Kind {
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Gauge => KIND_GAUGE,
            Self::Counter => KIND_COUNTER,
            Self::Info => KIND_INFO,
            Self::Unknown => KIND_UNKNOWN,
        }
    }
}

impl ValueKind {
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::F64 => VALUE_F64,
            Self::U64 => VALUE_U64,
            Self::I64 => VALUE_I64,
        }
    }
}
