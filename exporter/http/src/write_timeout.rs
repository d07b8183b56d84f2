use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// After the last byte of an answer the peer has so long to read it before the connection is closed. Closing it while
/// bytes of the peer are unread would take the answer back.
const GOODBYE: Duration = Duration::from_secs(1);
/// So much of what it still sends is thrown away meanwhile.
const GOODBYE_BYTES_MAX: usize = 1 << 20;

/// A stream whose reader may take nothing for so long, and take its time with what is there for so long.
pub(crate) struct WriteTimeout<S> {
    stream: S,
    patience: Duration,
    answer_time: Duration,
    /// Runs only while the peer takes nothing, and at the end.
    timer: Pin<Box<Sleep>>,
    is_waiting: bool,
    /// Since when there is something that the peer did not take.
    unsent_since: Option<Instant>,
    /// Nothing more is sent; so much was thrown away since.
    thrown_away_bytes: Option<usize>,
}

impl<S> WriteTimeout<S> {
    pub(crate) fn new(stream: S, patience: Duration, answer_time: Duration) -> Self {
        Self {
            stream,
            patience,
            answer_time,
            timer: Box::pin(tokio::time::sleep(patience)),
            is_waiting: false,
            unsent_since: None,
            thrown_away_bytes: None,
        }
    }

    /// Passes on what the stream says; after too many refusals in a row it is an error.
    fn judge<T>(&mut self, answer: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if answer.is_ready() {
            self.is_waiting = false;
            return answer;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            let now = Instant::now();
            let end = self.unsent_since.unwrap_or(now) + self.answer_time;
            self.timer.as_mut().reset(end.min(now + self.patience));
        }
        ready!(self.timer.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the reader takes nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.unsent_since.get_or_insert_with(Instant::now);
        let answer = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.judge(answer, context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.unsent_since.get_or_insert_with(Instant::now);
        let answer = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.judge(answer, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let answer = Pin::new(&mut this.stream).poll_flush(context);
        if answer.is_ready() {
            this.unsent_since = None;
        }
        this.judge(answer, context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let mut thrown_away_bytes = match this.thrown_away_bytes {
            Some(bytes) => bytes,
            None => {
                let shut = Pin::new(&mut this.stream).poll_shutdown(context);
                ready!(this.judge(shut, context))?;
                this.timer.as_mut().reset(Instant::now() + GOODBYE);
                0
            }
        };
        let mut room = [0; 4096];
        while thrown_away_bytes <= GOODBYE_BYTES_MAX {
            this.thrown_away_bytes = Some(thrown_away_bytes);
            let mut buffer = ReadBuf::new(&mut room);
            match Pin::new(&mut this.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    thrown_away_bytes += buffer.filled().len();
                }
                // The peer has closed it, too, or is gone.
                Poll::Ready(_) => break,
                Poll::Pending => {
                    ready!(this.timer.as_mut().poll(context));
                    break;
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_is_dropped_after_its_time() {
        let (ours, _theirs) = tokio::io::duplex(16);
        let mut with_timeout = WriteTimeout::new(ours, Duration::from_secs(30), Duration::from_secs(300));
        let began = Instant::now();
        let error = with_timeout.write_all(&[0; 64]).await.expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_that_goes_on_gets_everything() {
        let (ours, mut theirs) = tokio::io::duplex(16);
        let mut with_timeout = WriteTimeout::new(ours, Duration::from_secs(30), Duration::from_secs(300));
        let writer = async { with_timeout.write_all(&[0; 64]).await };
        let reader = async {
            let mut bytes = [0; 16];
            for _ in 0..4 {
                tokio::time::sleep(Duration::from_secs(29)).await;
                theirs.read_exact(&mut bytes).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(writer, reader);
        written.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_a_byte_now_and_then_is_dropped_at_the_end_of_its_time() {
        let (ours, mut theirs) = tokio::io::duplex(1);
        let mut with_timeout = WriteTimeout::new(ours, Duration::from_secs(30), Duration::from_secs(300));
        let reader = tokio::spawn(async move {
            while theirs.read_u8().await.is_ok() {
                tokio::time::sleep(Duration::from_secs(20)).await;
            }
        });
        let began = Instant::now();
        let error = with_timeout.write_all(&[0; 64]).await.expect_err("it would take 21 minutes");
        assert_eq!((error.kind(), began.elapsed().as_secs()), (io::ErrorKind::TimedOut, 300));
        drop(with_timeout);
        reader.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_sends_on_after_its_answer_is_heard_out_for_a_moment() {
        let (ours, mut theirs) = tokio::io::duplex(16);
        let mut with_timeout = WriteTimeout::new(ours, Duration::from_secs(30), Duration::from_secs(300));
        let began = Instant::now();
        with_timeout.write_all(b"no").await.unwrap();
        let sender = async {
            theirs.write_all(&[0; 256]).await.unwrap();
            let mut answer = Vec::new();
            theirs.read_to_end(&mut answer).await.unwrap();
            answer
        };
        let (shut, answer) = tokio::join!(with_timeout.shutdown(), sender);
        shut.unwrap();
        assert_eq!((answer.as_slice(), began.elapsed()), (&b"no"[..], GOODBYE));
    }
}
