use hyper::Uri;

use crate::item::Item;

/// `url`, taken apart.
pub(super) struct Url {
    /// As it is written.
    pub(super) shown: String,
    pub(super) secure: bool,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) path: String,
}

impl Url {
    /// Reads one. Without a port it is `port`, or that of the scheme.
    pub(super) fn read(item: &Item<'_>, hint: &str, port: Option<u16>) -> Option<Self> {
        let text = item.text()?;
        let wrong = |message: &str, hint: &str| {
            // The text itself is not shown: it may hold a password.
            item.problem(message, Some(hint.to_owned()));
            None
        };
        let Ok(uri) = text.parse::<Uri>() else { return wrong("is no URL", hint) };
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return wrong("is no `http://` or `https://` URL", hint),
        };
        let Some(authority) = uri.authority() else { return wrong("has no host", hint) };
        if authority.as_str().contains('@') {
            let hint = "put it into a file and name that in `headers: {authorization: {file: …}}`";
            return wrong("a secret must not be in the configuration", hint);
        }
        if uri.query().is_some() {
            let hint = "if it is a secret, put it into a file and name that in `headers`";
            return wrong("has a `?` part, which pages would show", hint);
        }
        Some(Self {
            shown: text.to_owned(),
            secure,
            host: authority.host().to_owned(),
            port: authority.port_u16().or(port).unwrap_or(if secure { 443 } else { 80 }),
            path: uri.path().to_owned(),
        })
    }
}
