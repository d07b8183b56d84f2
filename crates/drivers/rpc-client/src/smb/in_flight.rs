//! What was sent to the server and has no answer yet, or one that nobody has taken.

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
    /// It was cancelled because the reply ended before it. It may bring data all the same: those of the next reply.
    pub(super) is_surplus: bool,
    pub(super) outcome: Option<Outcome>,
}

/// What a READ came to.
#[derive(Debug)]
pub(super) enum Outcome {
    Answered(Result<Reply, NtStatus>),
    /// The session had expired, so that nothing was read.
    Expired,
}
