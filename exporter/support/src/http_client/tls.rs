//! Servers over TCP and TLS.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::input::file;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use zeroize::Zeroizing;

use super::Server;
use super::Trouble;
use super::tls_alerts::not_connected;
use super::{Connecting, Connector, Failure, Stream};

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
            let key = PrivateKeyDer::from_pem_slice(&text(&client.key_file)?);
            let key = key.map_err(|error| unreadable(&client.key_file, &error))?;
            builder.with_client_auth_cert(certificates(&client.cert_file)?, key).map_err(failed)?
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![if server.http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
    Ok(config)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let text = text(file)?;
    let certificates = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    match certificates {
        Ok(certificates) if certificates.is_empty() => {
            Err(Failure::new(Trouble::Secret, format!("read {}: it holds no certificate", file.display())))
        }
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(unreadable(file, &error)),
    }
}

fn text(file: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut text = Zeroizing::new(Vec::new());
    file::read_into(&mut text, file, PEM_BYTES_MAX).map_err(|error| unreadable(file, &error))?;
    Ok(text)
}

fn unreadable(file: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::of(Trouble::Secret, &format!("read {}", file.display()), error)
}
