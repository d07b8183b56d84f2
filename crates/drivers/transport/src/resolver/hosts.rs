use std::collections::HashMap;
use std::net::IpAddr;

/// The names of a hosts file, in lower case, each with its addresses in the file's order.
#[derive(Debug, Default)]
pub(crate) struct Hosts(HashMap<String, Vec<IpAddr>>);

impl Hosts {
    /// Reads a hosts file as hosts(5) describes it. Lines that do not begin with an address are skipped.
    pub(crate) fn parse(text: &[u8]) -> Self {
        let mut hosts: HashMap<String, Vec<IpAddr>> = HashMap::new();
        for line in String::from_utf8_lossy(text).trim_start_matches('\u{feff}').lines() {
            let line = line.split_once('#').map_or(line, |(before, _comment)| before);
            let mut words = line.split_whitespace();
            let Some(address) = words.next().and_then(|word| word.parse::<IpAddr>().ok()) else { continue };
            for name in words {
                let addresses = hosts.entry(name.to_lowercase()).or_default();
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
        }
        Self(hosts)
    }

    /// The addresses of a name in lower case.
    pub(crate) fn find(&self, name: &str) -> Option<&[IpAddr]> {
        self.0.get(name).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_with_all_their_addresses_and_comments_are_none() {
        let hosts = Hosts::parse(
            b"\xEF\xBB\xBF# 192.0.2.9 web9\n192.0.2.1\tWEB_1.corp.example web_1 # 192.0.2.2 web2\n\
              2001:db8::1 web_1\n192.0.2.1 web_1\nnonsense web3\n\xff\xfe\n",
        );
        let found =
            |name: &str| hosts.find(name).map(|found| found.iter().map(ToString::to_string).collect());
        assert_eq!(found("web_1"), Some(vec!["192.0.2.1".to_owned(), "2001:db8::1".to_owned()]));
        assert_eq!(found("web_1.corp.example"), Some(vec!["192.0.2.1".to_owned()]));
        for none in ["web2", "web3", "web9", "#"] {
            assert_eq!(found(none), None::<Vec<String>>, "{none}");
        }
    }
}
