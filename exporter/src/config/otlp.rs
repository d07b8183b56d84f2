use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use hyper::header::{HeaderName, HeaderValue};

use super::section::{Item, Section};
use super::traces::Traces;
use super::tree::{Position, Value};
use super::types::SecretSource;
use crate::otlp::encode::Temporality;

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

/// Where a header's value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderSource {
    /// It is no secret.
    Plain(String),
    /// It is one: `{file: …}` or `{env: …}`, with `prefix` before it.
    Secret {
        /// `prefix`: `Bearer `, say.
        prefix: String,
        /// The rest.
        source: SecretSource,
    },
}

/// `otlp[].tls:`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtlpTls {
    /// `ca_file`: who signs the collector's certificate. Default: whom the system trusts.
    pub ca_file: Option<PathBuf>,
    /// `cert_file` and `key_file`: who we are.
    pub client: Option<ClientCertificate>,
}

/// A certificate with its key, in PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// `cert_file`
    pub cert_file: PathBuf,
    /// `key_file`
    pub key_file: PathBuf,
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
    let hint = "write it like `https://collector.example.com:4317`";
    let address = section.require("endpoint", hint);
    let protocol = section.get("protocol").and_then(|item| item.word(PROTOCOLS)).unwrap_or_default();
    let address = address.and_then(|item| Address::read(&item, protocol));
    let name = section.get("name").and_then(|item| item.text()).map(str::to_owned);
    let interval = section.get("interval").and_then(|item| item.duration(INTERVALS));
    let timeout = section.get("timeout").and_then(|item| item.duration(TIMEOUTS));
    let headers = section.get("headers").map(|item| headers(&item, base)).unwrap_or_default();
    let compression = section.get("compression").and_then(|item| item.word(COMPRESSIONS)).unwrap_or_default();
    let temporality =
        section.get("temporality").and_then(|item| item.word(TEMPORALITIES)).unwrap_or_default();
    let tls_item = section.get("tls");
    let tls = tls_item.as_ref().map(|item| tls(item, base)).unwrap_or_default();
    let queue_points = section.get("queue_points").and_then(|item| item.count(1_000..=1_000_000_000));
    let request_bytes = section.get("request_bytes").and_then(|item| item.count(REQUEST_BYTES));
    let logs = section.get("logs").and_then(|item| item.flag());
    let traces = section.get("traces").and_then(|item| Traces::read(&item));
    let queue_records = section.get("queue_records").and_then(|item| item.count(1..=1_000_000));
    let position = section.position;
    section.finish();
    let Address { shown, secure, host, port, path } = address?;
    if let Some(item) = tls_item.filter(|_| !secure) {
        item.problem("is for `https` endpoints", Some(format!("write `https://{host}:{port}`")));
    }
    Some(OtlpEndpoint {
        name: name.unwrap_or(shown),
        secure,
        host,
        port,
        path,
        protocol,
        interval: interval.unwrap_or(Duration::from_secs(30)),
        timeout: timeout.unwrap_or(Duration::from_secs(10)),
        headers,
        compression,
        temporality,
        tls,
        queue_points: queue_points.unwrap_or(5_000_000),
        request_bytes: request_bytes.unwrap_or(3 << 20),
        logs: logs.unwrap_or(true),
        traces,
        queue_records: queue_records.unwrap_or(10_000),
        position,
    })
}

/// Reads `telemetry:`, where the exporter's own figures go: by HTTP, since they are few.
pub(super) fn telemetry(item: &Item<'_>, base: &Path) -> Option<Arc<OtlpEndpoint>> {
    let mut section = item.section(&["protocol", "traces", "logs"])?;
    let address = section.require("endpoint", "write it like `http://collector.example.com:4318`");
    let address = address.and_then(|item| Address::read(&item, OtlpProtocol::Http));
    let interval = section.get("interval").and_then(|item| item.duration(INTERVALS));
    let timeout = section.get("timeout").and_then(|item| item.duration(TIMEOUTS));
    let headers = section.get("headers").map(|item| headers(&item, base)).unwrap_or_default();
    let tls = section.get("tls").map(|item| tls(&item, base)).unwrap_or_default();
    let position = section.position;
    section.finish();
    let Address { shown, secure, host, port, path } = address?;
    Some(Arc::new(OtlpEndpoint {
        name: shown,
        secure,
        host,
        port,
        path,
        protocol: OtlpProtocol::Http,
        interval: interval.unwrap_or(Duration::from_secs(30)),
        timeout: timeout.unwrap_or(Duration::from_secs(10)),
        headers,
        compression: Compression::None,
        temporality: Temporality::Cumulative,
        tls,
        queue_points: 0,
        request_bytes: 0,
        logs: false,
        traces: None,
        queue_records: 0,
        position,
    }))
}

/// `endpoint`, taken apart.
struct Address {
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
            item.problem("a secret may not stand in the configuration", Some(hint));
            return None;
        }
        if uri.query().is_some() {
            return wrong("has a `?` part, which OTLP has no use for");
        }
        let path = uri.path().trim_end_matches('/');
        if protocol == OtlpProtocol::Grpc && !path.is_empty() {
            return wrong("has a path, which gRPC has no use for");
        }
        let default_port = match protocol {
            OtlpProtocol::Grpc => 4317,
            OtlpProtocol::Http => 4318,
        };
        Some(Self {
            shown: text.to_owned(),
            secure,
            host: authority.host().to_owned(),
            port: authority.port_u16().unwrap_or(default_port),
            path: path.strip_suffix("/v1/metrics").unwrap_or(path).to_owned(),
        })
    }
}

fn headers(item: &Item<'_>, base: &Path) -> Vec<(String, HeaderSource)> {
    let mut headers = Vec::new();
    for (entry, value) in item.named() {
        let name = entry.key.to_ascii_lowercase();
        if HeaderName::from_bytes(name.as_bytes()).is_err() || RESERVED.contains(&name.as_str()) {
            item.problem_at(entry.position, format!("`{name}` is no header that can be set"), None);
            continue;
        }
        let source = match value.node.value {
            Value::Map(_) => value.section(&[]).and_then(|section| secret(section, base)),
            _ => plain(&value, &name),
        };
        headers.extend(source.map(|source| (name, source)));
    }
    headers
}

fn plain(value: &Item<'_>, name: &str) -> Option<HeaderSource> {
    if ["auth", "token", "key", "secret", "cookie"].iter().any(|word| name.contains(word)) {
        let hint =
            "write `{file: /run/secrets/…}` or `{env: …}`; `prefix: 'Bearer '` goes before it".to_owned();
        value.problem("a secret may not stand in the configuration", Some(hint));
        return None;
    }
    let text = value.text_or_empty()?;
    if HeaderValue::from_str(text).is_err() {
        value.problem("is no header's value", None);
        return None;
    }
    Some(HeaderSource::Plain(text.to_owned()))
}

fn secret(mut section: Section<'_>, base: &Path) -> Option<HeaderSource> {
    let prefix = section.get("prefix").and_then(|item| item.text_or_empty()).unwrap_or_default().to_owned();
    let file = section.get("file").and_then(|item| path(&item, base)).map(SecretSource::File);
    let env =
        section.get("env").and_then(|item| item.text().map(str::to_owned)).map(SecretSource::Environment);
    if file.is_some() == env.is_some() {
        let hint = Some("name the file or the variable that holds the value".to_owned());
        section.problems.push_hint(
            section.position,
            &section.path,
            "needs `file` or `env`, one of them",
            hint,
        );
    }
    section.finish();
    file.or(env).map(|source| HeaderSource::Secret { prefix, source })
}

fn tls(item: &Item<'_>, base: &Path) -> OtlpTls {
    let Some(mut section) = item.section(&["server_name", "insecure_skip_verify"]) else {
        return OtlpTls::default();
    };
    let ca_file = section.get("ca_file").and_then(|item| path(&item, base));
    let cert_file = section.get("cert_file").and_then(|item| path(&item, base));
    let key_file = section.get("key_file").and_then(|item| path(&item, base));
    if cert_file.is_some() != key_file.is_some() {
        item.problem("`cert_file` and `key_file` need each other", None);
    }
    section.finish();
    let client =
        cert_file.zip(key_file).map(|(cert_file, key_file)| ClientCertificate { cert_file, key_file });
    OtlpTls { ca_file, client }
}

fn path(item: &Item<'_>, base: &Path) -> Option<PathBuf> {
    item.text().map(|text| base.join(text))
}

const PROTOCOLS: &[(&str, OtlpProtocol)] = &[("grpc", OtlpProtocol::Grpc), ("http", OtlpProtocol::Http)];
const COMPRESSIONS: &[(&str, Compression)] =
    &[("gzip", Compression::Gzip), ("zstd", Compression::Zstd), ("none", Compression::None)];
const TEMPORALITIES: &[(&str, Temporality)] =
    &[("cumulative", Temporality::Cumulative), ("delta", Temporality::Delta)];
const INTERVALS: std::ops::RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 3600);
const TIMEOUTS: std::ops::RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(300);
const REQUEST_BYTES: std::ops::RangeInclusive<u32> = 4_096..=64 << 20;
/// Headers that the protocol sets.
const RESERVED: &[&str] = &[
    "host",
    "content-type",
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "te",
    "connection",
    "grpc-encoding",
    "grpc-timeout",
    "user-agent",
];
