//! The ciphers and curves that may be chosen, by the names that Go gave to them.

use safe_text::nearest::suggestion;
use tokio_rustls::rustls::{CipherSuite, NamedGroup};

use super::Versions;
use crate::item::Item;

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

pub(super) fn suite_list(item: &Item<'_>) -> Vec<CipherSuite> {
    choices(item, &SUITES, |name| {
        let is_old = ["_CBC_", "_RC4_", "_3DES_"].iter().any(|part| name.contains(part));
        (is_old || name.starts_with("TLS_RSA_WITH_"))
            .then_some("the TLS library has suites with GCM or ChaCha20 and forward secrecy only")
    })
}

pub(super) fn curve_list(item: &Item<'_>) -> Vec<NamedGroup> {
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
pub(super) fn check_suites(item: &Item<'_>, suites: &[CipherSuite], versions: Versions) {
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
