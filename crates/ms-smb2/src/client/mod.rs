//! The client's side of a connection.

mod config;
mod connection;
mod event;

pub use self::config::{ClientConfig, ClientLimits, Encryption};
pub use self::connection::ClientConnection;
pub use self::event::{Event, FileId, Negotiated, Reply, RequestId, TreeId};
