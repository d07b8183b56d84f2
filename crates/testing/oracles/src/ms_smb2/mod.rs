//! Laws of `ms-smb2`.

mod client;
mod messages;
mod server;
mod sign;
mod stage;

pub use self::client::client;
pub(crate) use self::client::new_stage as client_stage;
pub use self::messages::messages;
pub use self::server::server;
pub(crate) use self::stage::Pair;
