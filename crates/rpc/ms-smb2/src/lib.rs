//! SMB 2 and 3 ([MS-SMB2]) as far as a named pipe needs them, client and server, without input and output.
//!
//! [`client::ClientConnection`] and [`server::ServerConnection`] are state machines: bytes of the TCP stream go in
//! with `handle_bytes`, in any split; whole frames come out of `poll_transmit`; what happened comes out of
//! `poll_event`. Security tokens and the session key are handed in and out, so that neither knows how
//! authentication works. Neither knows time either: deadlines are the driver's, and an answer that never comes
//! is its deadline's matter.
//!
//! Dialects 2.1, 3.0, 3.0.2 and 3.1.1 are spoken. SMB1 and 2.0.2 are refused. Every message of an authenticated
//! session is signed or encrypted, and whatever comes otherwise ends the connection.
//!
//! ```
//! use wire::Guid;
//! use ms_smb2::client::{ClientConfig, ClientConnection, Event};
//! use ms_smb2::server::{AuthReply, ServerConfig, ServerConnection, ServerEvent};
//!
//! let mut client = ClientConnection::new(ClientConfig::new(Guid::from_u128(1), [1; 32]))?;
//! let mut server = ServerConnection::new(ServerConfig::new(Guid::from_u128(2), [2; 32]));
//! let session_key = [7; 16]; // as both security contexts export it
//!
//! // A driver has a stream between the two; what leaves one here goes to the other at once.
//! loop {
//!     while let Some(frame) = client.poll_transmit() {
//!         server.handle_bytes(&frame)?;
//!     }
//!     while let Some(event) = server.poll_event() {
//!         if let ServerEvent::Authenticate { session, .. } = event {
//!             let reply = AuthReply::Done { token: Vec::new(), session_key: session_key.to_vec() };
//!             server.authenticate(session, reply)?;
//!         }
//!     }
//!     while let Some(frame) = server.poll_transmit() {
//!         client.handle_bytes(&frame)?;
//!     }
//!     match client.poll_event() {
//!         Some(Event::Negotiated(_)) => client.session_setup(b"a token")?,
//!         Some(Event::SessionSetup { more: false, .. }) => break client.complete_session(&session_key)?,
//!         other => panic!("{other:?}"),
//!     }
//! }
//! client.tree_connect(r"\\server\IPC$")?; // and so on, with pipes
//! # Ok::<(), ms_smb2::Error>(())
//! ```
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod client;
mod crypto;
mod error;
mod packet;
pub mod server;
mod types;
pub mod wire;

pub use self::error::Error;
pub use self::types::{Cipher, Dialect, DialectRevision, SigningAlgorithm};
