//! What a host counts: countersets, instances that come and go, and values that are functions of seed and clock.

pub(crate) mod catalog;
mod clock;
mod host;
mod population;
mod schema;

pub use self::catalog::counter_types;
pub use self::clock::{Clock, Moment, scale};
pub use self::host::{Host, HostOptions, ValueSource};
pub use self::schema::{Counter, Counterset, Provider, Sample, Value};
