use std::sync::{Arc, Mutex, PoisonError};

use dcerpc::{AssociationInfo, AssociationState, CallId, Change, Observer, Role};
use rpc_cells::{
    CallOrigin, CallTarget, CellHandle, CellId, ClientCall, ClientCallHandle, Connection, Level, Name,
    ObjectCall, Writer,
};

use crate::calls::object_call;
use crate::connection::ConnectionCells;
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
    call: Option<OpenCall>,
}

struct OpenCall {
    call_id: CallId,
    /// Keep their cells shown.
    _handles: (ClientCallHandle, Option<CellHandle<ObjectCall>>),
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
        Self { shared, target, state: Mutex::new(State { connection, call: None }) }
    }

    fn start(&self, change: &Change<'_>) -> Option<OpenCall> {
        let &Change::CallStarted { call_id, interface, opnum, object, stub, .. } = change else {
            return None;
        };
        let writer = &self.shared.writer;
        let thread = threads::executing(self.shared.id);
        let origin = if thread.is_some() { CallOrigin::ServerCall } else { CallOrigin::Client };
        if writer.level() != Level::FULL && origin == CallOrigin::Client {
            return None;
        }
        let object = object_call(object, stub).map(|object| writer.object_call(object));
        let call = ClientCall {
            opnum,
            servicing_thread: thread.unwrap_or(CellId::NONE),
            interface_start: interface.uuid.data1,
            endpoint: self.target.endpoint,
            call_id: call_id.0,
            target: CellId::NONE,
            object: object.as_ref().map_or(CellId::NONE, CellHandle::id),
            operation: self.shared.names.operation(writer, interface, opnum),
        };
        let target = CallTarget { last_update_ms: self.shared.now_ms(), ..self.target };
        Some(OpenCall { call_id, _handles: (writer.client_call(origin, call, target), object) })
    }
}

impl Observer for Client {
    fn observe(&self, _: Role, change: Change<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match change {
            Change::FragmentSent { bytes } => state.connection.sent(bytes, self.shared.now_ms()),
            Change::FragmentReceived { bytes } => state.connection.received(bytes, self.shared.now_ms()),
            Change::Authenticated { auth } => state.connection.authenticated(auth),
            Change::CallStarted { .. } => state.call = self.start(&change),
            Change::CallEnded { call_id, .. }
                if state.call.as_ref().is_some_and(|call| call.call_id == call_id) =>
            {
                state.call = None;
            }
            Change::State(AssociationState::Failed) => state.call = None,
            _ => {}
        }
    }
}
