//! The client side of HTTP for what the exporter sends: a connection to one server, by HTTP/1.1 or HTTP/2, with or without
//! TLS; headers with secrets; waits after failures; and why a request failed, as a word and a sentence.
//!
//! It knows neither configuration nor what is sent. Redirects are not followed, because headers with secrets would go
//! to a host that is not configured.

mod clock;
mod connection;
mod connector;
mod header;
mod reply;
mod server;
mod tls;
mod tls_alerts;
mod trouble;
mod url;

pub use self::clock::{Clock, SystemClock};
pub use self::connection::{Answer, Connection};
pub use self::connector::{Connecting, Connector, Failure, Stream};
pub use self::header::{HeaderSource, USER_AGENT, header_value};
pub use self::reply::{retry_after, shown};
pub use self::server::{ClientCertificate, ClientTls, Server};
pub use self::tls::NetConnector;
pub use self::trouble::Trouble;
pub use self::url::{HttpUrl, UrlProblem};
