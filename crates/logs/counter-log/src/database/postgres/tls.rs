//! TLS to a server, with its certificate checked.

use std::fs::File;
use std::future::Future;
use std::io::{self, Read};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_postgres::tls::TlsConnect;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::guard::Guarded;

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
