//! Where a server is, and which certificates count.

use std::path::PathBuf;

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
