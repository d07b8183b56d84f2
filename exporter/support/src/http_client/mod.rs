//! The client side of HTTP for what the exporter sends: a connection to one server, by HTTP/1.1 or HTTP/2, with or without
//! TLS; headers with secrets; waits after failures; and why a request failed, as a word and a sentence.
//!
//! It knows neither configuration nor what is sent. Redirects are not followed, because headers with secrets would go
//! to a host that is not configured.

mod connection;
mod tls_alerts;
mod url;

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fmt, io};

use hyper::header::HeaderValue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use zeroize::Zeroizing;

pub use self::connection::{Answer, Connection};
pub use self::url::{HttpUrl, UrlProblem};

use self::tls_alerts::not_connected;
use super::input::file;
use super::input::secret::{self, SecretSource};
use super::words;

/// What time it is.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> SystemTime;
}

#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

// Where a server is, and which certificates count.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub secure: bool,
    /// A name or an address, that of IPv6 in brackets.
    pub host: String,
    pub port: u16,
    /// By HTTP/2, which is not negotiated; else by HTTP/1.1.
    pub http2: bool,
    pub tls: ClientTls,
}

/// `tls:` of a server
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientTls {
    /// `ca_file`: the CA of the server's certificate. Default: those of the system.
    pub ca_file: Option<PathBuf>,
    /// `cert_file` and `key_file`: our certificate.
    pub client: Option<ClientCertificate>,
}

/// A certificate with its key, in PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    pub cert_file: PathBuf,
    pub key_file: PathBuf,
}

// What answers ask for, and what goes wrong.

/// What `Retry-After` asks for: seconds, or a date.
#[must_use]
pub fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    match text.trim().parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => httpdate::parse_http_date(text).ok()?.duration_since(now).ok(),
    }
}

/// What a stranger wrote, fit for a log.
#[must_use]
pub fn shown(text: &str) -> String {
    text.trim()
        .chars()
        .map(|char| if char.is_control() { ' ' } else { char })
        .take(MESSAGE_CHARS_MAX)
        .collect()
}

const MESSAGE_CHARS_MAX: usize = 200;

words! {
    /// Why a request was not taken.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Trouble {
        Unreachable = "unreachable",
        /// A connection, but no trust.
        Tls = "tls",
        /// No answer in time.
        Timeout = "timeout",
        /// The server is not ready or has too much to do.
        Busy = "busy",
        /// The data is wrong in the server's eyes.
        Invalid = "invalid",
        Unauthorized = "unauthorized",
        /// Nothing there takes this kind of data.
        NotFound = "not_found",
        Unexpected = "unexpected",
        /// A header's value or a certificate cannot be read here.
        Secret = "secret",
    }
}

impl Trouble {
    /// What to do about it.
    #[must_use]
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::Unreachable => "Check that the server runs, and that its URL and the network are right.",
            Self::Tls => "Check `tls.ca_file`, and the server's certificate.",
            Self::Timeout => "Check the load of the server, or raise `timeout`.",
            Self::Busy => "Wait at first: the data is sent again. Then read the server's log.",
            Self::Invalid => "Read the server's log: it does not accept the format.",
            Self::Unauthorized => "Check `headers`, and what the server allows.",
            Self::NotFound => "Check protocol and path of the URL.",
            Self::Unexpected => "Check that the URL is that of a server for this data.",
            Self::Secret => "Check the files and variables in `headers` and `tls`.",
        }
    }
}

// Values of headers, and the secrets among them.

/// Where a header's value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderSource {
    /// It is no secret.
    Plain(String),
    /// It is one: `{file: …}` or `{env: …}`, with `prefix` before it.
    Secret {
        /// `prefix`: `Bearer `, say.
        prefix: String,
        source: SecretSource,
    },
}

/// The value of a header. Secrets are read again each time, so that those that were renewed are used.
///
/// # Errors
/// A secret cannot be read, or does not fit into a header.
pub fn header_value(source: &HeaderSource) -> Result<HeaderValue, Failure> {
    let value = match source {
        HeaderSource::Plain(text) => HeaderValue::from_str(text),
        HeaderSource::Secret { prefix, source } => {
            let secret = secret::read(source).map_err(|message| Failure::new(Trouble::Secret, message))?;
            let whole = zeroize::Zeroizing::new([prefix.as_bytes(), &secret].concat());
            HeaderValue::from_bytes(&whole)
        }
    };
    // The error does not show the value.
    let mut value =
        value.map_err(|_| Failure::new(Trouble::Secret, "a secret does not fit into a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The name and version of this program.
pub const USER_AGENT: &str = concat!("perfmon-exporter/", env!("CARGO_PKG_VERSION"));

// How a server is reached, and what is said of one that is not.

/// A byte stream to a server.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A stream that is being opened.
pub type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Stream>, Failure>> + Send + 'a>>;

/// How a server is reached.
pub trait Connector: Send + Sync + 'static {
    /// Opens a stream, which the protocol is spoken on at once.
    fn connect(&self) -> Connecting<'_>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Why, as a word.
    pub trouble: Trouble,
    /// Why, as a sentence.
    pub message: String,
}

impl Failure {
    /// A failure with this message.
    pub fn new(trouble: Trouble, message: impl fmt::Display) -> Self {
        Self { trouble, message: message.to_string() }
    }

    /// An error with all its causes.
    #[must_use]
    pub fn of(trouble: Trouble, doing: &str, error: &dyn std::error::Error) -> Self {
        let mut message = format!("{doing}: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            message = format!("{message}: {error}");
            cause = error.source();
        }
        Self { trouble, message }
    }
}

// Servers over TCP and TLS.

/// No certificate or key has more.
const PEM_BYTES_MAX: usize = 4 << 20;

/// Reaches a server of the configuration.
///
/// Certificates are read again for each connection, so that renewed ones are used.
#[derive(Clone, Debug)]
pub struct NetConnector {
    server: Arc<Server>,
}

impl NetConnector {
    /// The way to `server`.
    #[must_use]
    pub fn new(server: Arc<Server>) -> Self {
        Self { server }
    }

    async fn open(&self) -> Result<Box<dyn Stream>, Failure> {
        let (host, port) = (self.server.host.as_str(), self.server.port);
        let failed = |error: io::Error| Failure::of(Trouble::Unreachable, "connect", &error);
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((bare, port)).await.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        if !self.server.secure {
            return Ok(Box::new(stream));
        }
        let server = Arc::clone(&self.server);
        let config = tokio::task::spawn_blocking(move || client_config(&server)).await;
        let config = config.map_err(|error| Failure::new(Trouble::Tls, error))??;
        let name = ServerName::try_from(bare.to_owned())
            .map_err(|error| Failure::of(Trouble::Tls, "TLS", &error))?;
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
        let stream = stream.map_err(|error| not_connected(&error, &self.server.tls))?;
        Ok(Box::new(stream))
    }
}

impl Connector for NetConnector {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(self.open())
    }
}

fn client_config(server: &Server) -> Result<ClientConfig, Failure> {
    let tls = &server.tls;
    let mut roots = RootCertStore::empty();
    match &tls.ca_file {
        Some(file) => {
            for certificate in certificates(file)? {
                roots.add(certificate).map_err(|error| unreadable(file, &error))?;
            }
        }
        None => {
            // One certificate that cannot be read must not keep us from the others.
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
        }
    }
    if roots.is_empty() {
        let message = "no certificate authority is known; name one in `tls.ca_file`";
        return Err(Failure::new(Trouble::Tls, message));
    }
    let failed = |error| Failure::of(Trouble::Tls, "TLS", &error);
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder =
        builder.with_safe_default_protocol_versions().map_err(failed)?.with_root_certificates(roots);
    let mut config = match &tls.client {
        Some(client) => {
            let key = PrivateKeyDer::from_pem_slice(&read_pem(&client.key_file)?);
            let key = key.map_err(|error| unreadable(&client.key_file, &error))?;
            builder.with_client_auth_cert(certificates(&client.cert_file)?, key).map_err(failed)?
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![if server.http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
    Ok(config)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let text = read_pem(file)?;
    let certificates = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    match certificates {
        Ok(certificates) if certificates.is_empty() => {
            Err(Failure::new(Trouble::Secret, format!("read {}: it holds no certificate", file.display())))
        }
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(unreadable(file, &error)),
    }
}

fn read_pem(file: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut text = Zeroizing::new(Vec::new());
    file::read_into(&mut text, file, PEM_BYTES_MAX).map_err(|error| unreadable(file, &error))?;
    Ok(text)
}

fn unreadable(file: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::of(Trouble::Secret, &format!("read {}", file.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_stranger_wrote_is_short_and_of_one_line() {
        assert_eq!(shown("a\nb\u{1b}[31m"), "a b [31m");
        assert_eq!(shown(&"x".repeat(10_000)).len(), MESSAGE_CHARS_MAX);
    }
}
