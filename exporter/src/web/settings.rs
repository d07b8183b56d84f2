use config::Web;
use http_server::Limits;

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
