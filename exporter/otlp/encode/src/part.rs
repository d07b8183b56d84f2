//! What requests are made of.

use std::sync::Arc;

use series::model::Snapshot;

use super::resource::{Resource, Scope};

/// What sums count from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Temporality {
    /// From when they began.
    #[default]
    Cumulative,
    /// From the last export that was acknowledged.
    Delta,
}

/// What one plugin instance knew of one target after one collection.
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
    /// What the same instance knew when it was last exported.
    pub earlier: Option<Earlier>,
}

/// The last export of an instance's series.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// What was sent: what is missing now has vanished.
    pub sent: Arc<Snapshot>,
    /// What deltas are compared with.
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
