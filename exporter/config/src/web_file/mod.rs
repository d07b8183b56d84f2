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

mod tls;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use safe_text::nearest::suggestion;

pub use self::tls::{ClientAuth, Pem, PemSource, TlsServer, Versions, is_tls13};

use super::item::Item;
use super::node::{Node, SyntaxError, Value};
use super::problem::{Problem, Problems, Report};

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
        rate_limit: top.get("rate_limit").and_then(|item| rate_limit(&item)),
        users: top.get("basic_auth_users").map(|item| users(&item)).unwrap_or_default(),
        ..WebFile::default()
    };
    if let Some(mut http) = top.get("http_server_config").and_then(|item| item.section(&[])) {
        file.http2 = http.get("http2").and_then(|item| item.flag()).unwrap_or(true);
        file.headers = http.get("headers").map(|item| headers(&item)).unwrap_or_default();
        http.finish();
    }
    top.finish();
    Some(file)
}

/// The headers that the format allows, and the values of those that have a fixed list.
const ALLOWED: [(&str, &[&str]); 5] = [
    ("Content-Security-Policy", &[]),
    ("Strict-Transport-Security", &[]),
    ("X-Content-Type-Options", &["nosniff"]),
    ("X-Frame-Options", &["deny", "sameorigin"]),
    ("X-XSS-Protection", &[]),
];

fn headers(item: &Item<'_>) -> HeaderMap {
    item.named().iter().filter_map(|(entry, value)| header(entry.key.as_str(), value)).collect()
}

fn header(key: &str, item: &Item<'_>) -> Option<(HeaderName, HeaderValue)> {
    let Some((name, values)) = ALLOWED.iter().find(|(name, _)| *name == key) else {
        let names = ALLOWED.map(|(name, _)| name);
        let hint = suggestion(key, names).or_else(|| Some(format!("it may be one of {}", names.join(", "))));
        item.problem("this header cannot be set", hint);
        return None;
    };
    let text = item.text_or_empty()?;
    if text.is_empty() {
        return None;
    }
    if !values.is_empty() && !values.contains(&text) {
        item.problem(format!("`{text}` is not a choice"), Some(format!("write {}", values.join(" or "))));
        return None;
    }
    let (name, value) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(text));
    let Ok(value) = value else {
        item.problem("no header can carry this text", Some("write it on one line".to_owned()));
        return None;
    };
    Some((name.ok()?, value))
}

pub const WEB_USERS_MAX: usize = 1_000;
/// Maximum bcrypt cost: this one takes some ten seconds, and clients do not wait longer.
const COST_MAX: u32 = 18;

/// `basic_auth_users`: names and bcrypt hashes.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Users {
    hashes: BTreeMap<String, Arc<str>>,
    cost: u32,
}

impl Users {
    /// Whether anybody is let in without a password.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// The hash of a user's password.
    #[must_use]
    pub fn hash(&self, user: &str) -> Option<&Arc<str>> {
        self.hashes.get(user)
    }

    /// The highest cost among them.
    #[must_use]
    pub fn cost(&self) -> u32 {
        self.cost
    }
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.hashes.keys().map(|name| (name, "***"))).finish()
    }
}

/// Reads `basic_auth_users`. No message shows a hash.
fn users(item: &Item<'_>) -> Users {
    let mut users = Users::default();
    let entries = item.named();
    if entries.len() > WEB_USERS_MAX {
        item.problem(format!("has {} entries, the limit is {WEB_USERS_MAX}", entries.len()), None);
    }
    for (entry, item) in entries.iter().take(WEB_USERS_MAX) {
        let Some((hash, cost)) = hash(item) else { continue };
        if entry.key.is_empty() || entry.key.contains(':') || entry.key.contains(char::is_control) {
            let hint = "basic authentication cannot carry an empty name, a colon or a control character";
            item.problem("this user could never log in", Some(hint.to_owned()));
            continue;
        }
        users.cost = users.cost.max(cost);
        users.hashes.insert(entry.key.clone(), hash.into());
    }
    users
}

fn hash<'a>(item: &Item<'a>) -> Option<(&'a str, u32)> {
    let hint = || Some("make one with `htpasswd -nBC 10 \"\" | tr -d ':\\n'`".to_owned());
    let text = item.text()?;
    let Ok(parts) = bcrypt::HashParts::from_str(text) else {
        item.problem("is not a bcrypt hash", hint());
        return None;
    };
    match parts.get_cost() {
        cost @ 4..=COST_MAX => Some((text, cost)),
        cost => {
            item.problem(format!("the hash has the cost {cost}; only 4 to {COST_MAX} are compared"), hint());
            None
        }
    }
}

/// `rate_limit`: a bucket of tokens, one for each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// `interval`: one token comes back each.
    pub interval: Duration,
    pub burst: u32,
}

const BURST_MAX: u32 = 1_000_000;
const INTERVAL_MAX: Duration = Duration::from_secs(24 * 3600);

/// Reads `rate_limit`. An interval of zero switches it off, as the format says.
fn rate_limit(item: &Item<'_>) -> Option<RateLimit> {
    let mut section = item.section(&[])?;
    let hint = "write `interval: 1s` for a request a second, or `interval: 0` for no limit";
    let interval = section.require("interval", hint).and_then(|item| interval(&item));
    let burst = section.get("burst");
    let burst_given = burst.as_ref().and_then(|item| item.count(0..=BURST_MAX));
    section.finish();
    let interval = interval.filter(|interval| !interval.is_zero())?;
    match (burst, burst_given) {
        (Some(burst), Some(0)) => {
            burst.problem("nothing would ever be answered", Some("write `burst: 1` or more".to_owned()));
            None
        }
        (Some(_), given) => given.map(|burst| RateLimit { interval, burst }),
        (None, _) => {
            item.problem("`burst` is missing", Some("write `burst: 20`".to_owned()));
            None
        }
    }
}

fn interval(item: &Item<'_>) -> Option<Duration> {
    let text = match &item.node.value {
        Value::Integer(0) => "0",
        Value::Text(text) => text,
        _ => return item.duration(Duration::ZERO..=INTERVAL_MAX),
    };
    match go_duration(text) {
        Some(interval) if interval <= INTERVAL_MAX => Some(interval),
        Some(_) => {
            item.problem(format!("`{text}` is longer than a day"), None);
            None
        }
        None => {
            item.problem(
                format!("`{text}` is not a valid time"),
                Some("write it like `1s` or `250ms`".to_owned()),
            );
            None
        }
    }
}

/// A time as Go's programs write it: `1s`, `1m30s`, `1.5s`, `0`.
fn go_duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (mut total, mut rest) = (Duration::ZERO, text);
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?);
        let (unit, after) =
            after.split_at(after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len()));
        let unit_s = match unit {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        let part = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit_s).ok()?;
        total = total.checked_add(part)?;
        rest = after;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_go_writes_them() {
        for (text, ms) in [("1s", 1_000), ("1m30s", 90_000), ("1.5s", 1_500), ("250ms", 250), ("0", 0)] {
            assert_eq!(go_duration(text), Some(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "1", "s", "1 s", "-1s", "1d", "1e9s", "1..5s", "99999999999999999999h"] {
            assert_eq!(go_duration(text), None, "{text}");
        }
    }
}
