//! The server's side of a connection.

mod config;
mod connection;
mod event;

pub use self::config::{Encryption, ServerConfig, ServerLimits};
pub use self::connection::ServerConnection;
pub use self::event::{AuthReply, FileId, RequestId, ServerEvent, SessionId};
