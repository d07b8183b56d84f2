//! One connection to a server, by HTTP/1.1 or HTTP/2.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::HeaderMap;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::task::JoinHandle;

use super::Server;
use super::Trouble;
use super::tls_alerts::{AlertListener, TlsAlertRecorder};
use super::{Connector, Failure};

/// Bytes of an answer's body that are read. The status says what became of the data, whatever comes after that.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// A connection is asked whether it still lives after so long.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// A connection that requests go over, one at a time.
pub struct Connection {
    sender: Sender,
    task: JoinHandle<()>,
    server: Arc<Server>,
    /// What TLS said, unless the server has answered once: then it trusts us, and ends the connection for something
    /// else.
    alerts: Option<TlsAlertRecorder>,
    /// An answer was not read to its end.
    is_spent: bool,
}

/// An answer as it came.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    /// The fields before the body.
    pub headers: HeaderMap,
    /// The fields after it.
    pub trailers: HeaderMap,
    /// The body, or its first 64 KiB.
    pub body: Vec<u8>,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// The server cannot be reached or trusted.
    pub async fn open(connector: &dyn Connector, server: Arc<Server>) -> Result<Self, Failure> {
        let alerts = TlsAlertRecorder::default();
        let stream = TokioIo::new(AlertListener::new(connector.connect().await?, &alerts));
        let failed = |error: hyper::Error| Failure::of(Trouble::Unreachable, "begin HTTP", &error);
        let (sender, task) = if server.http2 {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder.timer(TokioTimer::new()).keep_alive_interval(KEEP_ALIVE);
            builder.initial_stream_window_size(ANSWER_WINDOW).max_send_buf_size(SEND_BUFFER_BYTES);
            let (sender, connection) = builder.handshake(stream).await.map_err(failed)?;
            (Sender::Http2(sender), tokio::spawn(ignore(connection)))
        } else {
            let (sender, connection) = http1::handshake(stream).await.map_err(failed)?;
            (Sender::Http1(sender), tokio::spawn(ignore(connection)))
        };
        Ok(Self { sender, task, server, alerts: Some(alerts), is_spent: false })
    }

    /// Whether nothing can be sent any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_spent
            || match &self.sender {
                Sender::Http1(sender) => sender.is_closed(),
                Sender::Http2(sender) => sender.is_closed(),
            }
    }

    /// Sends a request and reads the answer.
    ///
    /// # Errors
    /// No answer came.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, Failure> {
        let answer = match self.sender.ask(request).await {
            Ok(answer) => answer,
            Err(error) => {
                let alerts = self.alerts.as_ref().and_then(|alerts| alerts.failure(&self.server.tls));
                return Err(alerts.unwrap_or_else(|| Failure::of(Trouble::Unreachable, "send", &error)));
            }
        };
        self.alerts = None;
        let (head, body) = answer.into_parts();
        let (body, trailers) = self.read(body).await?;
        Ok(Answer { status: head.status, headers: head.headers, trailers, body })
    }

    /// Reads a body, or its beginning where it is long.
    async fn read(&mut self, mut body: Incoming) -> Result<(Vec<u8>, HeaderMap), Failure> {
        let (mut bytes, mut trailers) = (Vec::new(), HeaderMap::new());
        while let Some(frame) = body.frame().await {
            let frame =
                frame.map_err(|error| Failure::of(Trouble::Unreachable, "read the answer", &error))?;
            match frame.into_data() {
                Ok(data) => bytes.extend_from_slice(&data),
                Err(frame) => trailers = frame.into_trailers().unwrap_or_default(),
            }
            if bytes.len() > ANSWER_BYTES_MAX {
                bytes.truncate(ANSWER_BYTES_MAX);
                self.is_spent = true;
                break;
            }
        }
        Ok((bytes, trailers))
    }
}

impl Sender {
    /// Sends a request and waits for the head of the answer.
    async fn ask(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<Response<Incoming>> {
        match self {
            Self::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Self::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What ends a connection shows in the request that it ends.
async fn ignore<E>(connection: impl Future<Output = Result<(), E>>) {
    let _ = connection.await;
}

const ANSWER_WINDOW: u32 = 64 << 10;
const SEND_BUFFER_BYTES: usize = 1 << 20;
