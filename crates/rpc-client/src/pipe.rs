use std::future::Future;
use std::sync::{Arc, PoisonError};

use ms_smb2::client::{FileId, Reply};
use tokio::time::{Instant, timeout_at};
use tracing::debug;

use crate::smb::{DroppedPipes, SharedSmbConnection, SmbConnection};
use crate::{Error, Operation};

/// What an association needs of its transport.
///
/// Bytes that come in are handed on as they came: one PDU, a part of one, or several. `operation` is what the
/// association is doing, for errors.
pub trait Transport: Send {
    /// Sends one PDU that has no answer of its own.
    fn send(
        &mut self,
        pdu: &[u8],
        operation: Operation,
        deadline: Instant,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Sends one PDU and receives the beginning of its answer.
    fn exchange(
        &mut self,
        pdu: &[u8],
        operation: Operation,
        deadline: Instant,
    ) -> impl Future<Output = Result<Vec<u8>, Error>> + Send;

    /// Receives more.
    fn receive(
        &mut self,
        operation: Operation,
        deadline: Instant,
    ) -> impl Future<Output = Result<Vec<u8>, Error>> + Send;
}

/// An open named pipe.
///
/// A PDU that wants an answer goes as `FSCTL_PIPE_TRANSCEIVE`, one round trip; one that does not goes as a write;
/// what is longer than a transceive's answer is read. A pipe in message mode and one in byte mode look alike from
/// here, since whoever uses it puts the PDUs together by their own lengths.
///
/// One request at a time: a server may work on several at once, and the fragments that two reads of one pipe get
/// could then come exchanged, with nothing that tells which is the first. So an answer of many fragments takes a
/// round trip for each.
#[derive(Debug)]
pub struct NamedPipe {
    connection: SharedSmbConnection,
    file: FileId,
    name: String,
    /// Set while something is under way: what was sent may have an answer that nobody took.
    is_busy: bool,
    is_closed: bool,
    answer_bytes_max: u32,
    dropped_pipes: DroppedPipes,
}

impl NamedPipe {
    /// Opens the pipe `name`, without `\PIPE\`. One attempt.
    ///
    /// # Errors
    /// [`Error::Status`] with the server's reason where it refuses.
    pub async fn open(
        connection: &SharedSmbConnection,
        name: &str,
        deadline: Instant,
    ) -> Result<Self, Error> {
        let operation = Operation::OpenPipe;
        let mut smb =
            timeout_at(deadline, connection.lock()).await.map_err(|_| Error::Timeout { operation })?;
        let file = smb.create_pipe(name, deadline).await?;
        debug!(name, "Pipe opened");
        Ok(Self {
            connection: Arc::clone(connection),
            file,
            name: name.to_owned(),
            is_busy: false,
            is_closed: false,
            answer_bytes_max: ANSWER_BYTES_MAX,
            dropped_pipes: smb.dropped_pipes(),
        })
    }

    /// Closes the pipe at the server. One that is only dropped is closed by the connection's next call.
    ///
    /// # Errors
    /// When the server does not confirm in time.
    pub async fn close(mut self, deadline: Instant) -> Result<(), Error> {
        let operation = Operation::ClosePipe;
        let mut smb =
            timeout_at(deadline, self.connection.lock()).await.map_err(|_| Error::Timeout { operation })?;
        self.is_closed = true;
        smb.request(operation, deadline, |smb| smb.close(self.file)).await.map(|_| ())
    }

    /// The pipe's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The connection underneath.
    #[must_use]
    pub const fn connection(&self) -> &SharedSmbConnection {
        &self.connection
    }

    async fn request(
        &mut self,
        operation: Operation,
        deadline: Instant,
        ask: impl Fn(&mut ms_smb2::client::ClientConnection) -> Result<ms_smb2::client::RequestId, ms_smb2::Error>
        + Send,
    ) -> Result<Reply, Error> {
        if self.is_busy {
            return Err(Error::Abandoned { operation, what: "the pipe" });
        }
        self.is_busy = true;
        let mut smb: tokio::sync::MutexGuard<'_, SmbConnection> =
            timeout_at(deadline, self.connection.lock()).await.map_err(|_| Error::Timeout { operation })?;
        let reply = smb.request(operation, deadline, ask).await?;
        drop(smb);
        self.is_busy = false;
        Ok(reply)
    }
}

impl Drop for NamedPipe {
    fn drop(&mut self) {
        if !self.is_closed {
            self.dropped_pipes.lock().unwrap_or_else(PoisonError::into_inner).push(self.file);
        }
    }
}

impl Transport for NamedPipe {
    async fn send(&mut self, pdu: &[u8], operation: Operation, deadline: Instant) -> Result<(), Error> {
        let file = self.file;
        let mut rest = pdu;
        while !rest.is_empty() {
            match self.request(operation, deadline, |smb| smb.write(file, rest)).await? {
                Reply::Written(len) => {
                    let len = usize::try_from(len).unwrap_or(usize::MAX);
                    rest = match rest.get(len..) {
                        Some(after) if len > 0 => after,
                        _ => {
                            return Err(Error::Protocol {
                                operation,
                                reason: "the pipe took an impossible length",
                            });
                        }
                    };
                }
                _ => return Err(crate::smb::unexpected(operation)),
            }
        }
        Ok(())
    }

    async fn exchange(
        &mut self,
        pdu: &[u8],
        operation: Operation,
        deadline: Instant,
    ) -> Result<Vec<u8>, Error> {
        let (file, max) = (self.file, self.answer_bytes_max);
        match self.request(operation, deadline, |smb| smb.transceive(file, pdu, max)).await? {
            Reply::Transceived { data, .. } => Ok(data),
            _ => Err(crate::smb::unexpected(operation)),
        }
    }

    async fn receive(&mut self, operation: Operation, deadline: Instant) -> Result<Vec<u8>, Error> {
        let (file, max) = (self.file, self.answer_bytes_max);
        match self.request(operation, deadline, |smb| smb.read(file, max)).await? {
            Reply::Read { data, .. } => Ok(data),
            _ => Err(crate::smb::unexpected(operation)),
        }
    }
}

/// Holds any fragment ([MS-RPCE] limits one to 65,535 bytes) and costs one credit.
const ANSWER_BYTES_MAX: u32 = 64 * 1024;
