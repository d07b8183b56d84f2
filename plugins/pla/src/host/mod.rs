//! Data collector sets of a host itself, over DCOM.
//!
//! | module | job |
//! | --- | --- |
//! | `service` | the classes, and the names of what is called |
//! | `list`, `progress` | all sets of a category: their names and their XML; how far they were read |
//! | `named` | one set by its name: read, started, stopped |
//! | `host_set` | what is kept of a set |
//! | `starter` | sets that alerts start on the host |
//! | `live` | the sets that a module wants, read again and again, with pauses after failures |
//! | `schedules` | when sets start next |
//! | `category` | the words for categories |

mod category;
mod host_set;
mod list;
mod live;
mod named;
mod progress;
mod schedules;
mod service;
mod starter;

pub(crate) use self::category::{CategoryWord, is_behind_category, may_control};
pub(crate) use self::host_set::HostSet;
pub(crate) use self::list::{HostXml, Listed, Which, list};
pub(crate) use self::live::{LiveSets, Wanted};
pub(crate) use self::named::{AUDIT, NamedError, Order, control, export_named, read_named};
pub(crate) use self::progress::Progress;
pub(crate) use self::schedules::LocalTime;
pub(crate) use self::service::{collection_service, set_service};
pub(crate) use self::starter::{Started, Starter};
