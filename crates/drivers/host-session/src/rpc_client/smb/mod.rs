//! One SMB connection with one session, driven by its caller.

mod authenticate;
mod connection;
mod in_flight;
mod options;
mod reads;
mod request;

pub(crate) use self::connection::{DroppedPipes, unexpected};
pub use self::connection::{SharedSmbConnection, SmbConnection};
pub use self::options::SmbOptions;
pub(crate) use self::reads::READ_BYTES_MAX;
