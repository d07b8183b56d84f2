//! The parts of requests.

use std::sync::Arc;

use series::model::Snapshot;

use super::resource::{Resource, Scope};

/// The temporality of sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Temporality {
    /// From when they began.
    #[default]
    Cumulative,
    /// From the last export that was acknowledged.
    Delta,
}

/// The data of one plugin instance on one target after one collection.
#[derive(Clone, Debug)]
pub struct Part {
    /// The target. Parts of one target share it and stand side by side.
    pub resource: Arc<Resource>,
    /// The plugin.
    pub scope: Arc<Scope>,
    /// The series.
    pub snapshot: Arc<Snapshot>,
    /// When the collection ended.
    pub time_unix_nanos: u64,
    /// The data of the same instance at its last export.
    pub earlier: Option<Earlier>,
}

/// The last export of an instance's series.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// The sent snapshot: series that are missing now have vanished.
    pub sent: Arc<Snapshot>,
    /// The base of deltas.
    pub counts: Arc<Snapshot>,
    /// The time of `counts`.
    pub counts_time_unix_nanos: u64,
}

/// A place in the parts: the next series to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) part: usize,
    pub(super) block: usize,
    pub(super) chunk: usize,
    pub(super) series: usize,
    /// How many of those that vanished were written.
    pub(super) gone: usize,
}
