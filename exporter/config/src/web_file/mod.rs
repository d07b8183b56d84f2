//! The file that `web.config_file` names: TLS, passwords, headers and a limit of requests, in the format that
//! Prometheus' exporter-toolkit gave to exporters.
//!
//! ```yaml
//! tls_server_config: {cert_file: server.crt, key_file: server.key}   # see [`TlsServer`]
//! http_server_config: {http2: true, headers: {Strict-Transport-Security: max-age=31536000}}
//! basic_auth_users: {alice: $2y$10$…}                                # bcrypt
//! rate_limit: {interval: 1s, burst: 20}
//! ```
//!
//! Every key of that format is honoured or refused with the reason; none is read and forgotten.

mod headers;
mod rate;
mod tls;
mod users;

use std::path::Path;

use hyper::HeaderMap;

use super::item::Item;
use super::node::{Node, SyntaxError, Value};
use super::problem::{Problem, Problems, Report};

pub use self::rate::RateLimit;
pub use self::tls::is_tls13;
pub use self::tls::{ClientAuth, Pem, PemSource, TlsServer, Versions};
pub use self::users::{Users, WEB_USERS_MAX};

/// The checked file; the files that it names were not read yet.
#[derive(Clone, Debug)]
pub struct WebFile {
    /// `tls_server_config`: without it HTTP is spoken in the clear.
    pub tls: Option<TlsServer>,
    /// `http_server_config.http2`: offered over TLS. Default true.
    pub http2: bool,
    /// `http_server_config.headers`: put on each answer.
    pub headers: HeaderMap,
    pub rate_limit: Option<RateLimit>,
    /// `basic_auth_users`: if empty, no password is required.
    pub users: Users,
}

impl Default for WebFile {
    fn default() -> Self {
        Self { tls: None, http2: true, headers: HeaderMap::new(), rate_limit: None, users: Users::default() }
    }
}

impl WebFile {
    /// Checks the text of a file. `base` is the folder that relative paths start from.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(file: &str, text: &str, base: &Path) -> Result<Self, Report> {
        let root = Node::parse(text).map_err(|SyntaxError { position, message }| {
            Report::new(file, vec![Problem { position, path: String::new(), message, hint: None }])
        })?;
        if matches!(root.value, Value::Null) {
            return Ok(Self::default());
        }
        let problems = Problems::default();
        let read = read(&Item::root(&root, &problems), base);
        let problems = problems.into_vec();
        match read {
            Some(read) if problems.is_empty() => Ok(read),
            _ => Err(Report::new(file, problems)),
        }
    }
}

fn read(root: &Item<'_>, base: &Path) -> Option<WebFile> {
    let mut top = root.section(&[])?;
    let mut file = WebFile {
        tls: top.get("tls_server_config").and_then(|item| tls::server(&item, base)),
        rate_limit: top.get("rate_limit").and_then(|item| rate::limit(&item)),
        users: top.get("basic_auth_users").map(|item| users::users(&item)).unwrap_or_default(),
        ..WebFile::default()
    };
    if let Some(mut http) = top.get("http_server_config").and_then(|item| item.section(&[])) {
        file.http2 = http.get("http2").and_then(|item| item.flag()).unwrap_or(true);
        file.headers = http.get("headers").map(|item| headers::headers(&item)).unwrap_or_default();
        http.finish();
    }
    top.finish();
    Some(file)
}
