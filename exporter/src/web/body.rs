use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

use crate::expose::Encoder;
use crate::telemetry::{ScrapeOutcome, Scrapes};

/// What is answered: a few bytes that are there, or a page that is made as it is sent.
pub(super) enum Answer {
    Ready(Option<Bytes>),
    Page(Box<Page>),
}

/// A page of metrics under way. Dropping it counts it.
pub(super) struct Page {
    encoder: Encoder,
    scrapes: Arc<Scrapes>,
    began: Instant,
    sent_bytes: u64,
    is_complete: bool,
    /// A place among the pages at a time, for as long as this lives.
    _permit: OwnedSemaphorePermit,
}

impl Page {
    pub(super) fn new(encoder: Encoder, scrapes: Arc<Scrapes>, permit: OwnedSemaphorePermit) -> Self {
        Self { encoder, scrapes, began: Instant::now(), sent_bytes: 0, is_complete: false, _permit: permit }
    }

    fn next(&mut self) -> Option<Bytes> {
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        if self.encoder.next_chunk(&mut piece) {
            self.sent_bytes += piece.len() as u64;
            Some(Bytes::from(piece))
        } else {
            self.is_complete = true;
            None
        }
    }
}

/// A little more than the encoder's pieces, so that each is allocated once.
const PIECE_BYTES: usize = 36 << 10;

impl Drop for Page {
    fn drop(&mut self) {
        let outcome = if self.is_complete { ScrapeOutcome::Complete } else { ScrapeOutcome::Aborted };
        self.scrapes.ended(outcome, self.sent_bytes, self.began.elapsed().as_secs_f64());
    }
}

impl Answer {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Ready(Some(Bytes::from(text.into())))
    }

    pub(super) fn empty() -> Self {
        Self::Ready(None)
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        // Never waits: the encoder has the next piece at hand, and hyper asks only when the socket took the last.
        let piece = match self.get_mut() {
            Self::Ready(bytes) => bytes.take(),
            Self::Page(page) => page.next(),
        };
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Ready(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Ready(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Self::Page(_) => SizeHint::default(),
        }
    }
}
