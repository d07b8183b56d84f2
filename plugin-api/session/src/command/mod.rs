//! For commands of plugins that ask one host: how it is reached, and what is printed when it does not answer.

mod arguments;
mod connect;
mod error;

pub use self::arguments::{HostArguments, TransportArguments, parse_duration};
pub use self::connect::{ConnectError, HostAccess};
pub use self::error::CommandError;
