//! How requests and bytes move.

use std::io;
use std::sync::PoisonError;

use ms_smb2::client::{ClientConnection, Event, FileId, Reply, RequestId};
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout_at};
use tracing::{debug, trace};

use crate::smb::connection::{SmbConnection, State};
use crate::stream::read_once;
use crate::{Error, Operation};

impl SmbConnection {
    /// Makes one request and awaits its answer, authenticating again where the session has expired meanwhile.
    pub(crate) async fn request(
        &mut self,
        operation: Operation,
        deadline: Instant,
        issue: impl Fn(&mut ClientConnection) -> Result<RequestId, ms_smb2::Error> + Send,
    ) -> Result<Reply, Error> {
        self.forget_abandoned(operation)?;
        match timeout_at(deadline, self.converse(operation, issue)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                self.cancel_now(operation).await;
                Err(Error::Timeout { operation })
            }
        }
    }

    async fn converse(
        &mut self,
        operation: Operation,
        issue: impl Fn(&mut ClientConnection) -> Result<RequestId, ms_smb2::Error> + Send,
    ) -> Result<Reply, Error> {
        let mut repeated = 0;
        let mut request = self.issue(operation, &issue)?;
        loop {
            match self.event(operation).await? {
                Event::Completed { request: answered, result } if answered == request => {
                    self.awaited = None;
                    return result.map_err(|status| Error::Status { operation, status });
                }
                Event::SessionExpired { request: refused } if refused == request => {
                    self.awaited = None;
                    repeated += 1;
                    if repeated > self.options.reauthentications_max {
                        return Err(Error::Protocol {
                            operation,
                            reason: "the session expires again and again",
                        });
                    }
                    debug!(%operation, "Session expired, authenticating again");
                    self.exchange_tokens().await?;
                    request = self.issue(operation, &issue)?;
                }
                Event::Completed { result: Ok(Reply::Created(file)), .. } => self.drop_pipe(file),
                other => trace!(?other, "Late or interim answer passed over"),
            }
        }
    }

    fn issue(
        &mut self,
        operation: Operation,
        issue: &impl Fn(&mut ClientConnection) -> Result<RequestId, ms_smb2::Error>,
    ) -> Result<RequestId, Error> {
        let request = issue(&mut self.smb).map_err(|source| Error::Smb { operation, source })?;
        self.awaited = Some(request);
        self.requests += 1;
        Ok(request)
    }

    /// Clears away what earlier calls left behind: a request that nobody awaits, pipes that nobody holds.
    fn forget_abandoned(&mut self, operation: Operation) -> Result<(), Error> {
        if self.state != State::Ready {
            return Err(Error::Abandoned { operation, what: "the connection" });
        }
        if let Some(request) = self.awaited.take()
            && let Err(error) = self.smb.cancel(request)
        {
            debug!(%error, "Abandoned request was not cancelled");
        }
        let dropped = std::mem::take(&mut *self.dropped_pipes.lock().unwrap_or_else(PoisonError::into_inner));
        for file in dropped {
            // The answer is passed over.
            if let Err(error) = self.smb.close(file) {
                debug!(%error, "Dropped pipe was not closed");
            }
        }
        Ok(())
    }

    /// A pipe that was opened for somebody who had given up by then.
    fn drop_pipe(&self, file: FileId) {
        self.dropped_pipes.lock().unwrap_or_else(PoisonError::into_inner).push(file);
    }

    /// Cancels what is awaited, and writes as much of the cancellation as the stream takes without waiting.
    async fn cancel_now(&mut self, operation: Operation) {
        if self.forget_abandoned(operation).is_ok() {
            // A deadline in the past polls once.
            let _written_later = timeout_at(Instant::now(), self.flush()).await;
        }
    }

    /// The next event: writes what waits to be written, then reads until something happens.
    pub(super) async fn event(&mut self, operation: Operation) -> Result<Event, Error> {
        let outcome = self.next_event(operation).await;
        if outcome.is_err() {
            self.state = State::Broken;
        }
        outcome
    }

    async fn next_event(&mut self, operation: Operation) -> Result<Event, Error> {
        loop {
            let stream_failed = |source| Error::Stream { operation, source };
            self.flush().await.map_err(stream_failed)?;
            if let Some(event) = self.smb.poll_event() {
                return Ok(event);
            }
            let smb = &mut self.smb;
            let taken = read_once(&mut self.stream, |bytes| match bytes {
                [] => Err(smb.handle_eof()),
                bytes => smb.handle_bytes(bytes),
            });
            let taken = taken.await.map_err(stream_failed)?;
            taken.map_err(|source| Error::Smb { operation, source })?;
        }
    }

    /// Writes every frame that waits, each in one piece. May be dropped and called again.
    async fn flush(&mut self) -> io::Result<()> {
        loop {
            while self.outgoing_sent < self.outgoing.len() {
                let len = self.stream.write(&self.outgoing[self.outgoing_sent..]).await?;
                if len == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                self.outgoing_sent += len;
            }
            self.outgoing_sent = 0;
            self.outgoing = Vec::new();
            match self.smb.poll_transmit() {
                Some(frame) => self.outgoing = frame,
                None => return self.stream.flush().await,
            }
        }
    }
}
