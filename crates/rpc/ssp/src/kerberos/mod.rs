//! Kerberos by the library of the system, as it is or in SPNEGO. The library makes and takes the tokens; what it agreed on
//! protects messages here.
//!
//! | module | what |
//! | --- | --- |
//! | `client` | a client's side, by the tickets of a cache |
//! | `kdc` | the same where there is no library: `sspi` asks a KDC at each logon |
//! | `server` | a server's side, by the keys of a keytab |
//! | `session` | protection of messages, RFC 4121 |
//! | `cipher` | encryption types, RFC 3962 and RFC 8009 |

mod cipher;
mod client;
mod kdc;
mod server;
mod session;

pub(crate) use self::client::client;
pub use self::client::client_without_library;
pub use self::kdc::KdcClient;
pub use self::server::{server, server_beside};
pub use gssapi::{Cache, EncryptionType, Error, Kerberos, Key, Origin, Reason, Ticket};
