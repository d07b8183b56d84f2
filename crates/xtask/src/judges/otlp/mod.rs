//! Collectors of others take what the exporter pushes: the OpenTelemetry Collector by every protocol, compression and
//! temporality, and by mutual TLS; and rotel, which passes it on. What they took is compared with the page of the
//! same exporter and, where counters move, with itself, point by point.

mod certificates;
mod collector;
mod compare;
mod moving;
mod points;

use std::net::SocketAddr;
use std::time::Duration;

use self::certificates::Certificates;
use self::collector::{Receiver, Rotel};
use super::scraped::Page;
use super::stage::{self, ACCOUNT, Stage};
use crate::Result;
use crate::http;
use crate::process::{Running, poll};
use crate::report::Outcome;
use crate::workspace::Workspace;

/// A host whose clock stands still, so that its values do, too, and one whose counters move.
const STILL: &str = "still";
const MOVING: &str = "moving";
const STILL_CLOCK: [&str; 2] = ["--clock", "2026-11-01T12:00:00Z"];
const MOVING_CLOCK: [&str; 4] = ["--clock", "2026-11-01T12:00:00Z", "--clock-speed", "7"];
const TIMEOUT: Duration = Duration::from_secs(60);
/// Points of one target in one round; fewer mean that something was left out.
const POINTS_MIN: usize = 500;

/// Receivers of the OpenTelemetry Collector: name, protocol, whether by mutual TLS, and what else the exporter is told.
const RECEIVERS: [(&str, &str, bool, &str); 8] = [
    ("grpc-gzip", "grpc", false, ", compression: gzip"),
    ("grpc-zstd-delta", "grpc", false, ", compression: zstd, temporality: delta"),
    // So small that a round takes many requests.
    ("grpc-many", "grpc", false, ", compression: none, request_bytes: 8192"),
    ("http-gzip-delta", "http", false, ", compression: gzip, temporality: delta"),
    ("http-zstd", "http", false, ", compression: zstd"),
    ("http-none", "http", false, ", compression: none"),
    ("grpc-mutual-tls", "grpc", true, ""),
    ("http-mutual-tls", "http", true, ""),
];
/// Endpoints to the one but last receiver that get nowhere.
const WITHOUT_CERTIFICATE: &str = "without-certificate";
const ASTRAY: &str = "astray";
/// Receivers that rotel passes on to.
const BEHIND_ROTEL: [(&str, &str); 2] = [("from-rotel-grpc", "grpc"), ("from-rotel-http", "http")];

/// The OpenTelemetry Collector.
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
    let (mut exporter, address) = stage.exporter_with(&configuration(&stage, &hosts, &endpoints)?)?;
    let told = |problem: Box<dyn std::error::Error>, exporter: &mut Running| {
        exporter.complaint(&problem.to_string())
    };

    let compared = compare::all(&receivers, address, still).map_err(|error| told(error, &mut exporter))?;
    // Whom we do not trust we tell so; who does not trust us ends a connection that we have already.
    for (name, reasons) in [(ASTRAY, &["tls"][..]), (WITHOUT_CERTIFICATE, &["tls", "unreachable"])] {
        gets_nothing_through(address, name, reasons).map_err(|error| told(error, &mut exporter))?;
    }
    moving::wait_for_rounds(&receivers)?;
    collector.end()?;
    is_away(address)?;
    collector = collector::start(&stage, &receivers, &certificates)?;
    moving::wait_for_rounds(&receivers).map_err(|error| told(error, &mut exporter))?;
    let grown = moving::growth_is_whole(&receivers)?;
    moving_host.end()?;
    let vanished = moving::vanishes(&receivers).map_err(|error| told(error, &mut exporter))?;
    nothing_is_lost(address)?;
    exporter.end()?;
    collector.end()?;
    Ok(Outcome::Ran(format!(
        "{compared} values as on the page, {grown} deltas as counters grew, across a collector's restart, too, \
         {vanished} points end when their host does; mutual TLS holds"
    )))
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
    let (exporter, address) = stage.exporter_with(&configuration(&stage, &hosts, &endpoints)?)?;
    let compared =
        compare::all(&receivers, address, still).map_err(|error| rotels[0].complaint(&error.to_string()))?;
    nothing_is_lost(address)?;
    exporter.end()?;
    Ok(Outcome::Ran(format!("{compared} values as on the page, by gRPC and HTTP")))
}

/// An exporter of these hosts, with labels for their resources.
fn configuration(stage: &Stage<'_>, hosts: &[(&str, SocketAddr)], endpoints: &str) -> Result<String> {
    let password_file = stage.password_file()?.display().to_string();
    let (domain, user) = ACCOUNT.split_once('\\').unwrap_or(("", ACCOUNT));
    let countersets: Vec<String> =
        stage::COUNTERSETS.iter().map(|name| format!("{{name: {name}}}")).collect();
    let (mut transports, mut targets) = (String::new(), String::new());
    for (name, address) in hosts {
        let (host, port) = (address.ip(), address.port());
        transports += &format!("  {name}: {{smb: {{port: {port}}}}}\n");
        targets += &format!(
            "  - {{name: {name}, host: {host}, identity: sim, transport: {name}, modules: [all], interval: 1s, \
             labels: {{env: prod, \"site\": \"a \\\"b\\\"\"}}}}\n"
        );
    }
    Ok(format!(
        "web: {{listen: ['127.0.0.1:0']}}\nplugins: {{load: [pcq]}}\n\
         modules:\n  all: {{plugin: pcq, countersets: [{}]}}\n\
         identities:\n  sim: {{kind: ntlm, domain: {domain}, username: {user}, password_file: {password_file}, \
         allow_hosts: [127.0.0.0/8]}}\n\
         transports:\n{transports}targets:\n{targets}otlp:\n{endpoints}",
        countersets.join(", ")
    ))
}

/// Waits until the exporter counts a failure of an endpoint, and checks that nothing got through.
fn gets_nothing_through(exporter: SocketAddr, endpoint: &str, reasons: &[&str]) -> Result<()> {
    let (found, accepted) = poll(&format!("{endpoint} is refused"), TIMEOUT, || {
        let page = Page::read(&http::get(exporter, "/metrics", "text/plain")?.body)?;
        let of_endpoint = || page.samples.iter().filter(|sample| sample.label("endpoint") == endpoint);
        let failures = of_endpoint().filter(|sample| sample.name == "perfmon_exporter_otlp_failures_total");
        let found: Vec<String> = failures.map(|sample| sample.label("reason").to_owned()).collect();
        let accepted =
            of_endpoint().filter(|sample| sample.name == "perfmon_exporter_otlp_points_accepted_total");
        let accepted: f64 = accepted.map(|sample| sample.value).sum();
        Ok((!found.is_empty()).then_some((found, accepted)))
    })?;
    if found.iter().all(|reason| reasons.contains(&reason.as_str())) && accepted == 0.0 {
        Ok(())
    } else {
        let (wanted, found) = (reasons.join(" or "), found.join(", "));
        Err(format!("{endpoint} is to fail by {wanted} and get nothing through; it fails by {found}").into())
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
    let lost: Vec<&str> =
        page.lines().filter(|line| line.starts_with("perfmon_exporter_otlp_points_lost_total{")).collect();
    if lost.is_empty() { Ok(()) } else { Err(format!("points were lost: {}", lost.join(", ")).into()) }
}
