//! Classic counter objects: those of version 1 providers, which Windows serves by its registry (`HKEY_PERFORMANCE_DATA`).
//!
//! A `ClassicPoller` asks for what no version 2 counterset is. It finds objects by their English names in the host's
//! table, asks for them by their indexes in one call, and never for all objects: the host would call every provider.
//! A reply brings the definitions of its counters with it, so that names are needed only for what is new.

mod candidates;
mod counterset;
mod error;
mod known;
mod poller;
mod questions;
mod search;
mod survey;
mod tables;
mod watched;

pub use self::error::ClassicError;
pub(crate) use self::known::is_known;
pub use self::known::{explain, names};
pub(crate) use self::poller::ClassicPoller;
pub use self::questions::Questions;
pub(crate) use self::search::{Search, Unmet};
pub use self::survey::{Reach, Survey, survey};
pub(crate) use self::survey::{close, described, indexes};
pub(crate) use self::tables::Tables;
pub(crate) use self::watched::objects_of;
