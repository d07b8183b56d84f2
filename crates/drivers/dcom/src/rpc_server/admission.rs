//! What each peer has of the server: connections, and memory for calls that it did not finish.
//!
//! Where there is not enough for all, whoever has the most gives: its newest connection for that of a peer that has fewer, or
//! the one with the most memory. So each peer has a share, whatever the others take.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use crate::rpc_server::Limits;
use crate::rpc_server::counters::Refusal;

/// The connections of a server; clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Admission(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    /// In the order in which they came.
    open: BTreeMap<u64, Open>,
    next: u64,
    /// INVARIANT: the sum of `open`.
    pending_bytes: usize,
}

#[derive(Debug)]
struct Open {
    peer: IpAddr,
    pending_bytes: usize,
    evict: oneshot::Sender<Refusal>,
}

impl Admission {
    /// Admits a connection, which is open until the permit is dropped.
    pub(crate) fn admit(&self, peer: IpAddr, limits: &Limits) -> Result<Permit, Refusal> {
        let mut table = self.table();
        let own = table.open.values().filter(|open| open.peer == peer).count();
        if own >= limits.connections_per_peer_max {
            return Err(Refusal::PeerConnections);
        }
        if table.open.len() >= limits.connections_max {
            let (greedy, most) = table.most(|_| 1).ok_or(Refusal::Connections)?;
            if own + 1 >= most {
                return Err(Refusal::Connections);
            }
            let newest = table.open.iter().rfind(|(_, open)| open.peer == greedy).map(|(&id, _)| id);
            table.evict(newest, Refusal::PeerConnections);
        }
        let id = table.next;
        table.next += 1;
        let (evict, evicted) = oneshot::channel();
        table.open.insert(id, Open { peer, pending_bytes: 0, evict });
        drop(table);
        Ok(Permit { admission: self.clone(), id, evicted })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock()
    }
}

impl Table {
    /// The peer with the most of something, and how much that is.
    fn most(&self, of: impl Fn(&Open) -> usize) -> Option<(IpAddr, usize)> {
        let mut by_peer: HashMap<IpAddr, usize> = HashMap::new();
        for open in self.open.values() {
            *by_peer.entry(open.peer).or_default() += of(open);
        }
        by_peer.into_iter().max_by_key(|(_, amount)| *amount)
    }

    fn evict(&mut self, id: Option<u64>, reason: Refusal) {
        if let Some(open) = id.and_then(|id| self.remove(id)) {
            // One that just ended does not wait for it.
            let _ = open.evict.send(reason);
        }
    }

    fn remove(&mut self, id: u64) -> Option<Open> {
        let open = self.open.remove(&id)?;
        self.pending_bytes -= open.pending_bytes;
        Some(open)
    }
}

#[derive(Debug)]
pub(crate) struct Permit {
    admission: Admission,
    id: u64,
    evicted: oneshot::Receiver<Refusal>,
}

impl Permit {
    /// Changes the memory of the connection.
    ///
    /// # Errors
    /// When there is not enough, and its peer has the most.
    pub(crate) fn set_pending_bytes(&mut self, bytes: usize, limits: &Limits) -> Result<(), Refusal> {
        let mut table = self.admission.table();
        let Some(own) = table.open.get_mut(&self.id) else { return Err(Refusal::PendingBytes) };
        let (peer, before) = (own.peer, std::mem::replace(&mut own.pending_bytes, bytes));
        table.pending_bytes = table.pending_bytes + bytes - before;
        while bytes > before && table.pending_bytes > limits.pending_bytes_max {
            match table.most(|open| open.pending_bytes) {
                Some((greedy, _)) if greedy != peer => {
                    let own = table.open.iter().filter(|(_, open)| open.peer == greedy);
                    let largest = own.max_by_key(|(_, open)| open.pending_bytes).map(|(&id, _)| id);
                    table.evict(largest, Refusal::PendingBytes);
                }
                _ => return Err(Refusal::PendingBytes),
            }
        }
        Ok(())
    }

    /// Waits until the connection is given to others.
    pub(crate) async fn evicted(&mut self) -> Refusal {
        // The other end goes only with an answer, or when this does.
        (&mut self.evicted).await.unwrap_or(Refusal::PeerConnections)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.admission.table().remove(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits {
            connections_max: 40,
            connections_per_peer_max: 30,
            pending_bytes_max: 4000,
            ..Limits::default()
        }
    }

    fn peer(number: u8) -> IpAddr {
        [10, 0, 0, number].into()
    }

    #[test]
    fn however_many_peers_take_all_they_can_the_next_has_its_share() {
        let limits = limits();
        for greedy in [1, 2, 5, 19] {
            let admission = Admission::default();
            let mut permits = Vec::new();
            for number in 0..greedy {
                permits.extend(std::iter::from_fn(|| admission.admit(peer(number), &limits).ok()));
            }
            for bytes in (10..=limits.pending_bytes_max).step_by(10) {
                permits.retain_mut(|permit| permit.set_pending_bytes(bytes, &limits).is_ok());
            }
            let mut next = admission.admit(peer(200), &limits).expect("a connection for one that has none");
            let share = limits.pending_bytes_max / (usize::from(greedy) + 1);
            for bytes in 1..=share {
                next.set_pending_bytes(bytes, &limits).unwrap_or_else(|_| panic!("{greedy} peers took all"));
            }
            let table = admission.table();
            assert!(table.open.len() <= limits.connections_max);
            assert!(table.pending_bytes <= limits.pending_bytes_max);
            let sum: usize = table.open.values().map(|open| open.pending_bytes).sum();
            assert_eq!(sum, table.pending_bytes);
        }
    }

    #[test]
    fn a_connection_that_ends_gives_its_part_back() {
        let (admission, limits) = (Admission::default(), limits());
        let mut first = admission.admit(peer(1), &limits).unwrap();
        let mut second = admission.admit(peer(2), &limits).unwrap();
        first.set_pending_bytes(1900, &limits).unwrap();
        assert_eq!(second.set_pending_bytes(2200, &limits), Err(Refusal::PendingBytes), "it has the most");
        assert_eq!(second.set_pending_bytes(2100, &limits), Ok(()), "less is always allowed");
        drop(first);
        assert_eq!(second.set_pending_bytes(4000, &limits), Ok(()));
    }
}
