use std::future::Future;
use std::sync::Arc;

use ms_smb2::client::{ClientConnection, FileId, Reply, RequestId};
use tokio::sync::MutexGuard;
use tokio::time::{Instant, timeout_at};
use tracing::debug;

use super::Usability;
use crate::rpc_client::read_ahead::ReadAhead;
use crate::rpc_client::smb::{DroppedPipes, READ_BYTES_MAX, SharedSmbConnection, SmbConnection};
use crate::rpc_client::{Error, Operation};

const WHAT: &str = "the pipe";

/// The transport of an association.
///
/// Received bytes are passed on as they arrive: one PDU, a part of one, or several. `operation` is the
/// association's operation, for errors.
pub trait Transport: Send {
    /// Sends one PDU that has no answer of its own.
    fn send(
        &mut self,
        pdu: &[u8],
        operation: Operation,
        deadline: Instant,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Sends one PDU and receives the beginning of its answer; a transport may do so in one round trip.
    fn exchange(
        &mut self,
        pdu: &[u8],
        operation: Operation,
        deadline: Instant,
    ) -> impl Future<Output = Result<Vec<u8>, Error>> + Send {
        async move {
            self.send(pdu, operation, deadline).await?;
            self.receive(operation, deadline).await
        }
    }

    fn receive(
        &mut self,
        operation: Operation,
        deadline: Instant,
    ) -> impl Future<Output = Result<Vec<u8>, Error>> + Send;
}

/// An open named pipe.
///
/// A PDU with an answer is sent with `FSCTL_PIPE_TRANSCEIVE`, in one round trip; one without is written. The rest
/// of a longer answer is read. Message mode and byte mode make no difference, because the association assembles
/// PDUs by their own lengths.
///
/// An answer of many fragments is read by several READs at once (`ReadAhead` says how many, and keeps the order),
/// so that it does not take a round trip for each fragment. READs without data, because the answer ended before
/// them, are cancelled. If the server ignores that or is late, they return the beginning of the next answer. So if
/// there are any, the next call is sent as a write, and their results are used first.
#[derive(Debug)]
pub struct NamedPipe {
    connection: SharedSmbConnection,
    file: FileId,
    name: String,
    usability: Usability,
    is_closed: bool,
    read_ahead: ReadAhead,
    dropped_pipes: DroppedPipes,
}

impl NamedPipe {
    /// Opens the pipe `name`, without `\PIPE\`. One attempt.
    ///
    /// # Errors [`Error::Status`] with the server's reason if it refuses.
    pub async fn open(
        connection: &SharedSmbConnection,
        name: &str,
        deadline: Instant,
    ) -> Result<Self, Error> {
        let mut smb = connected(connection, Operation::OpenPipe, deadline).await?;
        let file = smb.create_pipe(name, deadline).await?;
        debug!(name, "Pipe opened");
        Ok(Self {
            connection: Arc::clone(connection),
            file,
            name: name.to_owned(),
            usability: Usability::Free,
            is_closed: false,
            read_ahead: ReadAhead::default(),
            dropped_pipes: smb.dropped_pipes(),
        })
    }

    /// Closes the pipe at the server. One that is only dropped is closed by the connection's next call.
    ///
    /// # Errors If the server does not confirm in time.
    pub async fn close(mut self, deadline: Instant) -> Result<(), Error> {
        let operation = Operation::ClosePipe;
        let mut smb = connected(&self.connection, operation, deadline).await?;
        self.is_closed = true;
        smb.forget_reads(self.file);
        smb.request(operation, deadline, |smb| smb.close(self.file)).await.map(|_| ())
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub const fn connection(&self) -> &SharedSmbConnection {
        &self.connection
    }

    async fn request(
        &mut self,
        operation: Operation,
        deadline: Instant,
        ask: impl Fn(&mut ClientConnection) -> Result<RequestId, ms_smb2::Error> + Send,
    ) -> Result<Reply, Error> {
        self.usability.begin(operation, WHAT)?;
        let reply = match connected(&self.connection, operation, deadline).await {
            Ok(mut smb) => smb.request(operation, deadline, ask).await,
            Err(error) => Err(error),
        };
        self.usability.end(reply)
    }

    /// Reads until there is something to pass on.
    async fn read(&mut self, operation: Operation, deadline: Instant) -> Result<Vec<u8>, Error> {
        self.usability.begin(operation, WHAT)?;
        let part = self.next_part(operation, deadline).await;
        self.usability.end(part)
    }

    async fn next_part(&mut self, operation: Operation, deadline: Instant) -> Result<Vec<u8>, Error> {
        let file = self.file;
        loop {
            if let Some(part) = self.read_ahead.pop() {
                return Ok(part);
            }
            let mut smb = connected(&self.connection, operation, deadline).await?;
            let message = smb.read(file, self.read_ahead.wanted(), operation, deadline).await?;
            let others = smb.reads_in_flight(file);
            self.read_ahead.push(message, others);
            if others > 0 && self.read_ahead.is_over() {
                self.read_ahead.distrust();
                smb.cancel_surplus(file).await;
            }
        }
    }
}

/// The connection for one request.
async fn connected(
    connection: &SharedSmbConnection,
    operation: Operation,
    deadline: Instant,
) -> Result<MutexGuard<'_, SmbConnection>, Error> {
    timeout_at(deadline, connection.lock()).await.map_err(|_| Error::Timeout { operation })
}

impl Drop for NamedPipe {
    fn drop(&mut self) {
        if !self.is_closed {
            self.dropped_pipes.lock().push(self.file);
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
                _ => return Err(crate::rpc_client::smb::unexpected(operation)),
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
        self.read_ahead.begin();
        let file = self.file;
        let left_over = connected(&self.connection, operation, deadline).await?.reads_in_flight(file);
        if left_over > 0 {
            self.send(pdu, operation, deadline).await?;
            return self.read(operation, deadline).await;
        }
        let ask = |smb: &mut ClientConnection| smb.transceive(file, pdu, READ_BYTES_MAX);
        match self.request(operation, deadline, ask).await? {
            Reply::Transceived { data, .. } => {
                self.read_ahead.push(data, 0);
                self.read(operation, deadline).await
            }
            _ => Err(crate::rpc_client::smb::unexpected(operation)),
        }
    }

    async fn receive(&mut self, operation: Operation, deadline: Instant) -> Result<Vec<u8>, Error> {
        self.read(operation, deadline).await
    }
}
