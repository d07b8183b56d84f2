use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};
use tracing::debug;

use super::Answers;
use crate::resolver::LookupError;
use crate::resolver::flights::{Flight, Flights, Outcome};
use crate::resolver::servers::Servers;
use crate::resolver::system::{Current, Files, System};

/// Limits of a [`Resolver`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Look-ups in flight. Each takes up to eight descriptors when the name server is silent.
    pub in_flight_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { in_flight_max: 256 }
    }
}

/// Finds addresses of names. Clones share everything.
#[derive(Clone)]
pub struct Resolver(Arc<Shared>);

struct Shared {
    system: System,
    answers: Answers,
    flights: Flights,
}

impl Default for Resolver {
    fn default() -> Self {
        Self::new(Files::default(), Limits::default())
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver").finish_non_exhaustive()
    }
}

impl Resolver {
    /// A resolver of these `files`, which are read with the first look-up.
    #[must_use]
    pub fn new(files: Files, limits: Limits) -> Self {
        let (system, flights) = (System::new(files), Flights::new(limits.in_flight_max));
        Self(Arc::new(Shared { system, answers: Answers::default(), flights }))
    }

    /// The addresses of `host`, best first; never empty. Call it on a tokio runtime with I/O and time enabled.
    ///
    /// # Errors
    /// When there are none, or they were not found by `deadline`.
    pub async fn lookup(&self, host: &str, deadline: Instant) -> Result<Vec<IpAddr>, LookupError> {
        if let Some(address) = literal(host) {
            return Ok(vec![address]);
        }
        let now = Instant::now();
        let Current { hosts, servers, servers_changed } = self.0.system.current(now);
        if servers_changed {
            self.0.answers.expire(now);
        }
        let name = host.to_lowercase();
        let listed = hosts.as_ref().and_then(|hosts| hosts.find(name.strip_suffix('.').unwrap_or(&name)));
        if let Some(listed) = listed {
            return Ok(sorted(listed.to_vec()));
        }
        if let Some(fresh) = self.0.answers.fresh(&name, now) {
            return Ok(fresh);
        }
        let Some(servers) = servers else {
            return Err(LookupError::ServerFailed(
                "the name servers of this machine are not known".to_owned(),
            ));
        };
        let last_good = self.0.answers.last_good(&name, now);
        let asking = self.ask(&name, servers, last_good.clone());
        let asked = timeout_at(deadline, asking).await;
        match (asked.unwrap_or(Err(LookupError::TimedOut)), last_good) {
            (Err(LookupError::TimedOut | LookupError::ServerFailed(_)), Some(last_good)) => {
                debug!(%name, addresses = ?last_good, "No answer from name servers, using the last good addresses");
                Ok(last_good)
            }
            (outcome, _) => outcome,
        }
    }

    async fn ask(
        &self,
        name: &str,
        servers: Arc<Servers>,
        last_good: Option<Vec<IpAddr>>,
    ) -> Result<Vec<IpAddr>, LookupError> {
        let lookup = || {
            let (shared, servers, name) = (Arc::clone(&self.0), Arc::clone(&servers), name.to_owned());
            async move { shared.ask(&name, &servers).await }
        };
        let flight = self.0.flights.enter(name, lookup).await;
        let outcome = match last_good {
            None => flight.ended().await,
            Some(last_good) => match timeout(PATIENCE, flight.ended()).await {
                Ok(outcome) => outcome,
                Err(_late) => {
                    keep_going(flight);
                    return Ok(last_good);
                }
            },
        };
        outcome.map(|found| found.addresses)
    }
}

impl Shared {
    async fn ask(&self, name: &str, servers: &Servers) -> Outcome {
        let outcome = servers.lookup(name).await;
        match outcome {
            Ok(mut found) => {
                found.addresses = sorted(found.addresses);
                debug!(%name, addresses = ?found.addresses, "Name resolved");
                self.answers.keep(name, &found.addresses, found.time_to_live, Instant::now());
                Ok(found)
            }
            Err(error) => {
                debug!(%name, %error, "Name not resolved");
                if let LookupError::NotFound(_) = error {
                    self.answers.forget(name);
                }
                Err(error)
            }
        }
    }
}

/// Lets a look-up finish although no caller waits for it, so that the next caller finds its answer.
fn keep_going(flight: Arc<Flight>) {
    tokio::spawn(async move { flight.ended().await.map(drop) });
}

fn sorted(mut addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    sort_addresses(&mut addresses);
    addresses
}

/// After this time without an answer the last good addresses are used, as RFC 8767 describes.
const PATIENCE: Duration = Duration::from_secs(1);

/// Sorts addresses by RFC 6724, best first: reachable ones before others, then by the precedence of their networks.
/// Equal ones keep their order.
fn sort_addresses(addresses: &mut [IpAddr]) {
    addresses.sort_by_cached_key(|address| (!has_route(*address), precedence(*address)));
}

/// Whether the kernel has a route to the address. Nothing is sent.
fn has_route(address: IpAddr) -> bool {
    let any: IpAddr = if address.is_ipv4() { [0; 4].into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0));
    socket.and_then(|socket| socket.connect(SocketAddr::new(address, ANY_PORT))).is_ok()
}

/// The policy table of RFC 6724, 2.1, inverted: less is better.
fn precedence(address: IpAddr) -> u8 {
    let IpAddr::V6(address) = address else {
        return 65; /* 100 - 35 */
    };
    let segments = address.segments();
    let precedence = match segments[0] {
        _ if address.is_loopback() => 50,
        _ if address.to_ipv4_mapped().is_some() => 35,
        0x2002 => 30,
        0x2001 if segments[1] == 0 => 5,
        0xfc00..=0xfdff => 3,
        0xfec0..=0xfeff | 0x3ffe => 1,
        _ => 40,
    };
    100 - precedence
}

const ANY_PORT: u16 = 445;

/// The address, if `host` is one and not a name.
///
/// Besides the usual spellings it accepts IPv4 addresses like the C library (`inet_aton`): one to four numbers,
/// decimal, octal or hexadecimal; the last one fills the remaining bytes. So `127.1`, `0x7f.1` and `2130706433` are
/// 127.0.0.1, and no form of an address is taken for a name.
#[must_use]
pub fn literal(host: &str) -> Option<IpAddr> {
    host.parse().ok().or_else(|| ipv4(host).map(IpAddr::V4))
}

fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let numbers: Vec<u32> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, octets) = numbers.split_last()?;
    if octets.len() > 3 || octets.iter().any(|octet| *octet > 0xff) {
        return None;
    }
    let bits_left = 32 - 8 * u32::try_from(octets.len()).ok()?;
    if u64::from(*last) >= 1 << bits_left {
        return None;
    }
    let first = octets.iter().fold(0_u64, |address, octet| (address << 8) | u64::from(*octet));
    u32::try_from((first << bits_left) | u64::from(*last)).ok().map(Ipv4Addr::from)
}

fn number(text: &str) -> Option<u32> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        None => (text, 10),
    };
    // `from_str_radix` accepts a sign, which is not valid here.
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    is_number.then(|| u32::from_str_radix(digits, radix).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_that_there_is_comes_before_precedence() {
        let mut addresses: Vec<IpAddr> =
            ["192.0.2.1", "127.0.0.1", "::1"].map(|text| text.parse().unwrap()).to_vec();
        sort_addresses(&mut addresses);
        let loopback_v6 = has_route(Ipv6Addr::LOCALHOST.into());
        let first: IpAddr = if loopback_v6 { Ipv6Addr::LOCALHOST.into() } else { [127, 0, 0, 1].into() };
        assert_eq!(addresses[0], first);
    }

    #[test]
    fn native_ipv6_comes_before_ipv4_and_tunnels_behind_it() {
        let sorted = ["2001:db8::1", "192.0.2.1", "2002::1", "2001::1", "fd00::1"];
        let precedences = sorted.map(|text| precedence(text.parse().unwrap()));
        assert!(precedences.is_sorted_by(|before, after| before < after), "{precedences:?}");
    }

    #[test]
    fn every_spelling_of_an_address_is_the_address() {
        for odd in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "0x7f.1",
            "0X7F000001",
            "2130706433",
            "0177.0.0.01",
            "017700000001",
        ] {
            assert_eq!(literal(odd), Some(IpAddr::V4(Ipv4Addr::LOCALHOST)), "{odd}");
        }
        assert_eq!(literal("255.255.255.255"), Some("255.255.255.255".parse().unwrap()));
        assert_eq!(literal("4294967295"), Some("255.255.255.255".parse().unwrap()));
        assert_eq!(literal("10.65535"), Some("10.0.255.255".parse().unwrap()));
        assert_eq!(literal("::ffff:127.0.0.1"), Some("::ffff:127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn names_are_no_addresses() {
        for name in [
            "web1",
            "1.2.3.4.5",
            "256.1.1.1",
            "1.16777216",
            "4294967296",
            "",
            ".",
            "1.",
            ".1",
            "0x",
            "0x.1",
            "08",
            "+1",
            "1.-1",
            "face",
        ] {
            assert_eq!(literal(name), None, "{name}");
        }
    }
}
