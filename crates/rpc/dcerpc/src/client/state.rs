use crate::assembly::Assembly;
use crate::{CallId, ContextId};

/// What the association waits for.
#[derive(Debug)]
pub(super) enum State {
    Unbound,
    /// For the answer to a bind, or to an alter_context with a further leg of its authentication.
    Binding(Offer),
    Bound,
    /// For the answer to an alter_context with a further interface.
    Altering(Offer),
    Failed,
}

/// What a bind or an alter_context asked for.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) call_id: CallId,
    /// The first of the contexts that are offered; those behind it are too.
    pub(super) first_context: usize,
    /// Legs of the authentication that were sent.
    pub(super) legs: usize,
    /// Whether the bind_ack is there and only the authentication goes on.
    pub(super) acknowledged: bool,
}

/// A call that waits for its response.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) call_id: CallId,
    pub(super) context_id: ContextId,
    pub(super) response: Assembly,
}
