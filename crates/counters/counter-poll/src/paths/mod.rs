//! Counter paths in, cooked values out: what paths mean at a host, one query for all of them, and the samples of its
//! replies.

mod aggregate;
mod classic;
mod frame;
mod plan;
mod problem;
mod query;
mod replies;
mod rows;
mod sample;
mod search;

pub use self::aggregate::Aggregates;
pub use self::classic::ClassicQuery;
pub use self::frame::{Columns, CountersetFrame, Frame};
pub use self::plan::{Instance, OpenPath, PathMatch, PathPlan};
pub use self::problem::{FindError, PathProblem};
pub use self::query::PathQuery;
pub use self::rows::{Row, Rows};
pub use self::sample::{Key, Readings, Sample, Value, is_shown_as_read};
pub use self::search::PathSearch;
