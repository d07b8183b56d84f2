use std::collections::VecDeque;

use super::request::Request;

/// An open pipe: output of the service that was not read yet, and requests that wait for output.
///
/// INVARIANT: `output` or `reads` is empty.
#[derive(Debug)]
pub(super) struct File {
    pub(super) session_id: u64,
    pub(super) tree_id: u32,
    pub(super) output: VecDeque<Vec<u8>>,
    /// Bytes of the first message that were read already.
    pub(super) output_offset: usize,
    pub(super) output_bytes: usize,
    pub(super) reads: VecDeque<Waiting>,
    pub(super) hung_up: bool,
}

/// A READ or a transceive without an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) request: Request,
    pub(super) bytes_max: usize,
}
