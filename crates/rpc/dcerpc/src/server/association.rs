use core::fmt;
use std::collections::VecDeque;
use std::sync::Arc;

use ssp::SecurityContext;
use wire::{Encode, WriteCursor};

use super::{
    IncomingFragments, Membership, SecurityEntry, SecurityIndex, SecurityState, ServerConfig, ServerEvent,
};
use crate::pdu::{CommonHeader, Fault, PacketType, PfcFlags, Response, encode_pdu};
use crate::protector::{Protector, fragments, protect};
use crate::stream::PduStream;
use crate::{
    AssociationState, AuthService, CallId, CallOutcome, Change, ContextId, Error, FaultStatus, Observer,
    Role, SyntaxId,
};

/// One association with a client, without input or output.
///
/// The calling order: give what came in to [`handle_bytes`](Self::handle_bytes), take the events from
/// [`poll_event`](Self::poll_event) and answer each call with [`respond`](Self::respond) or [`fault`](Self::fault), send
/// everything from [`poll_transmit`](Self::poll_transmit). An error of `handle_bytes` ends the association; what
/// `poll_transmit` still has then (a bind_nak or a fault that tells the client) is sent before closing.
pub struct ServerAssociation {
    pub(super) config: ServerConfig,
    pub(super) acceptor: Acceptor,
    pub(super) state: State,
    /// In the order in which they were begun; requests choose one by the verifier's `auth_context_id`.
    pub(super) security: Vec<SecurityEntry>,
    /// The bind was not authenticated, so that calls need no verifier.
    pub(super) allows_unauthenticated: bool,
    /// The client said that headers can be signed, where it began to authenticate.
    pub(super) signs_headers: bool,
    pub(super) group: Option<Membership>,
    pub(super) contexts: Vec<Context>,
    /// What the client takes.
    pub(super) frag_bytes_max: u16,
    pub(super) incoming: Option<IncomingFragments>,
    pub(super) open_calls: Vec<OpenCall>,
    pub(super) stream: PduStream,
    pub(super) transmits: VecDeque<Vec<u8>>,
    pub(super) events: VecDeque<ServerEvent>,
    pub(super) received_pdus: u64,
    observer: Arc<dyn Observer>,
}

/// Makes a security context for the service that a client asks for, or refuses the service.
pub(super) type Acceptor = Box<dyn FnMut(AuthService) -> Option<Box<dyn SecurityContext>> + Send>;

/// What the association waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Unbound,
    /// For calls. Whether they are allowed depends on the security contexts.
    Bound,
    Failed,
}

/// An accepted presentation context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub(super) context_id: ContextId,
    pub(super) interface: SyntaxId,
}

/// A call that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenCall {
    pub(super) call_id: CallId,
    pub(super) context_id: ContextId,
    /// What protects the answer.
    pub(super) security: Option<SecurityIndex>,
    /// The client wants no answer.
    pub(super) silent: bool,
    /// The client does not wait any longer.
    pub(super) orphaned: bool,
    pub(super) cancel_count: u8,
}

impl ServerAssociation {
    /// An association that a client can bind. `acceptor` makes a security context when the client asks for one.
    pub fn new(
        config: ServerConfig,
        acceptor: impl FnMut(AuthService) -> Option<Box<dyn SecurityContext>> + Send + 'static,
    ) -> Self {
        Self {
            frag_bytes_max: config.max_xmit_frag,
            config,
            acceptor: Box::new(acceptor),
            state: State::Unbound,
            security: Vec::new(),
            allows_unauthenticated: false,
            signs_headers: false,
            group: None,
            contexts: Vec::new(),
            incoming: None,
            open_calls: Vec::new(),
            stream: PduStream::default(),
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            received_pdus: 0,
            observer: Arc::new(()),
        }
    }

    /// Sets the observer, which is notified of changes.
    pub fn set_observer(&mut self, observer: Arc<dyn Observer>) {
        self.observer = observer;
    }

    /// The association group, once the client is bound. Context handles belong to the group.
    #[must_use]
    pub fn assoc_group_id(&self) -> Option<u32> {
        self.group.as_ref().map(Membership::id)
    }

    /// Whether a PDU began to arrive and did not end, or a call did: the time for a deadline.
    #[must_use]
    pub fn is_within_pdu(&self) -> bool {
        self.stream.is_within_pdu() || self.incoming.is_some()
    }

    /// Whether a call can be executed: the client is bound, and authenticated unless it needs not be.
    #[must_use]
    pub fn accepts_calls(&self) -> bool {
        self.state == State::Bound
            && (self.allows_unauthenticated
                || self.security.iter().any(|entry| entry.state == SecurityState::Established))
    }

    /// Complete PDUs received so far: a client that sends one slowly adds none.
    #[must_use]
    pub const fn received_pdus(&self) -> u64 {
        self.received_pdus
    }

    /// Memory that is held for what the client did not finish: an incomplete PDU, and an incomplete call.
    #[must_use]
    pub fn pending_bytes(&self) -> usize {
        self.stream.capacity() + self.incoming.as_ref().map_or(0, |incoming| incoming.assembly.capacity())
    }

    /// Answers a call; its fragments are queued.
    ///
    /// # Errors
    /// When the call is not open.
    pub fn respond(&mut self, call_id: CallId, stub: &[u8]) -> Result<(), Error> {
        let call = self.close_call(call_id)?;
        if call.orphaned {
            return Ok(());
        }
        let outcome = CallOutcome::Response { stub_bytes: stub.len() };
        self.observe(Change::CallEnded { call_id, outcome });
        if call.silent { Ok(()) } else { self.queue_response(&call, stub) }
    }

    /// Lets a call fail.
    ///
    /// # Errors
    /// When the call is not open.
    pub fn fault(&mut self, call_id: CallId, status: FaultStatus) -> Result<(), Error> {
        let call = self.close_call(call_id)?;
        if call.orphaned {
            return Ok(());
        }
        self.observe(Change::CallEnded { call_id, outcome: CallOutcome::Fault(status) });
        if call.silent {
            return Ok(());
        }
        let OpenCall { context_id, cancel_count, .. } = call;
        self.queue_fault(call_id, PfcFlags(0), Fault { alloc_hint: 0, context_id, cancel_count, status })
    }

    /// The next PDU to send. On a pipe in message mode it is one message.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let Some(transmit) = self.transmits.pop_front() else {
            self.settle();
            return None;
        };
        self.observe(Change::FragmentSent { bytes: transmit.len() });
        Some(transmit)
    }

    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        let event = self.events.pop_front()?;
        if let ServerEvent::Request(call) = &event {
            self.observe(Change::CallDispatched { call_id: call.call_id });
        }
        Some(event)
    }

    /// Executes a call by `method` on this thread, and lets the observer know which thread that is.
    pub fn execute<T>(&self, call_id: CallId, method: impl FnOnce() -> T) -> T {
        /// A method that panics is left, too.
        struct Entered<'a>(&'a ServerAssociation, CallId);

        impl Drop for Entered<'_> {
            fn drop(&mut self) {
                self.0.observe(Change::MethodLeft { call_id: self.1 });
            }
        }

        self.observe(Change::MethodEntered { call_id });
        let _entered = Entered(self, call_id);
        method()
    }

    pub(super) fn fail(&mut self) {
        self.state = State::Failed;
        self.observe_state(AssociationState::Failed);
    }

    pub(super) fn observe_state(&self, state: AssociationState) {
        self.observe(Change::State(state));
    }

    pub(super) fn observe(&self, change: Change<'_>) {
        self.observer.observe(Role::Server, change);
    }

    /// Tells the observer if there is nothing to do.
    pub(super) fn settle(&self) {
        if self.events.is_empty() && self.transmits.is_empty() {
            self.observe(Change::Settled);
        }
    }

    pub(super) fn context(&self, context_id: ContextId) -> Option<&Context> {
        self.contexts.iter().find(|context| context.context_id == context_id)
    }

    /// Faults go in the clear, as Samba's do: the client may not be able to check a signature.
    pub(super) fn queue_fault(
        &mut self,
        call_id: CallId,
        flags: PfcFlags,
        fault: Fault,
    ) -> Result<(), Error> {
        let flags = PfcFlags::WHOLE | flags;
        self.transmits.push_back(encode_pdu(PacketType::FAULT, flags, call_id, Some(&fault), None)?);
        Ok(())
    }

    fn close_call(&mut self, call_id: CallId) -> Result<OpenCall, Error> {
        let index = self.open_calls.iter().position(|open| open.call_id == call_id);
        let call = index.map(|index| self.open_calls.swap_remove(index));
        if self.state == State::Failed {
            if call.is_some_and(|call| !call.orphaned) {
                self.observe(Change::CallEnded { call_id, outcome: CallOutcome::Orphaned });
            }
            return Err(Error::Failed);
        }
        call.ok_or(Error::UnknownCall { call_id })
    }

    fn queue_response(&mut self, call: &OpenCall, stub: &[u8]) -> Result<(), Error> {
        let mut response =
            Response { alloc_hint: 0, context_id: call.context_id, cancel_count: call.cancel_count };
        let stub_start = CommonHeader::FIXED_PART_SIZE + response.size();
        let mut protector = call.security.map(|index| &mut self.security[index].protector);
        let overhead = protector.as_deref().map_or(0, Protector::overhead);
        for fragment in fragments(stub, self.frag_bytes_max, stub_start + overhead, stub.len()) {
            response.alloc_hint = fragment.alloc_hint;
            let mut pdu = Vec::with_capacity(stub_start + fragment.stub.len() + overhead + 16);
            let mut dst = WriteCursor::new(&mut pdu);
            CommonHeader {
                packet_type: PacketType::RESPONSE,
                flags: fragment.flags,
                frag_length: 0,
                auth_length: 0,
                call_id: call.call_id,
            }
            .encode(&mut dst)?;
            response.encode(&mut dst)?;
            dst.write_slice(fragment.stub);
            protect(protector.as_deref_mut(), &mut pdu, stub_start)?;
            self.transmits.push_back(pdu);
        }
        Ok(())
    }
}

impl fmt::Debug for ServerAssociation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerAssociation")
            .field("state", &self.state)
            .field("contexts", &self.contexts)
            .field("open_calls", &self.open_calls)
            .finish_non_exhaustive()
    }
}
