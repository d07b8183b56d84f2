//! How many requests of `/probe` are answered at a time.
//!
//! A probe waits for a host, which may hang for as long as its deadline. So that waiting probes leave connections for
//! everything else, they take three quarters of all connections at most, and three quarters of those of one peer.

use std::collections::HashMap;
use std::sync::Arc;

use http_server::PeerKey;
use parking_lot::Mutex;

use super::settings::SiteSettings;

/// The permits of all probes.
#[derive(Default)]
pub(super) struct ProbePermits(Mutex<HashMap<PeerKey, usize>>);

/// A probe may be answered for as long as this lives.
pub(super) struct ProbePermit {
    permits: Arc<ProbePermits>,
    peer: PeerKey,
}

impl ProbePermits {
    /// A permit for a probe of `peer`.
    ///
    /// # Errors
    /// A sentence where there are too many.
    pub(super) fn acquire(
        self: &Arc<Self>,
        peer: PeerKey,
        settings: &SiteSettings,
    ) -> Result<ProbePermit, String> {
        let mut all = self.0.lock();
        let (total, own) = (all.values().sum::<usize>(), all.get(&peer).copied().unwrap_or(0));
        if own >= settings.probes_per_peer_max {
            return Err(format!(
                "{own} probes of {peer} are running, the limit is three quarters of \
                 `web.max_connections_per_peer`"
            ));
        }
        if total >= settings.probes_max {
            return Err(format!(
                "{total} probes are running, the limit is three quarters of `web.max_connections`"
            ));
        }
        *all.entry(peer).or_default() += 1;
        Ok(ProbePermit { permits: Arc::clone(self), peer })
    }
}

impl Drop for ProbePermit {
    fn drop(&mut self) {
        let mut all = self.permits.0.lock();
        if let Some(own) = all.get_mut(&self.peer) {
            *own -= 1;
            if *own == 0 {
                all.remove(&self.peer);
            }
        }
    }
}
