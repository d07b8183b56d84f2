use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::traffic::{Activity, Traffic};

/// TLS handshakes of one peer at a time; more wait for each other.
const HANDSHAKES_MAX: usize = 16;

/// What counts as one peer: an address, or the network of 64 bits that a host of IPv6 has to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeerKey(IpAddr);

impl PeerKey {
    /// The peer that has this address.
    #[must_use]
    pub fn of(peer: IpAddr) -> Self {
        Self(match peer.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
            v4 => v4,
        })
    }
}

impl fmt::Display for PeerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => write!(f, "{address}"),
            IpAddr::V6(network) => write!(f, "{network}/64"),
        }
    }
}

/// Idle connections of one peer that end at a time to make room for its new ones.
const CLOSING_MAX: usize = 32;

/// Who is connected, so that no peer takes all there is.
#[derive(Default)]
pub(crate) struct PeerLimits {
    known: Mutex<HashMap<PeerKey, PeerState>>,
    next_id: AtomicU64,
}

struct PeerState {
    connections: HashMap<u64, Arc<Traffic>>,
    /// Idle connections that were asked to end for a new one.
    closing: usize,
    handshakes: Arc<Semaphore>,
}

/// A peer's connection; it is one less when this goes.
pub(crate) struct PeerPermit {
    peers: Arc<PeerLimits>,
    pub(crate) key: PeerKey,
    id: u64,
    /// The peer's TLS handshakes.
    pub(crate) handshakes: Arc<Semaphore>,
}

impl PeerLimits {
    /// Admits a connection of `peer`, where it has less than `connections_max`, or has one that is idle: that
    /// one is asked to end.
    pub(crate) fn admit(
        self: &Arc<Self>,
        peer: IpAddr,
        traffic: &Arc<Traffic>,
        connections_max: u32,
    ) -> Option<PeerPermit> {
        let key = PeerKey::of(peer);
        let mut all = self.known.lock();
        let known = all.entry(key).or_insert_with(|| PeerState {
            connections: HashMap::new(),
            closing: 0,
            handshakes: Arc::new(Semaphore::new(HANDSHAKES_MAX)),
        });
        if known.connections.len() >= connections_max as usize && !known.close_idle() {
            return None;
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        known.connections.insert(id, Arc::clone(traffic));
        let handshakes = Arc::clone(&known.handshakes);
        Some(PeerPermit { peers: Arc::clone(self), key, id, handshakes })
    }
}

impl PeerState {
    /// Asks the connection to end that is idle for longest. Returns false where there is none, or too many are ending.
    fn close_idle(&mut self) -> bool {
        if self.closing >= CLOSING_MAX {
            return false;
        }
        let idle = self.connections.iter().filter_map(|(id, traffic)| match traffic.activity() {
            Activity::IdleSince(since) => Some((since, *id)),
            Activity::New | Activity::Busy => None,
        });
        let longest = idle.min().and_then(|(_, id)| self.connections.remove(&id));
        if let Some(traffic) = &longest {
            traffic.close.notify_one();
            self.closing += 1;
        }
        longest.is_some()
    }
}

impl Drop for PeerPermit {
    fn drop(&mut self) {
        let mut all = self.peers.known.lock();
        if let Some(known) = all.get_mut(&self.key) {
            if known.connections.remove(&self.id).is_none() {
                known.closing -= 1;
            }
            if known.connections.is_empty() && known.closing == 0 {
                all.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_with_too_many_connections_gets_no_more_and_others_do() {
        let peers = Arc::new(PeerLimits::default());
        let seat = |peer: &str| peers.admit(peer.parse().unwrap(), &Traffic::new(), 2);
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
        assert!(peers.known.lock().is_empty());
    }

    #[tokio::test]
    async fn an_idle_connection_makes_room_for_a_new_one_of_its_peer() {
        let peers = Arc::new(PeerLimits::default());
        let (idle, busy, new) = (Traffic::new(), Traffic::new(), Traffic::new());
        drop(idle.begin());
        let _answer = busy.begin();
        let seat = |traffic: &Arc<Traffic>| peers.admit("192.0.2.1".parse().unwrap(), traffic, 2);
        let seats = (seat(&idle), seat(&busy));
        let third = seat(&new);
        assert!(third.is_some());
        idle.close.notified().await;
        // Neither a connection with a request nor one that is new is ended.
        assert!(seat(&Traffic::new()).is_none());
        drop((seats, third));
        assert!(peers.known.lock().is_empty());
    }
}
