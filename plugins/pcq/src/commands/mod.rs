//! The plugin's commands: `discover`, `query` and `selects`.
//!
//! | module | job |
//! | --- | --- |
//! | `discover`, `describe` | lists countersets, and writes a module with them |
//! | `query` | values, live |
//! | `selects` | which instances modules collect |
//! | `paths` | counter paths on the command line |
//! | `formatter`; `table`, `csv`, `json` | how values are shown |
//! | `clock` | times as text |

mod clock;
mod csv;
mod describe;
mod discover;
mod formatter;
mod json;
mod metrics;
mod open;
mod paths;
mod query;
mod selects;
mod table;

pub(crate) use self::discover::Discover;
pub(crate) use self::query::Query;
pub(crate) use self::selects::SelectsInstances;
