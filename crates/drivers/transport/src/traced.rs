use core::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tracing::{debug, trace};

use crate::{Endpoint, Stream};

/// What [`Traced`] logs. By default lengths without contents.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceOptions {
    /// Bytes of each read and write that are printed in hexadecimal.
    pub hex_bytes_max: usize,
}

/// A stream that logs its traffic with `tracing`: each read and write at trace, its end at debug.
///
/// It sees only the bytes on the wire, so it never logs a password. But an unsealed connection may carry sensitive
/// data: log contents only if you need them.
#[derive(Debug)]
pub struct Traced<S> {
    inner: S,
    endpoint: Endpoint,
    options: TraceOptions,
    received_bytes: u64,
    sent_bytes: u64,
}

impl<S: Stream> Traced<S> {
    /// Logs the traffic of `inner`, a stream to `endpoint`.
    pub const fn new(inner: S, endpoint: Endpoint, options: TraceOptions) -> Self {
        Self { inner, endpoint, options, received_bytes: 0, sent_bytes: 0 }
    }

    fn hex<'a>(&self, bytes: &'a [u8]) -> Hex<'a> {
        Hex { bytes, shown_bytes_max: self.options.hex_bytes_max }
    }
}

impl<S: Stream> AsyncRead for Traced<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let outcome = ready!(Pin::new(&mut this.inner).poll_read(cx, buf));
        let bytes = buf.filled().get(before..).unwrap_or_default();
        let (endpoint, offset) = (&this.endpoint, this.received_bytes);
        match &outcome {
            Ok(()) if bytes.is_empty() => debug!(%endpoint, offset, "Stream ended by the peer"),
            Ok(()) => trace!(%endpoint, offset, len = bytes.len(), hex = %this.hex(bytes), "Received"),
            Err(error) => debug!(%endpoint, offset, %error, "Stream broken while reading"),
        }
        this.received_bytes += bytes.len() as u64;
        Poll::Ready(outcome)
    }
}

impl<S: Stream> AsyncWrite for Traced<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = ready!(Pin::new(&mut this.inner).poll_write(cx, bytes));
        let (endpoint, offset) = (&this.endpoint, this.sent_bytes);
        match &outcome {
            Ok(len) => {
                let sent = bytes.get(..*len).unwrap_or_default();
                trace!(%endpoint, offset, len, hex = %this.hex(sent), "Sent");
                this.sent_bytes += *len as u64;
            }
            Err(error) => debug!(%endpoint, offset, %error, "Stream broken while writing"),
        }
        Poll::Ready(outcome)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}

impl<S> Drop for Traced<S> {
    fn drop(&mut self) {
        let Self { endpoint, received_bytes, sent_bytes, .. } = self;
        debug!(%endpoint, received_bytes, sent_bytes, "Stream closed");
    }
}

/// Formats the first bytes in hexadecimal, without a heap copy, only if the event is enabled.
struct Hex<'a> {
    bytes: &'a [u8],
    shown_bytes_max: usize,
}

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.bytes.len().min(self.shown_bytes_max);
        for byte in self.bytes.iter().take(shown) {
            write!(f, "{byte:02x}")?;
        }
        if shown < self.bytes.len() { f.write_str("…") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_stops_at_its_limit() {
        let text = |shown_bytes_max| Hex { bytes: &[1, 0xab, 3], shown_bytes_max }.to_string();
        assert_eq!(text(0), "…");
        assert_eq!(text(2), "01ab…");
        assert_eq!(text(3), "01ab03");
    }
}
