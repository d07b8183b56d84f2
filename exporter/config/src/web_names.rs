//! Under which names browsers may open pages.

use std::net::IpAddr;

use support::input::wildcard;

use super::item::Item;

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

pub(super) fn without_port(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split_once(']').map_or(rest, |(address, _)| address);
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
