use std::fmt;
use std::net::IpAddr;

/// A host that gets a secret. The guard distinguishes hosts by the reached address and by their name in the
/// configuration.
///
/// A host with two names and two addresses counts as two, because it cannot be recognised as one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    name: String,
    address: Option<IpAddr>,
}

impl Host {
    /// The host with this name in the configuration or the request, reached at `address`, if known.
    #[must_use]
    pub fn new(name: &str, address: Option<IpAddr>) -> Self {
        let canonical = |address: IpAddr| address.to_canonical();
        match config::address(name).map(canonical) {
            Some(named) => Self { name: named.to_string(), address: address.map(canonical).or(Some(named)) },
            None => Self { name: name.trim_end_matches('.').to_lowercase(), address: address.map(canonical) },
        }
    }

    /// In lower case; the text of an address where the host has no other name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it was reached. IPv4 in IPv6 is IPv4.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Whether both may be one host: they share the name or the address.
    #[must_use]
    pub fn may_be(&self, other: &Self) -> bool {
        self.name == other.name || (self.address.is_some() && self.address == other.address)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_host_however_it_is_written() {
        let first = Host::new("127.0.0.3", None);
        for name in ["::ffff:127.0.0.3", "[::ffff:7f00:3]", "127.0.0.3"] {
            assert_eq!(Host::new(name, None), first, "{name}");
        }
        let localhost = Host::new("localhost", Some(IpAddr::from([127, 0, 0, 3])));
        assert!(localhost.may_be(&first) && localhost != first);
    }

    #[test]
    fn hosts_are_two_only_if_both_name_and_address_differ() {
        let at = |name, last| Host::new(name, Some(IpAddr::from([10, 0, 0, last])));
        assert!(at("web1", 1).may_be(&at("WEB1.", 2)));
        assert!(at("web1", 1).may_be(&at("alias", 1)));
        assert!(!at("web1", 1).may_be(&at("web2", 2)));
        assert!(!Host::new("web1", None).may_be(&at("web2", 2)));
    }
}
