//! Polling the countersets of a host: they are found by name, asked for by one query, and read from its replies.
//!
//! Two ways lead through it, both with [`HostChannel`] for the calls, so that it knows no socket and is told the time
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

mod addition;
mod catalog;
mod channel;
pub mod classic;
mod forms;
mod missing;
pub mod over_host;
mod pace;
pub mod paths;
mod poller;
mod query;
mod reading;
pub mod registration;
mod selection_poller;
mod sink;
mod stalls;
pub mod survey;
mod text;
mod wanted;
mod watch_list;

pub use self::addition::Addition;
pub use self::catalog::{Catalog, Counterset, Lookup, Nameless, Provider, WELL_KNOWN, Which};
pub use self::channel::{Client, Error, HostChannel};
pub use self::classic::ClassicError;
pub use self::forms::{FormAnswer, Forms};
pub use self::missing::{Missing, Why, sentences};
pub use self::pace::Pace;
pub use self::poller::{CountersetPoller, InstanceLabels, LeftOut};
pub use self::query::{OpenQuery, Refusal};
pub use self::reading::{InstanceReading, Instances, Reading, Values, clocks_of};
pub use self::selection_poller::{FetchError, SelectionPoller};
pub use self::sink::{FamilyGroup, NewSeries, PolledFamily, SeriesIds, SeriesSink, Start};
pub use self::stalls::Stalls;
pub use self::wanted::{Aggregate, TopN, Wanted};
pub use self::watch_list::{Seen, WatchList};
