//! One SMB connection with one session, driven by whoever awaits it.

mod authenticate;
mod connection;
mod options;

pub(crate) use self::connection::unexpected;
pub use self::connection::{SharedSmbConnection, SmbConnection};
pub use self::options::SmbOptions;
