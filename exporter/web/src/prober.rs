use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use config::{ExternalUrl, Target};
use http_server::PeerKey;
use series::model::Snapshot;

use targets::TargetHealth;

/// A question of `/probe`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeRequest {
    /// The name or the host of a configured target, or another host.
    pub target: String,
    /// What is asked of it; empty for what the configuration says.
    pub modules: Vec<String>,
    /// As whom, unless as the configuration says.
    pub identity: Option<String>,
    /// How, unless as the configuration says.
    pub transport: Option<String>,
    /// Whether a report for people is wanted.
    pub debug: bool,
    /// Whether the report may show the identity.
    pub shows_identity: bool,
    /// Whether series keep the labels that the configuration gives the target.
    pub labels: bool,
    pub timeout: Option<Duration>,
}

/// What is known of a target.
#[derive(Clone, Debug, Default)]
pub struct Probed {
    pub snapshots: Vec<Arc<Snapshot>>,
    /// Its health; `None` if it was not collected.
    pub state: Option<TargetHealth>,
    /// What each stage took.
    pub stages: Vec<(String, Duration)>,
    /// What failed: stage and reason.
    pub failures: Vec<(String, String)>,
    /// How long the collections took.
    pub duration: Duration,
    /// How long ago the oldest of them ended.
    pub age: Duration,
    /// The report, where it was wanted.
    pub report: Option<String>,
}

impl Probed {
    /// Whether anything was collected.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.state.and_then(TargetHealth::is_up).unwrap_or(false)
    }
}

/// Why a question is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeRefused {
    /// It makes no sense.
    Bad(String),
    /// It is about a host that may not be asked for, or shown that identity.
    Forbidden(String),
    /// There is too much to do.
    Busy {
        /// What there is too much of.
        message: String,
        /// Time until a useful retry.
        retry_after: Duration,
    },
}

/// Probes targets on request.
pub trait Prober: Send + Sync {
    /// Answers a probe of `peer`, at the latest at the requester's timeout.
    fn probe(
        &self,
        request: ProbeRequest,
        peer: PeerKey,
    ) -> Pin<Box<dyn Future<Output = ProbeAnswer> + Send + '_>>;

    /// The configured targets; nothing before they were read.
    fn targets(&self) -> Option<Discovered>;
}

#[derive(Clone, Debug, Default)]
pub struct Discovered {
    pub targets: Vec<Target>,
    /// Where the exporter is reached; as the request says where there is nothing.
    pub external: Option<ExternalUrl>,
}

/// What a question comes to.
pub type ProbeAnswer = Result<Probed, ProbeRefused>;
