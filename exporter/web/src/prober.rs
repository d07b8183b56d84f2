use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use config::{ExternalUrl, Target};
use http_server::{PeerKey, Secure, plain, typed};
use hyper::header::{CACHE_CONTROL, HOST, HeaderValue, RETRY_AFTER};
use hyper::{Request, Response, StatusCode};
use serde_json::{Map, Value, json};
use series::model::Snapshot;
use targets::TargetHealth;

use super::body::Answer;

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

/// A name, an address or one in brackets, and a port.
const HOST_BYTES_MAX: usize = 255 + 6;

/// `/sd`: the configured targets for Prometheus' HTTP service discovery, so that this is all that it needs:
///
/// ```yaml
/// http_sd_configs: [{url: http://exporter:9483/sd}]
/// ```
///
/// Each target comes with the address of this exporter, the path and the parameters of its probe, its interval, its
/// name as `target` and as `instance`, and its labels, of which one called `instance` takes the name's place. So dashboards
/// and rules find the label `target` at each series of a host, as on `/metrics`. The probes leave those labels out of the
/// series, since Prometheus adds them.
///
/// The targets, as the exporter is reached from where the request comes from.
pub(super) fn discovery<B>(prober: &dyn Prober, request: &Request<B>) -> Response<Answer> {
    let Some(Discovered { targets, external }) = prober.targets() else {
        // An empty list would be taken for the truth.
        let mut wait = plain(StatusCode::SERVICE_UNAVAILABLE, "the targets are not known yet\n");
        wait.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        return wait;
    };
    let external = match external {
        Some(external) => external,
        None => match host(request) {
            Some(address) => {
                let is_secure = request.extensions().get::<Secure>().is_some();
                ExternalUrl { is_secure, address, ..ExternalUrl::default() }
            }
            None => {
                let message = "the request has no usable Host header; say `external_url` under `web`\n";
                return plain(StatusCode::BAD_REQUEST, message);
            }
        },
    };
    let groups: Vec<Value> = targets.iter().map(|target| group(target, &external)).collect();
    let mut response = typed("application/json", Value::Array(groups).to_string());
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The address that the request names, if that is one.
fn host<B>(request: &Request<B>) -> Option<String> {
    let named = request.headers().get(HOST).and_then(|value| value.to_str().ok());
    let text = named.or_else(|| Some(request.uri().authority()?.as_str()))?;
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    (!text.is_empty() && text.len() <= HOST_BYTES_MAX && text.chars().all(is_good)).then(|| text.to_owned())
}

fn group(target: &Target, external: &ExternalUrl) -> Value {
    let mut labels = Map::new();
    for (name, value) in &target.labels {
        labels.insert(name.clone(), json!(value));
        labels.insert(format!("__meta_perfmon_label_{name}"), json!(value));
    }
    let seconds = |time: std::time::Duration| format!("{}ms", time.as_millis());
    let mut set = |name: &str, value: String| labels.insert(name.to_owned(), Value::String(value));
    set("__scheme__", if external.is_secure { "https" } else { "http" }.to_owned());
    set("__metrics_path__", format!("{}/probe", external.path));
    set("__param_target", target.name.clone());
    set("__param_module", target.modules.join(","));
    set("__param_labels", "false".to_owned());
    set("__scrape_interval__", seconds(target.interval));
    set("__scrape_timeout__", seconds(target.deadline));
    set("__meta_perfmon_host", target.host.clone());
    set("__meta_perfmon_identity", target.identity.clone().unwrap_or_default());
    set("__meta_perfmon_transport", target.transport.clone());
    set("target", target.name.clone());
    // Prometheus would put the address of this exporter in the place of an empty one.
    set("instance", target.instance().to_owned());
    json!({"targets": [external.address], "labels": labels})
}
