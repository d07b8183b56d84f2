//! Commands on the data collector sets of a host: `pla list`, `show`, `export`, `start` and `stop`. Nothing is made, changed or
//! removed there.
//!
//! | module | job |
//! | --- | --- |
//! | `access` | the options that all have, and the way to the host |
//! | `list` | all sets of a category |
//! | `show`, `text`, `json` | one set: for people, for programs |
//! | `export` | one set as XML |
//! | `control`, `audit` | a set is started or stopped, where the configuration allows it, and that is recorded |
//! | `validate` | what of exported sets is ignored or in conflict |
//! | `reasons` | what the host's answers about one set mean |

mod access;
mod audit;
mod control;
mod export;
mod json;
mod list;
mod reasons;
mod show;
mod text;
mod validate;

pub(crate) use self::control::{Start, Stop};
pub(crate) use self::export::Export;
pub(crate) use self::list::List;
pub(crate) use self::show::Show;
pub(crate) use self::validate::Validate;
