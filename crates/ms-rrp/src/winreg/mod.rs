//! [MS-RRP] 3.1.5, the interface `winreg`: the methods' parameters ([`ops`]) and both sides of it.

mod client;
pub mod ops;
mod server;

pub use self::client::{Key, Limits, RegistryClient};
pub use self::server::{KeyInfo, RegistryServer, dispatch};
