use std::fmt;
use std::path::{Path, PathBuf};

use safe_text::nearest::suggestion;
use tokio_rustls::rustls::{CipherSuite, NamedGroup};

use crate::item::Item;
use crate::node::Position;
use crate::section::Section;

#[derive(Clone, Debug)]
pub struct TlsServer {
    /// `cert` or `cert_file`: the server's certificate, and those between it and its authority.
    pub certificate: Pem,
    /// `key` or `key_file`: its private key.
    pub key: Pem,
    pub client_auth: ClientAuth,
    /// `client_ca` or `client_ca_file`: the CA of the clients' certificates.
    pub client_ca: Option<Pem>,
    /// `client_allowed_sans`: a client's certificate has one of these among its alternative names.
    pub client_allowed_sans: Vec<String>,
    /// `min_version`, `max_version`. Default both.
    pub versions: Versions,
    /// `cipher_suites`, in order; empty for all.
    pub cipher_suites: Vec<CipherSuite>,
    /// `prefer_server_cipher_suites`: our order counts, and not the client's. Default true.
    pub prefer_server_cipher_suites: bool,
    /// `curve_preferences`; empty for all.
    pub curves: Vec<NamedGroup>,
}

/// What is asked of a client's certificate, by the names that Go gave to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientAuth {
    /// None is asked for.
    #[default]
    NoClientCert,
    /// One is asked for, and nothing is done with it.
    RequestClientCert,
    /// A certificate of any issuer is required.
    RequireAnyClientCert,
    /// A certificate is optional, but must be signed by our CA.
    VerifyClientCertIfGiven,
    /// One is needed, and our authority has signed it.
    RequireAndVerifyClientCert,
}

impl ClientAuth {
    const WORDS: [(&'static str, Self); 6] = [
        ("NoClientCert", Self::NoClientCert),
        ("RequestClientCert", Self::RequestClientCert),
        ("RequireAnyClientCert", Self::RequireAnyClientCert),
        // Its name in the format's first version.
        ("RequireClientCert", Self::RequireAnyClientCert),
        ("VerifyClientCertIfGiven", Self::VerifyClientCertIfGiven),
        ("RequireAndVerifyClientCert", Self::RequireAndVerifyClientCert),
    ];

    /// Whether there is no connection without one.
    #[must_use]
    pub const fn is_required(self) -> bool {
        matches!(self, Self::RequireAnyClientCert | Self::RequireAndVerifyClientCert)
    }

    /// Whether its signature is checked.
    #[must_use]
    pub const fn is_verified(self) -> bool {
        matches!(self, Self::VerifyClientCertIfGiven | Self::RequireAndVerifyClientCert)
    }
}

/// Which versions of TLS are spoken; one of them at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    pub tls12: bool,
    pub tls13: bool,
}

pub(super) fn server(item: &Item<'_>, base: &Path) -> Option<TlsServer> {
    let mut section = item.section(&[])?;
    let certificate = required(&mut section, "cert", "cert_file", base);
    let key = required(&mut section, "key", "key_file", base);
    let client_ca = read(&mut section, "client_ca", "client_ca_file", base);
    let auth_item = section.get("client_auth_type");
    let client_auth = auth_item.as_ref().and_then(|item| item.choice(&ClientAuth::WORDS)).unwrap_or_default();
    let sans = section.get("client_allowed_sans");
    let client_allowed_sans = sans.as_ref().map(Item::texts).unwrap_or_default();
    check_clients(item, client_auth, client_ca.as_ref(), sans.as_ref());
    let versions = versions(&mut section);
    let suites = section.get("cipher_suites");
    let cipher_suites = suites.as_ref().map(suite_list).unwrap_or_default();
    if let Some(suites) = suites.filter(|_| !cipher_suites.is_empty()) {
        check_suites(&suites, &cipher_suites, versions);
    }
    let prefer = section.flag("prefer_server_cipher_suites");
    let curves = section.get("curve_preferences").map(|item| curve_list(&item)).unwrap_or_default();
    section.finish();
    Some(TlsServer {
        certificate: certificate?,
        key: key?,
        client_auth,
        client_ca,
        client_allowed_sans,
        versions,
        cipher_suites,
        prefer_server_cipher_suites: prefer.unwrap_or(true),
        curves,
    })
}

/// What must be together.
fn check_clients(item: &Item<'_>, auth: ClientAuth, authority: Option<&Pem>, sans: Option<&Item<'_>>) {
    match (authority, auth) {
        (Some(authority), ClientAuth::NoClientCert) => {
            let hint = "write `client_auth_type: RequireAndVerifyClientCert`".to_owned();
            let message = format!("`{}` is given, but no client is asked for a certificate", authority.key);
            item.problem_at(authority.position, message, Some(hint));
        }
        (None, auth) if auth.is_verified() => {
            let hint = "name the authority of your clients' certificates; without it every client with a \
                        certificate of a public authority would be accepted";
            item.problem("`client_ca_file` is missing", Some(hint.to_owned()));
        }
        _ => {}
    }
    let Some(sans) = sans else { return };
    if !auth.is_required() {
        let hint = "write `client_auth_type: RequireAndVerifyClientCert`, so that each client shows one";
        sans.problem("a client without a certificate has no names to compare", Some(hint.to_owned()));
    } else if sans.list().is_empty() {
        sans.problem("no client would be accepted", Some("list names, or remove the key".to_owned()));
    }
}

fn versions(section: &mut Section<'_>) -> Versions {
    let (min_item, max_item) = (section.get("min_version"), section.get("max_version"));
    let min = min_item.as_ref().and_then(version).unwrap_or(12);
    let max = max_item.as_ref().and_then(version).unwrap_or(13);
    if let Some(item) = min_item.filter(|_| min > max) {
        item.problem("is above `max_version`", None);
    }
    Versions { tls12: min <= 12, tls13: max >= 13 }
}

fn version(item: &Item<'_>) -> Option<u8> {
    match item.text()? {
        "TLS12" => Some(12),
        "TLS13" => Some(13),
        old @ ("TLS10" | "TLS11") => {
            let message = format!("`{old}` is not supported: it is insecure, and the TLS library lacks it");
            item.problem(message, Some("write `TLS12` or `TLS13`".to_owned()));
            None
        }
        other => {
            item.problem(format!("`{other}` is not a choice"), Some("write `TLS12` or `TLS13`".to_owned()));
            None
        }
    }
}

/// A text in PEM, with where the configuration has it.
#[derive(Clone, Debug)]
pub struct Pem {
    /// Where it comes from.
    pub source: PemSource,
    /// The key that says so.
    pub key: &'static str,
    /// Where that key is.
    pub position: Position,
}

/// Where a text in PEM comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum PemSource {
    /// A file, looked at again and again.
    File(PathBuf),
    Inline(String),
}

impl fmt::Debug for PemSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.fmt(f),
            Self::Inline(_) => f.write_str("***"),
        }
    }
}

/// One of two keys, without which there is no TLS.
fn required(section: &mut Section<'_>, inline: &'static str, file: &'static str, base: &Path) -> Option<Pem> {
    if section.get(inline).is_none() {
        section.require(file, "without TLS leave tls_server_config out")?;
    }
    read(section, inline, file, base)
}

/// One of two keys, the text itself or a file.
fn read(section: &mut Section<'_>, inline: &'static str, file: &'static str, base: &Path) -> Option<Pem> {
    match (section.get(inline), section.get(file)) {
        (Some(_), Some(file_item)) => {
            file_item.problem(format!("`{inline}` is also set"), Some("keep one of them".to_owned()));
            None
        }
        (Some(item), None) => {
            let source = PemSource::Inline(item.text()?.to_owned());
            Some(Pem { source, key: inline, position: item.position() })
        }
        (None, Some(item)) => {
            let source = PemSource::File(item.file(base)?);
            Some(Pem { source, key: file, position: item.position() })
        }
        (None, None) => None,
    }
}

// The ciphers and curves that may be chosen, by the names that Go gave to them.

/// Go's names; those of TLS 1.3 choose among the suites of that version where one of them is listed.
const SUITES: [(&str, CipherSuite); 9] = [
    ("TLS_AES_128_GCM_SHA256", CipherSuite::TLS13_AES_128_GCM_SHA256),
    ("TLS_AES_256_GCM_SHA384", CipherSuite::TLS13_AES_256_GCM_SHA384),
    ("TLS_CHACHA20_POLY1305_SHA256", CipherSuite::TLS13_CHACHA20_POLY1305_SHA256),
    ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
    ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
    (
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
    ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384),
    ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256),
];

const CURVES: [(&str, NamedGroup); 3] = [
    ("CurveP256", NamedGroup::secp256r1),
    ("CurveP384", NamedGroup::secp384r1),
    ("X25519", NamedGroup::X25519),
];

fn suite_list(item: &Item<'_>) -> Vec<CipherSuite> {
    choices(item, &SUITES, |name| {
        let is_old = ["_CBC_", "_RC4_", "_3DES_"].iter().any(|part| name.contains(part));
        (is_old || name.starts_with("TLS_RSA_WITH_"))
            .then_some("the TLS library has suites with GCM or ChaCha20 and forward secrecy only")
    })
}

fn curve_list(item: &Item<'_>) -> Vec<NamedGroup> {
    choices(item, &CURVES, |name| {
        (name == "CurveP521").then_some("the TLS library has X25519, CurveP256 and CurveP384")
    })
}

/// A list of names, each of which is known, or lacking for a reason, or a mistake.
fn choices<T: Copy + PartialEq>(
    item: &Item<'_>,
    table: &[(&'static str, T)],
    lacking: impl Fn(&str) -> Option<&'static str>,
) -> Vec<T> {
    let mut chosen = Vec::new();
    for item in item.list() {
        let Some(name) = item.text() else { continue };
        match table.iter().find(|(known, _)| *known == name) {
            Some((_, value)) if chosen.contains(value) => {
                item.problem(format!("`{name}` is listed twice"), None);
            }
            Some((_, value)) => chosen.push(*value),
            None => match lacking(name) {
                Some(why) => {
                    item.problem(
                        format!("`{name}` is not offered here: {why}"),
                        Some("remove it".to_owned()),
                    );
                }
                None => {
                    let hint = suggestion(name, table.iter().map(|(known, _)| *known));
                    item.problem(format!("`{name}` is not a choice"), hint);
                }
            },
        }
    }
    chosen
}

/// A version that is spoken needs suites. Those of TLS 1.3 are all there unless one of them is listed.
fn check_suites(item: &Item<'_>, suites: &[CipherSuite], versions: Versions) {
    let of_12 = suites.iter().filter(|suite| !is_tls13(**suite)).count();
    if versions.tls12 && of_12 == 0 {
        let hint =
            "add a suite such as `TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256`, or write `min_version: TLS13`";
        item.problem("has no suite for TLS 1.2", Some(hint.to_owned()));
    }
    if !versions.tls12 && of_12 > 0 {
        let hint = "remove those of TLS 1.2, or write `min_version: TLS12`".to_owned();
        item.problem("has suites of TLS 1.2, which is not enabled", Some(hint));
    }
    if !versions.tls13 && of_12 < suites.len() {
        let hint = "remove those of TLS 1.3, or write `max_version: TLS13`".to_owned();
        item.problem("has suites of TLS 1.3, which is not enabled", Some(hint));
    }
}

/// Whether a suite belongs to TLS 1.3.
#[must_use]
pub fn is_tls13(suite: CipherSuite) -> bool {
    u16::from(suite) >> 8 == 0x13
}
