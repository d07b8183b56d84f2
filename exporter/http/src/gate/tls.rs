//! From `tls_server_config` and the files that it names to what the TLS library needs.

use std::fmt::{self, Display};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use config::Problem;
use config::web_file::{ClientAuth, Pem, PemSource, TlsServer, is_tls13};
use tokio_rustls::rustls::client::danger::HandshakeSignatureValid;
use tokio_rustls::rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::server::{NoClientAuth, NoServerSessionStorage, WebPkiClientVerifier};
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, InconsistentKeys, OtherError,
    RootCertStore, ServerConfig, SignatureScheme, version,
};
use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;

use super::Files;

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
    let verifier = client_verifier(tls, roots, &provider).map_err(of_certificate)?;
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

// Which clients are let in by their certificate.

/// The verifier that `client_auth_type` and `client_allowed_sans` ask for.
fn client_verifier(
    tls: &TlsServer,
    authorities: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, String> {
    if tls.client_auth == ClientAuth::NoClientCert {
        return Ok(Arc::new(NoClientAuth));
    }
    let hints = authorities.subjects();
    let webpki = if tls.client_auth.is_verified() {
        let builder =
            WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), Arc::clone(provider));
        Some(builder.build().map_err(|error| error.to_string())?)
    } else {
        None
    };
    Ok(Arc::new(Clients {
        auth: tls.client_auth,
        webpki,
        hints,
        allowed_names: tls.client_allowed_sans.clone(),
        algorithms: provider.signature_verification_algorithms,
    }))
}

#[derive(Debug)]
struct Clients {
    auth: ClientAuth,
    /// Checks the chain; `None` if any certificate is accepted.
    webpki: Option<Arc<dyn ClientCertVerifier>>,
    hints: Vec<DistinguishedName>,
    allowed_names: Vec<String>,
    algorithms: WebPkiSupportedAlgorithms,
}

/// No name of the certificate is in `client_allowed_sans`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotAllowed;

impl fmt::Display for NotAllowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no name of the certificate is in client_allowed_sans")
    }
}

impl std::error::Error for NotAllowed {}

impl ClientCertVerifier for Clients {
    fn client_auth_mandatory(&self) -> bool {
        self.auth.is_required()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.hints
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if let Some(webpki) = &self.webpki {
            webpki.verify_client_cert(certificate, intermediates, now)?;
        }
        if !self.allowed_names.is_empty() {
            let facts = Facts::of(certificate).ok_or(CertificateError::BadEncoding)?;
            if !facts.names.iter().any(|name| self.allowed_names.contains(name)) {
                return Err(CertificateError::Other(OtherError(Arc::new(NotAllowed))).into());
            }
        }
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

// What an X.509 certificate (RFC 5280) says of its time and its names. Nothing here decides whether it is genuine.

/// What is asked of a certificate beyond what the TLS library does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// `notBefore`, in Unix seconds.
    pub(super) not_before_s: i64,
    /// `notAfter`, in Unix seconds.
    pub(super) not_after_s: i64,
    /// `subjectAltName`: host names, addresses of mail, IP addresses, URIs.
    pub(super) names: Vec<String>,
}

impl Facts {
    /// Reads a certificate in DER; `None` if it is invalid.
    pub(super) fn of(der: &[u8]) -> Option<Self> {
        let (_, certificate) = parse_x509_certificate(der).ok()?;
        let validity = certificate.validity();
        let alternative = certificate.subject_alternative_name().ok()?;
        let names = alternative.iter().flat_map(|found| &found.value.general_names).filter_map(name);
        Some(Self {
            not_before_s: validity.not_before.timestamp(),
            not_after_s: validity.not_after.timestamp(),
            names: names.collect(),
        })
    }
}

/// Both times and the names, for the laws about them.
pub(crate) fn certificate(der: &[u8]) -> Option<(i64, i64, Vec<String>)> {
    Facts::of(der).map(|Facts { not_before_s, not_after_s, names }| (not_before_s, not_after_s, names))
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::RFC822Name(text) | GeneralName::DNSName(text) | GeneralName::URI(text) => {
            Some((*text).to_owned())
        }
        GeneralName::IPAddress(bytes) => {
            let v4 = <[u8; 4]>::try_from(*bytes).map(|bytes| IpAddr::from(Ipv4Addr::from(bytes)));
            let address =
                v4.or_else(|_| <[u8; 16]>::try_from(*bytes).map(|b| IpAddr::from(Ipv6Addr::from(b))));
            Some(address.ok()?.to_canonical().to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, SanType, date_time_ymd};

    use super::*;

    fn certificate(change: impl FnOnce(&mut CertificateParams)) -> Vec<u8> {
        let mut params = CertificateParams::default();
        change(&mut params);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn times_and_names_are_those_that_the_certificate_was_made_with() {
        let der = certificate(|params| {
            params.not_before = date_time_ymd(1999, 12, 31);
            params.not_after = date_time_ymd(2052, 2, 29);
            params.subject_alt_names = vec![
                SanType::DnsName("prometheus.example".try_into().unwrap()),
                SanType::Rfc822Name("ops@example.com".try_into().unwrap()),
                SanType::URI("spiffe://example/prometheus".try_into().unwrap()),
                SanType::IpAddress("192.0.2.7".parse().unwrap()),
                SanType::IpAddress("2001:db8::7".parse().unwrap()),
            ];
        });
        let facts = Facts::of(&der).unwrap();
        // `date -ud 1999-12-31 +%s` and `date -ud 2052-02-29 +%s`
        assert_eq!((facts.not_before_s, facts.not_after_s), (946_598_400, 2_592_777_600));
        let names = ["prometheus.example", "ops@example.com", "spiffe://example/prometheus"];
        assert_eq!(facts.names[..3], names);
        assert_eq!(facts.names[3..], ["192.0.2.7", "2001:db8::7"]);
    }

    #[test]
    fn a_broken_certificate_is_none_wherever_it_is_broken() {
        let der = certificate(|_| {});
        assert_eq!(Facts::of(&der).unwrap().names, Vec::<String>::new());
        for end in 0..der.len() {
            assert_eq!(Facts::of(&der[..end]), None, "{end}");
        }
        for index in 0..der.len() {
            let mut broken = der.clone();
            broken[index] ^= 0xFF;
            // Whatever comes out: it does not panic.
            Facts::of(&broken);
        }
    }
}
