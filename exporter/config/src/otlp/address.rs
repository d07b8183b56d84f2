use hyper::Uri;
use otlp::push::OtlpProtocol;

use crate::item::Item;
use crate::shown::without_secrets;

/// `endpoint`, taken apart.
pub(super) struct Address {
    /// As it is written, but for a path.
    pub(super) shown: String,
    pub(super) secure: bool,
    pub(super) host: String,
    pub(super) port: u16,
    /// Without `/v1/metrics`.
    pub(super) path: String,
}

impl Address {
    pub(super) fn read(item: &Item<'_>, protocol: OtlpProtocol) -> Option<Self> {
        let text = item.text()?;
        let wrong = |message: &str| {
            // The text itself is not shown: it may hold a password.
            item.problem(message, Some("write it like `https://collector.example.com:4317`".to_owned()));
            None
        };
        let Ok(uri) = text.parse::<Uri>() else { return wrong("is no URL") };
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return wrong("is no `http://` or `https://` URL"),
        };
        let Some(authority) = uri.authority() else { return wrong("has no host") };
        if authority.as_str().contains('@') {
            let hint = "put it into a file and name that in `headers: {authorization: {file: …}}`".to_owned();
            item.problem("a secret must not be in the configuration", Some(hint));
            return None;
        }
        if uri.query().is_some() {
            return wrong("has a `?` part, which OTLP does not use");
        }
        let path = uri.path().trim_end_matches('/');
        if protocol == OtlpProtocol::Grpc && !path.is_empty() {
            return wrong("has a path, which gRPC does not use");
        }
        let default_port = match protocol {
            OtlpProtocol::Grpc => 4317,
            OtlpProtocol::Http => 4318,
        };
        Some(Self {
            shown: without_secrets(text),
            secure,
            host: authority.host().to_owned(),
            port: authority.port_u16().unwrap_or(default_port),
            path: path.strip_suffix("/v1/metrics").unwrap_or(path).to_owned(),
        })
    }
}
