//! Records of counters: the columns of a log, and its samples.
//!
//! | module | job |
//! | --- | --- |
//! | `columns` | which counters and instances a log has, fixed when it begins |
//! | `bound` | where their values are in the replies |
//! | `instances` | which instances a path means |
//! | `recorder` | when a collector is due, and what a record has |
//! | `raw` | the numbers that PDH keeps of a sample |

mod bound;
mod columns;
mod instances;
mod raw;
mod recorder;

pub(crate) use self::recorder::{HeaderContext, Recorder};
