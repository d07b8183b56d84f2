use std::collections::VecDeque;

use ::wire::{Decode, NtStatus, ReadCursor};
use ms_smb2::Error;
use ms_smb2::packet::credit_charge;
use ms_smb2::wire::{
    self, CloseRequest, CloseResponse, ControlCode, CreateRequest, CreateResponse, Header, IoctlRequest,
    IoctlResponse, Owner, ReadRequest, ReadResponse, WriteRequest, WriteResponse,
};

use super::connection::ServerConnection;
use super::{File, FileId, Request, RequestId, ServerEvent, SessionId, Waiting};

impl ServerConnection {
    pub(super) fn handle_create(&mut self, request: &Request, message: &[u8]) -> Result<(), Error> {
        let create: CreateRequest = body(message)?;
        let session_id = request.session_id;
        let open = self.files.values().filter(|file| file.session_id == session_id).count();
        let opening = self.opening.values().filter(|request| request.session_id == session_id).count();
        if open + opening >= self.config.limits.files_max || self.unanswered_is_full() {
            return self.refuse(request, NtStatus::STATUS_INSUFFICIENT_RESOURCES);
        }
        let id = RequestId(self.requests_made);
        self.requests_made += 1;
        self.opening.insert(id, *request);
        self.has_unanswered = true;
        let name = bare_name(&create.name).to_owned();
        self.events.push_back(ServerEvent::OpenPipe { request: id, session: SessionId(session_id), name });
        Ok(())
    }

    /// Answers [`ServerEvent::OpenPipe`]: the new pipe, or none where the pipe was refused here, or where the client
    /// does not wait for it any more.
    ///
    /// # Errors
    /// Where the answer cannot be written.
    pub fn open_pipe(
        &mut self,
        request: RequestId,
        result: Result<(), NtStatus>,
    ) -> Result<Option<FileId>, Error> {
        let Some(request) = self.opening.remove(&request) else { return Ok(None) };
        if let Err(status) = result {
            self.refuse(&request, status)?;
            return Ok(None);
        }
        self.files_made += 1;
        let id = FileId(self.files_made);
        let file = File {
            session_id: request.session_id,
            tree_id: request.tree_id,
            output: VecDeque::new(),
            output_offset: 0,
            output_bytes: 0,
            reads: VecDeque::new(),
            hung_up: false,
        };
        self.files.insert(id, file);
        self.answer(&request, &CreateResponse { file_id: wire_id(id) })?;
        Ok(Some(id))
    }

    pub(super) fn handle_close(&mut self, request: &Request, message: &[u8]) -> Result<(), Error> {
        let close: CloseRequest = body(message)?;
        let Some(id) = self.file(request, close.file_id) else {
            return self.refuse(request, NtStatus::STATUS_FILE_CLOSED);
        };
        self.close_file(id)?;
        self.answer(request, &CloseResponse)
    }

    pub(super) fn handle_read(&mut self, request: &Request, message: &[u8]) -> Result<(), Error> {
        let read: ReadRequest = body(message)?;
        match self.pipe_for(request, read.file_id, read.length) {
            Ok(id) => self.wait_for_output(id, request, read.length),
            Err(status) => self.refuse(request, status),
        }
    }

    pub(super) fn handle_write(&mut self, request: &Request, message: &[u8]) -> Result<(), Error> {
        let write: WriteRequest<'_> = body(message)?;
        let count = u32::try_from(write.data.len()).unwrap_or(u32::MAX);
        match self.pipe_for(request, write.file_id, count) {
            Ok(file) => {
                self.events.push_back(ServerEvent::PipeInput { file, data: write.data.to_vec() });
                self.answer(request, &WriteResponse { count })
            }
            Err(status) => self.refuse(request, status),
        }
    }

    pub(super) fn handle_ioctl(&mut self, request: &Request, message: &[u8]) -> Result<(), Error> {
        let ioctl: IoctlRequest<'_> = body(message)?;
        match ioctl.ctl_code {
            ControlCode::FSCTL_PIPE_TRANSCEIVE => self.handle_transceive(request, &ioctl),
            ControlCode::FSCTL_VALIDATE_NEGOTIATE_INFO => self.handle_validate_negotiate(request, &ioctl),
            // There are always enough instances of every pipe.
            ControlCode::FSCTL_PIPE_WAIT => {
                let ctl_code = ioctl.ctl_code;
                self.answer(request, &IoctlResponse { ctl_code, file_id: ioctl.file_id, output: &[] })
            }
            // Where there is no DFS, clients do without.
            ControlCode::FSCTL_DFS_GET_REFERRALS => self.refuse(request, NtStatus::STATUS_FS_DRIVER_REQUIRED),
            _ => self.refuse(request, NtStatus::STATUS_INVALID_DEVICE_REQUEST),
        }
    }

    fn handle_transceive(&mut self, request: &Request, ioctl: &IoctlRequest<'_>) -> Result<(), Error> {
        let input_bytes = u32::try_from(ioctl.input.len()).unwrap_or(u32::MAX);
        let id = match self.pipe_for(request, ioctl.file_id, input_bytes.max(ioctl.max_output_response)) {
            Ok(id) => id,
            Err(status) => return self.refuse(request, status),
        };
        let busy = self.files.get(&id).is_some_and(|file| !file.output.is_empty() || !file.reads.is_empty());
        if busy {
            return self.refuse(request, NtStatus::STATUS_PIPE_BUSY);
        }
        self.events.push_back(ServerEvent::PipeInput { file: id, data: ioctl.input.to_vec() });
        self.wait_for_output(id, request, ioctl.max_output_response)
    }

    /// The pipe that a request names, if the request may transfer `bytes` bytes and was charged the credits for them.
    fn pipe_for(&self, request: &Request, file_id: wire::FileId, bytes: u32) -> Result<FileId, NtStatus> {
        let id = self.file(request, file_id).ok_or(NtStatus::STATUS_FILE_CLOSED)?;
        let too_large = bytes > self.config.limits.io_bytes_max;
        if too_large || credit_charge(bytes) > request.credit_charge {
            Err(NtStatus::STATUS_INVALID_PARAMETER)
        } else if self.unanswered_is_full() {
            Err(NtStatus::STATUS_INSUFFICIENT_RESOURCES)
        } else {
            Ok(id)
        }
    }

    fn wait_for_output(&mut self, id: FileId, request: &Request, bytes_max: u32) -> Result<(), Error> {
        if let Some(file) = self.files.get_mut(&id) {
            let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
            file.reads.push_back(Waiting { request: *request, bytes_max });
            self.has_unanswered = true;
        }
        self.deliver(id)
    }

    /// Gives a client one message to read: it answers a waiting request, or the next one.
    ///
    /// # Errors
    /// If more output waits to be read than the limit allows. Output for a closed pipe is dropped.
    pub fn pipe_output(&mut self, file: FileId, message: Vec<u8>) -> Result<(), Error> {
        let limit = self.config.limits.output_bytes_max;
        let Some(state) = self.files.get_mut(&file) else { return Ok(()) };
        if state.output_bytes + message.len() > limit {
            return Err(Error::Limit { what: "bytes that wait in a pipe", limit });
        }
        state.output_bytes += message.len();
        state.output.push_back(message);
        self.deliver(file)
    }

    /// The service behind the pipe has gone: once the output is read, reads answer `STATUS_PIPE_BROKEN`.
    ///
    /// # Errors
    /// Where an answer cannot be written.
    pub fn pipe_hangup(&mut self, file: FileId) -> Result<(), Error> {
        let Some(state) = self.files.get_mut(&file) else { return Ok(()) };
        state.hung_up = true;
        self.deliver(file)
    }

    /// Brings messages and readers together. A message longer than the read stays with its rest.
    fn deliver(&mut self, id: FileId) -> Result<(), Error> {
        while let Some(file) = self.files.get_mut(&id) {
            let Some(read) = file.reads.front().copied() else { break };
            let Some(message) = file.output.pop_front() else {
                if !file.hung_up {
                    break;
                }
                file.reads.pop_front();
                self.refuse(&read.request, NtStatus::STATUS_PIPE_BROKEN)?;
                continue;
            };
            file.reads.pop_front();
            let rest = message.len() - file.output_offset;
            let size = rest.min(read.bytes_max);
            let start = file.output_offset;
            file.output_bytes -= size;
            let status =
                if size < rest { NtStatus::STATUS_BUFFER_OVERFLOW } else { NtStatus::STATUS_SUCCESS };
            file.output_offset = if size < rest { start + size } else { 0 };
            self.respond_output(id, &read.request, status, &message[start..start + size])?;
            if size < rest
                && let Some(file) = self.files.get_mut(&id)
            {
                file.output.push_front(message);
            }
        }
        Ok(())
    }

    fn respond_output(
        &mut self,
        id: FileId,
        request: &Request,
        status: NtStatus,
        output: &[u8],
    ) -> Result<(), Error> {
        if request.command == wire::Command::READ {
            self.respond(request, status, &ReadResponse { data: output })
        } else {
            let ctl_code = ControlCode::FSCTL_PIPE_TRANSCEIVE;
            self.respond(request, status, &IoctlResponse { ctl_code, file_id: wire_id(id), output })
        }
    }

    pub(super) fn handle_cancel(&mut self, header: &Header, request: &Request, message: &mut [u8]) {
        if self.config.ignores_cancel || !self.cancel_is_allowed(request, message) {
            return;
        }
        let names = |candidate: &Request| {
            candidate.session_id == request.session_id
                && match header.owner {
                    Owner::Async(async_id) => candidate.async_id == Some(async_id),
                    Owner::Tree(_) => candidate.message_id == request.message_id,
                }
        };
        let mut cancelled = Vec::new();
        for file in self.files.values_mut() {
            cancelled.extend(file.reads.iter().map(|read| read.request).filter(names));
            file.reads.retain(|read| !names(&read.request));
        }
        cancelled.extend(self.opening.values().copied().filter(names));
        self.opening.retain(|_, opening| !names(opening));
        for request in cancelled {
            // The request is gone even if it cannot be answered.
            self.refuse(&request, NtStatus::STATUS_CANCELLED).unwrap_or_default();
        }
    }

    /// Closes the files that `is_meant` selects.
    pub(super) fn close_files(&mut self, is_meant: impl Fn(&File) -> bool) {
        let meant: Vec<_> = self.files.iter().filter(|(_, file)| is_meant(file)).map(|(&id, _)| id).collect();
        for id in meant {
            // Waiting requests ended with their session or tree and need no answer.
            self.close_file(id).unwrap_or_default();
        }
    }

    fn close_file(&mut self, id: FileId) -> Result<(), Error> {
        let Some(file) = self.files.remove(&id) else { return Ok(()) };
        self.events.push_back(ServerEvent::PipeClosed { file: id });
        for read in file.reads {
            self.refuse(&read.request, NtStatus::STATUS_FILE_CLOSED)?;
        }
        Ok(())
    }

    /// The open pipe of this id, where it belongs to the session and the tree of the request.
    pub(super) fn file(&self, request: &Request, file_id: wire::FileId) -> Option<FileId> {
        let id = FileId(file_id.volatile);
        let file = self.files.get(&id).filter(|_| file_id == wire_id(id))?;
        (file.session_id == request.session_id && file.tree_id == request.tree_id).then_some(id)
    }

    fn unanswered_is_full(&self) -> bool {
        let reads: usize = self.files.values().map(|file| file.reads.len()).sum();
        reads + self.opening.len() >= self.config.limits.pending_max
    }
}

/// Clients write pipe names with and without a backslash, and some with `PIPE\`.
fn bare_name(name: &str) -> &str {
    const PIPE: &str = "PIPE\\";
    let name = name.trim_start_matches('\\');
    match name.get(..PIPE.len()) {
        Some(prefix) if prefix.eq_ignore_ascii_case(PIPE) => &name[PIPE.len()..],
        _ => name,
    }
}

const fn wire_id(id: FileId) -> wire::FileId {
    wire::FileId { persistent: id.0, volatile: id.0 }
}

/// Reads a body; the message begins with its header.
pub(super) fn body<'de, T: Decode<'de>>(message: &'de [u8]) -> Result<T, Error> {
    let mut src = ReadCursor::new(message);
    src.skip("SMB2 request", "header", Header::FIXED_PART_SIZE)?;
    Ok(T::decode(&mut src)?)
}
