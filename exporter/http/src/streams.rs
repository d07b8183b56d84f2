//! The requests of an HTTP/2 connection, each of which runs by itself.
//!
//! A reader that stops giving a stream room does not stop the connection, so the limits of the socket see nothing of
//! it: each stream is watched on its own.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::rt::Executor;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

tokio::task_local! {
    static STREAM: Stream;
}

#[derive(Default)]
struct Stream {
    is_sending: Cell<bool>,
    /// Notified to end it.
    end: Arc<Notify>,
}

/// To be called in a request's task when its answer is there.
pub(crate) fn begins_to_send() {
    // There is no such task where HTTP/1 is spoken.
    let _ = STREAM.try_with(|stream| stream.is_sending.set(true));
}

/// In a request's task: what ends it.
pub(crate) fn end() -> Option<Arc<Notify>> {
    STREAM.try_with(|stream| Arc::clone(&stream.end)).ok()
}

/// Runs a connection's streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streams {
    pub(crate) write_timeout: Duration,
    pub(crate) answer_timeout: Duration,
}

impl<F> Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        tokio::spawn(STREAM.scope(Stream::default(), self.watch(stream)));
    }
}

impl Streams {
    /// Runs a stream; while its answer is sent, it is dropped (which resets it) when nothing happens for too long.
    async fn watch(self, stream: impl Future<Output = ()>) {
        let (mut stream, mut timer) = (pin!(stream), pin!(sleep_until(Instant::now())));
        let end = end().unwrap_or_default();
        let mut ended = pin!(end.notified());
        let mut armed: Option<(Instant, Instant)> = None;
        poll_fn(|context| {
            if stream.as_mut().poll(context).is_ready() || ended.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            if !STREAM.try_with(|stream| stream.is_sending.get()).unwrap_or(false) {
                return Poll::Pending;
            }
            let now = Instant::now();
            let deadline = match armed {
                None => now + self.answer_timeout,
                Some((_, until)) if until <= now => return Poll::Ready(()),
                // It was not the timer that called, so the reader made room.
                Some((deadline, _)) => deadline,
            };
            let until = deadline.min(now + self.write_timeout);
            armed = Some((deadline, until));
            timer.as_mut().reset(until);
            timer.as_mut().poll(context)
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAMS: Streams =
        Streams { write_timeout: Duration::from_secs(30), answer_timeout: Duration::from_secs(300) };

    /// A stream that begins to send after `before` and is asked to go on by `room`.
    async fn run(before: Duration, room: Arc<Notify>) -> Duration {
        let began = Instant::now();
        let stream = async move {
            tokio::time::sleep(before).await;
            begins_to_send();
            loop {
                room.notified().await;
            }
        };
        STREAM.scope(Stream::default(), STREAMS.watch(stream)).await;
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_whose_reader_makes_no_room_is_dropped() {
        assert_eq!(run(Duration::ZERO, Arc::default()).await.as_secs(), 30);
        // The answer itself may take its time.
        assert_eq!(run(Duration::from_secs(100), Arc::default()).await.as_secs(), 130);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_whose_reader_makes_room_now_and_then_ends_with_its_time() {
        let room = Arc::new(Notify::new());
        let making = Arc::clone(&room);
        let maker = tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_secs(20)).await;
                making.notify_one();
            }
        });
        assert_eq!(run(Duration::ZERO, room).await.as_secs(), 300);
        maker.abort();
    }
}
