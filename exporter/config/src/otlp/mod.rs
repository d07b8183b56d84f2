//! `otlp:` and `telemetry:`, where figures are pushed to.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use otlp::encode::Temporality;
use otlp::push::{Compression, OtlpEndpoint, OtlpProtocol, Traces};

use super::item::Item;
use super::node::Position;
use super::outgoing::{headers, tls};
use super::section::Section;
use super::shown::unique;
use crate::shown::without_secrets;

/// Reads `otlp:`, a list.
pub(super) fn endpoints(item: Option<Item<'_>>, base: &Path) -> Vec<Arc<OtlpEndpoint>> {
    let mut endpoints: Vec<Arc<OtlpEndpoint>> = Vec::new();
    let mut positions: Vec<Position> = Vec::new();
    for item in item.map(|item| item.list()).unwrap_or_default() {
        let Some(mut endpoint) = endpoint(&item, base) else { continue };
        if endpoints.iter().all(|other| other.path != endpoint.path) {
            endpoint.name = unique(endpoint.name, |name| endpoints.iter().any(|other| other.name == name));
        }
        if let Some(first) = endpoints.iter().position(|first| first.name == endpoint.name) {
            let message =
                format!("endpoint `{}` is already defined, on line {}", endpoint.name, positions[first].line);
            item.problem(message, Some("give one of them another `name`".to_owned()));
        }
        positions.push(item.position());
        endpoints.push(Arc::new(endpoint));
    }
    endpoints
}

fn endpoint(item: &Item<'_>, base: &Path) -> Option<OtlpEndpoint> {
    let mut section = item.section(&["targets", "proxy"])?;
    let protocol = section.choice("protocol", PROTOCOLS).unwrap_or_default();
    let hint = "write it like `https://collector.example.com:4317`";
    let plain = plain_endpoint(&mut section, protocol, hint, base);
    let name = section.text("name");
    let compression = section.choice("compression", COMPRESSIONS);
    let temporality = section.choice("temporality", TEMPORALITIES);
    let queue_points = section.count("queue_points", 1_000..=1_000_000_000);
    let request_bytes = section.count("request_bytes", REQUEST_BYTES);
    let logs = section.flag("logs");
    let traces = section.get("traces").and_then(|item| traces(&item));
    let queue_records = section.count("queue_records", 1..=1_000_000);
    section.finish();
    let plain = plain?;
    Some(OtlpEndpoint {
        name: name.unwrap_or(plain.name),
        compression: compression.unwrap_or(plain.compression),
        temporality: temporality.unwrap_or(plain.temporality),
        queue_points: queue_points.unwrap_or(plain.queue_points),
        request_bytes: request_bytes.unwrap_or(plain.request_bytes),
        logs: logs.unwrap_or(plain.logs),
        traces,
        queue_records: queue_records.unwrap_or(plain.queue_records),
        ..plain
    })
}

/// Reads `telemetry:`, where the exporter's own figures go: by HTTP, since they are few.
pub(super) fn telemetry(item: &Item<'_>, base: &Path) -> Option<Arc<OtlpEndpoint>> {
    let mut section = item.section(&["protocol", "traces", "logs"])?;
    let hint = "write it like `http://collector.example.com:4318`";
    let plain = plain_endpoint(&mut section, OtlpProtocol::Http, hint, base);
    section.finish();
    Some(Arc::new(OtlpEndpoint {
        compression: Compression::None,
        queue_points: 0,
        request_bytes: 0,
        logs: false,
        queue_records: 0,
        ..plain?
    }))
}

/// Reads what both have: where an endpoint is, and how it is reached. All else has its default.
fn plain_endpoint(
    section: &mut Section<'_>,
    protocol: OtlpProtocol,
    hint: &str,
    base: &Path,
) -> Option<OtlpEndpoint> {
    let address = section.require("endpoint", hint).and_then(|item| Address::read(&item, protocol));
    let interval = section.duration("interval", INTERVALS);
    let timeout = section.duration("timeout", TIMEOUTS);
    let headers = section.get("headers").map(|item| headers(&item, base)).unwrap_or_default();
    let tls_item = section.get("tls");
    let tls = tls_item.as_ref().map(|item| tls(item, base)).unwrap_or_default();
    let Address { shown, secure, host, port, path } = address?;
    if let Some(item) = tls_item.filter(|_| !secure) {
        item.problem("is for `https` endpoints", Some(format!("write `https://{host}:{port}`")));
    }
    Some(OtlpEndpoint {
        name: shown,
        secure,
        host,
        port,
        path,
        protocol,
        interval: interval.unwrap_or(Duration::from_secs(30)),
        timeout: timeout.unwrap_or(Duration::from_secs(10)),
        headers,
        compression: Compression::default(),
        temporality: Temporality::Cumulative,
        tls,
        queue_points: 5_000_000,
        request_bytes: 3 << 20,
        logs: true,
        traces: None,
        queue_records: 10_000,
    })
}

const PROTOCOLS: &[(&str, OtlpProtocol)] = &[("grpc", OtlpProtocol::Grpc), ("http", OtlpProtocol::Http)];
const COMPRESSIONS: &[(&str, Compression)] =
    &[("gzip", Compression::Gzip), ("zstd", Compression::Zstd), ("none", Compression::None)];
const TEMPORALITIES: &[(&str, Temporality)] =
    &[("cumulative", Temporality::Cumulative), ("delta", Temporality::Delta)];
const INTERVALS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 3600);
const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(300);
const REQUEST_BYTES: RangeInclusive<u32> = 4_096..=64 << 20;

pub(super) fn traces(item: &Item<'_>) -> Option<Traces> {
    let mut section = item.section(&["ratio", "attributes"])?;
    let one_in = section.count("one_in", 1..=1_000_000);
    let targets = section.get("targets").map(|item| item.texts()).unwrap_or_default();
    let failed = section.flag("failed");
    let slower_than = section.duration("slower_than", SLOWER_THAN);
    section.finish();
    Some(Traces { one_in: one_in.unwrap_or(1), targets, failed: failed.unwrap_or(false), slower_than })
}

const SLOWER_THAN: std::ops::RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(3600);

struct Address {
    /// As it is written, but for a path.
    shown: String,
    secure: bool,
    host: String,
    port: u16,
    path: String,
}

impl Address {
    fn read(item: &Item<'_>, protocol: OtlpProtocol) -> Option<Self> {
        let text = item.text()?;
        let wrong = |message: &str| {
            // The text itself is not shown: it may hold a password.
            item.problem(message, Some("write it like `https://collector.example.com:4317`".to_owned()));
            None
        };
        let Ok(uri) = text.parse::<Uri>() else { return wrong("is no URL") };
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return wrong("is no `http://` or `https://` URL"),
        };
        let Some(authority) = uri.authority() else { return wrong("has no host") };
        if authority.as_str().contains('@') {
            let hint = "put it into a file and name that in `headers: {authorization: {file: …}}`".to_owned();
            item.problem("a secret must not be in the configuration", Some(hint));
            return None;
        }
        if uri.query().is_some() {
            return wrong("has a `?` part, which OTLP does not use");
        }
        let path = uri.path().trim_end_matches('/');
        if protocol == OtlpProtocol::Grpc && !path.is_empty() {
            return wrong("has a path, which gRPC does not use");
        }
        let default_port = match protocol {
            OtlpProtocol::Grpc => 4317,
            OtlpProtocol::Http => 4318,
        };
        Some(Self {
            shown: without_secrets(text),
            secure,
            host: authority.host().to_owned(),
            port: authority.port_u16().unwrap_or(default_port),
            path: path.strip_suffix("/v1/metrics").unwrap_or(path).to_owned(),
        })
    }
}
