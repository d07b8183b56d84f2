//! Where a name that was allowed leads to.

use std::net::IpAddr;

use crate::config::{AllowHosts, address};
use crate::process::resolver::Lookups;
use crate::web::ProbeRefused;

/// Where a host leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// It is an address itself.
    Open,
    /// To these addresses, and no others.
    LeadsTo(Vec<IpAddr>),
    /// The name does not resolve.
    Nowhere,
}

/// Where a host that is not configured may be reached.
///
/// A name that leads elsewhere than the networks of `allowed` is refused. Where there are no networks, it may lead
/// anywhere but to this machine, to its link and to groups: nobody gives a Windows host such an address.
pub(super) async fn door(host: &str, allowed: &AllowHosts, lookups: &Lookups) -> Result<Door, ProbeRefused> {
    if address(host).is_some() {
        return Ok(Door::Open);
    }
    let mut found = lookups.find(host).await;
    found.sort_unstable();
    found.dedup();
    match found.iter().find(|address| !is_allowed(allowed, **address)) {
        None if found.is_empty() => Ok(Door::Nowhere),
        None => Ok(Door::LeadsTo(found)),
        Some(address) => Err(ProbeRefused::Forbidden(format!(
            "`{host}` may not be probed: it leads to {address}, and no network of `probe.allow_targets` has that"
        ))),
    }
}

fn is_allowed(allowed: &AllowHosts, address: IpAddr) -> bool {
    if allowed.has_networks() { allowed.allows_addresses(&[address]) } else { !is_odd(address) }
}

fn is_odd(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let is_local = match address {
        IpAddr::V4(v4) => v4.is_link_local() || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    is_local || address.is_loopback() || address.is_unspecified() || address.is_multicast()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(entries: &[&str], address: &str) -> bool {
        let mut list = AllowHosts::default();
        entries.iter().for_each(|entry| list.add(entry).unwrap());
        is_allowed(&list, address.parse().unwrap())
    }

    #[test]
    fn a_name_leads_into_the_networks_or_at_least_not_home() {
        assert!(allowed(&["*.corp.example"], "10.1.2.3"));
        for odd in
            ["127.0.0.1", "::1", "169.254.169.254", "fe80::1", "0.0.0.0", "::ffff:127.0.0.1", "224.0.0.1"]
        {
            assert!(!allowed(&["*.corp.example"], odd), "{odd}");
        }
        assert!(allowed(&["*", "127.0.0.0/8"], "127.0.0.1"));
        assert!(!allowed(&["*", "127.0.0.0/8"], "10.1.2.3"));
    }

    #[tokio::test]
    async fn localhost_is_refused_by_a_list_of_names() {
        let mut list = AllowHosts::default();
        list.add("*").unwrap();
        let lookups = Lookups::default();
        let refused = door("localhost", &list, &lookups).await.unwrap_err();
        assert!(matches!(refused, ProbeRefused::Forbidden(message) if message.contains("leads to")));
        list.add("127.0.0.0/8").unwrap();
        list.add("::1").unwrap();
        let led = door("localhost", &list, &lookups).await.unwrap();
        assert!(matches!(led, Door::LeadsTo(to) if to.iter().all(IpAddr::is_loopback)));
        assert_eq!(door("10.0.0.1", &list, &lookups).await.unwrap(), Door::Open);
    }
}
