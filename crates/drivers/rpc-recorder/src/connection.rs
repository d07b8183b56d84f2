//! What the connections of both ends have in common.

use rpc_cells::{AuthenticationLevel, AuthenticationService, CellHandle, Connection};

pub(crate) fn sent(connection: &mut CellHandle<Connection>, bytes: usize, now_ms: u64) {
    connection.update(|connection| {
        connection.last_transmit_fragment_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        connection.last_send_ms = now_ms;
    });
}

pub(crate) fn received(connection: &mut CellHandle<Connection>, now_ms: u64) {
    connection.update(|connection| connection.last_receive_ms = now_ms);
}

pub(crate) fn authenticated(connection: &mut CellHandle<Connection>, auth: dcerpc::Auth) {
    connection.update(|connection| {
        connection.authentication_level = AuthenticationLevel(auth.level.0);
        connection.authentication_service = AuthenticationService(auth.service.0);
    });
}
