//! The client's side of a connection.

mod config;
mod connection;
mod credits;
mod event;
mod negotiate;
mod receive;
mod requests;
mod session;
mod state;

pub use self::config::{ClientConfig, ClientLimits, Encryption};
pub use self::connection::ClientConnection;
pub use self::event::{Event, FileId, Negotiated, Reply, RequestId, TreeId};
