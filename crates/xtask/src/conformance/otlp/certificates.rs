//! Certificates, and who signs them.

use std::fs;
use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::Result;
use crate::stage::Stage;

/// Files of an authority, a collector and a client with certificates of it, and an unrelated authority.
pub(super) struct Certificates {
    authority: PathBuf,
    collector: (PathBuf, PathBuf),
    client: (PathBuf, PathBuf),
    stranger: PathBuf,
}

impl Certificates {
    pub(super) fn new(stage: &Stage<'_>) -> Result<Self> {
        let (authority, stranger) = (issuer()?, issuer()?);
        let signed = |name: &str, subject: &str| -> Result<(PathBuf, PathBuf)> {
            let key = KeyPair::generate()?;
            let certificate =
                CertificateParams::new(vec![subject.to_owned()])?.signed_by(&key, &authority)?;
            Ok((
                write(stage, &format!("{name}.pem"), &certificate.pem())?,
                write(stage, &format!("{name}.key"), &key.serialize_pem())?,
            ))
        };
        Ok(Self {
            collector: signed("collector", "127.0.0.1")?,
            client: signed("client", "perfmon-exporter")?,
            authority: write(stage, "authority.pem", &authority.pem())?,
            stranger: write(stage, "stranger.pem", &stranger.pem())?,
        })
    }

    /// For a receiver of the collector: it shows a certificate and asks for one.
    pub(super) fn of_collector(&self) -> String {
        let (certificate, key) = (self.collector.0.display(), self.collector.1.display());
        let authority = self.authority.display();
        format!(", tls: {{cert_file: '{certificate}', key_file: '{key}', client_ca_file: '{authority}'}}")
    }

    /// For an endpoint of the exporter: it trusts the authority and has a certificate of it.
    pub(super) fn of_client(&self) -> String {
        let (certificate, key) = (self.client.0.display(), self.client.1.display());
        format!(
            ", tls: {{ca_file: '{}', cert_file: '{certificate}', key_file: '{key}'}}",
            self.authority.display()
        )
    }

    /// The same without a certificate to show.
    pub(super) fn of_client_without(&self) -> String {
        format!(", tls: {{ca_file: '{}'}}", self.authority.display())
    }

    /// The same, but it trusts the unrelated authority.
    pub(super) fn of_client_astray(&self) -> String {
        self.of_client().replace(&self.authority.display().to_string(), &self.stranger.display().to_string())
    }
}

fn issuer() -> Result<CertifiedIssuer<'static, KeyPair>> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    Ok(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?)
}

fn write(stage: &Stage<'_>, name: &str, text: &str) -> Result<PathBuf> {
    let path = stage.path(name);
    fs::write(&path, text)?;
    Ok(path)
}
