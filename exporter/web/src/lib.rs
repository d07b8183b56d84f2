//! What the web server serves: what the exporter knows, for Prometheus and for people.
//!
//! * `GET /metrics` — every target's series and the exporter's own metrics; text, OpenMetrics or protobuf by Accept.
//! * `GET /probe?target=` — one target's series, and how it fared.
//! * `GET /sd` — the targets for Prometheus, as HTTP service discovery.
//! * `GET /-/healthy` — 200 while the process answers at all.
//! * `GET /-/ready` — 200 once configuration and plugins are loaded, 503 before and while ending.
//! * `GET /` and below — pages for people: `pages/`.
//! * `GET /logs/files/` and below — files of targets, where `storage.downloads` allows it.
//!
//! * `POST /-/reload` — reads the configuration again, where `web.enable_lifecycle` allows it.
//!
//! `HEAD` goes wherever `GET` goes. Everything else is 404, or 405 with `Allow`.
//!
//! A page is encoded while it is sent, so its size costs no memory, and a reader pins one snapshot of each target
//! at most.
//!
//! [`http_server`] accepts, limits and protects; [`Site`] is the app that it serves. Limits of its own: pages at a time
//! (503 with Retry-After, see `page_permits`) and probes at a time (503, see `probe_permits`).

mod body;
mod download;
mod files;
mod metrics;
mod page_permits;
mod page_state;
mod pages;
#[doc(hidden)]
pub mod parsers;
mod probe;
mod prober;
mod reload;
mod routes;
pub mod rpc_state;
mod scrapes;

pub use self::metrics::{Parts, Site};
pub use self::page_state::{Identities, IdentityRow, PageState, TicketRow};
pub use self::prober::{Discovered, ProbeAnswer, ProbeRefused, ProbeRequest, Probed, Prober};
pub use self::scrapes::{METRICS as SCRAPE_METRICS, PageOf, Scrape, ScrapeOutcome, Scrapes};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use config::Web;
use http_server::{Limits, PeerKey};
use parking_lot::Mutex;

/// Reloads the configuration on request.
pub trait Reloader: Send + Sync {
    /// Done when the configuration that was in the file after this was called is in use, or refused.
    fn reload(&self) -> Reloading<'_>;
}

/// What a reload comes to.
pub type Reloading<'a> = Pin<Box<dyn Future<Output = Result<String, NotReloaded>> + Send + 'a>>;

/// Why the configuration is the one that it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReloaded {
    /// The file is not as it should be; the report says where.
    Refused(String),
    /// Too many wait for a reload.
    Busy,
    /// The process begins or ends.
    Unavailable,
}

/// What a reload changes of the site.
#[derive(Clone, Copy, Debug)]
pub struct SiteSettings {
    /// Pages of metrics at a time; more wait, and are then answered 503.
    pub scrapes_max: usize,
    /// Probes that are answered at a time.
    pub probes_max: usize,
    /// Probes of one peer that are answered at a time.
    pub probes_per_peer_max: usize,
    /// Whether pages of metrics show the targets' series.
    pub metrics_targets: bool,
    /// Whether reloads can be requested by HTTP.
    pub lifecycle: bool,
}

impl From<&Web> for SiteSettings {
    fn from(web: &Web) -> Self {
        let limits = Limits::from(web);
        Self {
            scrapes_max: web.max_scrapes as usize,
            probes_max: three_quarters(limits.connections_max),
            probes_per_peer_max: three_quarters(limits.connections_per_peer_max as usize),
            metrics_targets: web.metrics_targets,
            lifecycle: web.enable_lifecycle,
        }
    }
}

/// Probes leave the rest of the connections for everything else.
fn three_quarters(connections: usize) -> usize {
    connections - connections / 4
}

/// The permits of all probes.
#[derive(Default)]
struct ProbePermits(Mutex<HashMap<PeerKey, usize>>);

/// A probe may be answered for as long as this lives.
struct ProbePermit {
    permits: Arc<ProbePermits>,
    peer: PeerKey,
}

impl ProbePermits {
    /// A permit for a probe of `peer`.
    ///
    /// # Errors
    /// A sentence where there are too many.
    fn acquire(self: &Arc<Self>, peer: PeerKey, settings: &SiteSettings) -> Result<ProbePermit, String> {
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
