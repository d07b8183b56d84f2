//! A transport for servers of Wine, all of whose PDUs have the call id 1. For our client these answer other calls than its
//! own.

use host_session::rpc_client::{Error, Operation, TcpTransport, Transport};
use tokio::time::Instant;

const HEADER_SIZE: usize = 16;
/// Where the header has the PDU's length and its call id.
const FRAG_LENGTH: [usize; 2] = [8, 9];
const CALL_ID: core::ops::Range<usize> = 12..16;

/// Gives each PDU that comes the call id of the last one that was sent.
pub(crate) struct OwnCallIds {
    transport: TcpTransport,
    call_id: Vec<u8>,
    /// Bytes of a PDU that is not complete.
    pending: Vec<u8>,
}

impl OwnCallIds {
    pub(crate) const fn new(transport: TcpTransport) -> Self {
        Self { transport, call_id: Vec::new(), pending: Vec::new() }
    }

    /// All PDUs that are complete.
    fn complete(&mut self) -> Vec<u8> {
        let mut end = 0;
        while let Some(size) = size_of_pdu(&self.pending[end..]) {
            self.pending[end..][CALL_ID].copy_from_slice(&self.call_id);
            end += size;
        }
        self.pending.drain(..end).collect()
    }
}

/// The size of the PDU that the bytes begin with, if all of it is there.
fn size_of_pdu(bytes: &[u8]) -> Option<usize> {
    let header = bytes.get(..HEADER_SIZE)?;
    let size = usize::from(u16::from_le_bytes(FRAG_LENGTH.map(|at| header[at])));
    (HEADER_SIZE..=bytes.len()).contains(&size).then_some(size)
}

impl Transport for OwnCallIds {
    async fn send(&mut self, pdu: &[u8], operation: Operation, deadline: Instant) -> Result<(), Error> {
        self.call_id = pdu[CALL_ID].to_vec();
        self.transport.send(pdu, operation, deadline).await
    }

    async fn receive(&mut self, operation: Operation, deadline: Instant) -> Result<Vec<u8>, Error> {
        loop {
            let received = self.transport.receive(operation, deadline).await?;
            self.pending.extend_from_slice(&received);
            let complete = self.complete();
            if !complete.is_empty() {
                return Ok(complete);
            }
        }
    }
}
