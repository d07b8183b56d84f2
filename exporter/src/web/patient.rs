use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// A stream whose reader may take nothing for so long, and no longer.
pub(super) struct Patient<S> {
    stream: S,
    patience: Duration,
    /// Runs only while the peer takes nothing.
    timer: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, timer: Box::pin(tokio::time::sleep(patience)), is_waiting: false }
    }

    /// Passes on what the stream says; after too many refusals in a row it is an error.
    fn judge<T>(&mut self, answer: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if answer.is_ready() {
            self.is_waiting = false;
            return answer;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.timer.as_mut().reset(Instant::now() + self.patience);
        }
        ready!(self.timer.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the reader takes nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let answer = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.judge(answer, context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let answer = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.judge(answer, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let answer = Pin::new(&mut this.stream).poll_flush(context);
        this.judge(answer, context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_is_dropped_after_its_time() {
        let (ours, _theirs) = tokio::io::duplex(16);
        let mut patient = Patient::new(ours, Duration::from_secs(30));
        let began = Instant::now();
        let error = patient.write_all(&[0; 64]).await.expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_that_goes_on_gets_everything() {
        let (ours, mut theirs) = tokio::io::duplex(16);
        let mut patient = Patient::new(ours, Duration::from_secs(30));
        let writer = async { patient.write_all(&[0; 64]).await };
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
}
