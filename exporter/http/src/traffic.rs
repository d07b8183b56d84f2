use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

/// What goes on in a connection: how many requests are being answered, and since when none is.
pub(crate) struct Traffic {
    state: Mutex<State>,
    /// Notified to end the connection in the middle of an answer.
    pub(crate) end: Arc<Notify>,
    /// Notified to end it after what it is doing.
    pub(crate) close: Notify,
}

struct State {
    under_way: usize,
    began: bool,
    since: Instant,
}

/// Whether a response is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// No request has come yet.
    New,
    /// A request is being answered.
    Busy,
    IdleSince(Instant),
}

impl Traffic {
    pub(crate) fn new() -> Arc<Self> {
        let state = State { under_way: 0, began: false, since: Instant::now() };
        Arc::new(Self { state: Mutex::new(state), end: Arc::default(), close: Notify::new() })
    }

    /// A request begins to be answered, until the guard goes.
    pub(crate) fn begin(self: &Arc<Self>) -> UnderWay {
        let mut state = self.state();
        state.under_way += 1;
        state.began = true;
        UnderWay(Arc::clone(self))
    }

    pub(crate) fn activity(&self) -> Activity {
        let state = self.state();
        match (state.began, state.under_way) {
            (false, _) => Activity::New,
            (true, 0) => Activity::IdleSince(state.since),
            (true, _) => Activity::Busy,
        }
    }

    fn state(&self) -> parking_lot::MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// A request that is being answered.
pub(crate) struct UnderWay(Arc<Traffic>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.under_way -= 1;
        state.since = Instant::now();
    }
}

/// An answer that must have been taken by its deadline.
pub(crate) struct Timed<A> {
    pub(crate) answer: A,
    pub(crate) deadline: Instant,
    /// Held for as long as the answer is sent.
    pub(crate) _under_way: UnderWay,
}

impl<A: Body<Data = Bytes, Error = Infallible> + Unpin> Body for Timed<A> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = self.get_mut();
        if Instant::now() > this.deadline {
            let late = io::Error::new(io::ErrorKind::TimedOut, "the reader takes too long");
            return Poll::Ready(Some(Err(late)));
        }
        Pin::new(&mut this.answer).poll_frame(context).map_err(|never| match never {})
    }

    fn is_end_stream(&self) -> bool {
        self.answer.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.answer.size_hint()
    }
}
