use crate::{Cell, Snapshot};

use crate::view::Table;
use crate::view::rows::{ClientCallRow, ConnectionRow, EndpointRow, Found, ServerCallRow, ThreadRow};

/// Which calls are wanted: all, but for what is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CallFilter {
    /// `-C`: those with this id.
    pub call_id: Option<u32>,
    /// `-I`: those of interfaces whose UUID begins with these 32 bits.
    pub interface_start: Option<u32>,
    /// `-N`: those of the method with this number.
    pub opnum: Option<u16>,
    /// `-P`: those of this process.
    pub pid: Option<u32>,
}

impl CallFilter {
    fn takes(&self, pid: u32, call_id: u32, interface_start: u32, opnum: u16) -> bool {
        self.pid.is_none_or(|wanted| wanted == pid)
            && self.call_id.is_none_or(|wanted| wanted == call_id)
            && self.interface_start.is_none_or(|wanted| wanted == interface_start)
            && self.opnum.is_none_or(|wanted| wanted == opnum)
    }
}

/// `-e`: the endpoints of all processes, or those with this name.
#[must_use]
pub fn endpoints(snapshots: &[Snapshot], name: Option<&str>) -> Table<EndpointRow> {
    rows(snapshots, |found, _, cell| match cell {
        Cell::Endpoint(endpoint) if name.is_none_or(|name| endpoint.name.is_front_of(name)) => {
            Some(EndpointRow::new(found, endpoint))
        }
        _ => None,
    })
}

/// `-t`: the threads of all processes, or of one; or those with this id.
#[must_use]
pub fn threads(snapshots: &[Snapshot], pid: Option<u32>, tid: Option<u32>) -> Table<ThreadRow> {
    rows(snapshots, |found, _, cell| match cell {
        Cell::Thread(thread)
            if pid.is_none_or(|pid| pid == found.pid) && tid.is_none_or(|tid| tid == thread.tid) =>
        {
            Some(ThreadRow::new(found, thread))
        }
        _ => None,
    })
}

/// The connections of all processes, or of one.
#[must_use]
pub fn connections(snapshots: &[Snapshot], pid: Option<u32>) -> Table<ConnectionRow> {
    rows(snapshots, |found, snapshot, cell| match cell {
        Cell::Connection(connection) if pid.is_none_or(|pid| pid == found.pid) => {
            Some(ConnectionRow::new(found, snapshot, connection))
        }
        _ => None,
    })
}

#[must_use]
pub fn server_calls(snapshots: &[Snapshot], filter: &CallFilter) -> Table<ServerCallRow> {
    rows(snapshots, |found, snapshot, cell| match cell {
        Cell::ServerCall(call) if filter.takes(found.pid, call.call_id, call.interface_start, call.opnum) => {
            Some(ServerCallRow::new(found, snapshot, call))
        }
        _ => None,
    })
}

/// `-a`: client calls, each with its target.
#[must_use]
pub fn client_calls(snapshots: &[Snapshot], filter: &CallFilter) -> Table<ClientCallRow> {
    rows(snapshots, |found, snapshot, cell| match cell {
        Cell::ClientCall(call) if filter.takes(found.pid, call.call_id, call.interface_start, call.opnum) => {
            Some(ClientCallRow::new(found, snapshot, call))
        }
        _ => None,
    })
}

fn rows<R>(snapshots: &[Snapshot], row: impl Fn(Found, &Snapshot, &Cell) -> Option<R>) -> Table<R> {
    let files = snapshots.iter().enumerate();
    let cells =
        files.flat_map(|(file, snapshot)| snapshot.cells.iter().map(move |cell| (file, snapshot, cell)));
    let rows =
        cells.filter_map(|(file, snapshot, (id, cell))| row(Found::new(file, snapshot, *id), snapshot, cell));
    Table { rows: rows.collect() }
}
