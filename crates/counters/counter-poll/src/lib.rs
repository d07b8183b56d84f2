//! Polling the countersets of a host: they are found by name, asked for by one query, and read from its replies.
//!
//! Two ways lead through it, both with [`HostChannel`] for the calls, so that it knows no socket and is given the time
//! that is left:
//!
//! - [`SelectionPoller`]: countersets, instances and counters that are [`Wanted`] in, raw values out to a [`SeriesSink`].
//!   It is made for being asked again and again: a reply with what the last one held is read without an allocation.
//!   Classic objects come from the registry's performance data, and all others from PerflibV2.
//! - [`paths`]: counter paths in, samples with raw and cooked values out.
//!
//! The parts of the first: a [`Catalog`] of what the host has, a [`WatchList`] with a [`CountersetPoller`] for each
//! counterset, an [`OpenQuery`], whose identifiers take one of two [`Forms`], and a poller of classic objects.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod catalog;
pub mod classic;
mod forms;
mod missing;
pub mod over_host;
pub mod paths;
mod poller;
mod query;
mod reading;
pub mod registration;
mod selection_poller;
mod stalls;
pub mod survey;
mod text;
mod wanted;
mod watch_list;

pub use self::catalog::{Catalog, Counterset, Lookup, Nameless, Provider, WELL_KNOWN, Which};
pub use self::classic::ClassicError;
pub use self::forms::{FormAnswer, Forms};
pub use self::missing::{Missing, Why, sentences};
pub use self::poller::{
    CountersetPoller, FamilyGroup, InstanceLabels, LeftOut, NewSeries, PolledFamily, SeriesIds, SeriesSink,
    Start,
};
pub use self::query::{OpenQuery, Refusal};
pub use self::reading::{InstanceReading, Instances, Reading, Values, clocks_of};
pub use self::registration::{Client, Error, HostChannel};
pub use self::selection_poller::{FetchError, SelectionPoller};
pub use self::stalls::Stalls;
pub use self::wanted::{Aggregate, TopN, Wanted};
pub use self::watch_list::{Seen, WatchList};
use std::future::poll_fn;
use std::task::Poll;

use counters::pcq::types::InstanceType;
use wire::Guid;

/// A counterset to add.
#[derive(Clone, Copy, Debug)]
pub struct Addition {
    /// Which of the watched ones.
    pub watched: usize,
    /// What the host knows it by.
    pub guid: Guid,
    /// Whether its instances have names.
    pub instance_type: InstanceType,
    /// Whether the host did not tell the instance type.
    pub is_type_inferred: bool,
}

impl Addition {
    /// Whether it may have to be asked for in the other form: documents do not agree on which of the aggregate types
    /// take a name.
    pub const fn may_take_other_form(&self) -> bool {
        self.instance_type.is_aggregate() || self.is_type_inferred
    }
}

/// Counts the steps of loops.
#[derive(Debug, Default)]
pub struct Pace {
    steps: usize,
}

impl Pace {
    /// Counts `steps`, each of which takes as long as the value of a counter. After some thousands other tasks run first.
    #[inline]
    pub async fn step(&mut self, steps: usize) {
        self.steps += steps;
        if self.steps >= STEPS_MAX {
            self.steps = 0;
            yield_now().await;
        }
    }
}

/// By itself, because this package knows no runtime.
async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A fraction of a millisecond.
const STEPS_MAX: usize = 8_192;
