//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::traffic::{Activity, Timed, Traffic};
use crate::heads::Heads;
use crate::middleware::Middleware;
use crate::streams::Streams;
use crate::{App, Limits, Secure};

/// Maximum bytes of a request's head.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// Requests of an HTTP/2 connection at a time.
const STREAMS_MAX: u32 = 32;
/// Requests that a peer of HTTP/2 takes back before they are looked at; more end the connection.
const RESETS_MAX: usize = 20;
/// Streams of HTTP/2 that we reset for a peer's mistakes; more end the connection.
const MISTAKES_MAX: usize = 100;
/// Maximum bytes of an HTTP/2 response that are buffered before the reader takes them.
const SEND_BYTES_MAX: usize = 64 << 10;
/// A peer of HTTP/2 is asked so often whether it is still there, and has as long to answer.
const PING_EVERY: Duration = Duration::from_secs(20);
/// A connection that was asked to end does so within it.
const GOODBYE: Duration = Duration::from_secs(5);

/// How long a connection without a request keeps its permit while all are taken.
const IDLE_IN_A_CROWD: Duration = Duration::from_secs(1);
/// And one whose first request is not there yet.
const NEW_IN_A_CROWD: Duration = Duration::from_secs(5);

/// What the server tells its connections.
#[derive(Clone)]
pub(crate) struct Notices {
    pub(crate) stopped: watch::Receiver<bool>,
    /// How many listeners have no place for another connection.
    pub(crate) waiting_listeners: watch::Receiver<usize>,
}

/// Whether the connection was ended for what its peer did against HTTP/2, such as resetting streams too fast. A peer
/// that only goes away, or says itself that it ends, is not meant.
pub(crate) fn is_ended_for_misuse(error: &hyper::Error) -> bool {
    let source = std::error::Error::source(error);
    source.and_then(|source| source.downcast_ref::<h2::Error>()).is_some_and(h2::Error::is_library)
}

/// Answers the requests of a connection until it ends.
pub(crate) async fn serve<A: App>(
    middleware: Middleware<A>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    is_http2: bool,
    notices: Notices,
) -> hyper::Result<()> {
    let (limits, traffic) = (middleware.limits, Arc::clone(&middleware.traffic));
    let middleware = Arc::new(middleware);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let middleware = Arc::clone(&middleware);
        if middleware.is_secure {
            request.extensions_mut().insert(Secure);
        }
        async move { Ok::<_, Infallible>(middleware.answer(&request).await) }
    });
    if is_http2 {
        let connection = http2_connection(limits, TokioIo::new(stream), service);
        drive(connection, &traffic, limits, notices).await
    } else {
        let stream = TokioIo::new(Heads::new(stream, limits.header_timeout));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // `Heads` sees to it, and tells a head that does not come from a connection that waits for its next request.
            .header_read_timeout(None)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(stream, service);
        drive(connection, &traffic, limits, notices).await
    }
}

fn http2_connection<I, S, B>(limits: Limits, stream: I, service: S) -> http2::Connection<I, S, Streams>
where
    I: Read + Write + Unpin,
    S: Service<Request<Incoming>, Response = Response<Timed<B>>, Error = Infallible>,
    S::Future: Send + 'static,
    B: Body<Data = Bytes, Error = Infallible> + Send + Unpin + 'static,
{
    let Limits { write_timeout, answer_timeout, .. } = limits;
    http2::Builder::new(Streams { write_timeout, answer_timeout })
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(u32::try_from(HEAD_BYTES_MAX).unwrap_or(u32::MAX))
        .max_pending_accept_reset_streams(RESETS_MAX)
        .max_local_error_reset_streams(MISTAKES_MAX)
        .max_send_buf_size(SEND_BYTES_MAX)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_EVERY)
        .serve_connection(stream, service)
}

/// A connection that can be asked to end after what it is doing.
trait Connection: Future<Output = hyper::Result<()>> {
    fn ask_to_end(self: Pin<&mut Self>);
}

impl<I, S, B> Connection for http1::Connection<I, S>
where
    S: Service<Request<Incoming>, Response = Response<Timed<B>>, Error = Infallible>,
    I: Read + Write + Unpin,
    B: Body<Data = Bytes, Error = Infallible> + Send + Unpin + 'static,
{
    fn ask_to_end(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl<I, S, B> Connection for http2::Connection<I, S, Streams>
where
    S: Service<Request<Incoming>, Response = Response<Timed<B>>, Error = Infallible>,
    S::Future: Send + 'static,
    I: Read + Write + Unpin,
    B: Body<Data = Bytes, Error = Infallible> + Send + Unpin + 'static,
{
    fn ask_to_end(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

/// Runs a connection. It ends by itself, when it is idle for too long, or after what it is doing when the server ends.
async fn drive(
    connection: impl Connection,
    traffic: &Traffic,
    limits: Limits,
    mut notices: Notices,
) -> hyper::Result<()> {
    let mut connection = pin!(connection);
    let began = Instant::now();
    let first_by = began + limits.header_timeout;
    let mut timer = pin!(sleep_until(first_by));
    let (mut is_ending, mut is_stopped) = (false, false);
    loop {
        tokio::select! {
            ended = &mut connection => return ended,
            () = traffic.end.notified() => return Ok(()),
            // A server that is gone has ended, too.
            _ = notices.stopped.wait_for(|is_stopped| *is_stopped), if !is_stopped => {
                (is_ending, is_stopped) = (true, true);
                connection.as_mut().ask_to_end();
                timer.as_mut().reset(Instant::now() + GOODBYE);
            }
            () = traffic.close.notified(), if !is_ending => {
                is_ending = true;
                connection.as_mut().ask_to_end();
                timer.as_mut().reset(Instant::now() + GOODBYE);
            }
            Ok(()) = notices.waiting_listeners.changed(), if !is_ending => timer.as_mut().reset(Instant::now()),
            () = &mut timer => {
                let now = Instant::now();
                let is_crowded = *notices.waiting_listeners.borrow() > 0;
                let idle_max = if is_crowded { IDLE_IN_A_CROWD } else { limits.idle_timeout };
                let idle_max = idle_max.min(limits.idle_timeout);
                let until = match traffic.activity() {
                    // Half a head is nothing to be polite about.
                    Activity::New if is_crowded && began + NEW_IN_A_CROWD <= now => return Ok(()),
                    Activity::New if is_crowded => first_by.min(began + NEW_IN_A_CROWD),
                    Activity::New => first_by,
                    Activity::Busy => now + idle_max.min(GOODBYE),
                    Activity::IdleSince(since) => since + idle_max,
                };
                if until > now && (!is_ending || traffic.activity() == Activity::Busy) {
                    timer.as_mut().reset(until);
                } else if is_ending {
                    return Ok(());
                } else {
                    is_ending = true;
                    connection.as_mut().ask_to_end();
                    timer.as_mut().reset(now + GOODBYE);
                }
            }
        }
    }
}
