//! How many connections there are, in all and of each address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::counters::Refusal;
use crate::limits::Limits;

/// The open connections of a server; clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Admission(Arc<Mutex<HashMap<IpAddr, usize>>>);

impl Admission {
    /// Admits a connection, which is open until the permit is dropped.
    pub(crate) fn admit(&self, peer: IpAddr, limits: &Limits) -> Result<Permit, Refusal> {
        let mut open = self.open();
        if open.values().sum::<usize>() >= limits.connections_max {
            return Err(Refusal::Connections);
        }
        let own = open.get(&peer).copied().unwrap_or_default();
        if own >= limits.connections_per_peer_max {
            return Err(Refusal::PeerConnections);
        }
        open.insert(peer, own + 1);
        drop(open);
        Ok(Permit { admission: self.clone(), peer })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Permit {
    admission: Admission,
    peer: IpAddr,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut open = self.admission.open();
        if let Some(own) = open.get_mut(&self.peer) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.peer);
            }
        }
    }
}
