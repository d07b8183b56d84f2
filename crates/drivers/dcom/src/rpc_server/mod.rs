//! An RPC server over TCP, `ncacn_ip_tcp`, for peers that are not trusted.
//!
//! ```no_run
//! # async fn serve(clock: std::sync::Arc<dyn dcom::rpc_server::Interface>) -> std::io::Result<()> {
//! use dcom::rpc_server::{Options, Server, TcpListeners};
//! use tokio::net::TcpListener;
//!
//! let server = Server::new(Options::default(), vec![clock]);
//! let listener = TcpListener::bind("127.0.0.1:135").await?;
//! let running = TcpListeners::start(&server, vec![listener])?;
//! // …
//! running.stop().await;
//! for (reason, count) in server.counters().refused() {
//!     println!("{reason}: {count}");
//! }
//! # Ok(()) }
//! ```
//!
//! What protects it:
//!
//! - Addresses that [`Options::is_allowed`] does not know are refused before a byte is read, so are connections above
//!   [`Limits`].
//! - Each connection has [`Deadlines`] for its bind, for each fragment, for each call, for the reading of answers, and
//!   between calls.
//! - Memory for what peers began and did not finish is limited for all connections together, as connections are: see
//!   [`Limits`]. Where there is not enough, the peer with the most gives, so each has a share.
//! - Whatever ends a connection is counted by its reason: [`Counters`].
//!
//! Calls are executed one at a time on each connection, where they are read, so an [`Interface`] returns at once and
//! leaves longer work to others. Calls without authentication are executed; with it only if [`Options::acceptor`] makes
//! a security context.

mod admission;
mod connection;
mod counters;
mod deadlines;
mod incoming;
mod interface;
mod limits;
mod listeners;
mod options;
mod server;
mod shared;

pub use self::counters::{Counters, Refusal};
pub use self::incoming::Incoming;
pub use self::interface::{Call, Interface};
pub use self::limits::{Deadlines, Limits};
pub use self::listeners::TcpListeners;
pub use self::options::{Acceptor, AddressFilter, Options, RefusalObserver};
pub use self::server::Server;
