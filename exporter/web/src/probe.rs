//! `/probe`: the series of one target, asked now or just before.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use exposition::{CodedPage, Coding, Encoder, Format, OwnMetrics, negotiate};
use http_server::{Caller, header, plain};
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::registry::Registry;
use safe_text::nearest::suggestion;
use support::telemetry::{Metric, Writer};
use targets::TargetHealth;

use super::body::{Answer, PageOwner};
use super::metrics::{Site, stream};
use super::prober::{ProbeRefused, ProbeRequest, Probed, Prober};

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

/// More bytes are no question.
const QUERY_BYTES_MAX: usize = 8 << 10;
/// More pairs are none either.
const PAIRS_MAX: usize = 64;

/// Pairs of names and values, decoded. Each name is one of those that are known.
#[derive(Debug)]
pub(super) struct Query(Vec<(&'static str, String)>);

impl Query {
    /// Reads a query in which only these names may stand; the error says what is wrong with it.
    pub(super) fn parse(query: &str, known: &'static [&'static str]) -> Result<Self, String> {
        if query.len() > QUERY_BYTES_MAX {
            return Err(format!("the query has {} bytes, the limit is {QUERY_BYTES_MAX}", query.len()));
        }
        let mut pairs = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            if pairs.len() == PAIRS_MAX {
                return Err(format!("the query has more than {PAIRS_MAX} parameters"));
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decoded(name)?;
            let Some(name) = known.iter().find(|known| **known == name) else {
                let hint = suggestion(&name, known.iter().copied());
                let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                return Err(format!("there is no parameter `{name}`{hint}"));
            };
            let value = decoded(value)?;
            if value.chars().any(char::is_control) {
                return Err(format!("parameter `{name}` has control characters"));
            }
            pairs.push((*name, value));
        }
        Ok(Self(pairs))
    }

    /// All values of a name.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a name that may stand there once; an empty one is none.
    pub(super) fn one(&self, name: &str) -> Result<Option<&str>, String> {
        let mut all = self.all(name);
        let first = all.next();
        if all.next().is_some() {
            return Err(format!("parameter `{name}` is given more than once"));
        }
        Ok(first.filter(|value| !value.is_empty()))
    }

    /// The value of a name that is yes or no.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, String> {
        match self.one(name)? {
            None => Ok(None),
            Some("true" | "1" | "yes") => Ok(Some(true)),
            Some("false" | "0" | "no") => Ok(Some(false)),
            Some(other) => Err(format!("parameter `{name}` is `{other}`; write `true` or `false`")),
        }
    }
}

/// Percent signs and pluses undone, as forms and Prometheus encode.
fn decoded(text: &str) -> Result<String, String> {
    let is_pair = |rest: &str| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    if !text.split('%').skip(1).all(is_pair) {
        return Err("a `%` in the query is not followed by two hexadecimal digits".to_owned());
    }
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8();
    decoded.map(Cow::into_owned).map_err(|_| "the query is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["target", "module", "debug"];

    #[test]
    fn values_come_out_as_they_went_in() {
        let query = Query::parse("target=a%2Bb+c%C3%A9&module=x&module=y&debug=", KNOWN).unwrap();
        assert_eq!(query.one("target"), Ok(Some("a+b cé")));
        assert_eq!(query.all("module").collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(query.flag("debug"), Ok(None));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let refused = |query: &str| Query::parse(query, KNOWN).map(|_| ()).unwrap_err();
        assert_eq!(refused("tagret=a"), "there is no parameter `tagret`; did you mean `target`?");
        assert!(refused("target=%4").contains("hexadecimal"));
        assert!(refused("target=%+1").contains("hexadecimal"));
        assert!(refused("target=%ff").contains("UTF-8"));
        assert!(refused("target=a%0a").contains("control"));
        assert!(refused(&"a".repeat(9000)).contains("9000 bytes"));
        assert!(refused(&"debug&".repeat(65)).contains("more than 64"));
        let twice = Query::parse("target=a&target=b&debug=maybe", KNOWN).unwrap();
        assert_eq!(twice.one("target").unwrap_err(), "parameter `target` is given more than once");
        assert!(twice.flag("debug").unwrap_err().contains("`maybe`"));
    }
}
