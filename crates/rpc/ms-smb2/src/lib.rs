//! SMB 2 and 3 ([MS-SMB2]) as far as a named pipe needs them, without input and output: the client, and the messages, packets
//! and keys of both sides.
//!
//! [`client::ClientConnection`] is a state machine: bytes of the TCP stream go in with `handle_bytes`, in any split; whole
//! frames come out of `poll_transmit`; what happened comes out of `poll_event`. Security tokens and the session key are handed
//! in and out, so that it does not know how authentication works. Nor does it know time: deadlines are the driver's, and an
//! answer that never comes is its deadline's matter. The server for tests is `smb` of `windows-sim`.
//!
//! Dialects 2.1, 3.0, 3.0.2 and 3.1.1 are spoken. SMB1 and 2.0.2 are refused. Every message of an authenticated
//! session is signed or encrypted, and whatever comes otherwise ends the connection.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod client;
pub mod crypto;
mod error;
pub mod packet;
mod types;
pub mod wire;

pub use self::error::Error;
pub use self::types::{Cipher, Dialect, DialectRevision, SigningAlgorithm};
