use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::Stream;

/// Bytes read from and written to a stream. Clones share the counts, which can be read while the stream is in use.
#[derive(Clone, Debug, Default)]
pub struct ByteCounter(Arc<Totals>);

#[derive(Debug, Default)]
struct Totals {
    received: AtomicU64,
    sent: AtomicU64,
}

impl ByteCounter {
    /// Bytes read so far.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.0.received.load(Ordering::Relaxed)
    }

    /// Bytes written so far.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.0.sent.load(Ordering::Relaxed)
    }
}

/// A stream that counts its bytes.
#[derive(Debug)]
pub struct Counted<S> {
    inner: S,
    counter: ByteCounter,
}

impl<S: Stream> Counted<S> {
    pub fn new(inner: S) -> Self {
        Self { inner, counter: ByteCounter::default() }
    }

    /// The count, which stays valid after the stream is dropped.
    pub fn counter(&self) -> ByteCounter {
        self.counter.clone()
    }
}

impl<S: Stream> AsyncRead for Counted<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.inner).poll_read(cx, buf))?;
        this.counter.0.received.fetch_add((buf.filled().len() - before) as u64, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl<S: Stream> AsyncWrite for Counted<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.inner).poll_write(cx, bytes))?;
        this.counter.0.sent.fetch_add(written as u64, Ordering::Relaxed);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}
