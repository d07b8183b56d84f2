use crate::{CallId, ContextId, FaultStatus, SyntaxId};

/// Is notified of every change of an association, for instance to publish its state.
///
/// Called while the association works, so it has to return soon.
pub trait Observer: Send + Sync {
    /// Something changed.
    fn observe(&self, role: Role, change: Change<'_>) {
        let _ = (role, change);
    }
}

/// The default observer, which does nothing.
impl Observer for () {}

/// Which end of the association speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The client, which binds and calls.
    Client,
    /// The server, which answers.
    Server,
}

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change<'a> {
    /// The association is in another state.
    State(AssociationState),
    /// A presentation context was accepted.
    ContextAdded {
        /// Its name within the association.
        context_id: ContextId,
        /// Its interface.
        interface: &'a SyntaxId,
    },
    /// A whole request went out or came in.
    CallStarted {
        /// The call.
        call_id: CallId,
        /// Its presentation context.
        context_id: ContextId,
        /// Its operation.
        opnum: u16,
        /// Stub data of the request.
        stub_bytes: usize,
    },
    /// A whole answer came in or went out, or none will.
    CallEnded {
        /// The call.
        call_id: CallId,
        /// How.
        outcome: CallOutcome,
    },
}

/// Where an association is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AssociationState {
    /// Nothing was sent yet.
    Unbound,
    /// A bind is on its way, or its authentication is.
    Binding,
    /// Calls can be made.
    Bound,
    /// An alter_context is on its way.
    Altering,
    /// Broken by an error; it takes nothing more.
    Failed,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallOutcome {
    /// By a response with this many bytes of stub data.
    Response {
        /// Stub data of the response.
        stub_bytes: usize,
    },
    /// By a fault.
    Fault(FaultStatus),
    /// The client does not wait any longer.
    Orphaned,
}
