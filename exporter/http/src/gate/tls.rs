//! From `tls_server_config` and the files that it names to what the TLS library needs.

use std::fmt::Display;
use std::sync::Arc;

use config::Problem;
use config::web_file::{ClientAuth, Pem, PemSource, TlsServer, is_tls13};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::NoServerSessionStorage;
use tokio_rustls::rustls::{Error, InconsistentKeys, RootCertStore, ServerConfig, version};

use super::certificate::Facts;
use super::clients;
use super::files::Files;

/// TLS as it is spoken now.
pub(super) struct Tls {
    pub(super) config: Arc<ServerConfig>,
    pub(super) verifies_clients: bool,
    /// The one of the server's chain that ends first.
    pub(super) server: Facts,
    /// The one of the clients' authorities that ends first.
    pub(super) client_ca: Option<Facts>,
}

/// Reads everything that `tls` names.
pub(super) fn load(tls: &TlsServer, http2: bool, files: &mut Files) -> Result<Tls, Problem> {
    let chain = certificates(&tls.certificate, files)?;
    let server = earliest(&tls.certificate, &chain)?;
    let key = private_key(&tls.key, files)?;
    let authorities = match &tls.client_ca {
        Some(pem) => certificates(pem, files)?,
        None => Vec::new(),
    };
    let client_ca = match &tls.client_ca {
        Some(pem) => Some(earliest(pem, &authorities)?),
        None => None,
    };
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        let added = roots.add(authority);
        let trouble = |error: Error| problem(tls.client_ca.as_ref().unwrap_or(&tls.certificate), &error, "");
        added.map_err(trouble)?;
    }
    let of_certificate = |error: String| problem(&tls.certificate, &error, "");
    let provider = Arc::new(provider(tls));
    let versions = [(tls.versions.tls12, &version::TLS12), (tls.versions.tls13, &version::TLS13)];
    let versions: Vec<_> =
        versions.into_iter().filter_map(|(is_on, version)| is_on.then_some(version)).collect();
    let verifier = clients::verifier(tls, roots, &provider).map_err(of_certificate)?;
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(&versions);
    let builder = builder.map_err(|error| of_certificate(error.to_string()))?;
    let config = builder.with_client_cert_verifier(verifier).with_single_cert(chain, key);
    let mut config = config.map_err(|error| match error {
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => problem(
            &tls.key,
            &"is not the key of the certificate",
            "renew both, or name the files that belong together",
        ),
        other => of_certificate(other.to_string()),
    })?;
    config.ignore_client_order = tls.prefer_server_cipher_suites;
    let protocols: &[&[u8]] =
        if http2 { &[b"h2", b"http/1.1", b"http/1.0"] } else { &[b"http/1.1", b"http/1.0"] };
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    if tls.client_auth != ClientAuth::NoClientCert {
        // A session that is taken up again shows no certificate, and it may have ended since.
        config.session_storage = Arc::new(NoServerSessionStorage {});
    }
    Ok(Tls { config: Arc::new(config), verifies_clients: tls.client_auth.is_verified(), server, client_ca })
}

/// The suites and curves that are wanted, in the order of the configuration.
fn provider(tls: &TlsServer) -> CryptoProvider {
    let mut provider = ring::default_provider();
    let wanted = &tls.cipher_suites;
    if !wanted.is_empty() {
        let chooses_13 = wanted.iter().any(|suite| is_tls13(*suite));
        provider
            .cipher_suites
            .retain(|suite| wanted.contains(&suite.suite()) || (!chooses_13 && is_tls13(suite.suite())));
        let place = |suite| wanted.iter().position(|wanted| *wanted == suite);
        provider.cipher_suites.sort_by_key(|suite| place(suite.suite()));
    }
    if !tls.curves.is_empty() {
        provider.kx_groups.retain(|group| tls.curves.contains(&group.name()));
        provider.kx_groups.sort_by_key(|group| tls.curves.iter().position(|curve| *curve == group.name()));
    }
    provider
}

fn certificates(pem: &Pem, files: &mut Files) -> Result<Vec<CertificateDer<'static>>, Problem> {
    let text = text(pem, files)?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    match found {
        Ok(found) if found.is_empty() => {
            Err(problem(pem, &"holds no certificate", "it begins with -----BEGIN CERTIFICATE-----"))
        }
        Ok(found) => Ok(found),
        Err(error) => Err(problem(pem, &error, "write it in PEM")),
    }
}

fn private_key(pem: &Pem, files: &mut Files) -> Result<PrivateKeyDer<'static>, Problem> {
    let text = text(pem, files)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| match error {
        pem::Error::NoItemsFound => {
            let hint = "it begins with -----BEGIN PRIVATE KEY-----; keys with a passphrase are not \
                        supported: `openssl pkey -in KEY -out KEY.plain` removes it";
            problem(pem, &"holds no private key", hint)
        }
        error => problem(pem, &error, "write it in PEM"),
    })
}

/// Of the certificates the one that ends first.
fn earliest(pem: &Pem, certificates: &[CertificateDer<'_>]) -> Result<Facts, Problem> {
    let facts: Option<Vec<Facts>> = certificates.iter().map(|der| Facts::of(der)).collect();
    let earliest = facts.and_then(|facts| facts.into_iter().min_by_key(|facts| facts.not_after_s));
    earliest.ok_or_else(|| problem(pem, &"holds a certificate that cannot be read", ""))
}

fn text(pem: &Pem, files: &mut Files) -> Result<Vec<u8>, Problem> {
    match &pem.source {
        PemSource::File(path) => files.read(path).map_err(|error| problem(pem, &error, "")),
        PemSource::Inline(text) => Ok(text.clone().into_bytes()),
    }
}

fn problem(pem: &Pem, message: &dyn Display, hint: &str) -> Problem {
    let what = match &pem.source {
        PemSource::File(path) => format!("{}: {message}", path.display()),
        PemSource::Inline(_) => message.to_string(),
    };
    Problem {
        position: Some(pem.position),
        path: format!("tls_server_config.{}", pem.key),
        message: what,
        hint: (!hint.is_empty()).then(|| hint.to_owned()),
    }
}
