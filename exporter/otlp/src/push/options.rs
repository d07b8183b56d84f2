//! The options of a collector: its address, its protocol, and the data that it gets.

use std::sync::Arc;
use std::time::Duration;

use crate::encode::Temporality;
use support::http_client::{ClientTls, HeaderSource, Server};

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
    pub tls: ClientTls,
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

impl OtlpEndpoint {
    /// Where requests go.
    #[must_use]
    pub fn server(&self) -> Arc<Server> {
        Arc::new(Server {
            secure: self.secure,
            host: self.host.clone(),
            port: self.port,
            http2: self.protocol == OtlpProtocol::Grpc,
            tls: self.tls.clone(),
        })
    }
}
