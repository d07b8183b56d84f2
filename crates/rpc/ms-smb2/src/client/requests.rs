use super::connection::ClientConnection;
use super::{Agreement, FileId, Kind, RequestId, TreeId};
use crate::Error;
use crate::packet::credit_charge;
use crate::wire::{
    CloseRequest, ControlCode, CreateRequest, EmptyBody, IoctlRequest, ReadRequest, TreeConnectRequest,
    ValidateNegotiateResponse, WriteRequest,
};

/// Requests of a session. All of them answer an error that changes nothing where there is no session, or too many
/// requests are under way.
impl ClientConnection {
    /// Connects to a share: `\\server\IPC$` for pipes.
    ///
    /// # Errors
    /// See above.
    pub fn tree_connect(&mut self, unc: &str) -> Result<RequestId, Error> {
        self.ready("tree connect")?;
        self.request(Kind::TreeConnect, None, &TreeConnectRequest { path: unc.to_owned() }, 0)
    }

    /// Disconnects from it, and closes what is open on it.
    ///
    /// # Errors
    /// See above.
    pub fn tree_disconnect(&mut self, tree: TreeId) -> Result<RequestId, Error> {
        self.ready("tree disconnect")?;
        self.request(Kind::TreeDisconnect(tree), Some(tree), &EmptyBody, 0)
    }

    /// Opens the pipe of this name, which is written without `\PIPE\`.
    ///
    /// # Errors
    /// See above.
    pub fn create_pipe(&mut self, tree: TreeId, name: &str) -> Result<RequestId, Error> {
        self.ready("create")?;
        let body = CreateRequest { desired_access: CreateRequest::PIPE_ACCESS, name: name.to_owned() };
        self.request(Kind::Create(tree), Some(tree), &body, 0)
    }

    /// Writes one message and reads one, at most `output_bytes_max` of it; `more` in the answer says that it goes on.
    ///
    /// # Errors
    /// See above, or where `input` is longer than the server takes.
    pub fn transceive(
        &mut self,
        file: FileId,
        input: &[u8],
        output_bytes_max: u32,
    ) -> Result<RequestId, Error> {
        self.ready("transceive")?;
        let bytes_max = self.io_bytes_max(|agreement| agreement.transact_bytes_max);
        let input_bytes = fits(input, bytes_max)?;
        let output_bytes_max = self.output_bytes_max(output_bytes_max, bytes_max);
        let body = IoctlRequest {
            ctl_code: ControlCode::FSCTL_PIPE_TRANSCEIVE,
            file_id: file.id,
            input,
            max_output_response: output_bytes_max,
        };
        let kind = Kind::Transceive { output_bytes_max };
        self.request(kind, Some(file.tree), &body, input_bytes.max(output_bytes_max))
    }

    /// Reads one message, at most `bytes_max` of it; `more` in the answer says that it goes on.
    ///
    /// # Errors
    /// See above.
    pub fn read(&mut self, file: FileId, bytes_max: u32) -> Result<RequestId, Error> {
        self.ready("read")?;
        let limit = self.io_bytes_max(|agreement| agreement.read_bytes_max);
        let bytes_max = self.output_bytes_max(bytes_max, limit);
        let body = ReadRequest { length: bytes_max, file_id: file.id };
        self.request(Kind::Read { bytes_max }, Some(file.tree), &body, bytes_max)
    }

    /// Writes one message.
    ///
    /// # Errors
    /// See above, or where `data` is longer than the server takes.
    pub fn write(&mut self, file: FileId, data: &[u8]) -> Result<RequestId, Error> {
        self.ready("write")?;
        let bytes_max = self.io_bytes_max(|agreement| agreement.write_bytes_max);
        let data_bytes = fits(data, bytes_max)?;
        let body = WriteRequest { file_id: file.id, data };
        self.request(Kind::Write { data_bytes }, Some(file.tree), &body, data_bytes)
    }

    /// Closes a pipe.
    ///
    /// # Errors
    /// See above.
    pub fn close(&mut self, file: FileId) -> Result<RequestId, Error> {
        self.ready("close")?;
        self.request(Kind::Close, Some(file.tree), &CloseRequest { file_id: file.id }, 0)
    }

    /// Asks the server for an answer that says nothing.
    ///
    /// # Errors
    /// See above.
    pub fn echo(&mut self) -> Result<RequestId, Error> {
        self.ready("echo")?;
        self.request(Kind::Echo, None, &EmptyBody, 0)
    }

    /// Asks what was negotiated, before the caller sees the tree.
    pub(super) fn validate_negotiate(&mut self, tree: TreeId, input: &[u8]) -> Result<RequestId, Error> {
        const OUTPUT_BYTES: u32 = 24;
        const _: () = assert!(OUTPUT_BYTES as usize == ValidateNegotiateResponse::FIXED_PART_SIZE);
        let body = IoctlRequest {
            ctl_code: ControlCode::FSCTL_VALIDATE_NEGOTIATE_INFO,
            file_id: crate::wire::FileId::NONE,
            input,
            max_output_response: OUTPUT_BYTES,
        };
        self.request(Kind::ValidateNegotiate(tree), Some(tree), &body, OUTPUT_BYTES)
    }

    /// The largest input or output: what the server says, what we like, and what one credit is good for where the
    /// server knows no other charge.
    fn io_bytes_max(&self, of_server: impl Fn(&Agreement) -> u32) -> u32 {
        /// Room for the headers of an answer.
        const HEADERS: usize = 1024;
        const SINGLE_CREDIT: u32 = 64 * 1024;
        let limits = &self.config.limits;
        let by_frame = u32::try_from(limits.frame_bytes_max.saturating_sub(HEADERS)).unwrap_or(u32::MAX);
        let by_server = self.agreement.as_ref().map_or(0, of_server);
        let is_multi_credit = self.agreement.is_some_and(|agreement| agreement.is_multi_credit());
        let by_credit = if is_multi_credit { u32::MAX } else { SINGLE_CREDIT };
        limits.io_bytes_max.min(by_frame).min(by_server).min(by_credit)
    }

    /// Output beyond the limits, or beyond the credits at hand, is simply not asked for: the rest is read later.
    fn output_bytes_max(&self, wanted: u32, limit: u32) -> u32 {
        let affordable = self.credits.available().max(1).saturating_mul(64 * 1024);
        let bytes_max = wanted.min(limit).min(affordable);
        debug_assert!(u32::from(credit_charge(bytes_max)) <= self.credits.available().max(1));
        bytes_max
    }
}

fn fits(bytes: &[u8], bytes_max: u32) -> Result<u32, Error> {
    let limit = Error::Limit {
        what: "bytes of one message",
        limit: usize::try_from(bytes_max).unwrap_or(usize::MAX),
    };
    u32::try_from(bytes.len()).ok().filter(|&size| size <= bytes_max).ok_or(limit)
}
