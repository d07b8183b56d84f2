//! What the connections of both ends have in common.

use rpc_cells::{
    AuthenticationLevel, AuthenticationService, CallTarget, CellHandle, CellId, Connection, ConnectionFlags,
    ConnectionTotals, Writer,
};

/// The cells of a connection. They are freed in this order, so that none names a free one.
pub(crate) struct ConnectionCells {
    connection: CellHandle<Connection>,
    totals: CellHandle<ConnectionTotals>,
    _target: Option<CellHandle<CallTarget>>,
}

impl ConnectionCells {
    pub(crate) fn new(writer: &Writer, connection: Connection, target: Option<CallTarget>) -> Self {
        let totals = writer.connection_totals(ConnectionTotals::default());
        let target = target.map(|target| writer.connection_target(target));
        let connection = writer.connection(Connection {
            flags: ConnectionFlags::EXCLUSIVE,
            totals: totals.id(),
            target: target.as_ref().map_or(CellId::NONE, CellHandle::id),
            ..connection
        });
        Self { connection, totals, _target: target }
    }

    pub(crate) fn id(&self) -> CellId {
        self.connection.id()
    }

    pub(crate) fn sent(&mut self, bytes: usize, now_ms: u64) {
        self.connection.update(|connection| {
            connection.last_transmit_fragment_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            connection.last_send_ms = now_ms;
        });
        self.totals.update(|totals| {
            totals.fragments_sent += 1;
            totals.bytes_sent += bytes as u64;
        });
    }

    pub(crate) fn received(&mut self, bytes: usize, now_ms: u64) {
        self.connection.update(|connection| connection.last_receive_ms = now_ms);
        self.totals.update(|totals| {
            totals.fragments_received += 1;
            totals.bytes_received += bytes as u64;
        });
    }

    pub(crate) fn authenticated(&mut self, auth: dcerpc::Auth) {
        self.connection.update(|connection| {
            connection.authentication_level = AuthenticationLevel(auth.level.0);
            connection.authentication_service = AuthenticationService(auth.service.0);
        });
    }
}
