//! Alerts of invented targets, and a receiver that answers as it is told, in memory.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use alerts::{Connect, Feed, Notifier, Origin, ReceiverKind, ReceiverOptions, Registry, UrlSource};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use plugin_abi::{Alert, AlertState, Event, Level, NoRoom};
use serde_json::Value;
use support::http_client::{ClientTls, Clock, Connecting, Connector, Failure, HttpUrl, Stream, Trouble};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The time that is this many seconds after the beginning of a test.
pub(crate) fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000 + seconds)
}

/// The same by a clock that nobody sets.
pub(crate) fn steady(seconds: u64) -> std::time::Instant {
    static BEGIN: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
    *BEGIN + Duration::from_secs(seconds)
}

pub(crate) fn feed(registry: &Arc<Registry>, target: &str) -> Feed {
    let origin =
        Origin { target: target.into(), module: "os".into(), plugin: "pla".into(), labels: Vec::new() };
    registry.feed(origin)
}

/// Says something of an alert. The first field identifies it.
pub(crate) fn tell(feed: &Feed, id: &str, state: AlertState, fields: &[(&str, &str)], now: SystemTime) {
    let (labels, fields) = fields.split_at_checked(1).unwrap_or_default();
    // Whether it found room is seen in the registry.
    let _ = say(feed, Alert::new(id, state, labels), fields, now);
}

pub(crate) fn say(
    feed: &Feed,
    alert: Alert<'_>,
    fields: &[(&str, &str)],
    now: SystemTime,
) -> Result<Option<AlertState>, NoRoom> {
    let event = Event {
        name: "pla.alert",
        level: Level::Warn,
        time_unix_nanos: None,
        body: "It is full.",
        fields,
        alert: Some(alert),
    };
    feed.event(&event, now)
}

pub(crate) const ALERTMANAGER: ReceiverKind =
    ReceiverKind::Alertmanager { resend_interval: Duration::from_secs(60) };
pub(crate) const WEBHOOK: ReceiverKind =
    ReceiverKind::Webhook { repeat_interval: Duration::from_secs(4 * 3600), send_resolved: true };

pub(crate) fn options(kind: ReceiverKind) -> Arc<ReceiverOptions> {
    Arc::new(ReceiverOptions {
        name: "test".to_owned(),
        kind,
        url: UrlSource::Plain(url("http://receiver.example:9093/api/v2/alerts")),
        timeout: Duration::from_secs(10),
        headers: Vec::new(),
        tls: ClientTls::default(),
    })
}

pub(crate) fn url(text: &str) -> HttpUrl {
    HttpUrl::parse(text, None).expect("a URL of a test")
}

/// One answer of a receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    Status(u16),
    /// Not before so many seconds.
    Later(u32),
    /// With the path of the request as its body, and as where to go.
    Echo(u16),
    Hang,
    /// What is no HTTP, and then the end.
    Garbage,
}

/// The receiver; it takes what no answer is given for.
#[derive(Default)]
pub(crate) struct Fake {
    answers: Mutex<VecDeque<Answer>>,
    received: Mutex<Vec<Received>>,
    came: Notify,
    away: Mutex<bool>,
}

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) at: Instant,
    pub(crate) body: Value,
}

impl Received {
    /// The alerts of a request to Alertmanager.
    pub(crate) fn alerts(&self) -> &[Value] {
        self.body.as_array().map_or(&[], Vec::as_slice)
    }
}

impl Fake {
    pub(crate) fn new(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into_iter().collect()), ..Self::default() })
    }

    pub(crate) fn set_away(&self, away: bool) {
        *self.away.lock() = away;
    }

    /// Waits until so many requests came.
    pub(crate) async fn received(&self, count: usize) -> Vec<Received> {
        loop {
            let received = self.now();
            if received.len() >= count {
                return received;
            }
            self.came.notified().await;
        }
    }

    pub(crate) fn now(&self) -> Vec<Received> {
        self.received.lock().clone()
    }

    pub(crate) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let body = serde_json::from_slice(&body).expect("a request is JSON");
        self.received.lock().push(Received { path: head.uri.to_string(), at: Instant::now(), body });
        let answer = self.answers.lock().pop_front().unwrap_or(Answer::Status(200));
        self.came.notify_one();
        let answer = match answer {
            Answer::Status(status) => Response::builder().status(status).body(Full::default()),
            Answer::Later(seconds) => {
                Response::builder().status(503).header("retry-after", seconds).body(Full::default())
            }
            Answer::Echo(status) => {
                let uri = head.uri.to_string();
                Response::builder().status(status).header("location", &uri).body(Full::from(uri))
            }
            Answer::Hang | Answer::Garbage => std::future::pending().await,
        };
        Ok(answer.expect("a status is an answer"))
    }

    fn is_garbage_next(&self) -> bool {
        let mut answers = self.answers.lock();
        let is_garbage = matches!(answers.front(), Some(Answer::Garbage));
        if is_garbage {
            answers.pop_front();
        }
        is_garbage
    }
}

/// The way to it.
pub(crate) struct Memory(pub(crate) Arc<Fake>);

impl Connector for Memory {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async {
            if *self.0.away.lock() {
                return Err(Failure::new(Trouble::Unreachable, "connect: connection refused"));
            }
            let (ours, mut theirs) = tokio::io::duplex(1 << 16);
            let fake = Arc::clone(&self.0);
            tokio::spawn(async move {
                if fake.is_garbage_next() {
                    // Who asked may be gone.
                    let _ =
                        tokio::io::AsyncWriteExt::write_all(&mut theirs, b"220 mail.example ESMTP\r\n").await;
                    return;
                }
                let service = service_fn(move |request| Arc::clone(&fake).answer(request));
                // Clients come and go.
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(theirs), service)
                    .await;
            });
            Ok(Box::new(ours) as Box<dyn Stream>)
        })
    }
}

/// The way to it, wherever it is said to be.
pub(crate) fn to(fake: &Arc<Fake>) -> Connect {
    let fake = Arc::clone(fake);
    Arc::new(move |_| Arc::new(Memory(Arc::clone(&fake))))
}

/// A wall clock that goes with tokio's.
pub(crate) struct Wall(pub(crate) Instant);

impl Clock for Wall {
    fn now(&self) -> SystemTime {
        at(0) + self.0.elapsed()
    }
}

/// A notifier with this receiver.
pub(crate) fn notifier(kind: ReceiverKind, fake: &Arc<Fake>) -> (Notifier, Arc<alerts::Counts>) {
    let mut notifier = Notifier::new();
    let counts = notifier.add(options(kind), to(fake), Arc::new(Wall(Instant::now())), 1);
    (notifier, counts)
}
