use core::fmt;
use std::io;

use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout_at};
use transport::{BoxStream, read_once};

use crate::rpc_client::usability::Usability;
use crate::rpc_client::{Error, Operation, Transport};

const WHAT: &str = "the stream";

/// RPC directly over a stream, `ncacn_ip_tcp`.
pub struct TcpTransport {
    stream: BoxStream,
    usability: Usability,
}

impl TcpTransport {
    /// A transport over a stream to an RPC server.
    #[must_use]
    pub fn new(stream: BoxStream) -> Self {
        Self { stream, usability: Usability::Free }
    }

    async fn write(&mut self, pdu: &[u8]) -> io::Result<()> {
        self.stream.write_all(pdu).await?;
        self.stream.flush().await
    }

    async fn read(&mut self) -> io::Result<Vec<u8>> {
        let bytes = read_once(&mut self.stream, <[u8]>::to_vec).await?;
        if bytes.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
    }

    fn end<T>(
        &mut self,
        operation: Operation,
        outcome: Result<io::Result<T>, tokio::time::error::Elapsed>,
    ) -> Result<T, Error> {
        self.usability.end(match outcome {
            Err(_) => Err(Error::Timeout { operation }),
            Ok(Err(source)) => Err(Error::Stream { operation, source }),
            Ok(Ok(done)) => Ok(done),
        })
    }
}

impl Transport for TcpTransport {
    async fn send(&mut self, pdu: &[u8], operation: Operation, deadline: Instant) -> Result<(), Error> {
        self.usability.begin(operation, WHAT)?;
        let outcome = timeout_at(deadline, self.write(pdu)).await;
        self.end(operation, outcome)
    }

    async fn exchange(
        &mut self,
        pdu: &[u8],
        operation: Operation,
        deadline: Instant,
    ) -> Result<Vec<u8>, Error> {
        self.send(pdu, operation, deadline).await?;
        self.receive(operation, deadline).await
    }

    async fn receive(&mut self, operation: Operation, deadline: Instant) -> Result<Vec<u8>, Error> {
        self.usability.begin(operation, WHAT)?;
        let outcome = timeout_at(deadline, self.read()).await;
        self.end(operation, outcome)
    }
}

impl fmt::Debug for TcpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpTransport").field("usability", &self.usability).finish_non_exhaustive()
    }
}
