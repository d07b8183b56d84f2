use crate::Error;
use crate::client::{ClientConfig, Event, FileId, RequestId, TreeId};

/// A client's connection.
#[derive(Debug)]
pub struct ClientConnection {
    config: ClientConfig,
}

#[expect(
    unused_variables,
    missing_docs,
    clippy::missing_const_for_fn,
    clippy::unused_self,
    reason = "the interface before its body"
)]
impl ClientConnection {
    /// Queues the NEGOTIATE.
    pub fn new(config: ClientConfig) -> Result<Self, Error> {
        Ok(Self { config })
    }
    pub fn handle_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        Err(Error::Closed)
    }
    /// The stream ended: says what that means.
    pub fn handle_eof(&mut self) -> Error {
        Error::Closed
    }
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        None
    }
    pub fn poll_event(&mut self) -> Option<Event> {
        None
    }
    pub fn session_setup(&mut self, token: &[u8]) -> Result<(), Error> {
        Err(Error::Closed)
    }
    pub fn complete_session(&mut self, session_key: &[u8]) -> Result<(), Error> {
        Err(Error::Closed)
    }
    pub fn tree_connect(&mut self, unc: &str) -> Result<RequestId, Error> {
        Err(Error::Closed)
    }
    pub fn tree_disconnect(&mut self, tree: TreeId) -> Result<RequestId, Error> {
        Err(Error::Closed)
    }
    pub fn create_pipe(&mut self, tree: TreeId, name: &str) -> Result<RequestId, Error> {
        Err(Error::Closed)
    }
    pub fn transceive(
        &mut self,
        file: FileId,
        input: &[u8],
        output_bytes_max: u32,
    ) -> Result<RequestId, Error> {
        Err(Error::Closed)
    }
    pub fn read(&mut self, file: FileId, bytes_max: u32) -> Result<RequestId, Error> {
        Err(Error::Closed)
    }
    pub fn write(&mut self, file: FileId, data: &[u8]) -> Result<RequestId, Error> {
        Err(Error::Closed)
    }
    pub fn close(&mut self, file: FileId) -> Result<RequestId, Error> {
        Err(Error::Closed)
    }
    pub fn echo(&mut self) -> Result<RequestId, Error> {
        Err(Error::Closed)
    }
    pub fn logoff(&mut self) -> Result<RequestId, Error> {
        Err(Error::Closed)
    }
    /// Asks the server to give up a request; its answer still comes.
    pub fn cancel(&mut self, request: RequestId) -> Result<(), Error> {
        Err(Error::Closed)
    }
    /// Whether messages are encrypted now.
    pub fn is_encrypted(&self) -> bool {
        false
    }
}
