//! Polling the countersets of a host: they are found by name, asked for by one query, and read from its replies.
//!
//! It asks by [`HostChannel`], so that it knows no socket, and is told the time that is left.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod addition;
mod catalog;
mod channel;
pub mod classic;
mod forms;
mod missing;
pub mod paths;
mod poller;
mod query;
pub mod registration;
mod sink;
pub mod stalls;
pub mod survey;
pub mod text;
mod wanted;
mod watch_list;

pub use self::addition::Addition;
pub use self::catalog::{Catalog, Counterset, Lookup, Nameless, WELL_KNOWN, Which};
pub use self::channel::{Client, Error, HostChannel};
pub use self::forms::{FormAnswer, Forms};
pub use self::missing::{Missing, Why};
pub use self::poller::{CountersetPoller, LeftOut};
pub use self::query::{OpenQuery, Refusal};
pub use self::sink::{FamilyGroup, NewSeries, PolledFamily, SeriesIds, SeriesSink, Start};
pub use self::wanted::{Aggregate, TopN, Wanted};
pub use self::watch_list::{Seen, WatchList};
