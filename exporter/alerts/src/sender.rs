//! Sending one request, and what its answer means.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{HeaderValue, LOCATION, RETRY_AFTER};
use support::http_client::{
    Answer, Clock, Connection, Connector, Failure, HttpUrl, Server, Trouble, USER_AGENT, header_value,
    retry_after, shown,
};

use super::options::{ReceiverKind, ReceiverOptions, UrlSource};

/// What an answer means for the request that it is to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The receiver has the alerts.
    Taken,
    Retry {
        /// What to wait at least.
        after: Option<Duration>,
        trouble: Trouble,
        /// In the receiver's words.
        message: String,
    },
    /// It never takes this request.
    Refused {
        trouble: Trouble,
        /// In the receiver's words.
        message: String,
    },
}

/// Makes the way to a server.
pub type Connect = Arc<dyn Fn(&Arc<Server>) -> Arc<dyn Connector> + Send + Sync>;

/// The way to one receiver.
pub(crate) struct Sender {
    options: Arc<ReceiverOptions>,
    connect: Connect,
    clock: Arc<dyn Clock>,
    /// With the server that it is to: another URL may be in the file.
    connection: Option<(Arc<Server>, Connection)>,
}

/// A request with all secrets in it, and where it goes.
struct Addressed {
    url: HttpUrl,
    request: Request<Full<Bytes>>,
}

impl Sender {
    pub(crate) fn new(options: Arc<ReceiverOptions>, connect: Connect, clock: Arc<dyn Clock>) -> Self {
        Self { options, connect, clock, connection: None }
    }

    /// One attempt; two if the first went over a connection that the receiver had closed meanwhile.
    pub(crate) async fn send(&mut self, body: &Bytes) -> Verdict {
        self.connection = self.connection.take().filter(|(_, connection)| !connection.is_closed());
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

    /// Nothing of a secret URL is in the answer or in the failure, whatever the receiver writes.
    async fn exchange(&mut self, body: &Bytes) -> Result<Answer, Failure> {
        let Addressed { url, request } = addressed(Arc::clone(&self.options), body.clone()).await?;
        let server = Arc::new(url.server(self.options.tls.clone()));
        let answer = self.ask(server, request).await;
        let is_secret = matches!(self.options.url, UrlSource::File(_));
        if !is_secret && matches!(self.options.kind, ReceiverKind::Alertmanager { .. }) {
            return answer;
        }
        if !is_secret {
            // Nobody declared it as one, but what tells customers of a webhook apart often is its path.
            return answer.map(|answer| without_path(answer, &url)).map_err(
                |Failure { trouble, message }| Failure { trouble, message: url.path_hidden_in(&message) },
            );
        }
        match answer {
            Ok(mut answer) => {
                answer.headers.remove(LOCATION);
                Ok(Answer { body: Vec::new(), ..answer })
            }
            Err(Failure { trouble, message }) => Err(Failure { trouble, message: url.hidden_in(&message) }),
        }
    }

    async fn ask(&mut self, server: Arc<Server>, request: Request<Full<Bytes>>) -> Result<Answer, Failure> {
        let connection = match self.connection.take() {
            Some((to, connection)) if to == server => connection,
            _ => Connection::open(&*(self.connect)(&server), Arc::clone(&server)).await?,
        };
        let (_, connection) = self.connection.insert((server, connection));
        connection.send(request).await
    }
}

/// The same answer without the path of this URL, which it may repeat.
fn without_path(mut answer: Answer, url: &HttpUrl) -> Answer {
    answer.body = url.path_hidden_in(&String::from_utf8_lossy(&answer.body)).into_bytes();
    let location = answer.headers.get(LOCATION).and_then(|to| to.to_str().ok());
    let hidden = location.map(|to| url.path_hidden_in(to)).and_then(|to| HeaderValue::try_from(to).ok());
    match hidden {
        Some(hidden) => drop(answer.headers.insert(LOCATION, hidden)),
        None => drop(answer.headers.remove(LOCATION)),
    }
    answer
}

/// Secrets are read again for each request.
async fn addressed(options: Arc<ReceiverOptions>, body: Bytes) -> Result<Addressed, Failure> {
    let made = tokio::task::spawn_blocking(move || {
        let url = match &options.url {
            UrlSource::Plain(url) => url.clone(),
            UrlSource::File(file) => HttpUrl::read(file)?,
        };
        let mut head = Request::post(url.path.as_str())
            .header("host", format!("{}:{}", url.host, url.port))
            .header("content-type", "application/json")
            .header("user-agent", USER_AGENT);
        for (name, source) in &options.headers {
            head = head.header(name, header_value(source)?);
        }
        let request = head.body(Full::new(body));
        let request = request.map_err(|error| Failure::of(Trouble::Unexpected, "make a request", &error))?;
        Ok(Addressed { url, request })
    });
    made.await.map_err(|error| Failure::new(Trouble::Unexpected, error))?
}

/// What an answer means. As Prometheus has it, only what may be better later is sent again.
pub(crate) fn verdict(answer: &Answer, now: SystemTime) -> Verdict {
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
