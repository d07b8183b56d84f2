use ms_dtyp::NtStatus;

use crate::Error;
use crate::server::{AuthReply, FileId, RequestId, ServerConfig, ServerEvent, SessionId};

/// A server's connection.
#[derive(Debug)]
pub struct ServerConnection {
    config: ServerConfig,
}

#[expect(
    unused_variables,
    missing_docs,
    clippy::missing_const_for_fn,
    clippy::unused_self,
    reason = "the interface before its body"
)]
impl ServerConnection {
    pub fn new(config: ServerConfig) -> Self {
        Self { config }
    }
    pub fn handle_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        Err(Error::Closed)
    }
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        None
    }
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        None
    }
    pub fn authenticate(&mut self, session: SessionId, reply: AuthReply) -> Result<(), Error> {
        Err(Error::Closed)
    }
    /// Answers an OpenPipe; the new pipe, where the client still waits for it.
    pub fn open_pipe(
        &mut self,
        request: RequestId,
        result: Result<(), NtStatus>,
    ) -> Result<Option<FileId>, Error> {
        Err(Error::Closed)
    }
    /// One message for the client to read.
    pub fn pipe_output(&mut self, file: FileId, message: Vec<u8>) -> Result<(), Error> {
        Err(Error::Closed)
    }
    /// The service behind the pipe has gone: reads answer STATUS_PIPE_BROKEN once the output is read.
    pub fn pipe_hangup(&mut self, file: FileId) {}
    /// From now on requests of the session answer STATUS_NETWORK_SESSION_EXPIRED until it authenticates again.
    pub fn expire_session(&mut self, session: SessionId) {}
}
