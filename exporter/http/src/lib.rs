//! The exporter's web server: HTTP/1.1, and over TLS also HTTP/2. It knows no metric and no target: what is served is an
//! [`App`]'s to say.
//!
//! A [`Server`] accepts connections for an app. Who may read is the [`Gate`]'s to say, by the web configuration file.
//! What a connection or a request passes before it is answered stands in `middleware`.
//!
//! Limits: connections, of all and of one peer, whose idle ones end when it needs one; TLS handshakes; time for a
//! handshake, for a request's head, without a byte taken, for an answer, without a request; a head's bytes (431), a
//! URI's (414). Nothing here takes a body, so a request that announces one is refused, and its connection ends with it.

mod answer;
mod app;
mod caller;
mod connection;
mod gate;
mod handshake;
mod heads;
mod limits;
mod middleware;
#[doc(hidden)]
pub mod parsers;
mod peers;
mod server;
mod settings;
mod streams;
mod traffic;
mod write_timeout;

pub use self::answer::{header, plain, typed};
pub use self::app::App;
pub use self::caller::{Caller, Secure};
pub use self::gate::{Gate, METRICS};
pub use self::limits::Limits;
pub use self::peers::PeerKey;
pub use self::server::{Server, bind};
pub use self::settings::Settings;
