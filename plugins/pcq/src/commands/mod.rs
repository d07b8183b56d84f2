//! What the plugin adds to the command line: `discover` and `query`.
//!
//! | module | job |
//! | --- | --- |
//! | `discover`, `describe` | lists them, and writes a module of them |
//! | `query` | values, live |
//! | `plan` | counter paths against what the host offers |
//! | `sample` | one reply as cooked values |
//! | `table`, `csv`, `json` | how values are shown |
//! | `clock` | times as text |

mod clock;
mod csv;
mod describe;
mod discover;
mod json;
mod metrics;
mod plan;
mod query;
mod sample;
mod table;

pub(crate) use self::discover::Discover;
pub(crate) use self::query::Query;
