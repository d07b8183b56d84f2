use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

/// TLS handshakes of one peer at a time; more wait for each other.
const HANDSHAKES_MAX: usize = 16;

/// Who is connected, so that no peer takes all there is.
#[derive(Default)]
pub(super) struct Peers {
    known: Mutex<HashMap<IpAddr, Known>>,
}

struct Known {
    connections: u32,
    handshakes: Arc<Semaphore>,
    logins: Arc<Semaphore>,
}

/// A peer's connection; it is one less when this goes.
pub(super) struct Seat {
    peers: Arc<Peers>,
    key: IpAddr,
    /// The peer's TLS handshakes.
    pub(super) handshakes: Arc<Semaphore>,
    /// The peer's turn to have a password compared.
    pub(super) logins: Arc<Semaphore>,
}

impl Peers {
    /// Takes a seat for a connection of `peer`, where it has less than `connections_max`.
    pub(super) fn seat(self: &Arc<Self>, peer: IpAddr, connections_max: u32) -> Option<Seat> {
        let key = key(peer);
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.entry(key).or_insert_with(|| Known {
            connections: 0,
            handshakes: Arc::new(Semaphore::new(HANDSHAKES_MAX)),
            logins: Arc::new(Semaphore::new(1)),
        });
        if known.connections >= connections_max {
            return None;
        }
        known.connections += 1;
        let (handshakes, logins) = (Arc::clone(&known.handshakes), Arc::clone(&known.logins));
        Some(Seat { peers: Arc::clone(self), key, handshakes, logins })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut all = self.peers.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get_mut(&self.key) {
            known.connections -= 1;
            if known.connections == 0 {
                all.remove(&self.key);
            }
        }
    }
}

/// What counts as one peer: an address, or the network of 64 bits that a host of IPv6 has to itself.
fn key(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_with_too_many_connections_gets_no_more_and_others_do() {
        let peers = Arc::new(Peers::default());
        let seat = |peer: &str| peers.seat(peer.parse().unwrap(), 2);
        let (first, second) = (seat("192.0.2.1"), seat("::ffff:192.0.2.1"));
        assert!(first.is_some() && second.is_some());
        assert!(seat("192.0.2.1").is_none());
        assert!(seat("192.0.2.2").is_some());
        drop(second);
        assert!(seat("192.0.2.1").is_some());
        let host = [seat("2001:db8::1"), seat("2001:db8::2:0:0:1")];
        assert!(host.iter().all(Option::is_some) && seat("2001:db8::3").is_none());
        assert!(seat("2001:db8:0:1::1").is_some());
        // Who left is forgotten.
        drop((first, host));
        assert!(peers.known.lock().unwrap().is_empty());
    }
}
