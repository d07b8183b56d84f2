//! The server's side of a connection.

mod answers;
mod config;
mod connection;
mod event;
mod file;
mod info;
mod negotiate;
mod pipe;
mod request;
mod session;
mod session_state;
mod tree;
mod window;

pub use self::config::{Encryption, ServerConfig, ServerLimits};
pub use self::connection::ServerConnection;
pub use self::event::{AuthReply, FileId, RequestId, ServerEvent, SessionId};
