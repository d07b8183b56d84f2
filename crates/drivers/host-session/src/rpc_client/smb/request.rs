//! Sends requests and receives answers.

use std::io;

use ms_smb2::client::{ClientConnection, Event, FileId, Reply, RequestId};
use ssp::Credentials;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout_at};
use tracing::{debug, trace};
use transport::read_once;
use wire::NtStatus;

use crate::rpc_client::smb::Awaited;
use crate::rpc_client::smb::connection::{SmbConnection, State};
use crate::rpc_client::{Error, ErrorKind, Operation};

impl SmbConnection {
    /// Makes one request and awaits its answer. Authenticates again if the session has expired meanwhile.
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
                Err(self.timed_out(operation))
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
                    return result.map_err(|status| self.refused_by(status, operation));
                }
                Event::SessionExpired { request: refused } if refused == request => {
                    self.awaited = None;
                    self.authenticate_again(operation, &mut repeated).await?;
                    request = self.issue(operation, &issue)?;
                }
                Event::Completed { result: Ok(Reply::Created(file)), .. } => self.drop_pipe(file),
                other => trace!(?other, "Late or interim answer ignored"),
            }
        }
    }

    /// Authenticates because the session has expired. `repeated` counts how often this happened in one call.
    pub(super) async fn authenticate_again(
        &mut self,
        operation: Operation,
        repeated: &mut usize,
    ) -> Result<(), Error> {
        *repeated += 1;
        if *repeated > self.options.reauthentications_max {
            return Err(Error::Protocol { operation, reason: "the session expires again and again" });
        }
        if matches!(self.credentials, Some(Credentials::Principal(_))) {
            // A KDC would be asked with a key that nobody leases now. Who connects again leases it.
            let by = ErrorKind::ConnectionLost;
            self.state = State::Broken(by);
            return Err(Error::Ended { operation, what: "the session", by });
        }
        debug!(%operation, "Session expired, authenticating again");
        self.exchange_tokens().await
    }

    /// The error of a request that the server refused, which may be the end of the connection.
    pub(super) fn refused_by(&mut self, status: NtStatus, operation: Operation) -> Error {
        let error = Error::Status { operation, status };
        if error.kind() == ErrorKind::ConnectionLost {
            self.state = State::Broken(error.kind());
        }
        error
    }

    fn issue(
        &mut self,
        operation: Operation,
        issue: &impl Fn(&mut ClientConnection) -> Result<RequestId, ms_smb2::Error>,
    ) -> Result<RequestId, Error> {
        let request = issue(&mut self.smb).map_err(|source| Error::Smb { operation, source })?;
        self.awaited = Some(Awaited::Request(request));
        self.requests += 1;
        Ok(request)
    }

    /// Cancels abandoned requests and closes dropped pipes of earlier calls.
    pub(super) fn forget_abandoned(&mut self, operation: Operation) -> Result<(), Error> {
        if self.state != State::Ready {
            return Err(self.unusable(operation));
        }
        match self.awaited.take() {
            None => {}
            Some(Awaited::Reads(file)) => self.abandon_reads(file),
            Some(Awaited::Request(request)) => {
                if let Err(error) = self.smb.cancel(request) {
                    debug!(%error, "Abandoned request was not cancelled");
                }
            }
        }
        let dropped = std::mem::take(&mut *self.dropped_pipes.lock());
        for file in dropped {
            self.forget_reads(file);
            // The answer is ignored.
            if let Err(error) = self.smb.close(file) {
                debug!(%error, "Dropped pipe was not closed");
            }
        }
        Ok(())
    }

    /// Closes a pipe that was opened for an abandoned call.
    pub(super) fn drop_pipe(&self, file: FileId) {
        self.dropped_pipes.lock().push(file);
    }

    /// Cancels the awaited request, and writes as much of the cancellation as the stream takes without waiting.
    pub(super) async fn cancel_now(&mut self, operation: Operation) {
        if self.forget_abandoned(operation).is_ok() {
            self.flush_now().await;
        }
    }

    /// Writes what the stream takes without waiting. The rest is written by the next call.
    pub(super) async fn flush_now(&mut self) {
        // A deadline in the past polls once.
        let _written_later = timeout_at(Instant::now(), self.flush()).await;
    }

    /// The next event that is not the answer to a READ: writes pending frames, then reads until there is an event.
    pub(super) async fn event(&mut self, operation: Operation) -> Result<Event, Error> {
        loop {
            if let Some(event) = self.any_event(operation).await? {
                return Ok(event);
            }
        }
    }

    /// The same; `None` if a READ was answered, whose result is kept for its pipe.
    pub(super) async fn any_event(&mut self, operation: Operation) -> Result<Option<Event>, Error> {
        match self.next_event(operation).await {
            Ok(event) => {
                if let Event::Completed { result: Err(NtStatus::STATUS_NETWORK_NAME_DELETED), .. } = event {
                    // There is one tree, and all pipes are in it.
                    self.state = State::Broken(ErrorKind::ConnectionLost);
                }
                Ok(self.keep_read(event))
            }
            Err(error) => {
                self.state = State::Broken(error.kind());
                Err(error)
            }
        }
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

    /// Writes every pending frame, each in one piece. May be dropped and called again.
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
