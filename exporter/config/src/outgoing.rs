//! `headers:` and `tls:` of a server that data is sent to.

use std::path::Path;

use hyper::header::{HeaderName, HeaderValue};
use support::http_client::{ClientCertificate, ClientTls, HeaderSource};
use support::input::secret::SecretSource;

use crate::item::Item;
use crate::node::Value;
use crate::section::Section;

pub(super) fn headers(item: &Item<'_>, base: &Path) -> Vec<(String, HeaderSource)> {
    let mut headers = Vec::new();
    for (entry, value) in item.named() {
        let name = entry.key.to_ascii_lowercase();
        if HeaderName::from_bytes(name.as_bytes()).is_err() || RESERVED.contains(&name.as_str()) {
            item.problem_at(entry.position, format!("`{name}` is not a header that can be set"), None);
            continue;
        }
        let source = match value.node.value {
            Value::Map(_) => value.section(&[]).and_then(|section| secret(section, base)),
            _ => plain(&value, &name),
        };
        headers.extend(source.map(|source| (name, source)));
    }
    headers
}

fn plain(value: &Item<'_>, name: &str) -> Option<HeaderSource> {
    if ["auth", "token", "key", "secret", "cookie"].iter().any(|word| name.contains(word)) {
        let hint =
            "write `{file: /run/secrets/…}` or `{env: …}`; `prefix: 'Bearer '` goes before it".to_owned();
        value.problem("a secret must not be in the configuration", Some(hint));
        return None;
    }
    let text = value.text_or_empty()?;
    if HeaderValue::from_str(text).is_err() {
        value.problem("is not a valid header value", None);
        return None;
    }
    Some(HeaderSource::Plain(text.to_owned()))
}

fn secret(mut section: Section<'_>, base: &Path) -> Option<HeaderSource> {
    let prefix = section.get("prefix").and_then(|item| item.text_or_empty()).unwrap_or_default().to_owned();
    let file = section.file("file", base).map(SecretSource::File);
    let env = section.text("env").map(SecretSource::Environment);
    if file.is_some() == env.is_some() {
        let hint = Some("name the file or the variable that holds the value".to_owned());
        section.problems.push_hint(
            section.position,
            &section.path,
            "needs `file` or `env`, one of them",
            hint,
        );
    }
    section.finish();
    file.or(env).map(|source| HeaderSource::Secret { prefix, source })
}

/// Headers that the protocol sets.
const RESERVED: &[&str] = &[
    "host",
    "content-type",
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "te",
    "connection",
    "grpc-encoding",
    "grpc-timeout",
    "user-agent",
];

// `tls:`, which certificates count.

pub(super) fn tls(item: &Item<'_>, base: &Path) -> ClientTls {
    let Some(mut section) = item.section(&["server_name", "insecure_skip_verify"]) else {
        return ClientTls::default();
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
    ClientTls { ca_file, client }
}
