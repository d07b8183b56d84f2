//! The services of a simulated host.

mod groups;
pub mod pcq;
pub mod winreg;

pub(crate) use self::groups::{GroupServices, Groups, lock};
