//! Requests without an answer, or with one that was not taken yet.

use ms_dtyp::NtStatus;
use ms_smb2::client::{FileId, Reply, RequestId};

/// What a call waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Awaited {
    Request(RequestId),
    /// The READs of a pipe.
    Reads(FileId),
}

/// A READ, from its being sent until its pipe takes the answer.
#[derive(Debug)]
pub(super) struct PipeRead {
    pub(super) request: RequestId,
    pub(super) file: FileId,
    /// It was cancelled because the reply ended before it. It may still return data: those of the next reply.
    pub(super) is_surplus: bool,
    pub(super) outcome: Option<Outcome>,
}

/// What a READ came to.
#[derive(Debug)]
pub(super) enum Outcome {
    Answered(Result<Reply, NtStatus>),
    /// The session had expired: nothing was read.
    Expired,
}
