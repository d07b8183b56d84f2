//! What a host counts: countersets, instances that come and go, and values that are functions of seed and clock.

pub(crate) mod catalog;
mod change;
mod clock;
mod com_plus;
pub mod data_collector_sets;
mod host;
mod object;
mod population;
mod schema;
mod source;

pub use self::catalog::aggregates::AggregateForm;
pub use self::catalog::synthetic::SYNTHETIC_MAX;
pub use self::catalog::{aggregates, counter_types};
pub use self::change::{Change, ParseChangeError, What};
pub use self::clock::{Clock, Moment, scale};
pub use self::com_plus::{CALL_SECONDS, ComComponent, ComContainer, ComProcess, RecentCalls};
pub use self::host::{Host, HostOptions};
pub use self::object::{BASE_INDEX_LAST, NameIndexes, PerfCounter, PerfObject};
pub use self::schema::{Counter, Counterset, Provider, Sample, Value};
pub use self::source::{Hardware, ValueSource};
pub use counters::perflib_v1::write::{Data, Instance};
