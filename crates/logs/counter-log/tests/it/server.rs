//! A server on loopback that speaks as much of PostgreSQL's protocol as it takes to misbehave.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use counter_log::database::{PostgresSettings, Tls};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use ssp::Secret;
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

pub(crate) const PASSWORD: &str = "made-up-passw0rd";

/// How the server begins.
pub(crate) const TRUSTED: &[&[u8]] = &[b"R\0\0\0\x08\0\0\0\0", READY];
pub(crate) const READY: &[u8] = b"Z\0\0\0\x05I";

/// Settings for the server, without TLS.
pub(crate) fn settings(server: SocketAddr) -> PostgresSettings {
    let mut settings = PostgresSettings::new("127.0.0.1", "perf", "perf");
    settings.port = server.port();
    settings.password = Some(Secret::new(PASSWORD));
    settings.tls = Tls::Off;
    // Tests that wait for the end of a time set a short one; on a busy machine, the others must not meet it.
    settings.connect_timeout = Duration::from_secs(60);
    settings.statement_timeout = Duration::from_secs(60);
    settings
}

/// Accepts one connection, reads what the client says first, sends `answer`, and answers all that the client has sent until it
/// closed the connection.
pub(crate) async fn serve_once(answer: Vec<u8>) -> (Arc<PostgresSettings>, JoinHandle<Vec<u8>>) {
    let (settings, listener) = listen().await;
    let server = tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.expect("a client comes");
        let mut received = read(&mut client).await;
        // The client may have gone after some of it.
        let _ = client.write_all(&answer).await;
        let _ = client.read_to_end(&mut received).await;
        received
    });
    (Arc::new(settings), server)
}

/// Trusts the client, completes its simple queries, answers the first other request with `prepared`, and the second with
/// `flood` until the client goes. Answers how many bytes of it went out.
pub(crate) async fn serve_flood(
    prepared: Vec<u8>,
    flood: Vec<u8>,
) -> (Arc<PostgresSettings>, JoinHandle<u64>) {
    let (settings, listener) = listen().await;
    let server = tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.expect("a client comes");
        read(&mut client).await;
        let mut answer = TRUSTED.concat();
        loop {
            client.write_all(&answer).await.expect("the client waits for it");
            match read(&mut client).await.first() {
                Some(b'Q') => answer = [COMPLETE_QUERY, READY].concat(),
                _ => break,
            }
        }
        client.write_all(&prepared).await.expect("the client waits for it");
        read(&mut client).await;
        client.write_all(&message(b'2', b"")).await.expect("the client waits for it");
        let mut sent = 0;
        while client.write_all(&flood).await.is_ok() {
            sent += flood.len() as u64;
        }
        sent
    });
    (Arc::new(settings), server)
}

/// An authority that signs the certificates of servers.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: NamedTempFile,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().expect("the system has random bytes");
        let mut params = CertificateParams::new(Vec::new()).expect("no names are right names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("the key can sign");
        let file = NamedTempFile::new().expect("there is room for a file");
        std::fs::write(file.path(), certificate.pem()).expect("the file is there");
        Self { issuer: Issuer::new(params, key), file }
    }

    /// Trusts servers of this authority.
    pub(crate) fn settings(&self) -> Tls {
        Tls::Require { ca_file: Some(self.file.path().to_owned()) }
    }

    fn server(&self, names: &[&str]) -> ServerConfig {
        let key = KeyPair::generate().expect("the system has random bytes");
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let params = CertificateParams::new(names).expect("they are names");
        let certificate = params.signed_by(&key, &self.issuer).expect("the key can sign");
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has them")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key.into())
            .expect("the key is that of the certificate")
    }
}

/// As [`serve_once`], over TLS with a certificate for these names. Answers what the client has sent within TLS.
pub(crate) async fn serve_tls(
    authority: &Authority,
    names: &[&str],
    answer: Vec<u8>,
) -> (Arc<PostgresSettings>, JoinHandle<Vec<u8>>) {
    let (settings, listener) = listen().await;
    let acceptor = TlsAcceptor::from(Arc::new(authority.server(names)));
    let server = tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.expect("a client comes");
        read(&mut client).await;
        client.write_all(b"S").await.expect("the client waits for it");
        let Ok(mut client) = acceptor.accept(client).await else { return Vec::new() };
        let mut received = vec![0; 1_000];
        let length = client.read(&mut received).await.unwrap_or(0);
        received.truncate(length);
        // The client may have gone after some of it.
        let _ = client.write_all(&answer).await;
        let _ = client.flush().await;
        let _ = client.read_to_end(&mut received).await;
        received
    });
    (Arc::new(settings), server)
}

const COMPLETE_QUERY: &[u8] = b"C\0\0\0\x08SET\0";

async fn listen() -> (PostgresSettings, TcpListener) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has free ports");
    (settings(listener.local_addr().expect("it listens")), listener)
}

async fn read(client: &mut TcpStream) -> Vec<u8> {
    let mut bytes = vec![0; 64 << 10];
    let length = client.read(&mut bytes).await.unwrap_or(0);
    bytes.truncate(length);
    bytes
}

/// A message of the protocol.
pub(crate) fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len() + 4).expect("tests have short messages");
    [&[kind][..], &length.to_be_bytes(), content].concat()
}
