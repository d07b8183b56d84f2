//! What is kept in cells of the associations that this process serves.

use std::net::IpAddr;
use std::sync::Arc;

use dcerpc::{AssociationState, CallId, Change, Observer, Role};
use parking_lot::Mutex;
use rpc_cells::{
    CallFlags, CallStatus, CellHandle, CellId, Connection, ObjectCall, ServerCall, ThreadStatus,
};

use crate::connection::ConnectionCells;
use crate::object_call;
use crate::shared::Shared;
use crate::threads;

/// The server's end of an association.
pub(crate) struct Server {
    shared: Arc<Shared>,
    state: Mutex<State>,
}

struct State {
    connection: ConnectionCells,
    /// The one that the connection keeps for its next call, and others that are in progress beside it. INVARIANT: the first
    /// has the flag `CACHED`, and no other; after a failure the first may be gone.
    calls: Vec<Call>,
    /// No more calls come, and none is answered.
    has_failed: bool,
}

struct Call {
    call: CellHandle<ServerCall>,
    object: Option<CellHandle<ObjectCall>>,
}

impl Server {
    pub(crate) fn new(shared: Arc<Shared>, endpoint: CellId, peer: Option<IpAddr>) -> Self {
        let connection = Connection { endpoint, peer, ..Connection::default() };
        let connection = ConnectionCells::new(&shared.writer, connection, None);
        Self { shared, state: Mutex::new(State { connection, calls: Vec::new(), has_failed: false }) }
    }

    fn note_thread(&self, status: ThreadStatus, now_ms: u64) -> CellId {
        threads::note(self.shared.id, &self.shared.writer, status, now_ms)
    }
}

impl Observer for Server {
    fn observe(&self, _: Role, change: Change<'_>) {
        let mut state = self.state.lock();
        let now_ms = self.shared.now_ms();
        match change {
            Change::FragmentSent { bytes } => state.connection.sent(bytes, now_ms),
            Change::FragmentReceived { bytes } => {
                state.connection.received(bytes, now_ms);
                self.note_thread(ThreadStatus::PROCESSING, now_ms);
            }
            Change::Authenticated { auth } => state.connection.authenticated(auth),
            Change::CallStarted { .. } => state.start(&self.shared, &change, now_ms),
            Change::CallDispatched { call_id } => {
                let thread = self.note_thread(ThreadStatus::PROCESSING, now_ms);
                state.dispatch(call_id, thread, now_ms);
            }
            Change::MethodEntered { call_id } => {
                let thread = threads::enter(self.shared.id, &self.shared.writer, now_ms);
                state.dispatch(call_id, thread, now_ms);
            }
            Change::MethodLeft { call_id } => {
                threads::leave(self.shared.id, &self.shared.writer, now_ms);
                state.leave(call_id, now_ms);
            }
            Change::CallEnded { call_id, .. } => state.end(call_id, now_ms),
            Change::Settled => {
                self.note_thread(ThreadStatus::IDLE, now_ms);
            }
            Change::State(AssociationState::Failed) => state.fail(),
            _ => {}
        }
    }
}

impl State {
    fn start(&mut self, shared: &Shared, change: &Change<'_>, now_ms: u64) {
        let &Change::CallStarted { call_id, interface, opnum, object, stub, .. } = change else { return };
        let kept = self.calls.iter().position(|kept| !kept.call.get().is_in_progress());
        let index = kept.unwrap_or_else(|| {
            let flags = if self.calls.is_empty() { CallFlags::CACHED } else { CallFlags(0) };
            let call = ServerCall { flags, connection: self.connection.id(), ..ServerCall::default() };
            self.calls.push(Call { call: shared.writer.server_call(call), object: None });
            self.calls.len() - 1
        });
        let Call { call, object: cell } = &mut self.calls[index];
        let object = object_call(object, stub).map_or(CellId::NONE, |object| {
            let cell = cell.get_or_insert_with(|| shared.writer.object_call(object));
            cell.update(|called| *called = object);
            cell.id()
        });
        let operation = shared.names.operation(&shared.writer, interface, opnum);
        call.update(|call| {
            call.status = CallStatus::ACTIVE;
            call.opnum = opnum;
            call.interface_start = interface.uuid.data1;
            call.servicing_thread = CellId::NONE;
            call.last_update_ms = now_ms;
            call.call_id = call_id.0;
            call.object = object;
            call.operation = operation;
        });
    }

    fn dispatch(&mut self, call_id: CallId, thread: CellId, now_ms: u64) {
        if let Some(index) = self.position(call_id) {
            self.calls[index].call.update(|call| {
                call.status = CallStatus::DISPATCHED;
                call.servicing_thread = thread;
                call.last_update_ms = now_ms;
            });
        }
    }

    /// The connection keeps the cell of one call.
    fn end(&mut self, call_id: CallId, now_ms: u64) {
        let Some(index) = self.position(call_id) else { return };
        if self.has_failed || !self.calls[index].call.get().flags.contains(CallFlags::CACHED) {
            self.calls.remove(index);
            return;
        }
        self.calls[index].call.update(|call| {
            call.status = CallStatus::ALLOCATED;
            call.last_update_ms = now_ms;
        });
    }

    /// Nobody answers a call of a failed association, so it ends with its method.
    fn leave(&mut self, call_id: CallId, now_ms: u64) {
        if self.has_failed {
            self.end(call_id, now_ms);
        }
    }

    /// Calls that nobody took are over; a method that is executed does not end by this.
    fn fail(&mut self) {
        self.has_failed = true;
        self.calls.retain(|call| call.call.get().status == CallStatus::DISPATCHED);
    }

    fn position(&self, call_id: CallId) -> Option<usize> {
        let is_open = |call: &ServerCall| call.is_in_progress() && call.call_id == call_id.0;
        self.calls.iter().position(|call| is_open(call.call.get()))
    }
}
