//! What is said of a host that is written as people write it.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;
use support::input::wildcard;

use super::item::Item;

/// The hosts that may see an identity.
///
/// Two kinds of entries: networks (`10.0.0.0/8`, or one address) and name patterns (`*.corp.example.com`, where
/// `*` stands for any characters, dots too; case is ignored).
///
/// - A host given **as an address** must lie in one of the networks.
/// - A host given **by name** must match one of the patterns, if there are any; if there are networks, every
///   address that the name resolves to must lie in one of them. The name is checked when the configuration is
///   read; the addresses are checked each time before the secret is handed out.
///
/// So a list with both kinds is the strict one: a name that someone points elsewhere gets nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowHosts {
    networks: Vec<IpNet>,
    patterns: Vec<String>,
}

/// The longest name that the domain name system has.
const HOST_BYTES_MAX: usize = 253;

const SHOWN_MAX: usize = 20;

/// Why an entry is neither a network nor a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadEntry;

impl AllowHosts {
    /// Reads a list of entries.
    pub(super) fn read(item: &Item<'_>) -> Self {
        let mut hosts = Self::default();
        for item in item.list() {
            let Some(text) = item.text() else { continue };
            if hosts.add(text).is_err() {
                let hint = match network_meant(text) {
                    Some(network) => format!("write {network} for a network"),
                    None => "write '*.corp.example.com', 10.0.0.0/8 or one address".to_owned(),
                };
                item.problem(format!("`{text}` is neither a host name pattern nor a network"), Some(hint));
            }
        }
        hosts
    }

    /// Adds one entry.
    ///
    /// # Errors
    /// When it is neither a network nor a name pattern.
    pub fn add(&mut self, entry: &str) -> Result<(), BadEntry> {
        if let Ok(address) = address(entry).ok_or(BadEntry) {
            self.networks.push(IpNet::from(address));
            return Ok(());
        }
        if let Ok(network) = entry.parse::<IpNet>() {
            self.networks.push(network.trunc());
            return Ok(());
        }
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '*');
        // All digits, dots and wildcards is an address with a mistake in it, not a name.
        let is_long = entry.len() > HOST_BYTES_MAX;
        let looks_numeric =
            entry.chars().all(|c| c.is_ascii_digit() || c == '.') || network_meant(entry).is_some();
        if entry.is_empty() || is_long || looks_numeric || !entry.chars().all(is_name) {
            return Err(BadEntry);
        }
        self.patterns.push(entry.to_lowercase());
        Ok(())
    }

    /// Whether the configuration allows a host.
    #[must_use]
    pub fn allows_host(&self, host: &str) -> bool {
        match address(host) {
            Some(address) => self.has(address),
            None if self.patterns.is_empty() => !self.networks.is_empty(),
            None => {
                let host = host.trim_end_matches('.').to_lowercase();
                self.patterns.iter().any(|pattern| wildcard::matches(pattern, &host))
            }
        }
    }

    /// Whether the addresses of a name have to be known before a secret goes out.
    #[must_use]
    pub fn needs_addresses(&self, host: &str) -> bool {
        !self.networks.is_empty() && address(host).is_none()
    }

    /// Whether every one of `addresses` lies in a network; none at all does not.
    #[must_use]
    pub fn allows_addresses(&self, addresses: &[IpAddr]) -> bool {
        !addresses.is_empty() && addresses.iter().all(|address| self.has(*address))
    }

    /// Whether addresses are restricted.
    #[must_use]
    pub fn has_networks(&self) -> bool {
        !self.networks.is_empty()
    }

    /// Whether nothing is allowed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.networks.is_empty() && self.patterns.is_empty()
    }

    fn has(&self, address: IpAddr) -> bool {
        // ::ffff:10.0.0.1 is 10.0.0.1 written otherwise.
        let address = address.to_canonical();
        self.networks.iter().any(|network| network.contains(&address))
    }
}

impl fmt::Display for AllowHosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let networks = self.networks.iter().map(ToString::to_string);
        let mut all: Vec<String> =
            self.patterns.iter().cloned().chain(networks).take(SHOWN_MAX + 1).collect();
        if all.len() > SHOWN_MAX {
            all[SHOWN_MAX] = "…".to_owned();
        }
        f.write_str(&all.join(", "))
    }
}

/// What `127.0.0.*` was meant to be: addresses match networks and never patterns.
fn network_meant(entry: &str) -> Option<IpNet> {
    let parts: Vec<&str> = entry.split('.').collect();
    let known: Vec<u8> = parts.iter().map_while(|part| part.parse().ok()).collect();
    let rest = &parts[known.len()..];
    let is_address =
        !known.is_empty() && parts.len() <= 4 && !rest.is_empty() && rest.iter().all(|part| *part == "*");
    if !is_address {
        return None;
    }
    let mut octets = [0; 4];
    octets[..known.len()].copy_from_slice(&known);
    let bits = u8::try_from(8 * known.len()).ok()?;
    IpNet::new(IpAddr::from(octets), bits).ok()
}

/// A host as an address, with or without the brackets of IPv6. `127.1` and `2130706433` are addresses, too: whoever
/// connects takes them for what they are.
#[must_use]
pub fn address(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    transport::resolver::literal(bare)
}

/// Whether a text may be a host's name or address.
#[must_use]
pub fn is_host_name(text: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_short = !text.is_empty() && text.len() <= HOST_BYTES_MAX;
    is_short && (address(text).is_some() || text.chars().all(in_name))
}

/// What to write in place of a text that is no host's name or address. `port` says where a port is written.
#[must_use]
pub fn host_hint(text: &str, port: impl FnOnce() -> String) -> String {
    let (meant, has_port) = host_meant(text);
    let meant = if is_host_name(meant) { format!(", `{meant}`") } else { String::new() };
    let port = if has_port { format!("; a port goes into {}", port()) } else { String::new() };
    format!("write the name or the address alone{meant}{port}")
}

/// The host in a URL, a UNC path or an address with a port, and whether there is a port.
fn host_meant(text: &str) -> (&str, bool) {
    let is_around = |c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}' | '"' | '\'');
    let text = text.trim_matches(is_around);
    let text = text.split_once("://").map_or(text, |(_, rest)| rest).trim_start_matches(['\\', '/']);
    let text = text.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let text = text.rsplit_once('@').map_or(text, |(_, host)| host);
    match text.rsplit_once(':') {
        Some((host, port)) if address(text).is_none() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            (host, true)
        }
        _ => (text, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allow(entries: &[&str]) -> AllowHosts {
        let mut allow = AllowHosts::default();
        for entry in entries {
            allow.add(entry).unwrap();
        }
        allow
    }

    #[test]
    fn a_name_matches_a_pattern_without_regard_to_case_or_the_root_dot() {
        let allow = allow(&["*.corp.example.com"]);
        assert!(allow.allows_host("Web1.CORP.example.com."));
        assert!(!allow.allows_host("corp.example.com"));
        assert!(!allow.allows_host("web1.corp.example.com.evil.net"));
        assert!(!allow.needs_addresses("web1.corp.example.com"));
    }

    #[test]
    fn an_address_must_lie_in_a_network_and_never_matches_a_pattern() {
        let allow = allow(&["*", "10.0.0.0/8", "fd00::/8"]);
        assert!(allow.allows_host("10.1.2.3"));
        assert!(allow.allows_host("[fd00::1]"));
        assert!(allow.allows_host("::ffff:10.1.2.3"));
        assert!(!allow.allows_host("192.0.2.1"));
    }

    #[test]
    fn a_name_beside_networks_must_also_resolve_into_them() {
        let allow = allow(&["*.corp.example.com", "10.0.0.0/8"]);
        assert!(allow.allows_host("web1.corp.example.com"));
        assert!(allow.needs_addresses("web1.corp.example.com"));
        let inside = IpAddr::from([10, 0, 0, 1]);
        let outside = IpAddr::from([192, 0, 2, 1]);
        assert!(allow.allows_addresses(&[inside]));
        assert!(!allow.allows_addresses(&[inside, outside]));
        assert!(!allow.allows_addresses(&[]));
    }

    #[test]
    fn only_networks_leave_the_decision_on_a_name_to_its_addresses() {
        assert!(allow(&["10.0.0.0/8"]).allows_host("anything.example"));
        assert!(!AllowHosts::default().allows_host("anything.example"));
    }

    #[test]
    fn an_entry_that_is_an_address_with_a_mistake_is_refused() {
        for entry in ["10.0.0.300", "10.0.0.0/33", "host name", ""] {
            assert_eq!(AllowHosts::default().add(entry), Err(BadEntry), "{entry}");
        }
    }

    #[test]
    fn of_a_long_list_the_beginning_is_shown() {
        let entries: Vec<String> = (0..100).map(|index| format!("web{index}")).collect();
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        assert!(allow(&entries).to_string().ends_with("web19, …"));
        assert!(!allow(&entries[..SHOWN_MAX]).to_string().contains('…'));
        assert_eq!(AllowHosts::default().add(&"a".repeat(300)), Err(BadEntry), "no name is as long");
    }

    #[test]
    fn what_people_write_for_a_host_is_told_what_to_write() {
        for (text, name, has_port) in [
            (r"\\web1", "web1", false),
            (r"\\web1\c$", "web1", false),
            ("//web1/share", "web1", false),
            ("web1 ", "web1", false),
            ("\u{feff}web1\u{200b}", "web1", false),
            ("web1.corp.example:445", "web1.corp.example", true),
            ("10.0.0.7:445", "10.0.0.7", true),
            ("[2001:db8::7]:445", "[2001:db8::7]", true),
            ("http://web1:9182/metrics", "web1", true),
            ("smb://corp@web1/x", "web1", false),
            ("10.0.0.7/24", "10.0.0.7", false),
        ] {
            assert!(!is_host_name(text), "{text}");
            let port = if has_port { "; a port goes into the drawer" } else { "" };
            let expected = format!("write the name or the address alone, `{name}`{port}");
            assert_eq!(host_hint(text, || "the drawer".to_owned()), expected, "{text}");
        }
        for text in ["", "a b", "web1,web2", "*.corp"] {
            assert_eq!(host_hint(text, String::new), "write the name or the address alone", "{text}");
        }
    }
}
