use core::fmt;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use ssp::SecurityContext;
use wire::{Encode, WriteCursor};

use super::{
    CallRequest, ClientConfig, Event, FRAG_BYTES_MIN, OpenCall, PresentationContext, State, Transmit,
};
use crate::assembly::Assembly;
use crate::pdu::{
    Command, CommandKind, CommonHeader, PacketType, PfcFlags, Request, VerificationTrailer, encode_pdu,
};
use crate::protector::{Protector, fragments, protect};
use crate::stream::PduStream;
use crate::{
    AssociationState, AuthLevel, CallId, CallOutcome, Change, ContextId, Error, Observer, Role, SyntaxId,
};

/// One association with a server, without input or output.
///
/// The calling order: [`bind`](Self::bind), then again and again send everything from
/// [`poll_transmit`](Self::poll_transmit), give what comes back to [`handle_bytes`](Self::handle_bytes), and take the
/// events from [`poll_event`](Self::poll_event). After [`Event::Bound`] make calls, one at a time:
/// [`call`](Self::call), then until [`Event::Response`] or [`Event::Fault`] as before. An error of `handle_bytes` ends the association;
/// an error of a command changes nothing.
pub struct ClientAssociation {
    pub(super) config: ClientConfig,
    pub(super) protector: Option<Protector>,
    pub(super) state: State,
    // INVARIANT: the name of a context is its index.
    pub(super) contexts: Vec<PresentationContext>,
    pub(super) verified: Verified,
    /// What the server takes; before its answer, what this side wants to send.
    pub(super) frag_bytes_max: u16,
    pub(super) assoc_group_id: u32,
    pub(super) open_call: Option<OpenCall>,
    pub(super) orphans: VecDeque<CallId>,
    pub(super) stream: PduStream,
    pub(super) transmits: VecDeque<Transmit>,
    pub(super) events: VecDeque<Event>,
    pub(super) received_pdus: u64,
    last_call_id: u32,
    observer: Arc<dyn Observer>,
}

impl ClientAssociation {
    /// An association that is not bound yet. `security` has to be a fresh context of the configured service.
    ///
    /// # Errors
    /// When the configuration contradicts itself.
    pub fn new(config: ClientConfig, security: Option<Box<dyn SecurityContext>>) -> Result<Self, Error> {
        let invalid = |reason| Err(Error::Command { command: "make an association", reason });
        if config.max_xmit_frag < FRAG_BYTES_MIN || config.max_recv_frag < FRAG_BYTES_MIN {
            return invalid("fragments have to be at least 1432 bytes");
        }
        let protector = match (config.auth, security) {
            (None, None) => None,
            (Some(auth), Some(context)) => match auth.level {
                AuthLevel::CONNECT | AuthLevel::PKT_INTEGRITY | AuthLevel::PKT_PRIVACY => {
                    Some(Protector { context, auth })
                }
                _ => return invalid("authentication needs the level connect, integrity or privacy"),
            },
            _ => return invalid("authentication needs a level and a security context"),
        };
        Ok(Self {
            frag_bytes_max: config.max_xmit_frag,
            assoc_group_id: config.assoc_group_id,
            config,
            protector,
            state: State::Unbound,
            contexts: Vec::new(),
            verified: Verified::default(),
            open_call: None,
            orphans: VecDeque::new(),
            stream: PduStream::default(),
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            received_pdus: 0,
            last_call_id: 0,
            observer: Arc::new(()),
        })
    }

    /// Sets the observer, which is notified of changes.
    pub fn set_observer(&mut self, observer: Arc<dyn Observer>) {
        self.observer = observer;
    }

    /// The association group that the server put this association in; known once it is bound.
    #[must_use]
    pub const fn assoc_group_id(&self) -> u32 {
        self.assoc_group_id
    }

    /// Whether a PDU began to arrive and did not end: the time for a deadline.
    #[must_use]
    pub fn is_within_pdu(&self) -> bool {
        self.stream.is_within_pdu()
    }

    /// Complete PDUs received so far.
    #[must_use]
    pub const fn received_pdus(&self) -> u64 {
        self.received_pdus
    }

    /// Whether the association waits for the server.
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        matches!(self.state, State::Binding(_) | State::Altering(_)) || self.open_call.is_some()
    }

    /// The peer as its security context describes it.
    #[must_use]
    pub fn peer(&self) -> ssp::Peer {
        self.protector.as_ref().map(|protector| protector.context.peer()).unwrap_or_default()
    }

    /// Makes a call; its fragments are queued. One call is open at a time.
    ///
    /// # Errors
    /// When the association is not bound, a call is open, or the context was not accepted.
    pub fn call(&mut self, request: CallRequest<'_>) -> Result<CallId, Error> {
        self.require_bound("call")?;
        let context_id = request.context_id;
        let interface = match self.contexts.get(usize::from(context_id)) {
            Some(context) if context.outcome.is_ok() => context.interface,
            _ => return Err(Error::UnknownContext { context_id }),
        };
        if request.stub.len() > self.config.limits.stub_bytes_max {
            let limit = self.config.limits.stub_bytes_max;
            return Err(Error::LimitExceeded { what: "stub data of a call", limit });
        }
        let call_id = self.next_call_id();
        if let Err(error) = self.queue_request(call_id, &request) {
            // Signatures were made that the server will never see.
            self.fail();
            return Err(error);
        }
        self.open_call = Some(OpenCall { call_id, context_id, response: Assembly::default() });
        let CallRequest { opnum, object, stub, .. } = request;
        let interface = &interface;
        self.observe(Change::CallStarted { call_id, context_id, interface, opnum, object, stub });
        Ok(call_id)
    }

    /// Asks the server to give the open call up. It still answers, with a fault or with the response.
    ///
    /// # Errors
    /// When the call is not open.
    pub fn cancel(&mut self, call_id: CallId) -> Result<(), Error> {
        self.require_open(call_id)?;
        self.queue_empty(PacketType::CO_CANCEL, call_id)
    }

    /// Orphans the open call: tells the server that its answer is not wanted. An answer is ignored, and another
    /// call can be made at once.
    ///
    /// # Errors
    /// When the call is not open, or too many orphans are.
    pub fn orphan(&mut self, call_id: CallId) -> Result<(), Error> {
        self.require_open(call_id)?;
        let limit = self.config.limits.orphans_max;
        if self.orphans.len() >= limit {
            return Err(Error::LimitExceeded { what: "orphaned calls", limit });
        }
        self.queue_empty(PacketType::ORPHANED, call_id)?;
        self.open_call = None;
        self.orphans.push_back(call_id);
        self.observe(Change::CallEnded { call_id, outcome: CallOutcome::Orphaned });
        Ok(())
    }

    /// The next PDU to send.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        let transmit = self.transmits.pop_front()?;
        self.observe(Change::FragmentSent { bytes: transmit.bytes.len() });
        Some(transmit)
    }

    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    pub(super) fn require_bound(&self, command: &'static str) -> Result<(), Error> {
        let reason = match &self.state {
            State::Bound if self.open_call.is_none() => return Ok(()),
            State::Bound => "a call is open",
            State::Unbound => "the association is not bound",
            State::Binding(_) | State::Altering(_) => "the server has not answered yet",
            State::Failed => return Err(Error::Failed),
        };
        Err(Error::Command { command, reason })
    }

    pub(super) fn next_call_id(&mut self) -> CallId {
        self.last_call_id = self.last_call_id.wrapping_add(1);
        CallId(self.last_call_id)
    }

    pub(super) fn set_state(&mut self, state: State) {
        let change = match &state {
            State::Unbound => AssociationState::Unbound,
            State::Binding(_) => AssociationState::Binding,
            State::Bound => AssociationState::Bound,
            State::Altering(_) => AssociationState::Altering,
            State::Failed => AssociationState::Failed,
        };
        self.state = state;
        self.observe(Change::State(change));
    }

    /// Ends the association: nothing more is sent or taken.
    pub(super) fn fail(&mut self) {
        self.transmits.clear();
        self.open_call = None;
        self.set_state(State::Failed);
    }

    pub(super) fn observe(&self, change: Change<'_>) {
        self.observer.observe(Role::Client, change);
    }

    fn require_open(&self, call_id: CallId) -> Result<(), Error> {
        match &self.open_call {
            Some(open) if open.call_id == call_id => Ok(()),
            _ => Err(Error::UnknownCall { call_id }),
        }
    }

    fn queue_empty(&mut self, packet_type: PacketType, call_id: CallId) -> Result<(), Error> {
        let bytes = encode_pdu(packet_type, PfcFlags::WHOLE, call_id, None, None)?;
        self.transmits.push_back(Transmit { bytes, reply: false });
        Ok(())
    }

    fn queue_request(&mut self, call_id: CallId, call: &CallRequest<'_>) -> Result<(), Error> {
        let &CallRequest { context_id, opnum, object, stub } = call;
        let is_protected =
            self.protector.as_ref().is_some_and(|protector| protector.auth.level.protection().is_some());
        let with_trailer = match self.contexts.get(usize::from(context_id)).filter(|_| is_protected) {
            Some(context) => self.verified.with_trailer(context_id, context.interface, stub)?,
            None => None,
        };
        let (body, trailer_start) = match &with_trailer {
            Some((body, trailer_start)) => (body.as_slice(), *trailer_start),
            None => (stub, stub.len()),
        };
        let mut request = Request { alloc_hint: 0, context_id, opnum, object };
        let stub_start = CommonHeader::FIXED_PART_SIZE + request.size();
        let overhead = self.protector.as_ref().map_or(0, Protector::overhead);
        for fragment in fragments(body, self.frag_bytes_max, stub_start + overhead, trailer_start) {
            request.alloc_hint = fragment.alloc_hint;
            let mut pdu = Vec::with_capacity(stub_start + fragment.stub.len() + overhead + 16);
            let mut dst = WriteCursor::new(&mut pdu);
            CommonHeader {
                packet_type: PacketType::REQUEST,
                flags: fragment.flags | request.flags(),
                frag_length: 0,
                auth_length: 0,
                call_id,
            }
            .encode(&mut dst)?;
            request.encode(&mut dst)?;
            dst.write_slice(fragment.stub);
            protect(self.protector.as_mut(), &mut pdu, stub_start)?;
            let reply = fragment.flags.contains(PfcFlags::LAST_FRAG);
            self.transmits.push_back(Transmit { bytes: pdu, reply });
        }
        Ok(())
    }
}

impl fmt::Debug for ClientAssociation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientAssociation")
            .field("state", &self.state)
            .field("contexts", &self.contexts)
            .field("open_call", &self.open_call.as_ref().map(|open| open.call_id))
            .finish_non_exhaustive()
    }
}

/// What was negotiated in the clear and then said again in a protected request.
#[derive(Debug, Default)]
pub(super) struct Verified {
    /// That headers can be signed, which the bind said.
    header_signing: bool,
    contexts: BTreeSet<ContextId>,
}

impl Verified {
    /// The stub data with a verification trailer after it, and where that begins; nothing where none is due.
    ///
    /// [MS-RPCE] <41> to <43>: the bitmask goes with the first request of the connection, the presentation context with
    /// the first request on it. The header is not repeated: NTLM signs it, and so does
    /// Kerberos with every server that says it can.
    fn with_trailer(
        &mut self,
        context_id: ContextId,
        interface: SyntaxId,
        stub: &[u8],
    ) -> Result<Option<(Vec<u8>, usize)>, Error> {
        let mut commands = Vec::new();
        if !core::mem::replace(&mut self.header_signing, true) {
            commands.push(CommandKind::Bitmask1(VerificationTrailer::CLIENT_SUPPORT_HEADER_SIGNING));
        }
        if self.contexts.insert(context_id) {
            commands.push(CommandKind::PresentationContext { interface, transfer_syntax: SyntaxId::NDR });
        }
        if commands.is_empty() {
            return Ok(None);
        }
        let trailer = VerificationTrailer { commands: commands.into_iter().map(Command::new).collect() };
        let mut body = Vec::with_capacity(stub.len() + VerificationTrailer::ALIGNMENT + trailer.size());
        let mut dst = WriteCursor::new(&mut body);
        dst.write_slice(stub);
        dst.align(VerificationTrailer::ALIGNMENT);
        let start = dst.pos();
        trailer.encode(&mut dst)?;
        Ok(Some((body, start)))
    }
}
