//! Keeps the state of a program's RPC associations in cells (`rpc-cells`): it observes them as
//! [`dcerpc::Observers`], and writes a cell where something changed.
//!
//! - An endpoint of a server has a cell from the first that is seen of it, for as long as the recorder lives.
//! - A connection has one while its association lives.
//! - A server's call has one while it is processed; the connection keeps the cell for its next call. A client's call has
//!   one while it is in flight.
//! - A thread that works for a server has one until it ends.
//! - Names of interfaces and methods have cells from their first call on, where they are among the [`InterfaceNames`]
//!   that the recorder is made with.
//!
//! Nothing is allocated for a call after the first of a connection.

mod calls;
mod client;
mod connection;
mod names;
mod recorder;
mod server;
mod shared;
mod threads;

pub use self::names::InterfaceNames;
pub use self::recorder::Recorder;
