//! Sending what [`encode`](crate::encode) makes to collectors.
//!
//! Each endpoint has two tasks and shares nothing with the others but the rendered labels. The first takes, at each
//! interval, the snapshots that are new and puts them into the endpoint's queue as one *round*. The second takes
//! the oldest round, encodes it request by request against what the collector took last, and sends each request
//! until it is taken or refused for good.
//!
//! What waits is snapshots, not bytes. That is why nothing gets lost that matters while a collector is away:
//!
//! - where the queue is full the oldest waiting round goes, and is counted; whatever in it no later round replaces
//!   moves on to the next. Counters are cumulative, so their growth is in the next round;
//! - a delta, and what vanished, is worked out when a round is sent, against what was taken last. The round that is
//!   being sent stays until it is decided, so that no growth is sent twice or left out;
//! - "too large" means writing the same part of the round again in smaller requests.
//!
//! Log records and spans happen once. They wait as bytes in [`Records`], a queue for each endpoint and kind; where that
//! is full the oldest goes, and is counted. Spans do not go through the OpenTelemetry SDK: it has one resource for all
//! of them where each of ours belongs to a target, drops what its queue has no room for without a count that pages
//! could show, and would bring a second gRPC client beside the one that the endpoint's metrics go through, with its
//! renewed secrets and certificates. What is left of it, the encoding, takes less than the adaptor would.
//!
//! [`Supply`] is where rounds come from, [`support::http_client::Connector`] how collectors are reached, [`Counts`] what
//! `perfmon_exporter_otlp_…` shows. [`Pusher::start`] runs all endpoints of a configuration.

mod counts;
mod endpoint;
mod metrics;
mod own;
#[doc(hidden)]
pub mod parsers;
mod pusher;
mod records;
mod reply;
mod sender;

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flate2::write::GzEncoder;
use parking_lot::Mutex;
use series::model::Snapshot;
use support::http_client::{ClientTls, Clock, HeaderSource, Server};
use support::input::wildcard;

pub use self::counts::{AllCounts, Counts, Loss, SignalCounts};
pub use self::endpoint::Endpoint;
pub use self::metrics::{METRICS, OtlpMetrics};
pub use self::own::{OwnTelemetry, Read};
pub use self::pusher::{Ended, EventRouter, Pusher};
pub use self::records::{About, Records};
pub use self::reply::Verdict;

use crate::encode::{Resource, Scope, Templates, Temporality};
use crate::push::reply::GRPC_HEAD_BYTES;

/// What the endpoints have in common.
#[derive(Clone)]
pub struct Shared {
    /// Where rounds come from.
    pub supply: Arc<dyn Supply>,
    pub clock: Arc<dyn Clock>,
    pub templates: Arc<Mutex<Templates>>,
}

/// Makes the body of a message: compressed and, for gRPC, framed.
fn pack(message: &[u8], protocol: OtlpProtocol, compression: Compression) -> io::Result<Bytes> {
    let head = match protocol {
        OtlpProtocol::Grpc => GRPC_HEAD_BYTES,
        OtlpProtocol::Http => 0,
    };
    let mut body =
        Vec::with_capacity(head + message.len() / if compression == Compression::None { 1 } else { 8 });
    body.resize(head, 0);
    match compression {
        Compression::None => body.extend_from_slice(message),
        Compression::Gzip => {
            let mut encoder = GzEncoder::new(&mut body, flate2::Compression::new(1));
            encoder.write_all(message)?;
            encoder.finish()?;
        }
        Compression::Zstd => {
            let mut encoder = zstd::Encoder::new(&mut body, 1)?;
            encoder.set_pledged_src_size(Some(message.len() as u64))?;
            encoder.write_all(message)?;
            encoder.finish()?;
        }
    }
    if protocol == OtlpProtocol::Grpc {
        let length = u32::try_from(body.len() - head).map_err(io::Error::other)?;
        body[0] = u8::from(compression != Compression::None);
        body[1..GRPC_HEAD_BYTES].copy_from_slice(&length.to_be_bytes());
    }
    Ok(Bytes::from(body))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    Metrics,
    Logs,
    Traces,
}

impl Signal {
    pub const ALL: [Self; 3] = [Self::Metrics, Self::Logs, Self::Traces];

    /// The word for labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Metrics => "metrics",
            Self::Logs => "logs",
            Self::Traces => "traces",
        }
    }

    /// What a request is made of, in words.
    const fn items(self) -> &'static str {
        match self {
            Self::Metrics => "points",
            Self::Logs => "log records",
            Self::Traces => "spans",
        }
    }

    const fn grpc_path(self) -> &'static str {
        match self {
            Self::Metrics => "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
            Self::Logs => "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
            Self::Traces => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        }
    }

    const fn http_path(self) -> &'static str {
        match self {
            Self::Metrics => "/v1/metrics",
            Self::Logs => "/v1/logs",
            Self::Traces => "/v1/traces",
        }
    }
}

/// `otlp[].traces:`, which collections a collector gets as traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traces {
    /// `one_in`: one of so many, drawn before it is known how the collection ends. Default 1: each.
    pub one_in: u32,
    /// `targets`: names, where `*` stands for any characters. Default: all.
    pub targets: Vec<String>,
    /// `failed`: of those that were drawn only the ones that failed, wholly or in part. Default `false`.
    pub failed: bool,
    /// `slower_than`: of those that were drawn only the ones that took longer; together with `failed` either is enough.
    pub slower_than: Option<Duration>,
}

impl Traces {
    /// The share of collections that are drawn.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        1.0 / f64::from(self.one_in.max(1))
    }

    /// Whether collections of a target are wanted.
    #[must_use]
    pub fn wants_target(&self, target: &str) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|pattern| wildcard::matches(pattern, target))
    }

    /// Whether a collection is wanted now that it is known how it ended.
    #[must_use]
    pub fn wants_end(&self, failed: bool, took: Duration) -> bool {
        let is_slow = self.slower_than.is_some_and(|slower_than| took > slower_than);
        (!self.failed && self.slower_than.is_none()) || (self.failed && failed) || is_slow
    }
}

/// One of `otlp:`, a collector that snapshots are pushed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtlpEndpoint {
    /// `name`: unique; the endpoint where it is not given. In logs and metrics.
    pub name: String,
    pub secure: bool,
    /// Of `endpoint`: a name or an address, that of IPv6 in brackets.
    pub host: String,
    /// Of `endpoint`: 4317 for gRPC and 4318 for HTTP where it is not given.
    pub port: u16,
    /// Of `endpoint`: what comes before `/v1/metrics`; for HTTP only.
    pub path: String,
    pub protocol: OtlpProtocol,
    /// `interval`: of the rounds, aligned to the clock. Default 30 s.
    pub interval: Duration,
    /// `timeout`: of one attempt, the connection included. Default 10 s.
    pub timeout: Duration,
    /// `headers`: sent with each request.
    pub headers: Vec<(String, HeaderSource)>,
    pub compression: Compression,
    pub temporality: Temporality,
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
    #[default]
    Grpc,
    /// OTLP/HTTP with protocol buffers.
    Http,
}

/// How requests are compressed, always at the fastest level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    None,
    /// Every collector reads it.
    #[default]
    Gzip,
    Zstd,
}

impl OtlpEndpoint {
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

/// Where rounds come from.
pub trait Supply: Send + Sync + 'static {
    /// What every plugin instance knows now, those of one target side by side. `now_unix_nanos` is the time for
    /// those whose last collection has none.
    fn items(&self, now_unix_nanos: u64) -> Vec<Item>;
}

/// What one plugin instance knows of one target.
#[derive(Clone, Debug)]
pub struct Item {
    /// The instance: the same in each round, and never another's.
    pub key: u64,
    pub resource: Arc<Resource>,
    pub scope: Arc<Scope>,
    pub snapshot: Arc<Snapshot>,
    /// When the collection ended.
    pub time_unix_nanos: u64,
    /// The instance is no longer there; set by the queue.
    pub ends: bool,
}

/// Rounds that wait for a collector, the oldest first.
#[derive(Debug)]
pub struct Queue {
    rounds: VecDeque<Round>,
    points: u64,
    points_max: u64,
    /// What each instance knew in the round that came last.
    last: HashMap<u64, Item>,
}

#[derive(Debug)]
struct Round {
    items: Vec<Item>,
    since_unix_nanos: u64,
}

/// Where so many rounds wait the oldest goes, however few points they have.
const ROUNDS_MAX: usize = 10_000;

impl Queue {
    /// A queue for about so many points.
    #[must_use]
    pub fn new(points_max: u64) -> Self {
        Self { rounds: VecDeque::new(), points: 0, points_max, last: HashMap::new() }
    }

    /// Puts in what is new since the last time. An instance that is no longer among `items` is new, too: it has no
    /// series any more. Answers how many points had to go to make room.
    pub fn push(&mut self, items: Vec<Item>, now_unix_nanos: u64) -> u64 {
        let keys: HashSet<u64> = items.iter().map(|item| item.key).collect();
        let ended = self.last.extract_if(|key, _| !keys.contains(key)).map(|(_, item)| item);
        let mut round: Vec<Item> = ended.filter_map(|item| emptied(item, now_unix_nanos)).collect();
        for item in items {
            let last = self.last.get(&item.key);
            let is_new = match last {
                Some(last) => last.snapshot.id() != item.snapshot.id(),
                None => item.snapshot.points() > 0,
            };
            if is_new {
                self.last.insert(item.key, item.clone());
                round.push(item);
            }
        }
        if !round.is_empty() {
            self.points += points(&round);
            self.rounds.push_back(Round { items: round, since_unix_nanos: now_unix_nanos });
        }
        self.make_room()
    }

    pub fn pop(&mut self) -> Option<Vec<Item>> {
        self.pop_since().map(|(items, _)| items)
    }

    /// The oldest round, and since when it waits in Unix nanoseconds.
    pub fn pop_since(&mut self) -> Option<(Vec<Item>, u64)> {
        let Round { items, since_unix_nanos } = self.rounds.pop_front()?;
        self.points -= points(&items);
        Some((items, since_unix_nanos))
    }

    /// How many rounds wait.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// How many points wait.
    #[must_use]
    pub fn points(&self) -> u64 {
        self.points
    }

    /// Drops the oldest rounds. What a later round does not replace goes into the next one.
    fn make_room(&mut self) -> u64 {
        let mut dropped = 0;
        while self.rounds.len() > 1 && (self.points > self.points_max || self.rounds.len() > ROUNDS_MAX) {
            let Some(oldest) = self.pop() else { break };
            let Some(next) = self.rounds.front_mut() else { break };
            let replaced: HashSet<u64> = next.items.iter().map(|item| item.key).collect();
            let (gone, mut kept): (Vec<Item>, Vec<Item>) =
                oldest.into_iter().partition(|item| replaced.contains(&item.key));
            dropped += points(&gone);
            self.points += points(&kept);
            // Parts of one target stand side by side as well as they can; readers do not rely on it.
            kept.append(&mut next.items);
            next.items = kept;
        }
        dropped
    }
}

/// The instance without its series, unless it had none.
fn emptied(item: Item, now_unix_nanos: u64) -> Option<Item> {
    if item.snapshot.points() == 0 {
        return None;
    }
    let snapshot = Arc::new(Snapshot::empty(Arc::clone(item.snapshot.target())));
    Some(Item { snapshot, time_unix_nanos: now_unix_nanos, ends: true, ..item })
}

fn points(items: &[Item]) -> u64 {
    items.iter().map(|item| item.snapshot.points() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_and_slow_collections_can_be_had_without_the_others() {
        let second = Duration::from_secs(1);
        let all = Traces { one_in: 1, targets: Vec::new(), failed: false, slower_than: None };
        let failed = Traces { failed: true, ..all.clone() };
        let either = Traces { slower_than: Some(second), ..failed.clone() };
        let slow = Traces { failed: false, ..either.clone() };
        let wants = |traces: &Traces| {
            [(false, second), (true, second), (false, second * 2)]
                .map(|(bad, took)| traces.wants_end(bad, took))
        };
        assert_eq!(wants(&all), [true, true, true]);
        assert_eq!(wants(&failed), [false, true, false]);
        assert_eq!(wants(&either), [false, true, true]);
        assert_eq!(wants(&slow), [false, false, true]);
    }
}
