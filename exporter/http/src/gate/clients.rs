//! Which clients are let in by their certificate.

use std::fmt;
use std::sync::Arc;

use config::web_file::{ClientAuth, TlsServer};
use tokio_rustls::rustls::client::danger::HandshakeSignatureValid;
use tokio_rustls::rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::server::{NoClientAuth, WebPkiClientVerifier};
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError, RootCertStore,
    SignatureScheme,
};

use super::certificate::Facts;

/// The verifier that `client_auth_type` and `client_allowed_sans` ask for.
pub(super) fn verifier(
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
