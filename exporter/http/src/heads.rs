//! The heads of requests, checked before anything else of them is read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// A longer URI is answered 414.
pub(crate) const URI_BYTES_MAX: usize = 8 << 10;
/// Of a request's first line so much is passed on, which is enough to see that its URI is too long.
const FIRST_LINE_BYTES_MAX: usize = URI_BYTES_MAX + 512;

/// What a peer of HTTP/1 sends, where nothing has a body and so heads follow each other.
///
/// * A line ends with CR LF. Whoever takes a lone LF for an end as well sees other requests than a proxy that does not,
///   which is what smuggling lives on; it is passed on as a NUL, which the parser refuses with 400.
/// * A URI that is far too long is cut, so that it can be answered and not only dropped.
/// * A head is there so soon after its first byte, and the first head so soon after the connection.
pub(crate) struct Heads<S> {
    stream: S,
    time: Duration,
    timer: Pin<Box<Sleep>>,
    place: Place,
    line_bytes: usize,
    /// Of the line; the URI comes after the first one.
    spaces: usize,
    last: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The last head is complete, and nothing of the next one is there.
    Between,
    FirstLine,
    Fields,
}

impl<S> Heads<S> {
    pub(crate) fn new(stream: S, time: Duration) -> Self {
        let timer = Box::pin(tokio::time::sleep(time));
        Self { stream, time, timer, place: Place::FirstLine, line_bytes: 0, spaces: 0, last: 0 }
    }

    /// Goes through new bytes, and answers how many of them are left.
    pub(crate) fn check(&mut self, bytes: &mut [u8]) -> usize {
        let mut kept = 0;
        for index in 0..bytes.len() {
            let byte = bytes[index];
            if self.place == Place::Between {
                self.place = Place::FirstLine;
                self.timer.as_mut().reset(Instant::now() + self.time);
            }
            let is_end = byte == b'\n' && self.last == b'\r';
            let is_in_uri = self.place == Place::FirstLine && self.spaces == 1;
            let is_cut = is_in_uri && self.line_bytes >= FIRST_LINE_BYTES_MAX && !byte.is_ascii_whitespace();
            if !is_cut {
                bytes[kept] = if byte == b'\n' && !is_end { 0 } else { byte };
                kept += 1;
            }
            self.last = byte;
            self.spaces += usize::from(byte == b' ');
            if !is_end {
                self.line_bytes += 1;
                continue;
            }
            // The CR was counted.
            let is_empty = self.line_bytes == 1;
            (self.line_bytes, self.spaces) = (0, 0);
            self.place = match self.place {
                // Empty lines before a request are ignored.
                Place::FirstLine if is_empty => Place::FirstLine,
                Place::Fields if is_empty => Place::Between,
                _ => Place::Fields,
            };
        }
        kept
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Heads<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            let before = buffer.filled().len();
            let Poll::Ready(read) = Pin::new(&mut this.stream).poll_read(context, buffer) else {
                if this.place != Place::Between {
                    ready!(this.timer.as_mut().poll(context));
                    let late =
                        io::Error::new(io::ErrorKind::TimedOut, "the head of the request takes too long");
                    return Poll::Ready(Err(late));
                }
                return Poll::Pending;
            };
            read?;
            let new = &mut buffer.filled_mut()[before..];
            let (received, kept) = (new.len(), this.check(new));
            buffer.set_filled(before + kept);
            // Nothing at all would mean the end.
            if kept > 0 || received == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Heads<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const TIME: Duration = Duration::from_secs(10);

    /// What is passed on of `sent`, whatever the sizes of the pieces.
    async fn passed(sent: &[u8]) -> Vec<u8> {
        let mut outcomes = Vec::new();
        for piece in [1, 3, 64 << 10] {
            let mut heads = Heads::new(tokio_test_stream(sent, piece), TIME);
            let mut passed = Vec::new();
            heads.read_to_end(&mut passed).await.unwrap();
            outcomes.push(passed);
        }
        assert!(outcomes.windows(2).all(|pair| pair[0] == pair[1]));
        outcomes.remove(0)
    }

    fn tokio_test_stream(sent: &[u8], piece: usize) -> tokio::io::DuplexStream {
        let (ours, mut theirs) = tokio::io::duplex(piece);
        let sent = sent.to_vec();
        tokio::spawn(async move { theirs.write_all(&sent).await });
        ours
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_right_is_passed_on_as_it_is() {
        let sent = b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n";
        assert_eq!(passed(sent).await, sent);
    }

    #[tokio::test(start_paused = true)]
    async fn a_lone_line_feed_is_poisoned() {
        let sent = b"GET / HTTP/1.1\nHost: a\r\nX: b\nY: c\r\n\n";
        assert_eq!(passed(sent).await, b"GET / HTTP/1.1\0Host: a\r\nX: b\0Y: c\r\n\0");
    }

    #[tokio::test(start_paused = true)]
    async fn of_a_long_uri_the_beginning_is_passed_on() {
        let sent = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(4 * FIRST_LINE_BYTES_MAX));
        let passed = String::from_utf8(passed(sent.as_bytes()).await).unwrap();
        let (line, rest) = passed.split_once("\r\n").unwrap();
        let uri = line.strip_prefix("GET ").unwrap().strip_suffix(" HTTP/1.1").unwrap();
        assert!(uri.len() > URI_BYTES_MAX && line.len() < FIRST_LINE_BYTES_MAX + 16, "{}", uri.len());
        assert_eq!(rest, "Host: a\r\n\r\n");
    }

    #[tokio::test(start_paused = true)]
    async fn half_a_head_is_waited_for_and_a_next_one_is_not() {
        let (ours, mut theirs) = tokio::io::duplex(1024);
        let mut heads = Heads::new(ours, TIME);
        let began = Instant::now();
        let mut bytes = [0; 1024];
        theirs.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        assert!(heads.read(&mut bytes).await.unwrap() > 0);
        // Idle for longer than a head may take.
        let next = async {
            tokio::time::sleep(3 * TIME).await;
            theirs.write_all(b"GET").await.unwrap();
        };
        let (read, ()) = tokio::join!(heads.read(&mut bytes), next);
        assert_eq!(read.unwrap(), 3);
        let error = heads.read(&mut bytes).await.unwrap_err();
        assert_eq!((error.kind(), began.elapsed()), (io::ErrorKind::TimedOut, 4 * TIME));
    }

    #[tokio::test(start_paused = true)]
    async fn a_first_head_that_never_comes_is_not_waited_for() {
        let (ours, _theirs) = tokio::io::duplex(1024);
        let error = Heads::new(ours, TIME).read(&mut [0; 16]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
