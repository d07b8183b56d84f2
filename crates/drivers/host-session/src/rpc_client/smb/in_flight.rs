//! Requests without an answer, or with one that was not read yet.

use ms_smb2::client::{FileId, Reply, RequestId};
use wire::NtStatus;

/// What a call waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Awaited {
    Request(RequestId),
    /// The READs of a pipe.
    Reads(FileId),
}

/// A READ that was sent and whose answer its pipe has not taken yet.
#[derive(Debug)]
pub(super) struct PipeRead {
    pub(super) request: RequestId,
    pub(super) file: FileId,
    /// It was cancelled because the reply ended before it. It may still return data of the next reply.
    pub(super) is_surplus: bool,
    pub(super) outcome: Option<Outcome>,
}

/// The outcome of a READ.
#[derive(Debug)]
pub(super) enum Outcome {
    Answered(Result<Reply, NtStatus>),
    /// The session had expired: nothing was read.
    Expired,
}
