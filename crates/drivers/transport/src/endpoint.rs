use core::fmt;
use core::str::FromStr;
use std::net::IpAddr;

/// Where a service listens: a name or an address, and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// A DNS name, an IPv4 address, or an IPv6 address without brackets.
    pub host: String,
    pub port: u16,
}

impl Endpoint {
    #[must_use]
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self { host: host.into(), port }
    }

    /// The endpoint as it was named, followed by the addresses of its host: `web1.example:445 (192.0.2.7)`.
    #[must_use]
    pub fn with_addresses(&self, addresses: &[IpAddr]) -> String {
        let addresses: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
        match addresses.as_slice() {
            [] => self.to_string(),
            [only] if *only == self.host => self.to_string(),
            all => format!("{self} ({})", all.join(", ")),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// A text that is not `host:port`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid endpoint: write host:port, and an IPv6 address in brackets")]
pub struct ParseEndpointError(String);

impl FromStr for Endpoint {
    type Err = ParseEndpointError;

    fn from_str(text: &str) -> Result<Self, ParseEndpointError> {
        let refused = || ParseEndpointError(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(refused)?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let ambiguous = bare.is_none() && host.contains(':');
        let host = bare.unwrap_or(host);
        match port.parse() {
            Ok(port) if !host.is_empty() && !ambiguous => Ok(Self::new(host, port)),
            _ => Err(refused()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_reads_what_it_prints() {
        for text in ["web1.corp.example.com:445", "192.0.2.7:1", "[2001:db8::1]:445"] {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), text);
        }
        assert_eq!("[2001:db8::1]:445".parse::<Endpoint>().unwrap().host, "2001:db8::1");
    }

    #[test]
    fn an_endpoint_is_shown_with_the_addresses_of_its_name() {
        let addresses: Vec<IpAddr> = ["192.0.2.7", "2001:db8::7"].map(|text| text.parse().unwrap()).into();
        let shown = |host: &str, count| Endpoint::new(host, 445).with_addresses(&addresses[..count]);
        assert_eq!(shown("web1.example", 2), "web1.example:445 (192.0.2.7, 2001:db8::7)");
        assert_eq!(shown("web1.example", 0), "web1.example:445");
        assert_eq!(shown("192.0.2.7", 1), "192.0.2.7:445", "an address is not said twice");
    }

    #[test]
    fn a_text_without_host_or_port_is_refused() {
        for text in ["web1", ":445", "web1:", "web1:70000", "2001:db8::1:445", "[]:445"] {
            let error = text.parse::<Endpoint>().unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
