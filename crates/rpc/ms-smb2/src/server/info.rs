use wire::NtStatus;

use super::Request;
use super::connection::ServerConnection;
use super::pipe::body;
use crate::Error;
use crate::wire::{FileInfoClass, QueryInfoRequest, QueryInfoResponse};

impl ServerConnection {
    /// The three classes that clients ask of pipes, [MS-FSCC] 2.4.
    pub(super) fn handle_query_info(&mut self, request: &Request, message: &[u8]) -> Result<(), Error> {
        let query: QueryInfoRequest = body(message)?;
        let Some(file) = self.file(request, query.file_id).and_then(|id| self.files.get(&id)) else {
            return self.refuse(request, NtStatus::STATUS_FILE_CLOSED);
        };
        let available = u32::try_from(file.output_bytes).unwrap_or(u32::MAX);
        let output = match query.file_info_class {
            _ if query.info_type != QueryInfoRequest::INFO_FILE => None,
            FileInfoClass::FILE_STANDARD_INFORMATION => Some(standard_information(available)),
            FileInfoClass::FILE_PIPE_INFORMATION => Some(words(&[MESSAGE_MODE, QUEUE_OPERATION])),
            FileInfoClass::FILE_PIPE_LOCAL_INFORMATION => Some(pipe_local_information(available)),
            _ => None,
        };
        match output {
            None => self.refuse(request, NtStatus::STATUS_INVALID_INFO_CLASS),
            Some(output)
                if u32::try_from(output.len()).is_ok_and(|size| size <= query.output_buffer_length) =>
            {
                self.answer(request, &QueryInfoResponse { output: &output })
            }
            Some(_) => self.refuse(request, NtStatus::STATUS_INFO_LENGTH_MISMATCH),
        }
    }
}

const MESSAGE_MODE: u32 = 1;
const QUEUE_OPERATION: u32 = 0;
const QUOTA: u32 = 4096;

/// `FileStandardInformation` of [MS-FSCC] 2.4.47.
fn standard_information(available: u32) -> Vec<u8> {
    const NUMBER_OF_LINKS: u32 = 1;
    const DELETE_PENDING: u32 = 1;
    words(&[QUOTA, 0, available, 0, NUMBER_OF_LINKS, DELETE_PENDING])
}

/// `FilePipeLocalInformation` of [MS-FSCC] 2.4.37.
fn pipe_local_information(available: u32) -> Vec<u8> {
    const FULL_DUPLEX: u32 = 2;
    const UNLIMITED: u32 = u32::MAX;
    const CONNECTED: u32 = 3;
    const CLIENT_END: u32 = 0;
    let instances = [UNLIMITED, 1];
    words(&[
        MESSAGE_MODE,
        FULL_DUPLEX,
        instances[0],
        instances[1],
        QUOTA,
        available,
        QUOTA,
        QUOTA,
        CONNECTED,
        CLIENT_END,
    ])
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
