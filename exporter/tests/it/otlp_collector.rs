//! A collector that answers as it is told, in memory.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::Read;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Frame, Incoming};
use hyper::header::{HeaderMap, HeaderName};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use otlp::push::OtlpProtocol;
use parking_lot::Mutex;
use prost::Message;
use support::http_client::{Clock, Connecting, Connector, Failure, Stream, Trouble};
use tokio::sync::Notify;
use tokio::time::Instant;

#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Take,
    /// All but this number of points is taken.
    TakeBut(u8),
    /// An HTTP status with a header.
    Http(u16, &'static str, &'static str),
    /// A gRPC status, its message and its details.
    Grpc(u16, &'static str, &'static str),
    /// An HTTP status with more to it than anybody reads.
    Long(u16),
    Hang,
    /// More bytes than so many are too large, for good.
    NoMoreThan(usize),
}

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) at: Duration,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    /// What it holds, where it is one of metrics.
    pub(crate) message: ExportMetricsServiceRequest,
    /// What it holds, where it is one of log records.
    pub(crate) logs: ExportLogsServiceRequest,
    /// What it holds, where it is one of spans.
    pub(crate) traces: ExportTraceServiceRequest,
    pub(crate) taken: bool,
}

/// The collector; it takes what no answer is given for.
pub(crate) struct Collector {
    protocol: OtlpProtocol,
    answers: Mutex<VecDeque<Answer>>,
    received: Mutex<Vec<Received>>,
    came: Notify,
    pub(crate) away: Mutex<bool>,
    begun: Instant,
}

impl Collector {
    pub(crate) fn new(protocol: OtlpProtocol, answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        Arc::new(Self {
            protocol,
            answers: Mutex::new(answers.into_iter().collect()),
            received: Mutex::default(),
            came: Notify::new(),
            away: Mutex::new(false),
            begun: Instant::now(),
        })
    }

    /// Waits until so many requests came.
    pub(crate) async fn received(&self, count: usize) -> Vec<Received> {
        loop {
            let received = self.received.lock().clone();
            if received.len() >= count {
                return received;
            }
            self.came.notified().await;
        }
    }

    pub(crate) fn now(&self) -> Vec<Received> {
        self.received.lock().clone()
    }

    pub(crate) fn will(&self, answer: Answer) {
        self.answers.lock().push_back(answer);
    }

    pub(crate) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<http_body_util::combinators::BoxBody<Bytes, Infallible>>, Infallible> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let plain = unpacked(self.protocol, &head.headers, &body);
        let path = head.uri.path().to_owned();
        let (mut message, mut logs, mut traces) = Default::default();
        match &*path {
            "/v1/metrics" | "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export" => {
                message = ExportMetricsServiceRequest::decode(&*plain).expect("it is a request of metrics");
            }
            "/v1/logs" | "/opentelemetry.proto.collector.logs.v1.LogsService/Export" => {
                logs = ExportLogsServiceRequest::decode(&*plain).expect("it is a request of log records");
            }
            "/v1/traces" | "/opentelemetry.proto.collector.trace.v1.TraceService/Export" => {
                traces = ExportTraceServiceRequest::decode(&*plain).expect("it is a request of spans");
            }
            other => panic!("nobody sends to {other}"),
        }
        let answer = {
            let mut answers = self.answers.lock();
            match answers.front() {
                Some(Answer::NoMoreThan(_)) => answers.front().cloned(),
                _ => answers.pop_front(),
            }
        };
        let answer = match answer.unwrap_or(Answer::Take) {
            Answer::NoMoreThan(bytes) if plain.len() > bytes => match self.protocol {
                OtlpProtocol::Http => Answer::Http(413, "x", "y"),
                OtlpProtocol::Grpc => Answer::Grpc(8, "grpc: received message larger than max", ""),
            },
            Answer::NoMoreThan(_) => Answer::Take,
            other => other,
        };
        self.received.lock().push(Received {
            at: self.begun.elapsed(),
            path,
            headers: head.headers,
            message,
            logs,
            traces,
            taken: matches!(answer, Answer::Take | Answer::TakeBut(_) | Answer::Long(200)),
        });
        self.came.notify_one();
        let partial = |count: u8| vec![0x0a, 0x02, 0x08, count];
        let (status, header, grpc, body) = match answer {
            Answer::Hang => std::future::pending().await,
            Answer::Take | Answer::NoMoreThan(_) => (200, None, ("0".to_owned(), "", ""), Vec::new()),
            Answer::TakeBut(count) => (200, None, ("0".to_owned(), "", ""), partial(count)),
            Answer::Http(status, name, value) => {
                (status, Some((name, value)), Default::default(), Vec::new())
            }
            Answer::Long(status) => (status, None, Default::default(), vec![b'<'; 1 << 20]),
            Answer::Grpc(code, message, details) => {
                (200, None, (code.to_string(), message, details), Vec::new())
            }
        };
        let mut response = Response::builder().status(status);
        if let Some((name, value)) = header {
            response = response.header(name, value);
        }
        let body = match self.protocol {
            OtlpProtocol::Http => Full::new(Bytes::from(body)).boxed(),
            OtlpProtocol::Grpc => {
                let head = [0, 0, 0, 0, u8::try_from(body.len()).unwrap()];
                let data = Bytes::from([&head[..], &body].concat());
                let mut trailers = HeaderMap::new();
                for (name, value) in
                    [("grpc-status", &*grpc.0), ("grpc-message", grpc.1), ("grpc-status-details-bin", grpc.2)]
                {
                    if !value.is_empty() {
                        trailers.insert(HeaderName::from_static(name), value.parse().unwrap());
                    }
                }
                let frames = [Ok::<_, Infallible>(Frame::data(data)), Ok(Frame::trailers(trailers))];
                Frames(frames.into_iter().collect()).boxed()
            }
        };
        Ok(response.body(body).unwrap())
    }

    async fn serve(self: Arc<Self>, stream: impl Stream + 'static) {
        let stream = TokioIo::new(stream);
        let protocol = self.protocol;
        let service = service_fn(move |request| Arc::clone(&self).answer(request));
        // Clients come and go.
        let _ = match protocol {
            OtlpProtocol::Http => {
                hyper::server::conn::http1::Builder::new().serve_connection(stream, service).await
            }
            OtlpProtocol::Grpc => {
                hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                    .serve_connection(stream, service)
                    .await
            }
        };
    }

    /// Serves one connection in a task of its own.
    pub(crate) fn welcome(self: &Arc<Self>, stream: impl Stream + 'static) {
        tokio::spawn(Arc::clone(self).serve(stream));
    }
}

struct Frames(VecDeque<Result<Frame<Bytes>, Infallible>>);

impl hyper::body::Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        std::task::Poll::Ready(self.0.pop_front())
    }
}

fn unpacked(protocol: OtlpProtocol, headers: &HeaderMap, body: &[u8]) -> Vec<u8> {
    let (encoding, message) = match protocol {
        OtlpProtocol::Http => ("content-encoding", body),
        OtlpProtocol::Grpc => {
            let length = u32::from_be_bytes(body[1..5].try_into().unwrap());
            assert_eq!(length as usize, body.len() - 5);
            assert_eq!(body[0] == 1, headers.contains_key("grpc-encoding"));
            ("grpc-encoding", &body[5..])
        }
    };
    let mut plain = Vec::new();
    match headers.get(encoding).map(|value| value.to_str().unwrap()) {
        Some("gzip") => flate2::read::GzDecoder::new(message).read_to_end(&mut plain).map(drop).unwrap(),
        Some("zstd") => plain = zstd::decode_all(message).unwrap(),
        Some(other) => panic!("{other}"),
        None => plain.extend_from_slice(message),
    }
    plain
}

/// In memory: the collector serves the other end.
pub(crate) struct Memory(pub(crate) Arc<Collector>);

impl Connector for Memory {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async {
            if *self.0.away.lock() {
                let message = "connect: connection refused".to_owned();
                return Err(Failure { trouble: Trouble::Unreachable, message });
            }
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            self.0.welcome(theirs);
            Ok(Box::new(ours) as Box<dyn Stream>)
        })
    }
}

/// A wall clock that goes with tokio's.
pub(crate) struct Wall(pub(crate) Instant);

impl Clock for Wall {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000) + self.0.elapsed()
    }
}
