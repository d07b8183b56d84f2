use std::time::Duration;

use plugin_abi::{DisplayRule, Stage};

use crate::failure::Failure;
use crate::output::Stamp;

/// All that arrived for an instance.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Families by id: object, item and part.
    pub families: Vec<(String, String, String)>,
    /// How each of them is shown, and its base.
    pub displays: Vec<(DisplayRule, String)>,
    /// The bounds of each; empty if it is not a histogram.
    pub bounds: Vec<Vec<f64>>,
    /// The help of each.
    pub helps: Vec<String>,
    pub series: Vec<SeenSeries>,
    /// Log messages with their fields.
    pub logs: Vec<(String, Vec<(String, String)>)>,
    /// Events: name and body.
    pub events: Vec<(String, String)>,
    /// Facts about the target: names and values, in order.
    pub facts: Vec<(String, String)>,
    /// The requested interval between collections, if any.
    pub min_interval: Option<Duration>,
    /// The verdicts of leases, in order: `accepted`, `rejected`, `locked`, `unknown`.
    pub verdicts: Vec<&'static str>,
}

/// A series that arrived, with its last value.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenSeries {
    pub family: usize,
    pub labels: Vec<(String, String)>,
    pub value: Option<SeenValue>,
    /// The last counts and sum of a histogram.
    pub histogram: Option<(Vec<u64>, f64)>,
    /// The times of its last value.
    pub stamp: Stamp,
    /// Whether it was retired.
    pub retired: bool,
}

/// A value as it came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SeenValue {
    /// From a column of doubles.
    F64(f64),
    /// From an unsigned column.
    U64(u64),
    /// From a signed column.
    I64(i64),
}

/// How a collection ended.
#[derive(Clone, Debug, PartialEq)]
pub enum FakeOutcome {
    Full,
    /// These families, and why not the others.
    Partial(Vec<usize>, Option<Failure>),
    Failed(Failure),
}

/// The end of a collection.
#[derive(Clone, Debug)]
pub struct FakeCompletion {
    pub outcome: FakeOutcome,
    /// The stages with their calls and bytes in and out.
    pub stages: Vec<(Stage, u64, u64, u64)>,
}

/// A password that the host leases.
#[derive(Clone, Debug, Default)]
pub struct FakeIdentity {
    pub domain: String,
    pub username: String,
    pub password: String,
}
