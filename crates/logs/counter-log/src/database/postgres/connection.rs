//! A connection to a server.

use std::fs::File;
use std::future::Future;
use std::io::{self, Read};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, timeout};
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::TlsConnect;
use tokio_postgres::{Client, Config, NoTls};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use transport::resolver::Resolver;

use super::guard::Guarded;
use super::{PostgresSettings, Tls, failed, unavailable};
use crate::database::failure;
use crate::{SinkError, SinkErrorKind};

/// A connection, whose input and output a task of its own does. Dropping it closes the connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    task: EndedTask,
}

/// A task that ends with its owner.
#[derive(Debug)]
struct EndedTask(JoinHandle<Option<tokio_postgres::Error>>);

impl Drop for EndedTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Connection {
    /// Connects and logs in, in the time that the settings allow.
    pub(super) async fn open(settings: &Arc<PostgresSettings>) -> Result<Self, SinkError> {
        let Ok(opened) = timeout(settings.connect_timeout, connect(settings)).await else {
            let text = format!("no connection within {:?}", settings.connect_timeout);
            return Err(unavailable(settings, &text));
        };
        let connection = opened?;
        let statements = set_up(settings);
        let set = timeout(settings.statement_timeout, connection.client.batch_execute(&statements));
        let Ok(set) = set.await else {
            return Err(unavailable(settings, "it does not answer"));
        };
        match set {
            Ok(()) => Ok(connection),
            Err(error) => Err(connection.failed(settings, "set up the connection", &error).await),
        }
    }

    /// Takes leave of the server, which ends the task.
    pub(super) async fn close(self) {
        let Self { client, mut task } = self;
        drop(client);
        let _ = timeout(CLOSE_TIMEOUT, &mut task.0).await;
    }

    /// A failure of a request, with the cause of a broken connection.
    pub(super) async fn failed(
        mut self,
        settings: &PostgresSettings,
        doing: &str,
        error: &tokio_postgres::Error,
    ) -> SinkError {
        let cause = match error.is_closed() {
            // It ends by itself then; the time is for the worst.
            true => timeout(CAUSE_TIMEOUT, &mut self.task.0).await.ok().and_then(Result::ok).flatten(),
            false => None,
        };
        match cause {
            Some(cause) => failed(settings, doing, &cause),
            None => failed(settings, doing, error),
        }
    }
}

/// In a task of its own, so that a panic over what a server sends ends nothing else.
async fn connect(settings: &Arc<PostgresSettings>) -> Result<Connection, SinkError> {
    let shared = Arc::clone(settings);
    let mut opening = AbortOnDrop(tokio::spawn(async move { log_in(&shared).await }));
    let opened = (&mut opening.0).await;
    opened.unwrap_or_else(|error| {
        let text = format!("{}: the connection ended: {error}", settings.name());
        Err(failure(SinkErrorKind::Other, text))
    })
}

struct AbortOnDrop(JoinHandle<Result<Connection, SinkError>>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn log_in(settings: &Arc<PostgresSettings>) -> Result<Connection, SinkError> {
    let io_failed = |error: io::Error| unavailable(settings, &error.to_string());
    let addresses = addresses(settings).await?;
    let stream = TcpStream::connect(&addresses[..]).await.map_err(io_failed)?;
    stream.set_nodelay(true).map_err(io_failed)?;
    match &settings.tls {
        Tls::Off => {
            let stream = Guarded::new(stream);
            start(stream, NoTls, settings, SslMode::Disable).await
        }
        Tls::Require { ca_file } => {
            let (host, ca_file) = (settings.host.clone(), ca_file.clone());
            let connector = spawn_blocking(move || Connector::new(&host, ca_file.as_deref())).await;
            let connector = connector.map_err(|error| unavailable(settings, &error.to_string()))?;
            let connector = connector.map_err(|error| unavailable(settings, &error))?;
            start(stream, connector, settings, SslMode::Require).await
        }
    }
}

/// The addresses of the server, best first. No thread waits for name servers: the time of [`Connection::open`] is the limit.
async fn addresses(settings: &PostgresSettings) -> Result<Vec<SocketAddr>, SinkError> {
    let host = settings.host.trim_start_matches('[').trim_end_matches(']');
    // [RFC 6761] 6.3: `localhost` is this machine, whatever name servers say. It may be without TLS.
    let found = if host.eq_ignore_ascii_case("localhost") {
        Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
    } else {
        RESOLVER.lookup(host, Instant::now() + settings.connect_timeout).await
    };
    let found = found.map_err(|error| unavailable(settings, &format!("look up `{host}`: {error}")))?;
    Ok(found.into_iter().map(|address| SocketAddr::new(address, settings.port)).collect())
}

async fn start<S, T>(
    stream: S,
    tls: T,
    settings: &PostgresSettings,
    mode: SslMode,
) -> Result<Connection, SinkError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: TlsConnect<S>,
    T::Stream: Send + 'static,
{
    let mut config = Config::new();
    config.ssl_mode(mode).user(&settings.user).dbname(&settings.database).application_name(APPLICATION);
    if let Some(password) = &settings.password {
        config.password(password.expose());
    }
    let (client, connection) =
        config.connect_raw(stream, tls).await.map_err(|error| failed(settings, "connect", &error))?;
    let task = tokio::spawn(async move { connection.await.err() });
    Ok(Connection { client, task: EndedTask(task) })
}

/// What the server does when we are gone: it ends our statements and transactions soon, so that their locks do not outlive us
/// for long.
fn set_up(settings: &PostgresSettings) -> String {
    let statement_ms = settings.statement_timeout.as_millis().clamp(1, 1 << 30);
    let idle_ms = statement_ms * 2;
    format!(
        "SET statement_timeout = {statement_ms}; SET lock_timeout = {statement_ms}; \
         SET idle_in_transaction_session_timeout = {idle_ms}; SET tcp_keepalives_idle = 30; \
         SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3; SET client_min_messages = error"
    )
}

/// The connections of all logs share its answers.
static RESOLVER: LazyLock<Resolver> = LazyLock::new(Resolver::default);

/// How the server's list of sessions names us.
const APPLICATION: &str = "perfmon-exporter";

/// Nothing depends on the server's hearing that we go.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

const CAUSE_TIMEOUT: Duration = Duration::from_secs(1);

// TLS to a server, with its certificate checked.

/// How tokio-postgres gets TLS.
pub(super) struct Connector {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Connector {
    /// For the server of this name or address. Reads files, so call it where that may take its time.
    pub(super) fn new(host: &str, ca_file: Option<&Path>) -> Result<Self, String> {
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(bare).map_err(|error| format!("host {host}: {error}"))?;
        let roots = roots(ca_file)?;
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| format!("TLS: {error}"))?;
        let config = config.with_root_certificates(roots).with_no_client_auth();
        Ok(Self { config: Arc::new(config), name })
    }
}

impl TlsConnect<TcpStream> for Connector {
    type Stream = Guarded<TlsStream<TcpStream>>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Stream>> + Send>>;

    fn connect(self, stream: TcpStream) -> Self::Future {
        Box::pin(async move {
            let stream = TlsConnector::from(self.config).connect(self.name, stream).await?;
            Ok(Guarded::new(stream))
        })
    }
}

fn roots(ca_file: Option<&Path>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    match ca_file {
        Some(path) => {
            let unreadable = |error: &dyn std::fmt::Display| format!("CA file {}: {error}", path.display());
            let pem = read(path).map_err(|error| unreadable(&error))?;
            for certificate in CertificateDer::pem_slice_iter(&pem) {
                let certificate = certificate.map_err(|error| unreadable(&error))?;
                roots.add(certificate).map_err(|error| unreadable(&error))?;
            }
            if roots.is_empty() {
                return Err(unreadable(&"it has no certificate"));
            }
        }
        None => {
            // One certificate that cannot be read must not keep us from the others.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err("this system has no certificates of authorities: name a CA file".to_owned());
            }
        }
    }
    Ok(roots)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut pem = Vec::new();
    File::open(path)?.take(PEM_BYTES_MAX + 1).read_to_end(&mut pem)?;
    if pem.len() as u64 <= PEM_BYTES_MAX { Ok(pem) } else { Err(io::Error::other("it is too large")) }
}

/// No list of authorities has more.
const PEM_BYTES_MAX: u64 = 4 << 20;
