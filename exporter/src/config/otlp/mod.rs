//! `otlp:` and `telemetry:`, where figures are pushed to.

mod address;
mod headers;
mod tls;

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use self::address::Address;
use self::headers::headers;
use self::tls::tls;
use super::item::Item;
use super::section::Section;
use super::traces::Traces;
use super::tree::Position;
use crate::otlp::encode::Temporality;

pub use self::headers::HeaderSource;
pub use self::tls::{ClientCertificate, OtlpTls};

/// One of `otlp:`, a collector that snapshots are pushed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtlpEndpoint {
    /// `name`: unique; the endpoint where it is not given. In logs and metrics.
    pub name: String,
    /// Of `endpoint`: `https`.
    pub secure: bool,
    /// Of `endpoint`: a name or an address, that of IPv6 in brackets.
    pub host: String,
    /// Of `endpoint`: 4317 for gRPC and 4318 for HTTP where it is not given.
    pub port: u16,
    /// Of `endpoint`: what stands before `/v1/metrics`; for HTTP only.
    pub path: String,
    /// `protocol`: default `grpc`.
    pub protocol: OtlpProtocol,
    /// `interval`: of the rounds, aligned to the clock. Default 30 s.
    pub interval: Duration,
    /// `timeout`: of one attempt, the connection included. Default 10 s.
    pub timeout: Duration,
    /// `headers`: sent with each request.
    pub headers: Vec<(String, HeaderSource)>,
    /// `compression`: default `gzip`.
    pub compression: Compression,
    /// `temporality`: default `cumulative`.
    pub temporality: Temporality,
    /// `tls`
    pub tls: OtlpTls,
    /// `queue_points`: about so many points wait for a collector that is away. Default 5 000 000.
    pub queue_points: u32,
    /// `request_bytes`: of one request before compression. Default 3 MiB.
    pub request_bytes: u32,
    /// `logs`: whether it gets events as log records. Default `true`.
    pub logs: bool,
    /// `traces`: which collections it gets as traces. Default: none.
    pub traces: Option<Traces>,
    /// `queue_records`: so many log records, and so many spans, wait for it while it is away. Default 10 000.
    pub queue_records: u32,
    /// Where the file has it.
    pub position: Position,
}

impl OtlpEndpoint {
    /// Whether both push the same way to the same place, wherever they stand.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        Self { position: other.position, ..self.clone() } == *other
    }
}

/// How a collector is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OtlpProtocol {
    /// OTLP/gRPC.
    #[default]
    Grpc,
    /// OTLP/HTTP with protocol buffers.
    Http,
}

/// How requests are compressed, always at the fastest level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// Every collector reads it.
    #[default]
    Gzip,
    /// Smaller and faster.
    Zstd,
}

/// Reads `otlp:`, a list.
pub(super) fn endpoints(item: Option<Item<'_>>, base: &Path) -> Vec<Arc<OtlpEndpoint>> {
    let mut endpoints: Vec<Arc<OtlpEndpoint>> = Vec::new();
    for item in item.map(|item| item.list()).unwrap_or_default() {
        let Some(endpoint) = endpoint(&item, base) else { continue };
        if let Some(first) = endpoints.iter().find(|first| first.name == endpoint.name) {
            let message =
                format!("endpoint `{}` is there already, on line {}", first.name, first.position.line);
            item.problem(message, Some("give one of them another `name`".to_owned()));
        }
        endpoints.push(Arc::new(endpoint));
    }
    endpoints
}

fn endpoint(item: &Item<'_>, base: &Path) -> Option<OtlpEndpoint> {
    let mut section = item.section(&["targets", "proxy"])?;
    let protocol = section.word("protocol", PROTOCOLS).unwrap_or_default();
    let hint = "write it like `https://collector.example.com:4317`";
    let plain = plain_endpoint(&mut section, protocol, hint, base);
    let name = section.text("name");
    let compression = section.word("compression", COMPRESSIONS);
    let temporality = section.word("temporality", TEMPORALITIES);
    let queue_points = section.count("queue_points", 1_000..=1_000_000_000);
    let request_bytes = section.count("request_bytes", REQUEST_BYTES);
    let logs = section.flag("logs");
    let traces = section.get("traces").and_then(|item| Traces::read(&item));
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
        position: section.position,
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
