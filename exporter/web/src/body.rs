use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use exposition::{CodedPage, Coding, Format};
use hyper::body::{Body, Frame, SizeHint};

use super::ProbePermit;
use super::download::Download;
use super::page_permits::PagePermit;
use super::scrapes::{PageOf, Scrape, ScrapeOutcome, Scrapes};

/// What is answered: a few bytes that are there, a page that is made as it is sent, or a file that is read as it is sent.
pub enum Answer {
    Ready(Option<Bytes>),
    Page(Box<Page>),
    File(Box<Download>),
}

/// The kind of a page, with the permit that it holds.
pub(super) enum PageOwner {
    Metrics(PagePermit),
    Probe(#[expect(dead_code, reason = "held")] ProbePermit),
}

/// A page of metrics that is being written. Dropping it counts it.
pub struct Page {
    page: CodedPage,
    written_as: (Format, Coding),
    scrapes: Arc<Scrapes>,
    began: Instant,
    first_piece: Option<Duration>,
    sent_bytes: u64,
    is_complete: bool,
    owner: PageOwner,
}

impl Page {
    /// A page that was asked for at `began`.
    pub(super) fn new(
        page: CodedPage,
        written_as: (Format, Coding),
        scrapes: Arc<Scrapes>,
        began: Instant,
        owner: PageOwner,
    ) -> Self {
        Self { page, written_as, scrapes, began, first_piece: None, sent_bytes: 0, is_complete: false, owner }
    }

    fn next(&mut self) -> Option<Bytes> {
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        let began = self.began;
        let is_there = self.page.next_chunk_by(&mut piece, || began.elapsed());
        self.first_piece.get_or_insert_with(|| began.elapsed());
        if is_there {
            self.sent_bytes += piece.len() as u64;
            if let PageOwner::Metrics(permit) = &self.owner {
                permit.wrote(piece.len() as u64);
            }
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
        let outcome = match &self.owner {
            _ if self.is_complete => ScrapeOutcome::Complete,
            PageOwner::Metrics(permit) if permit.is_ended() => {
                permit.report_ended(self.sent_bytes);
                ScrapeOutcome::Displaced
            }
            _ => ScrapeOutcome::Aborted,
        };
        let (format, coding) = self.written_as;
        let of = match self.owner {
            PageOwner::Metrics(_) => PageOf::Metrics,
            PageOwner::Probe(_) => PageOf::Probe,
        };
        let scrape = Scrape {
            of,
            format,
            coding,
            bytes: self.sent_bytes,
            took: self.began.elapsed(),
            first_piece: self.first_piece.unwrap_or_default(),
            cost: self.page.cost(),
        };
        self.scrapes.ended(outcome, &scrape);
    }
}

impl Answer {
    pub(super) fn empty() -> Self {
        Self::Ready(None)
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self::Ready(Some(Bytes::from(text)))
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        // Hyper asks only when the socket took the last piece. The encoder has the next one at hand; of a file it is read.
        let piece = match self.get_mut() {
            Self::Ready(bytes) => bytes.take(),
            Self::Page(page) => page.next(),
            Self::File(file) => ready!(file.poll_next(context)),
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
            Self::File(file) => SizeHint::with_exact(file.left_bytes()),
        }
    }
}
