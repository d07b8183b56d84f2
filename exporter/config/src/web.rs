//! `web:`, what is served, and where.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use support::input::wildcard;

use super::item::Item;
use super::section::{Section, set};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Web {
    /// `listen`: addresses to serve on. Port 0 takes a free one. Default `0.0.0.0:9483`.
    pub listen: Vec<String>,
    /// `max_connections`: more wait in the kernel's queue. Default 512.
    pub max_connections: u32,
    /// `max_scrapes`: pages written at a time; more wait for a moment, and are then answered 503. Default 8.
    pub max_scrapes: u32,
    /// `metrics_targets`: whether `/metrics` shows the targets' series beside the exporter's own. Default true.
    pub metrics_targets: bool,
    /// `enable_lifecycle`: whether reloads can be requested by HTTP. Default false.
    pub enable_lifecycle: bool,
    /// `allowed_hosts`: names by which browsers may ask for pages, besides addresses, names without a dot, the name of
    /// this machine and that of `external_url`.
    pub allowed_hosts: AllowedHosts,
    /// `external_url`: where Prometheus reaches the exporter, for `/sd`. Default: as the request says.
    pub external_url: Option<ExternalUrl>,
    /// `header_timeout`: a request's head must be there within it. Default 10 s.
    pub header_timeout: Duration,
    /// `write_timeout`: a reader that takes nothing for this time is dropped. Default 30 s.
    pub write_timeout: Duration,
    /// `config_file`: TLS, passwords, headers, a limit of requests. See [`WebFile`](crate::web_file::WebFile).
    pub config_file: Option<PathBuf>,
    /// `max_connections_per_peer`: of one address, or of one /64 of IPv6; more are closed. Default half of
    /// `max_connections`.
    pub max_connections_per_peer: Option<u32>,
    /// `answer_timeout`: an answer is taken within it, however steadily. Default 5 min.
    pub answer_timeout: Duration,
    /// `idle_timeout`: a connection without a request for this time is closed. Default 3 min.
    pub idle_timeout: Duration,
    /// `handshake_timeout`: of TLS. Default 10 s.
    pub handshake_timeout: Duration,
}

impl Default for Web {
    fn default() -> Self {
        Self {
            listen: vec!["0.0.0.0:9483".to_owned()],
            max_connections: 512,
            max_scrapes: 8,
            metrics_targets: true,
            enable_lifecycle: false,
            allowed_hosts: AllowedHosts::default(),
            external_url: None,
            header_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
            config_file: None,
            max_connections_per_peer: None,
            answer_timeout: Duration::from_secs(300),
            idle_timeout: Duration::from_secs(180),
            handshake_timeout: Duration::from_secs(10),
        }
    }
}

const ANSWER_TIMEOUTS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 3600);
const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(300);

impl Web {
    /// The names by which browsers may ask for pages, on a machine of this name.
    #[must_use]
    pub fn page_hosts(&self, machine: Option<&str>) -> AllowedHosts {
        let external = self.external_url.as_ref().map(|url| without_port(&url.address));
        external.into_iter().chain(machine).fold(self.allowed_hosts.clone(), AllowedHosts::with)
    }
}

pub(super) fn web(item: &Item<'_>, base: &Path) -> Web {
    let mut web = Web::default();
    let Some(mut section) = item.section(&[]) else { return web };
    if let Some(listen) = section.get("listen") {
        let items = listen.list();
        if items.is_empty() {
            listen.problem("is empty", Some("name an address such as `0.0.0.0:9483`".to_owned()));
        }
        web.listen = items.iter().filter_map(listen_address).collect();
    }
    set(&mut web.max_connections, section.count("max_connections", 1..=65_536));
    set(&mut web.max_scrapes, section.count("max_scrapes", 1..=1024));
    set(&mut web.metrics_targets, section.flag("metrics_targets"));
    set(&mut web.enable_lifecycle, section.flag("enable_lifecycle"));
    web.external_url = section.get("external_url").and_then(|item| external_url(&item));
    if let Some(hosts) = section.get("allowed_hosts") {
        web.allowed_hosts = AllowedHosts::read(&hosts);
    }
    set(&mut web.header_timeout, section.duration("header_timeout", TIMEOUTS));
    set(&mut web.write_timeout, section.duration("write_timeout", TIMEOUTS));
    web.config_file = section.file("config_file", base);
    web.max_connections_per_peer = section.count("max_connections_per_peer", 1..=65_536);
    set(&mut web.answer_timeout, section.duration("answer_timeout", ANSWER_TIMEOUTS));
    set(&mut web.idle_timeout, section.duration("idle_timeout", ANSWER_TIMEOUTS));
    set(&mut web.handshake_timeout, section.duration("handshake_timeout", TIMEOUTS));
    refer_to_file(&mut section);
    section.finish();
    web
}

/// What other programs have in their main file and we in another one.
fn refer_to_file(section: &mut Section<'_>) {
    for key in ["tls_server_config", "http_server_config", "basic_auth_users", "rate_limit", "tls"] {
        if let Some(item) = section.get(key) {
            let hint = "put it into a file of its own and name that in `web.config_file`".to_owned();
            item.problem("does not belong here", Some(hint));
        }
    }
}

/// `ADDRESS:PORT`, `NAME:PORT` or `:PORT` for every IPv4 address.
fn listen_address(item: &Item<'_>) -> Option<String> {
    let text = item.text()?;
    let valid = text.rsplit_once(':').filter(|(host, port)| {
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let host_is_good =
            bare.map_or(!host.contains(':'), |bare| bare.parse::<std::net::Ipv6Addr>().is_ok());
        port.parse::<u16>().is_ok() && host_is_good
    });
    match valid {
        Some(("", port)) => Some(format!("0.0.0.0:{port}")),
        Some(_) => Some(text.to_owned()),
        None => {
            let hint = "write ADDRESS:PORT, such as `0.0.0.0:9483` or `[::]:9483`".to_owned();
            item.problem(format!("`{text}` is not an address to listen on"), Some(hint));
            None
        }
    }
}

/// `web.external_url`: where others reach the exporter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalUrl {
    pub is_secure: bool,
    /// Host, and port if given.
    pub address: String,
    /// What is in front of every path, without a slash at its end; mostly empty.
    pub path: String,
}

fn external_url(item: &Item<'_>) -> Option<ExternalUrl> {
    let text = item.text()?;
    let url = parse(text);
    if url.is_none() {
        let hint = "write it like `https://exporter.example.com:9483`".to_owned();
        item.problem(format!("`{text}` is no address of a web server"), Some(hint));
    }
    url
}

fn parse(text: &str) -> Option<ExternalUrl> {
    let (is_secure, rest) = match text.split_once("://")? {
        ("https", rest) => (true, rest),
        ("http", rest) => (false, rest),
        _ => return None,
    };
    let (address, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = match address.rsplit_once(':') {
        // The last colon of an IPv6 address is inside of its brackets.
        Some((_, behind)) if behind.ends_with(']') => (address, None),
        Some((host, port)) => (host, Some(port)),
        None => (address, None),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_host = !host.is_empty() && (super::hosts::address(host).is_some() || host.chars().all(is_name));
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    let in_path = |c: char| is_name(c) || matches!(c, '/' | '~');
    (is_host && is_port && path.chars().all(in_path)).then(|| ExternalUrl {
        is_secure,
        address: address.to_owned(),
        path: path.trim_end_matches('/').to_owned(),
    })
}

// Under which names browsers may open pages.

/// A name of the domain name system has no more bytes.
const NAME_BYTES_MAX: usize = 253;

/// `web.allowed_hosts`: names, or patterns of names, by which a browser may ask for pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedHosts(Vec<String>);

impl AllowedHosts {
    pub(super) fn read(item: &Item<'_>) -> Self {
        let mut hosts = Self::default();
        for item in item.list() {
            let Some(text) = item.text() else { continue };
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '*');
            if text.is_empty() || text.len() > NAME_BYTES_MAX || !text.chars().all(is_name) {
                let hint = "write a name without a port, such as exporter.example.com or '*.example.com'; \
                            addresses are always allowed"
                    .to_owned();
                item.problem(
                    format!("`{text}` is neither a host name nor a pattern of host names"),
                    Some(hint),
                );
            } else {
                hosts.0.push(text.to_lowercase());
            }
        }
        hosts
    }

    /// The same with one more name.
    #[must_use]
    pub fn with(mut self, name: &str) -> Self {
        self.0.push(name.trim_end_matches('.').to_lowercase());
        self
    }

    /// Whether a page may be served to a request with this `host`, which may include a port.
    ///
    /// Allowed are the listed names, addresses, names of the loopback interface, and names without a dot. A web site
    /// that wants to read our pages in somebody's browser leads a name of its own to our address; such a name is in the
    /// public domain name system, where names have dots.
    #[must_use]
    pub fn allows(&self, host: &str) -> bool {
        let name = without_port(host).trim_end_matches('.').to_lowercase();
        let is_address = name.parse::<IpAddr>().is_ok();
        let is_local = !name.contains('.') || name.ends_with(".localhost");
        is_address || is_local || self.0.iter().any(|pattern| wildcard::matches(pattern, &name))
    }
}

fn without_port(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split_once(']').map_or(rest, |(address, _)| address);
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_web_server_is_taken_apart() {
        let url = parse("https://mon.example.com/perfmon/").unwrap();
        assert!(url.is_secure);
        assert_eq!((url.address.as_str(), url.path.as_str()), ("mon.example.com", "/perfmon"));
        assert_eq!(parse("http://[::1]:9483").unwrap().address, "[::1]:9483");
        assert_eq!(parse("http://[::1]").unwrap().path, "");
        for bad in
            ["exporter:9483", "ftp://a", "http://", "http://a:b", "http://a:0", "http://a/?x", "http://a b"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn names_that_somebody_else_could_own_are_not_allowed_unless_they_are_listed() {
        let allowed = AllowedHosts::default().with("mon.Example.com.").with("*.corp");
        for (host, expected) in [
            ("localhost:9483", true),
            ("a.localhost", true),
            ("192.0.2.1:9483", true),
            ("[2001:db8::1]:9483", true),
            ("exporter", true),
            ("MON.example.com:80", true),
            ("mon.example.com.", true),
            ("a.b.corp", true),
            ("evil.example", false),
            ("evil.example:9483", false),
            ("192.0.2.1.evil.example", false),
            ("localhost.evil.example", false),
            ("mon.example.com.evil.example", false),
            ("corp.evil.example", false),
        ] {
            assert_eq!(allowed.allows(host), expected, "{host}");
        }
        assert!(AllowedHosts::default().with("*").allows("evil.example"));
    }
}
