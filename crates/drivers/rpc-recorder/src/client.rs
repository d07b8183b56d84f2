//! What is kept in cells of the associations that this process opens.

use std::sync::Arc;

use dcerpc::{AssociationInfo, AssociationState, CallId, Change, Observer, Role, SyntaxId};
use parking_lot::Mutex;
use rpc_cells::{
    CallOrigin, CallTarget, CellHandle, CellId, ClientCall, ClientCallHandle, Connection, Level, Name,
    ObjectCall, Writer,
};

use crate::connection::ConnectionCells;
use crate::object_call;
use crate::shared::{Shared, protocol_sequence};
use crate::threads;

/// The client's end of an association.
pub(crate) struct Client {
    shared: Arc<Shared>,
    target: CallTarget,
    state: Mutex<State>,
}

struct State {
    connection: ConnectionCells,
    /// One call is open at a time.
    open: Option<OpenCall>,
    /// The cells of the open call. The connection keeps them for its next call, hidden.
    call: Option<ClientCallHandle>,
    object: Option<CellHandle<ObjectCall>>,
    /// The name of the method that was called last, which is mostly called again.
    operation: Option<(SyntaxId, u16, CellId)>,
}

#[derive(Clone, Copy)]
struct OpenCall {
    call_id: CallId,
    /// When it started, for its first fragment, which follows at once.
    started_ms: Option<u64>,
}

impl Client {
    pub(crate) fn new(shared: Arc<Shared>, info: &AssociationInfo<'_>) -> Self {
        let target = CallTarget {
            protocol_sequence: protocol_sequence(info.transport),
            last_update_ms: 0,
            server: Name::new(info.server),
            endpoint: Name::new(info.endpoint),
        };
        // A server's state has nothing of clients, but for calls that are made within its own.
        let writer = if shared.writer.level() == Level::FULL { &shared.writer } else { &Writer::disabled() };
        let connection = Connection { peer: info.peer, ..Connection::default() };
        let leads_to = CallTarget { last_update_ms: shared.now_ms(), ..target };
        let connection = ConnectionCells::new(writer, connection, Some(leads_to));
        let state = State { connection, open: None, call: None, object: None, operation: None };
        Self { shared, target, state: Mutex::new(state) }
    }

    fn start(&self, state: &mut State, change: &Change<'_>) {
        let &Change::CallStarted { call_id, interface, opnum, object, stub, .. } = change else { return };
        let writer = &self.shared.writer;
        let thread = threads::executing(self.shared.id);
        let origin = if thread.is_some() { CallOrigin::ServerCall } else { CallOrigin::Client };
        if writer.level() != Level::FULL && origin == CallOrigin::Client {
            return;
        }
        let object = object_call(object, stub).map_or(CellId::NONE, |object| {
            let cell = state.object.get_or_insert_with(|| writer.object_call(object));
            cell.update(|called| *called = object);
            cell.id()
        });
        let call = ClientCall {
            opnum,
            servicing_thread: thread.unwrap_or(CellId::NONE),
            interface_start: interface.uuid.data1,
            endpoint: self.target.endpoint,
            call_id: call_id.0,
            target: CellId::NONE,
            object,
            operation: self.operation(state, interface, opnum),
        };
        let now_ms = self.shared.now_ms();
        // The next call looks for room again.
        state.call.take_if(|kept| !kept.call().is_shown());
        if let Some(kept) = &mut state.call {
            kept.update(now_ms, |kept| *kept = call);
        } else {
            let target = CallTarget { last_update_ms: now_ms, ..self.target };
            state.call = Some(writer.client_call(origin, call, target));
        }
        state.open = Some(OpenCall { call_id, started_ms: Some(now_ms) });
    }

    fn operation(&self, state: &mut State, interface: &SyntaxId, opnum: u16) -> CellId {
        match state.operation {
            Some((last, number, operation)) if number == opnum && last == *interface => operation,
            _ => {
                let operation = self.shared.names.operation(&self.shared.writer, interface, opnum);
                state.operation = Some((*interface, opnum, operation));
                operation
            }
        }
    }
}

impl State {
    fn end(&mut self) {
        self.open = None;
        self.call.iter_mut().for_each(ClientCallHandle::hide);
        self.object.iter_mut().for_each(CellHandle::hide);
    }
}

impl Observer for Client {
    fn observe(&self, _: Role, change: Change<'_>) {
        let state = &mut *self.state.lock();
        match change {
            Change::FragmentSent { bytes } => {
                let started_ms = state.open.as_mut().and_then(|open| open.started_ms.take());
                let now_ms = started_ms.unwrap_or_else(|| self.shared.now_ms());
                state.connection.sent(bytes, now_ms);
            }
            Change::FragmentReceived { bytes } => state.connection.received(bytes, self.shared.now_ms()),
            Change::Authenticated { auth } => state.connection.authenticated(auth),
            Change::CallStarted { .. } => self.start(state, &change),
            Change::CallEnded { call_id, .. } if state.open.is_some_and(|open| open.call_id == call_id) => {
                state.end();
            }
            Change::State(AssociationState::Failed) => state.end(),
            _ => {}
        }
    }
}
