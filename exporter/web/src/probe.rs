//! `/probe`: the series of one target, asked now or just before.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use exposition::{CodedPage, Coding, Encoder, Format, OwnMetrics, negotiate};
use http_server::Caller;
use http_server::{header, plain};
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Request, Response, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::registry::Registry;
use support::telemetry::{Metric, Writer};

use super::body::{Answer, PageOwner};
use super::metrics::stream;
use super::prober::{ProbeRefused, ProbeRequest, Probed, Prober};
use super::query::Query;
use super::site::Site;
use targets::TargetHealth;

const KNOWN: &[&str] = &["target", "module", "identity", "transport", "debug", "labels"];
const SCRAPE_TIMEOUT: HeaderName = HeaderName::from_static("x-prometheus-scrape-timeout-seconds");
/// `Retry-After` if too many probes are running.
const RETRY: Duration = Duration::from_secs(1);
/// Maximum timeout: a day.
const TIMEOUT_S_MAX: f64 = 86_400.0;

pub(super) async fn probe<B>(
    site: &Arc<Site>,
    prober: &dyn Prober,
    request: &Request<B>,
    caller: &Caller,
) -> Response<Answer> {
    let representation = negotiate(header(request, &ACCEPT).as_deref());
    let Some(coding) = Coding::negotiate(header(request, &ACCEPT_ENCODING).as_deref()) else {
        return plain(StatusCode::NOT_ACCEPTABLE, "pages are sent as they are, in gzip or in zstd\n");
    };
    let asked = match asked(request) {
        Ok(asked) => ProbeRequest { shows_identity: caller.is_authenticated, ..asked },
        Err(message) => return refused(ProbeRefused::Bad(message)),
    };
    let permit = match site.probe_permits.acquire(caller.peer, &site.settings()) {
        Ok(permit) => permit,
        Err(message) => return refused(ProbeRefused::Busy { message, retry_after: RETRY }),
    };
    let mut probed = match prober.probe(asked, caller.peer).await {
        Ok(probed) => probed,
        Err(why) => return refused(why),
    };
    let (snapshots, report) = (std::mem::take(&mut probed.snapshots), probed.report.take());
    let Ok(own) = OwnMetrics::read(&own(probed)) else {
        return plain(StatusCode::INTERNAL_SERVER_ERROR, "the probe's own metrics cannot be written\n");
    };
    if let Some(report) = report {
        let page = exposition::page(Format::Text, snapshots, Some(own));
        let mut response = plain(StatusCode::OK, format!("{report}\nPage\n\n{page}"));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        return response;
    }
    match CodedPage::new(Encoder::new(representation, snapshots, Some(own)), coding) {
        Ok(page) => stream(site, page, Instant::now(), representation, coding, PageOwner::Probe(permit)),
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "there is no memory to compress a page\n"),
    }
}

/// What is asked, or what is wrong with it.
pub(super) fn asked<B>(request: &Request<B>) -> Result<ProbeRequest, String> {
    let query = Query::parse(request.uri().query().unwrap_or_default(), KNOWN)?;
    let mut modules: Vec<String> = Vec::new();
    for name in query.all("module").flat_map(|value| value.split(',')).map(str::trim) {
        if modules.iter().any(|module| module == name) {
            return Err(format!("module `{name}` is given more than once"));
        }
        if !name.is_empty() {
            modules.push(name.to_owned());
        }
    }
    let target = query.one("target")?;
    Ok(ProbeRequest {
        target: target
            .ok_or("`target` is missing; write /probe?target=HOST; /sd lists the configured ones")?
            .to_owned(),
        modules,
        identity: query.one("identity")?.map(str::to_owned),
        transport: query.one("transport")?.map(str::to_owned),
        debug: query.flag("debug")?.unwrap_or(false),
        shows_identity: false,
        labels: query.flag("labels")?.unwrap_or(true),
        timeout: timeout(request)?,
    })
}

fn timeout<B>(request: &Request<B>) -> Result<Option<Duration>, String> {
    let Some(value) = request.headers().get(&SCRAPE_TIMEOUT) else { return Ok(None) };
    let seconds = value.to_str().ok().and_then(|text| text.trim().parse::<f64>().ok());
    match seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0) {
        Some(seconds) => Ok(Some(Duration::from_secs_f64(seconds.min(TIMEOUT_S_MAX)))),
        None => Err("the header X-Prometheus-Scrape-Timeout-Seconds is not a time in seconds".to_owned()),
    }
}

fn refused(why: ProbeRefused) -> Response<Answer> {
    match why {
        ProbeRefused::Bad(message) => plain(StatusCode::BAD_REQUEST, message + "\n"),
        ProbeRefused::Forbidden(message) => plain(StatusCode::FORBIDDEN, message + "\n"),
        ProbeRefused::Busy { message, retry_after } => {
            let mut response = plain(StatusCode::SERVICE_UNAVAILABLE, message + "\n");
            let seconds = HeaderValue::from(retry_after.as_secs().max(1));
            response.headers_mut().insert(RETRY_AFTER, seconds);
            response
        }
    }
}

/// What a probe says of itself.
fn own(probed: Probed) -> Registry {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Own(probed)));
    registry
}

#[derive(Debug)]
struct Own(Probed);

impl Collector for Own {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Self(probed) = self;
        let mut out = Writer(&mut encoder);
        out.row(&SUCCESS, u64::from(probed.is_up()))?;
        let state = probed.state.unwrap_or(TargetHealth::Down);
        let states = [TargetHealth::Down, TargetHealth::Partial, TargetHealth::Up];
        out.rows(&STATE, states.map(|one| ([one.as_str()], u64::from(one == state))))?;
        out.row(&DURATION, probed.duration.as_secs_f64())?;
        out.row(&AGE, probed.age.as_secs_f64())?;
        out.rows(&STAGES, probed.stages.iter().map(|(stage, time)| ([stage.as_str()], time.as_secs_f64())))?;
        let failures = probed.failures.iter();
        out.infos(&FAILURES, failures.map(|(stage, reason)| [stage.as_str(), reason.as_str()]))
    }
}

static SUCCESS: Metric = Metric::gauge(
    "perfmon_probe_success",
    &[],
    "Whether anything was collected: the state is up or partial.",
);
static STATE: Metric = Metric::gauge(
    "perfmon_probe_state",
    &["state"],
    "1 for the state of the target. up: everything was collected; partial: a module failed, covers only a \
     part, or matches nothing; down: nothing was collected.",
);
static DURATION: Metric = Metric::gauge(
    "perfmon_probe_duration_seconds",
    &[],
    "Duration of the collections that returned these series.",
);
static AGE: Metric =
    Metric::gauge("perfmon_probe_age_seconds", &[], "Time since the oldest of these collections ended.");
static STAGES: Metric =
    Metric::gauge("perfmon_probe_stage_seconds", &["stage"], "Duration of each stage of these collections.");
static FAILURES: Metric =
    Metric::info("perfmon_probe_failure", &["stage", "reason"], "What failed, and at which stage.");
