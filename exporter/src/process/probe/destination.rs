//! Where a name that was allowed leads to.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

use config::{AllowHosts, address};
use plugin_abi::{DeclaredReason, GeneralReason, Reason};
use tokio::time::Instant;
use transport::resolver::{LookupError, LookupErrorKind};

use crate::process::Lookups;
use web::ProbeRefused;

/// Where a host leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// It is an address itself.
    Address,
    /// To these addresses, and no others.
    Resolved(Vec<IpAddr>),
    /// The name does not resolve, or not in time.
    Unresolved(LookupError),
}

/// Where a host that is not configured may be reached.
///
/// A name that resolves to addresses outside of the networks of `allowed` is refused. Without networks, only
/// loopback, link-local and multicast addresses are refused, because targets do not have such addresses.
pub(super) async fn destination(
    host: &str,
    allowed: &AllowHosts,
    lookups: &Lookups,
    deadline: Instant,
) -> Result<Destination, ProbeRefused> {
    if address(host).is_some() {
        return Ok(Destination::Address);
    }
    let mut found = match lookups.find(host, deadline).await {
        Ok(found) => found,
        Err(error) => return Ok(Destination::Unresolved(error)),
    };
    found.sort_unstable();
    found.dedup();
    match found.iter().find(|address| !is_allowed(allowed, **address)) {
        None => Ok(Destination::Resolved(found)),
        Some(address) => Err(ProbeRefused::Forbidden(format!(
            "`{host}` may not be probed: it resolves to {address}, which is in no network of \
             `probe.allow_targets`"
        ))),
    }
}

/// What it is called when a name does not resolve: as plugins that look names up call it.
pub(super) fn reason_of(kind: LookupErrorKind) -> Reason {
    let general = GeneralReason::ALL.iter().find(|general| general.as_str() == kind.as_str());
    let declared = || DeclaredReason {
        word: kind.as_str().to_owned(),
        sentence: kind.sentence().to_owned(),
        next_step: kind.next_step().to_owned(),
    };
    general.map_or_else(|| Reason::Declared(Arc::new(declared())), |general| Reason::General(*general))
}

fn is_allowed(allowed: &AllowHosts, address: IpAddr) -> bool {
    if allowed.has_networks() {
        allowed.allows_addresses(&[address])
    } else {
        !is_odd(address) && !is_own(address)
    }
}

fn is_odd(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let is_local = match address {
        IpAddr::V4(v4) => v4.is_link_local() || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    is_local || address.is_loopback() || address.is_unspecified() || address.is_multicast()
}

/// Whether it is an address of this machine: then the kernel reaches it from itself. Nothing is sent.
fn is_own(address: IpAddr) -> bool {
    let any: IpAddr = if address.is_ipv4() { [0; 4].into() } else { [0_u16; 8].into() };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0));
    let from = socket.and_then(|socket| {
        socket.connect(SocketAddr::new(address, ANY_PORT))?;
        socket.local_addr()
    });
    from.is_ok_and(|from| from.ip() == address)
}

const ANY_PORT: u16 = 445;

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use test_support::name_server::{NameServer, Reply};
    use transport::resolver::Files;

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

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    /// Look-ups at a machine whose hosts file has `listed` and whose name server is `server`.
    fn lookups_at(server: &NameServer, folder: &Path) -> Lookups {
        let (hosts, resolv_conf) = (folder.join("hosts"), folder.join("resolv.conf"));
        std::fs::write(&hosts, "192.0.2.7 listed\n").unwrap();
        std::fs::write(&resolv_conf, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n").unwrap();
        let files = Files { hosts, resolv_conf, port: server.address().port() };
        Lookups::by(transport::resolver::Resolver::new(files, transport::resolver::Limits::default()))
    }

    #[tokio::test]
    async fn a_name_that_leads_to_an_address_of_this_machine_is_refused() {
        let (server, folder) = (NameServer::start(None).unwrap(), tempfile::tempdir().unwrap());
        let lookups = lookups_at(&server, folder.path());
        let mut list = AllowHosts::default();
        list.add("*").unwrap();
        // The address of this machine on its network, if it has one.
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        let own = socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr());
        let own = own.map_or_else(|_| IpAddr::from([127, 0, 0, 1]), |own| own.ip());
        server.set("home.example", Reply::Addresses(vec![own], 60));
        let refused = destination("home.example", &list, &lookups, later()).await.unwrap_err();
        assert!(matches!(refused, ProbeRefused::Forbidden(message) if message.contains(&own.to_string())));
    }

    #[test]
    fn every_spelling_of_an_address_needs_a_network() {
        let mut list = AllowHosts::default();
        list.add("*").unwrap();
        for spelling in ["127.0.0.1", "127.1", "0x7f.1", "2130706433", "017700000001"] {
            assert!(!list.allows_host(spelling), "{spelling}");
        }
        list.add("127.0.0.0/8").unwrap();
        assert!(list.allows_host("2130706433"));
    }

    #[tokio::test]
    async fn three_hundred_silent_names_do_not_keep_a_host_that_is_well_from_being_probed() {
        let (server, folder) = (NameServer::start(None).unwrap(), tempfile::tempdir().unwrap());
        let lookups = lookups_at(&server, folder.path());
        let mut list = AllowHosts::default();
        list.add("*").unwrap();
        server.set("well.example", Reply::address("192.0.2.8"));
        let silent: Vec<_> = (0..300)
            .map(|number| {
                let (name, list, lookups) =
                    (format!("silent{number}.example"), list.clone(), lookups.clone());
                server.set(&name, Reply::Silence);
                tokio::spawn(async move { destination(&name, &list, &lookups, later()).await })
            })
            .collect();
        while server.asked().is_empty() {
            tokio::task::yield_now().await;
        }
        // Before any of the silent names has had its second.
        let soon = Instant::now() + Duration::from_millis(900);
        for (name, address) in [("listed", "192.0.2.7"), ("well.example", "192.0.2.8")] {
            let led = destination(name, &list, &lookups, soon).await.unwrap();
            assert_eq!(led, Destination::Resolved(vec![address.parse().unwrap()]), "{name}");
        }
        for silent in silent {
            let Ok(Ok(Destination::Unresolved(error))) = silent.await else {
                panic!("a silent name leads nowhere")
            };
            assert_eq!(reason_of(error.kind()).as_str(), "name_lookup_timed_out");
        }
        assert!(matches!(
            destination("nobody.example", &list, &lookups, later()).await,
            Ok(Destination::Unresolved(error)) if reason_of(error.kind()) == GeneralReason::NameNotFound.into()
        ));
    }

    #[tokio::test]
    async fn localhost_is_refused_by_a_list_of_names() {
        let mut list = AllowHosts::default();
        list.add("*").unwrap();
        let lookups = Lookups::default();
        let refused = destination("localhost", &list, &lookups, later()).await.unwrap_err();
        assert!(matches!(refused, ProbeRefused::Forbidden(message) if message.contains("resolves to")));
        list.add("127.0.0.0/8").unwrap();
        list.add("::1").unwrap();
        let led = destination("localhost", &list, &lookups, later()).await.unwrap();
        assert!(matches!(led, Destination::Resolved(to) if to.iter().all(IpAddr::is_loopback)));
        assert_eq!(destination("10.0.0.1", &list, &lookups, later()).await.unwrap(), Destination::Address);
    }
}
