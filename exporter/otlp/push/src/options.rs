//! The options of a collector: its address, its protocol, and the data that it gets.

use std::path::PathBuf;
use std::time::Duration;

use input::secret::SecretSource;
use otlp_encode::Temporality;

use super::traces::Traces;

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
    /// `queue_points`: approximate maximum of queued points. Default 5 000 000.
    pub queue_points: u32,
    /// `request_bytes`: of one request before compression. Default 3 MiB.
    pub request_bytes: u32,
    /// `logs`: whether it gets events as log records. Default `true`.
    pub logs: bool,
    /// `traces`: which collections it gets as traces. Default: none.
    pub traces: Option<Traces>,
    /// `queue_records`: maximum queued log records, and maximum queued spans. Default 10 000.
    pub queue_records: u32,
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
    /// `ca_file`: the CA of the collector's certificate. Default: those of the system.
    pub ca_file: Option<PathBuf>,
    /// `cert_file` and `key_file`: our certificate.
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
