//! Collectors of others take what the exporter pushes: the OpenTelemetry Collector by every protocol, compression and
//! temporality, and by mutual TLS; and rotel, which passes it on. What they took is compared with the page of the
//! same exporter and, where counters move, with itself, point by point; log records and spans with what the plugin said
//! whose events and stages they are.

mod bell;
mod collector;
mod compare;
mod histograms;
mod moving;
mod points;
mod traces;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::Value;

pub(crate) use self::histograms::run as histograms;

use self::collector::{Receiver, Rotel};
use crate::process::{Running, poll};
use crate::scraped::{Labels, Page};
use crate::stage::{self, ACCOUNT, Stage};
use crate::workspace::Workspace;
use crate::{Outcome, Result, http};

/// A host whose clock stands still, so that its values do, too, and one whose counters move.
const STILL: &str = "still";
const MOVING: &str = "moving";
const STILL_CLOCK: [&str; 2] = ["--clock", "2026-11-01T12:00:00Z"];
const MOVING_CLOCK: [&str; 4] = ["--clock", "2026-11-01T12:00:00Z", "--clock-speed", "7"];
const TIMEOUT: Duration = Duration::from_secs(60);
/// Points of one target in one round; fewer mean that something was left out.
const POINTS_MIN: usize = 500;

/// Receivers of the OpenTelemetry Collector: name, protocol, whether by mutual TLS, and more settings of the exporter.
const RECEIVERS: [(&str, &str, bool, &str); 8] = [
    ("grpc-gzip", "grpc", false, ", compression: gzip, traces: {one_in: 1}"),
    ("grpc-zstd-delta", "grpc", false, ", compression: zstd, temporality: delta"),
    // So small that a round takes many requests.
    ("grpc-many", "grpc", false, ", compression: none, request_bytes: 8192"),
    ("http-gzip-delta", "http", false, ", compression: gzip, temporality: delta"),
    ("http-zstd", "http", false, ", compression: zstd, traces: {one_in: 1}"),
    ("http-none", "http", false, ", compression: none, traces: {failed: true, targets: ['tow*']}"),
    ("grpc-mutual-tls", "grpc", true, ""),
    ("http-mutual-tls", "http", true, ""),
];
/// Those that get each collection as a trace, and the one that gets those of the bell that failed.
const TRACED: [&str; 2] = ["grpc-gzip", "http-zstd"];
const TRACED_WHERE_FAILED: &str = "http-none";
/// Endpoints to the one but last receiver that get nowhere.
const WITHOUT_CERTIFICATE: &str = "without-certificate";
const ASTRAY: &str = "astray";
/// Receivers that rotel passes on to.
const BEHIND_ROTEL: [(&str, &str); 2] = [("from-rotel-grpc", "grpc"), ("from-rotel-http", "http")];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let certificates = Certificates::new(&stage)?;
    let receiver = |&(name, protocol, tls, _): &(_, _, _, _)| Receiver::new(&stage, name, protocol, tls);
    let receivers = RECEIVERS.iter().map(receiver).collect::<Result<Vec<_>>>()?;
    let mut collector = collector::start(&stage, &receivers, &certificates)?;
    let mut endpoints = String::new();
    for (receiver, (_, _, tls, more)) in receivers.iter().zip(RECEIVERS) {
        let tls = if tls { certificates.of_client() } else { String::new() };
        endpoints += &receiver.endpoint(&format!("{more}{tls}"));
    }
    let secured = &receivers[6];
    endpoints += &secured.endpoint_named(WITHOUT_CERTIFICATE, &certificates.of_client_without());
    endpoints += &secured.endpoint_named(ASTRAY, &certificates.of_client_astray());

    let (_still, still) = stage.simulator(&STILL_CLOCK)?;
    let (moving_host, moving) = stage.simulator(&MOVING_CLOCK)?;
    let hosts = [(STILL, still), (MOVING, moving)];
    let bell = bell::install(&stage)?;
    let began_unix_ns = bell::now_unix_ns()?;
    let configuration = configuration(&stage, &hosts, Some(&bell), &endpoints)?;
    let (mut exporter, address) = stage.exporter_with(&configuration)?;
    let with_output = |problem: Box<dyn std::error::Error>, exporter: &mut Running| {
        exporter.complaint(&problem.to_string())
    };

    let compared =
        compare::all(&receivers, address, still).map_err(|error| with_output(error, &mut exporter))?;
    for name in [ASTRAY, WITHOUT_CERTIFICATE] {
        gets_nothing_through(address, name, "tls").map_err(|error| with_output(error, &mut exporter))?;
    }
    let rung = bell::rings(&receivers, began_unix_ns).map_err(|error| with_output(error, &mut exporter))?;
    moving::wait_for_rounds(&receivers)?;
    collector.end()?;
    is_away(address)?;
    collector = collector::start(&stage, &receivers, &certificates)?;
    moving::wait_for_rounds(&receivers).map_err(|error| with_output(error, &mut exporter))?;
    let grown = moving::growth_is_whole(&receivers)?;
    moving_host.end()?;
    let vanished = moving::vanishes(&receivers).map_err(|error| with_output(error, &mut exporter))?;
    nothing_is_lost(address)?;
    exporter.end()?;
    collector.end()?;
    bell::none_is_lost(&receivers, rung)?;
    let traced = traced(&receivers, began_unix_ns)?;
    Ok(Outcome::Ran(format!(
        "{compared} values as on the page, {grown} deltas as counters grew, across a collector's restart, too, \
         {vanished} points end when their host does; {rung} log records and {traced} traces as the plugin meant \
         them; mutual TLS holds"
    )))
}

/// Looks at what came as traces; answers how many.
fn traced(receivers: &[Receiver], began_unix_ns: u64) -> Result<usize> {
    let mut whole = 0;
    for receiver in receivers {
        let name = receiver.name();
        if TRACED.contains(&name) {
            whole +=
                traces::are_whole(receiver, began_unix_ns).map_err(|error| format!("{name}: {error}"))?;
        } else if name == TRACED_WHERE_FAILED {
            traces::are_failed_rings(receiver, began_unix_ns).map_err(|error| format!("{name}: {error}"))?;
        } else if !receiver.spans()?.is_empty() {
            return Err(format!("{name}: spans, which it was not to get").into());
        }
    }
    Ok(whole)
}

/// rotel, in front of the OpenTelemetry Collector.
pub(crate) fn by_rotel(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let certificates = Certificates::new(&stage)?;
    let receiver = |(name, protocol)| Receiver::new(&stage, name, protocol, false);
    let receivers = BEHIND_ROTEL.into_iter().map(receiver).collect::<Result<Vec<_>>>()?;
    let _collector = collector::start(&stage, &receivers, &certificates)?;
    let mut rotels = Vec::new();
    for (to, (_, protocol)) in receivers.iter().zip(BEHIND_ROTEL) {
        rotels.push(Rotel::start(&stage, protocol, to)?);
    }
    let endpoints: String = rotels.iter().map(Rotel::endpoint).collect();
    let (_still, still) = stage.simulator(&STILL_CLOCK)?;
    let (_moving, moving) = stage.simulator(&MOVING_CLOCK)?;
    let hosts = [(STILL, still), (MOVING, moving)];
    let (exporter, address) = stage.exporter_with(&configuration(&stage, &hosts, None, &endpoints)?)?;
    let compared =
        compare::all(&receivers, address, still).map_err(|error| rotels[0].complaint(&error.to_string()))?;
    nothing_is_lost(address)?;
    exporter.end()?;
    Ok(Outcome::Ran(format!("{compared} values as on the page, by gRPC and HTTP")))
}

/// An exporter of these hosts, and of the bell where there is a folder with it, with labels for their resources.
fn configuration(
    stage: &Stage<'_>,
    hosts: &[(&str, SocketAddr)],
    bell: Option<&Path>,
    endpoints: &str,
) -> Result<String> {
    let password_file = stage.password_file()?.display().to_string();
    let (domain, user) = ACCOUNT.split_once('\\').unwrap_or(("", ACCOUNT));
    let countersets: Vec<String> =
        stage::COUNTERSETS.iter().map(|name| format!("{{name: {name}}}")).collect();
    let (mut transports, mut targets) = (String::new(), String::new());
    let labels = "interval: 1s, labels: {env: prod, \"site\": \"a \\\"b\\\"\"}";
    for (name, address) in hosts {
        let (host, port) = (address.ip(), address.port());
        transports += &format!("  {name}: {{smb: {{port: {port}}}}}\n");
        targets += &format!(
            "  - {{name: {name}, host: {host}, identity: sim, transport: {name}, modules: [all], {labels}}}\n"
        );
    }
    let mut plugins = "plugins: {load: [pcq]}\nmodules:\n".to_owned();
    if let Some(folder) = bell {
        let folder = folder.display();
        plugins = format!(
            "plugins: {{path: '{folder}', load: [pcq, bell]}}\nmodules:\n  rings: {{plugin: bell}}\n"
        );
        targets +=
            &format!("  - {{name: {}, host: {}, modules: [rings], {labels}}}\n", bell::TARGET, bell::HOST);
    }
    Ok(format!(
        "web: {{listen: ['127.0.0.1:0']}}\n{plugins}  all: {{plugin: pcq, countersets: [{}]}}\n\
         identities:\n  sim: {{kind: ntlm, domain: {domain}, username: {user}, password_file: {password_file}, \
         allow_hosts: [127.0.0.0/8]}}\n\
         transports:\n{transports}targets:\n{targets}otlp:\n{endpoints}",
        countersets.join(", ")
    ))
}

/// Waits until the exporter counts a failure of an endpoint, and checks that nothing got through.
fn gets_nothing_through(exporter: SocketAddr, endpoint: &str, reason: &str) -> Result<()> {
    let (found, accepted) = poll(&format!("{endpoint} is refused"), TIMEOUT, || {
        let page = Page::read(&http::get(exporter, "/metrics", "text/plain")?.body)?;
        let of_endpoint = || page.samples.iter().filter(|sample| sample.label("endpoint") == endpoint);
        let failures = of_endpoint()
            .filter(|sample| sample.name == "perfmon_exporter_otlp_failures_total" && sample.value > 0.0);
        let found: Vec<String> = failures.map(|sample| sample.label("reason").to_owned()).collect();
        let accepted =
            of_endpoint().filter(|sample| sample.name == "perfmon_exporter_otlp_points_accepted_total");
        let accepted: f64 = accepted.map(|sample| sample.value).sum();
        Ok((!found.is_empty()).then_some((found, accepted)))
    })?;
    if found.iter().all(|found| found == reason) && accepted == 0.0 {
        Ok(())
    } else {
        let found = found.join(", ");
        Err(format!("{endpoint} is to fail by {reason} and get nothing through; it fails by {found}").into())
    }
}

/// Waits until the exporter has noticed that the collector is gone.
fn is_away(exporter: SocketAddr) -> Result<()> {
    let down: Vec<String> = RECEIVERS
        .iter()
        .map(|(name, ..)| format!("perfmon_exporter_otlp_up{{endpoint=\"{name}\"}} 0"))
        .collect();
    poll("the exporter misses the collector", TIMEOUT, || {
        let page = http::get(exporter, "/metrics", "text/plain")?.body;
        Ok(down.iter().all(|wanted| page.lines().any(|line| line == wanted)).then_some(()))
    })
}

fn nothing_is_lost(exporter: SocketAddr) -> Result<()> {
    let page = http::get(exporter, "/metrics", "text/plain")?.body;
    let is_loss = |line: &&str| {
        line.starts_with("perfmon_exporter_otlp_") && line.contains("_lost_total{") && !line.ends_with(" 0")
    };
    let lost: Vec<&str> = page.lines().filter(is_loss).collect();
    if lost.is_empty() { Ok(()) } else { Err(format!("something was lost: {}", lost.join(", ")).into()) }
}

#[derive(Clone, Debug, PartialEq)]
struct Owner {
    resource: Labels,
    scope: String,
}

impl Owner {
    fn target(&self) -> &str {
        self.resource.get("service.instance.id").map_or("", String::as_str)
    }
}

/// Unix nanoseconds; 0 is "unknown". JSON has integers of 64 bits as text.
fn nanoseconds(value: &Value) -> Result<u64> {
    match value.as_str() {
        Some(text) => Ok(text.parse()?),
        None => Ok(0),
    }
}

/// Attributes: texts and integers.
fn labels(attributes: &Value) -> Labels {
    let value = |value: &Value| {
        value["intValue"].as_str().map_or_else(|| text_of(&value["stringValue"]), str::to_owned)
    };
    list(attributes).map(|pair| (text_of(&pair["key"]), value(&pair["value"]))).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Files of an authority, a collector and a client with certificates of it, and an unrelated authority.
struct Certificates {
    authority: PathBuf,
    collector: (PathBuf, PathBuf),
    client: (PathBuf, PathBuf),
    stranger: PathBuf,
}

impl Certificates {
    fn new(stage: &Stage<'_>) -> Result<Self> {
        let (authority, stranger) = (issuer()?, issuer()?);
        let signed = |name: &str, subject: &str| -> Result<(PathBuf, PathBuf)> {
            let key = KeyPair::generate()?;
            let certificate =
                CertificateParams::new(vec![subject.to_owned()])?.signed_by(&key, &authority)?;
            Ok((
                write(stage, &format!("{name}.pem"), &certificate.pem())?,
                write(stage, &format!("{name}.key"), &key.serialize_pem())?,
            ))
        };
        Ok(Self {
            collector: signed("collector", "127.0.0.1")?,
            client: signed("client", "perfmon-exporter")?,
            authority: write(stage, "authority.pem", &authority.pem())?,
            stranger: write(stage, "stranger.pem", &stranger.pem())?,
        })
    }

    /// For a receiver of the collector: it shows a certificate and asks for one.
    fn of_collector(&self) -> String {
        let (certificate, key) = (self.collector.0.display(), self.collector.1.display());
        let authority = self.authority.display();
        format!(", tls: {{cert_file: '{certificate}', key_file: '{key}', client_ca_file: '{authority}'}}")
    }

    /// For an endpoint of the exporter: it trusts the authority and has a certificate of it.
    fn of_client(&self) -> String {
        let (certificate, key) = (self.client.0.display(), self.client.1.display());
        format!(
            ", tls: {{ca_file: '{}', cert_file: '{certificate}', key_file: '{key}'}}",
            self.authority.display()
        )
    }

    /// The same without a certificate to show.
    fn of_client_without(&self) -> String {
        format!(", tls: {{ca_file: '{}'}}", self.authority.display())
    }

    /// The same, but it trusts the unrelated authority.
    fn of_client_astray(&self) -> String {
        self.of_client().replace(&self.authority.display().to_string(), &self.stranger.display().to_string())
    }
}

fn issuer() -> Result<CertifiedIssuer<'static, KeyPair>> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    Ok(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?)
}

fn write(stage: &Stage<'_>, name: &str, text: &str) -> Result<PathBuf> {
    let path = stage.path(name);
    fs::write(&path, text)?;
    Ok(path)
}

// Log records and spans, as a collector wrote them down.

#[derive(Clone, Debug, PartialEq)]
struct Event {
    owner: Owner,
    name: String,
    /// `SeverityNumber`, and the word beside it.
    severity: (u64, String),
    body: String,
    attributes: Labels,
    /// Unix nanoseconds; 0 is "unknown".
    time: u64,
    /// In nanoseconds since 1970.
    observed: u64,
}

impl Event {
    fn read(owner: &Owner, record: &Value) -> Result<Self> {
        let body = record["body"]["stringValue"].as_str();
        Ok(Self {
            owner: owner.clone(),
            name: text_of(&record["eventName"]),
            severity: (number(&record["severityNumber"]), text_of(&record["severityText"])),
            body: body.ok_or_else(|| format!("a body that is no text: {record}"))?.to_owned(),
            attributes: labels(&record["attributes"]),
            time: nanoseconds(&record["timeUnixNano"])?,
            observed: nanoseconds(&record["observedTimeUnixNano"])?,
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Span {
    owner: Owner,
    /// In hexadecimal digits, as the other two.
    trace: String,
    id: String,
    /// Empty for the collection itself.
    parent: String,
    name: String,
    /// What documents call `SpanKind`.
    kind: u64,
    attributes: Labels,
    /// In nanoseconds since 1970.
    start: u64,
    /// In nanoseconds since 1970.
    end: u64,
    /// `StatusCode` and the message.
    status: (u64, String),
}

impl Span {
    fn read(owner: &Owner, span: &Value) -> Result<Self> {
        let status = &span["status"];
        Ok(Self {
            owner: owner.clone(),
            trace: text_of(&span["traceId"]),
            id: text_of(&span["spanId"]),
            parent: text_of(&span["parentSpanId"]),
            name: text_of(&span["name"]),
            kind: number(&span["kind"]),
            attributes: labels(&span["attributes"]),
            start: nanoseconds(&span["startTimeUnixNano"])?,
            end: nanoseconds(&span["endTimeUnixNano"])?,
            status: (number(&status["code"]), text_of(&status["message"])),
        })
    }

    fn is_root(&self) -> bool {
        self.parent.is_empty()
    }

    fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

/// An enumeration's number; the first one is left out.
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}
