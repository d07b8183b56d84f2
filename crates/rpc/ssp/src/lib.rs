//! Security contexts: authentication of both ends of a connection, then protection of each message.
//!
//! A [`SecurityContext`] is one authentication. Both sides pass tokens through [`SecurityContext::step`] until it
//! answers [`Step::Done`]; then [`SecurityContext::session_key`] is there for SMB, and
//! [`SecurityContext::wrap`] and [`SecurityContext::unwrap`] for RPC.
//!
//! ```
//! use std::sync::Arc;
//! use ssp::{Accounts, ClientOptions, Credentials, Mechanism, Outcome, Secret, ServerOptions, Step, Usage};
//!
//! struct OneUser;
//! impl Accounts for OneUser {
//!     fn password(&self, _domain: &str, user: &str) -> Option<Secret> {
//!         user.eq_ignore_ascii_case("svc-metrics").then(|| Secret::new("Passw0rd"))
//!     }
//!     fn attempted(&self, _domain: &str, _user: &str, _outcome: Outcome) {}
//! }
//!
//! let credentials = Credentials::new("CORP", "svc-metrics", Secret::new("Passw0rd"));
//! let options = ClientOptions::new(Mechanism::Ntlm, "cifs/web1.corp.example.com", Usage::Rpc);
//! let mut client = ssp::client(&credentials, options)?;
//! let mut server = ssp::server(Arc::new(OneUser), ServerOptions::new(Mechanism::Ntlm, Usage::Rpc))?;
//!
//! let Step::Continue(negotiate) = client.step(&[])? else { panic!("a client speaks first") };
//! let Step::Continue(challenge) = server.step(&negotiate)? else { panic!("NTLM has three messages") };
//! let Step::Done(Some(authenticate)) = client.step(&challenge)? else { panic!("the third is the client's") };
//! let Step::Done(None) = server.step(&authenticate)? else { panic!("and the last") };
//! assert_eq!(client.session_key()?.as_bytes(), server.session_key()?.as_bytes());
//! # Ok::<(), ssp::Error>(())
//! ```
//!
//! NTLM itself is the `sspi` crate's; this is the only crate that knows it. Kerberos is in [`kerberos`]. What is ours, because
//! `sspi` leaves it out: the target name and the channel bindings in the client's response ([MS-NLMP] 2.2.2.1), no LM
//! response beside it, the check of response and message integrity code on the server, accounts that are looked
//! up when the name is known and not before, and messages of anonymous clients. `sspi` writes messages in the clear to its own `tracing` spans; its
//! calls therefore run without a subscriber.
//!
//! A context is used from one place at a time. Any error of `step` or `unwrap` ends it.
// The clock of an authentication is that of `sspi` or of Kerberos' library; nothing here reads it.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod client;
mod context;
mod credentials;
mod crypto;
mod error;
mod established;
pub mod kerberos;
mod message;
mod package;
mod server;
mod session;
mod spnego;

pub use self::client::client;
pub use self::context::{
    Account, ClientOptions, ImpersonationLevel, Mechanism, Message, OsVersion, Peer, Protection,
    SecurityContext, ServerInfo, Step, Usage,
};
pub use self::credentials::{
    AccountPassword, Credentials, LongTermKey, Principal, Secret, SessionKey, Tickets,
};
pub use self::error::Error;
pub use self::message::NegotiateFlags;
pub use self::server::{Accounts, Outcome, ServerOptions, server, server_of_anybody};
pub use self::session::{Session, Side};
pub use self::spnego::server_hint;
