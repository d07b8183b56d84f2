use std::path::{Path, PathBuf};

use crate::config::item::Item;

/// `otlp[].tls:`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtlpTls {
    /// `ca_file`: who signs the collector's certificate. Default: whom the system trusts.
    pub ca_file: Option<PathBuf>,
    /// `cert_file` and `key_file`: who we are.
    pub client: Option<ClientCertificate>,
}

/// A certificate with its key, in PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// `cert_file`
    pub cert_file: PathBuf,
    /// `key_file`
    pub key_file: PathBuf,
}

/// Reads `tls:`.
pub(super) fn tls(item: &Item<'_>, base: &Path) -> OtlpTls {
    let Some(mut section) = item.section(&["server_name", "insecure_skip_verify"]) else {
        return OtlpTls::default();
    };
    let ca_file = section.file("ca_file", base);
    let cert_file = section.file("cert_file", base);
    let key_file = section.file("key_file", base);
    if cert_file.is_some() != key_file.is_some() {
        item.problem("`cert_file` and `key_file` need each other", None);
    }
    section.finish();
    let client =
        cert_file.zip(key_file).map(|(cert_file, key_file)| ClientCertificate { cert_file, key_file });
    OtlpTls { ca_file, client }
}
