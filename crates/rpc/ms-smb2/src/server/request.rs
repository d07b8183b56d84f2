use crate::wire::Command;

/// What a response needs to know of its request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) command: Command,
    pub(super) message_id: u64,
    pub(super) credit_charge: u16,
    pub(super) credits_wanted: u16,
    pub(super) session_id: u64,
    pub(super) tree_id: u32,
    pub(super) encrypted: bool,
    pub(super) signed: bool,
    /// Its name, once an interim answer was sent.
    pub(super) async_id: Option<u64>,
}
