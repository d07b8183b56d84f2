//! Sending one request after the other, each until it is decided.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use support::http_client::{Clock, Connection, Connector, Failure, Trouble, USER_AGENT, header_value};
use support::pause::Backoff;
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::Signal;
use super::counts::{Counts, Loss, SignalCounts};
use super::reply::{Verdict, grpc_verdict, http_verdict};
use super::{OtlpEndpoint, OtlpProtocol};
use crate::push::Compression;

/// The way to one endpoint, for one kind of data.
pub(super) struct Sender {
    pub(super) settings: Arc<OtlpEndpoint>,
    connector: Arc<dyn Connector>,
    clock: Arc<dyn Clock>,
    pub(super) all_counts: Arc<Counts>,
    signal: Signal,
    stop: watch::Receiver<bool>,
    connection: Option<Connection>,
    backoff: Backoff,
    /// What the log said last.
    away: Option<Trouble>,
    /// The logged reason of refused data; `None` after a request was fully accepted.
    refused: Option<Loss>,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    /// It is settled, one way or the other.
    Done,
    TooLarge,
    Stopped,
}

/// Where a [`Sender`] sends, and by what.
pub(super) struct Way {
    pub(super) settings: Arc<OtlpEndpoint>,
    pub(super) connector: Arc<dyn Connector>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) counts: Arc<Counts>,
    pub(super) seed: u64,
}

impl Sender {
    pub(super) fn new(way: Way, signal: Signal, stop: watch::Receiver<bool>) -> Self {
        let Way { settings, connector, clock, counts, seed } = way;
        Self {
            settings,
            connector,
            clock,
            all_counts: counts,
            signal,
            stop,
            connection: None,
            backoff: Backoff::new(seed),
            away: None,
            refused: None,
        }
    }

    /// Whether the process ends.
    pub(super) fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }

    pub(super) fn counts(&self) -> &SignalCounts {
        self.all_counts.of(self.signal)
    }

    /// Sends a request until it is accepted or finally refused.
    pub(super) async fn send(&mut self, items: u64, body: &Bytes) -> Decided {
        loop {
            let is_last = self.is_stopping();
            let (verdict, was_idle) = self.attempt(body).await;
            match verdict {
                Verdict::Accepted { rejected, message } => {
                    let rejected = rejected.min(items);
                    self.here();
                    self.counts().accept(items - rejected);
                    self.lose(rejected, Loss::PartialSuccess, &message);
                    return Decided::Done;
                }
                Verdict::TooLarge => {
                    self.here();
                    return Decided::TooLarge;
                }
                Verdict::Refused { trouble, message } => {
                    self.backoff.reset();
                    self.all_counts.up.store(0, Ordering::Relaxed);
                    self.lose(items, Loss::Refused(trouble), &message);
                    return Decided::Done;
                }
                // The collector closed a connection that nothing went over for a while.
                Verdict::Retry { trouble: Trouble::Unreachable, .. } if was_idle => {}
                Verdict::Retry { after, trouble, message } => {
                    self.counts().fail(trouble);
                    self.away(trouble, &message);
                    if is_last {
                        self.counts().lose(items, Loss::Ended);
                        return Decided::Stopped;
                    }
                    let wait = self.backoff.next(after);
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {}
                        _ = self.stop.wait_for(|stop| *stop) => {}
                    }
                }
            }
        }
    }

    /// One attempt, and whether it went over a connection that was there already.
    async fn attempt(&mut self, body: &Bytes) -> (Verdict, bool) {
        let begun = Instant::now();
        if self.connection.as_ref().is_some_and(Connection::is_closed) {
            self.connection = None;
        }
        let was_idle = self.connection.is_some();
        let timeout = self.settings.timeout;
        let answer = tokio::time::timeout(timeout, self.exchange(body)).await;
        let failure = match answer {
            Ok(Ok(verdict)) => {
                self.counts().request(body.len(), begun.elapsed());
                return (verdict, was_idle);
            }
            Ok(Err(failure)) => failure,
            Err(_) => Failure::new(Trouble::Timeout, format!("no answer within {timeout:?}")),
        };
        self.connection = None;
        let Failure { trouble, message } = failure;
        (Verdict::Retry { after: None, trouble, message }, was_idle)
    }

    async fn exchange(&mut self, body: &Bytes) -> Result<Verdict, Failure> {
        let settings = Arc::clone(&self.settings);
        let request = request(Arc::clone(&settings), self.signal, body.clone()).await?;
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&*self.connector, settings.server()).await?,
        };
        let answer = self.connection.insert(connection).send(request).await?;
        Ok(match settings.protocol {
            OtlpProtocol::Grpc => grpc_verdict(&answer),
            OtlpProtocol::Http => http_verdict(&answer, self.clock.now()),
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.settings.name
    }

    /// Where the collector is.
    pub(super) fn at(&self) -> String {
        let OtlpEndpoint { host, port, .. } = &*self.settings;
        format!("{host}:{port}")
    }

    /// The collector is reachable.
    fn here(&mut self) {
        self.backoff.reset();
        self.all_counts.up.store(1, Ordering::Relaxed);
        if self.away.take().is_some() {
            let (endpoint, at, signal) = (self.name(), self.at(), self.signal.as_str());
            info!(endpoint, at, signal, "Collector accepts data again");
        }
    }

    /// The collector does not, for now.
    fn away(&mut self, trouble: Trouble, message: &str) {
        self.all_counts.up.store(0, Ordering::Relaxed);
        if self.away.replace(trouble) != Some(trouble) {
            let (endpoint, signal, reason) = (self.name(), self.signal.as_str(), trouble.as_str());
            let (at, next_step) = (self.at(), trouble.next_step());
            warn!(
                endpoint,
                at,
                signal,
                reason,
                error = message,
                next_step,
                "Collector accepts no data for now"
            );
        }
    }

    /// Logs each kind of refusal once, as long as it lasts.
    fn lose(&mut self, items: u64, loss: Loss, message: &str) {
        if items == 0 {
            self.refused = None;
            return;
        }
        self.counts().lose(items, loss);
        let is_told = self.refused.replace(loss) == Some(loss);
        let (endpoint, what, reason) = (self.name(), self.signal.items(), loss.as_str());
        if is_told {
            debug!(endpoint, what, count = items, reason, error = message, "Data refused again");
        } else {
            let at = self.at();
            let next_step = match loss {
                Loss::Refused(trouble) => trouble.next_step(),
                _ => "Read the error: the collector says what it does not take.",
            };
            warn!(endpoint, at, what, count = items, reason, error = message, next_step, "Data refused");
        }
    }
}

/// The head of a request. Secrets are read again each time, so that those that were renewed are used.
pub(super) async fn request(
    settings: Arc<OtlpEndpoint>,
    signal: Signal,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, Failure> {
    let made = tokio::task::spawn_blocking(move || {
        let scheme = if settings.secure { "https" } else { "http" };
        let authority = format!("{}:{}", settings.host, settings.port);
        let encoding = match settings.compression {
            Compression::None => None,
            Compression::Gzip => Some("gzip"),
            Compression::Zstd => Some("zstd"),
        };
        let mut head = Request::post("/");
        match settings.protocol {
            OtlpProtocol::Grpc => {
                head = head.uri(format!("{scheme}://{authority}{}", signal.grpc_path()));
                head = head.header("content-type", "application/grpc").header("te", "trailers");
                head = head.header("grpc-timeout", format!("{}m", settings.timeout.as_millis()));
                if let Some(encoding) = encoding {
                    head = head.header("grpc-encoding", encoding);
                }
            }
            OtlpProtocol::Http => {
                head = head.uri(format!("{}{}", settings.path, signal.http_path())).header("host", authority);
                head = head.header("content-type", "application/x-protobuf");
                if let Some(encoding) = encoding {
                    head = head.header("content-encoding", encoding);
                }
            }
        }
        head = head.header("user-agent", USER_AGENT);
        for (name, source) in &settings.headers {
            head = head.header(name, header_value(source)?);
        }
        head.body(Full::new(body)).map_err(|error| Failure::of(Trouble::Unexpected, "make a request", &error))
    });
    made.await.map_err(|error| Failure::new(Trouble::Unexpected, error))?
}
