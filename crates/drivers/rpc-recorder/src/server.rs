use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use dcerpc::{AssociationState, CallId, Change, Observer, Role};
use rpc_cells::{
    CallFlags, CallStatus, CellHandle, CellId, Connection, ObjectCall, ServerCall, ThreadStatus,
};

use crate::calls::object_call;
use crate::connection::ConnectionCells;
use crate::shared::Shared;
use crate::threads;

/// The server's end of an association.
pub(crate) struct Server {
    shared: Arc<Shared>,
    state: Mutex<State>,
}

struct State {
    connection: ConnectionCells,
    /// Those in progress, and one that is cached.
    calls: Vec<Call>,
}

struct Call {
    call: CellHandle<ServerCall>,
    object: Option<CellHandle<ObjectCall>>,
}

impl Server {
    pub(crate) fn new(shared: Arc<Shared>, endpoint: CellId, peer: Option<IpAddr>) -> Self {
        let connection = Connection { endpoint, peer, ..Connection::default() };
        let connection = ConnectionCells::new(&shared.writer, connection, None);
        Self { shared, state: Mutex::new(State { connection, calls: Vec::new() }) }
    }

    fn set_thread(&self, status: ThreadStatus, now_ms: u64) -> CellId {
        threads::set(self.shared.id, &self.shared.writer, status, now_ms)
    }
}

impl Observer for Server {
    fn observe(&self, _: Role, change: Change<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ms = self.shared.now_ms();
        match change {
            Change::FragmentSent { bytes } => state.connection.sent(bytes, now_ms),
            Change::FragmentReceived { bytes } => {
                state.connection.received(bytes, now_ms);
                self.set_thread(ThreadStatus::PROCESSING, now_ms);
            }
            Change::Authenticated { auth } => state.connection.authenticated(auth),
            Change::CallStarted { .. } => state.start(&self.shared, &change, now_ms),
            Change::CallDispatched { call_id } => {
                let thread = self.set_thread(ThreadStatus::PROCESSING, now_ms);
                state.dispatch(call_id, thread, now_ms);
            }
            Change::MethodEntered { call_id } => {
                let thread = self.set_thread(ThreadStatus::DISPATCHED, now_ms);
                state.dispatch(call_id, thread, now_ms);
                threads::execute(Some((self.shared.id, thread)));
            }
            Change::MethodLeft { .. } => {
                threads::execute(None);
                self.set_thread(ThreadStatus::PROCESSING, now_ms);
            }
            Change::CallEnded { call_id, .. } => state.end(call_id, now_ms),
            Change::Settled => {
                self.set_thread(ThreadStatus::IDLE, now_ms);
            }
            Change::State(AssociationState::Failed) => state.calls.clear(),
            _ => {}
        }
    }
}

impl State {
    fn start(&mut self, shared: &Shared, change: &Change<'_>, now_ms: u64) {
        let &Change::CallStarted { call_id, interface, opnum, object, stub, .. } = change else { return };
        let cached = self.calls.iter().position(|cached| !cached.call.get().is_in_progress());
        let index = cached.unwrap_or_else(|| {
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
        if self.calls.iter().any(|cached| !cached.call.get().is_in_progress()) {
            self.calls.swap_remove(index);
            return;
        }
        self.calls[index].call.update(|call| {
            call.status = CallStatus::ALLOCATED;
            call.last_update_ms = now_ms;
        });
    }

    fn position(&self, call_id: CallId) -> Option<usize> {
        let is_open = |call: &ServerCall| call.is_in_progress() && call.call_id == call_id.0;
        self.calls.iter().position(|call| is_open(call.call.get()))
    }
}
