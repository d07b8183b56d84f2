//! Runs a source plugin in a test: the plugin is linked into the test and has a host of its own, Windows hosts are simulated on
//! loopback, and a credential broker has their password. Everything here panics where a test fails.
//!
//! | module | job |
//! | --- | --- |
//! | `plugin` | the plugin and its instances |
//! | `collection` | how a collection ended, and all that it sent |
//! | `sim_host` | simulated Windows hosts, and a credential broker with one password |
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking"
)]

mod collection;
mod plugin;
mod sim_host;

pub use self::collection::Collection;
pub use self::plugin::{Plugin, Watch, config};
pub use self::sim_host::{BOOT, CounterHost, Lender, NOON, PASSWORD, SimHost, USER, account, at_noon};
