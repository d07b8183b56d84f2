//! READs of pipes, of which several may be in flight.

use ms_smb2::client::{Event, FileId, Reply};
use tokio::time::{Instant, timeout_at};
use tracing::{debug, trace};
use wire::NtStatus;

use crate::rpc_client::smb::connection::{SmbConnection, unexpected};
use crate::rpc_client::smb::{Awaited, Outcome, PipeRead};
use crate::rpc_client::{Error, Operation};

impl SmbConnection {
    /// The result of the oldest READ of a pipe. First sends READs until `wanted` of them are in flight, as far as
    /// the server's credits allow; at least one.
    pub(crate) async fn read(
        &mut self,
        file: FileId,
        wanted: usize,
        operation: Operation,
        deadline: Instant,
    ) -> Result<Vec<u8>, Error> {
        self.forget_abandoned(operation)?;
        self.awaited = Some(Awaited::Reads(file));
        match timeout_at(deadline, self.oldest_read(file, wanted, operation)).await {
            Ok(Ok(data)) => {
                self.awaited = None;
                Ok(data)
            }
            outcome => {
                self.cancel_now(operation).await;
                outcome.unwrap_or_else(|_passed| Err(self.timed_out(operation)))
            }
        }
    }

    /// The number of READs of a pipe whose results were not read.
    pub(crate) fn reads_in_flight(&self, file: FileId) -> usize {
        self.reads.iter().filter(|read| read.file == file).count()
    }

    /// Cancels the READs of a pipe whose reply is complete. The server may answer them late or never.
    pub(crate) async fn cancel_surplus(&mut self, file: FileId) {
        for read in self.reads.iter_mut().filter(|read| read.file == file) {
            read.is_surplus = true;
            if let Err(error) = self.smb.cancel(read.request) {
                debug!(%error, "READ was not cancelled");
            }
        }
        self.flush_now().await;
    }

    /// Cancels the READs of a pipe that is not used any more.
    pub(super) fn abandon_reads(&mut self, file: FileId) {
        for read in self.reads.extract_if(.., |read| read.file == file) {
            if let Err(error) = self.smb.cancel(read.request) {
                debug!(%error, "Abandoned READ was not cancelled");
            }
        }
    }

    /// The READs of a pipe that is being closed.
    pub(crate) fn forget_reads(&mut self, file: FileId) {
        self.reads.retain(|read| read.file != file);
    }

    /// Keeps the result of a READ for its pipe; returns every other event.
    pub(super) fn keep_read(&mut self, event: Event) -> Option<Event> {
        let request = match &event {
            Event::Completed { request, .. } | Event::SessionExpired { request } => *request,
            _ => return Some(event),
        };
        let Some(read) = self.reads.iter_mut().find(|read| read.request == request) else {
            return Some(event);
        };
        read.outcome = Some(match event {
            Event::Completed { result, .. } => Outcome::Answered(result),
            _ => Outcome::Expired,
        });
        None
    }

    async fn oldest_read(
        &mut self,
        file: FileId,
        wanted: usize,
        operation: Operation,
    ) -> Result<Vec<u8>, Error> {
        let mut repeated = 0;
        loop {
            self.issue_reads(file, wanted, operation)?;
            let Some(outcome) = self.take_oldest(file) else {
                self.progress(operation).await?;
                continue;
            };
            match outcome {
                (Outcome::Answered(Ok(Reply::Read { data, .. })), _) => return Ok(data),
                (Outcome::Answered(Ok(_)), _) => return Err(unexpected(operation)),
                (Outcome::Answered(Err(NtStatus::STATUS_CANCELLED)) | Outcome::Expired, true) => {}
                (Outcome::Answered(Err(status)), _) => return Err(self.refused_by(status, operation)),
                (Outcome::Expired, false) => {
                    self.drop_expired_reads(file, operation).await?;
                    self.authenticate_again(operation, &mut repeated).await?;
                }
            }
        }
    }

    fn issue_reads(&mut self, file: FileId, wanted: usize, operation: Operation) -> Result<(), Error> {
        let mut in_flight = self.reads_in_flight(file);
        while in_flight == 0 || (in_flight < wanted && self.smb.spare_requests() > 0) {
            let request =
                self.smb.read(file, READ_BYTES_MAX).map_err(|source| Error::Smb { operation, source })?;
            self.reads.push(PipeRead { request, file, is_surplus: false, outcome: None });
            self.count_request();
            in_flight += 1;
        }
        Ok(())
    }

    /// The outcome of the oldest READ of a pipe, if it was answered, and whether it was surplus.
    fn take_oldest(&mut self, file: FileId) -> Option<(Outcome, bool)> {
        let at = self.reads.iter().position(|read| read.file == file)?;
        let outcome = self.reads[at].outcome.take()?;
        Some((outcome, self.reads.remove(at).is_surplus))
    }

    /// A server refuses all requests that were sent after a session expired. Those READs got no data from the pipe,
    /// so dropping them keeps the order of the others.
    async fn drop_expired_reads(&mut self, file: FileId, operation: Operation) -> Result<(), Error> {
        while self.reads.iter().any(|read| read.file == file && read.outcome.is_none()) {
            self.progress(operation).await?;
        }
        self.reads.retain(|read| read.file != file || !matches!(read.outcome, Some(Outcome::Expired)));
        Ok(())
    }

    /// Reads and writes until the next event of any kind.
    async fn progress(&mut self, operation: Operation) -> Result<(), Error> {
        match self.any_event(operation).await? {
            None => {}
            Some(Event::Completed { result: Ok(Reply::Created(file)), .. }) => self.drop_pipe(file),
            Some(other) => trace!(?other, "Late or interim answer ignored"),
        }
        Ok(())
    }
}

/// Fits any fragment ([MS-RPCE] limits one to 65,535 bytes) and costs one credit.
pub(crate) const READ_BYTES_MAX: u32 = 64 * 1024;
