//! Sending one request, and what its answer means.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::Full;
use http_client::{
    Answer, Clock, Connection, Connector, Failure, Server, Trouble, USER_AGENT, header_value, retry_after,
    shown,
};
use hyper::Request;
use hyper::header::{LOCATION, RETRY_AFTER};

use super::options::ReceiverOptions;

/// What an answer means for the request that it is to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The receiver has the alerts.
    Taken,
    /// Not now.
    Retry {
        /// What to wait at least.
        after: Option<Duration>,
        /// Why.
        trouble: Trouble,
        /// In the receiver's words.
        message: String,
    },
    /// It never takes this request.
    Refused {
        /// Why.
        trouble: Trouble,
        /// In the receiver's words.
        message: String,
    },
}

/// The way to one receiver.
pub(crate) struct Sender {
    options: Arc<ReceiverOptions>,
    server: Arc<Server>,
    connector: Arc<dyn Connector>,
    clock: Arc<dyn Clock>,
    connection: Option<Connection>,
}

impl Sender {
    pub(crate) fn new(
        options: Arc<ReceiverOptions>,
        connector: Arc<dyn Connector>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let server = options.server();
        Self { options, server, connector, clock, connection: None }
    }

    /// One attempt; two if the first went over a connection that the receiver had closed meanwhile.
    pub(crate) async fn send(&mut self, body: &Bytes) -> Verdict {
        if self.connection.as_ref().is_some_and(Connection::is_closed) {
            self.connection = None;
        }
        let was_idle = self.connection.is_some();
        match self.attempt(body).await {
            Verdict::Retry { trouble: Trouble::Unreachable, .. } if was_idle => self.attempt(body).await,
            verdict => verdict,
        }
    }

    async fn attempt(&mut self, body: &Bytes) -> Verdict {
        let timeout = self.options.timeout;
        let failure = match tokio::time::timeout(timeout, self.exchange(body)).await {
            Ok(Ok(answer)) => return verdict(&answer, self.clock.now()),
            Ok(Err(failure)) => failure,
            Err(_) => Failure::new(Trouble::Timeout, format!("no answer within {timeout:?}")),
        };
        self.connection = None;
        let Failure { trouble, message } = failure;
        Verdict::Retry { after: None, trouble, message }
    }

    async fn exchange(&mut self, body: &Bytes) -> Result<Answer, Failure> {
        let request = request(Arc::clone(&self.options), body.clone()).await?;
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&*self.connector, Arc::clone(&self.server)).await?,
        };
        self.connection.insert(connection).send(request).await
    }
}

/// Secrets are read anew for each request.
async fn request(options: Arc<ReceiverOptions>, body: Bytes) -> Result<Request<Full<Bytes>>, Failure> {
    let made = tokio::task::spawn_blocking(move || {
        let mut head = Request::post(options.path.as_str())
            .header("host", format!("{}:{}", options.host, options.port))
            .header("content-type", "application/json")
            .header("user-agent", USER_AGENT);
        for (name, source) in &options.headers {
            head = head.header(name, header_value(source)?);
        }
        head.body(Full::new(body)).map_err(|error| Failure::of(Trouble::Unexpected, "make a request", &error))
    });
    made.await.map_err(|error| Failure::new(Trouble::Unexpected, error))?
}

/// What an answer means. As Prometheus has it, only what may be better later is sent again.
#[must_use]
pub fn verdict(answer: &Answer, now: SystemTime) -> Verdict {
    let code = answer.status.as_u16();
    let text = || std::str::from_utf8(&answer.body).unwrap_or_default();
    let field = |name| answer.headers.get(name).and_then(|value| value.to_str().ok());
    match code {
        200..=299 => Verdict::Taken,
        408 | 429 | 500..=599 => {
            let after = field(RETRY_AFTER).and_then(|text| retry_after(text, now));
            Verdict::Retry {
                after,
                trouble: Trouble::Busy,
                message: shown(&format!("HTTP {code} {}", text())),
            }
        }
        300..=399 => {
            let to = field(LOCATION).unwrap_or_default();
            let message = shown(&format!("HTTP {code}; redirects are not followed, set it as `url`: {to}"));
            Verdict::Refused { trouble: Trouble::NotFound, message }
        }
        _ => {
            let trouble = match code {
                400 | 413 | 415 | 422 => Trouble::Invalid,
                401 | 403 | 407 => Trouble::Unauthorized,
                404 | 405 | 410 => Trouble::NotFound,
                _ => Trouble::Unexpected,
            };
            Verdict::Refused { trouble, message: shown(&format!("HTTP {code} {}", text())) }
        }
    }
}
