//! What an association tells its observers.

use core::fmt;
use core::net::IpAddr;
use std::sync::Arc;

use wire::Guid;

use crate::{Auth, CallId, ContextId, FaultStatus, SyntaxId};

/// Is notified of every change of an association, for instance to publish its state. It is dropped with the association.
///
/// Called while the association works, so it has to return soon.
pub trait Observer: Send + Sync {
    fn observe(&self, role: Role, change: Change<'_>) {
        let _ = (role, change);
    }
}

/// The default observer, which does nothing.
impl Observer for () {}

/// Makes the observers of all associations of a program.
pub trait Observers: fmt::Debug + Send + Sync {
    /// The observer of an association that begins. It is dropped when the association ends.
    fn association(&self, info: &AssociationInfo<'_>) -> Arc<dyn Observer>;

    /// An endpoint of this program's servers is in another state. Not all servers say so.
    fn endpoint(&self, transport: Transport, endpoint: &str, state: EndpointState) {
        let _ = (transport, endpoint, state);
    }
}

/// The default, where nothing is observed.
impl Observers for () {
    fn association(&self, _: &AssociationInfo<'_>) -> Arc<dyn Observer> {
        Arc::new(())
    }
}

/// What is known of an association when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssociationInfo<'a> {
    /// Which end of it is observed.
    pub role: Role,
    /// What it goes over.
    pub transport: Transport,
    /// The name of the server that a client calls; empty for a server.
    pub server: &'a str,
    /// The endpoint of the server: `\PIPE\winreg`, or the number of a port.
    pub endpoint: &'a str,
    /// The address of the other end, if it is known.
    pub peer: Option<IpAddr>,
}

/// What PDUs are sent over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// What documents call `ncacn_ip_tcp`.
    Tcp,
    /// What documents call `ncacn_np`.
    NamedPipe,
}

/// Where an endpoint of a server is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EndpointState {
    /// It is being made.
    Opening,
    Listening,
    /// It takes none any longer.
    Closed,
}

/// Which end of the association speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The client, which binds and calls.
    Client,
    /// The server, which answers.
    Server,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change<'a> {
    /// The association is in another state.
    State(AssociationState),
    /// A presentation context was accepted.
    ContextAdded {
        /// Its name within the association.
        context_id: ContextId,
        interface: &'a SyntaxId,
    },
    /// A security context was established.
    Authenticated {
        /// What it protects calls with.
        auth: Auth,
    },
    /// A fragment was handed over to be sent.
    FragmentSent {
        /// All of its bytes.
        bytes: usize,
    },
    /// A whole fragment came in.
    FragmentReceived {
        /// All of its bytes.
        bytes: usize,
    },
    /// A whole request is ready to be sent, or came in.
    CallStarted {
        call_id: CallId,
        context_id: ContextId,
        interface: &'a SyntaxId,
        opnum: u16,
        /// The object that it is for, if it names one.
        object: Option<Guid>,
        /// Stub data of the request.
        stub: &'a [u8],
    },
    /// The server's driver took the call, to execute it.
    CallDispatched { call_id: CallId },
    /// The thread that says so executes the method of the call: what it calls meanwhile, it calls because of this call.
    MethodEntered { call_id: CallId },
    /// It does so no longer.
    MethodLeft { call_id: CallId },
    /// The server has nothing to do until something comes in, or its driver answers a call.
    Settled,
    /// A whole answer came in or went out, or none will.
    CallEnded { call_id: CallId, outcome: CallOutcome },
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
    Fault(FaultStatus),
    /// The client does not wait any longer.
    Orphaned,
}
