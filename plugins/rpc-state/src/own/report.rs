//! What is made of the cells of processes: counts, waits, and the totals of connections. No input or output, no clock.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::IpAddr;

use rpc_cells::view::operation_name;
use rpc_cells::{
    CallStatus, CallTarget, Cell, CellId, ClientCall, Connection, ConnectionTotals, EndpointStatus,
    ServerCall, Snapshot, ThreadStatus,
};
use safe_text::OneLine;

use super::Tally;

/// How much is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportLimits {
    pub(super) connections: usize,
    pub(super) operations: usize,
}

/// What processes keep in cells.
#[derive(Debug)]
pub(super) struct Report {
    limits: ReportLimits,
    pub(super) processes: BTreeMap<Process, ProcessFigures>,
    /// Of calls in progress. INVARIANT: at most as many as the limit, but within [`Report::add`].
    pub(super) operations: BTreeMap<Operation, OperationFigures>,
    /// INVARIANT: at most as many as the limit.
    pub(super) connections: BTreeMap<(Process, CellId), ConnectionFigures>,
    /// What is above the limits.
    pub(super) connections_left_out: u64,
    pub(super) operations_left_out: u64,
}

/// A program or plugin, in a process. A process may have several.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Process {
    pub(super) owner: String,
    pub(super) id: u32,
    pub(super) is_dead: bool,
}

/// Which end of a call or connection a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Role {
    Client,
    Server,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProcessFigures {
    pub(super) endpoints: Tally,
    pub(super) threads: Tally,
    pub(super) server_calls: Tally,
    pub(super) client_calls: u64,
    pub(super) connections: ByRole,
    /// Of the call in progress that waits longest; 0 without calls.
    pub(super) longest_wait_ms: ByRole,
    pub(super) hidden: u64,
}

/// A number of each role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct ByRole {
    pub(super) client: u64,
    pub(super) server: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Operation {
    pub(super) process: Process,
    pub(super) role: Role,
    /// Its name, or the first 32 bits of its UUID.
    pub(super) interface: String,
    /// Its name, or its number.
    pub(super) operation: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct OperationFigures {
    pub(super) calls: u64,
    /// `None` if no call has a time.
    pub(super) longest_wait_ms: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConnectionFigures {
    pub(super) role: Role,
    /// The address of the other side, if it has one.
    pub(super) peer: Option<IpAddr>,
    /// Of a client's connection, the front of the server's name; empty if it is not known.
    pub(super) server: String,
    /// The front of the name of the endpoint; empty if it is not known.
    pub(super) endpoint: String,
    /// `None` if they are not known.
    pub(super) totals: Option<ConnectionTotals>,
    /// `None` if there was nothing yet.
    pub(super) since_send_ms: Option<u64>,
    pub(super) since_receive_ms: Option<u64>,
}

impl Report {
    pub(super) fn new(limits: ReportLimits) -> Self {
        Self {
            limits,
            processes: BTreeMap::new(),
            operations: BTreeMap::new(),
            connections: BTreeMap::new(),
            connections_left_out: 0,
            operations_left_out: 0,
        }
    }

    /// Adds the objects of a file. `now_ms` is the time after boot.
    pub(super) fn add(&mut self, snapshot: &Snapshot, is_dead: bool, now_ms: u64) {
        let header = &snapshot.header;
        let owner = OneLine(header.name.as_str()).to_string();
        let process = Process { owner, id: header.process.pid, is_dead };
        let mut figures = self.processes.remove(&process).unwrap_or_default();
        figures.hidden = figures.hidden.saturating_add(snapshot.hidden);
        for (id, cell) in &snapshot.cells {
            match cell {
                Cell::Endpoint(endpoint) => figures.endpoints.add(endpoint.status.name()),
                Cell::Thread(thread) => figures.threads.add(thread.status.name()),
                Cell::Connection(connection) => {
                    *figures.connections.of(role_of(connection)) += 1;
                    self.add_connection(&process, *id, snapshot, connection, now_ms);
                }
                Cell::ServerCall(call) => {
                    figures.server_calls.add(call.status.name());
                    if call.is_in_progress() {
                        let called = CallInProgress::of_server(snapshot, call);
                        self.add_call(&process, called, &mut figures, now_ms);
                    }
                }
                Cell::ClientCall(call) => {
                    figures.client_calls += 1;
                    let called = CallInProgress::of_client(snapshot, call);
                    self.add_call(&process, called, &mut figures, now_ms);
                }
                // Parts of other objects. Versions after this one may have more.
                _ => {}
            }
        }
        self.processes.insert(process, figures);
        self.leave_out_operations();
    }

    fn add_call(
        &mut self,
        process: &Process,
        call: CallInProgress,
        figures: &mut ProcessFigures,
        now_ms: u64,
    ) {
        let wait_ms = since(call.last_update_ms, now_ms);
        let longest = figures.longest_wait_ms.of(call.role);
        *longest = wait_ms.unwrap_or(0).max(*longest);
        let CallInProgress { role, interface, operation, .. } = call;
        let key = Operation { process: process.clone(), role, interface, operation };
        let figures = self.operations.entry(key).or_default();
        figures.calls += 1;
        figures.longest_wait_ms = figures.longest_wait_ms.max(wait_ms);
    }

    fn add_connection(
        &mut self,
        process: &Process,
        id: CellId,
        snapshot: &Snapshot,
        connection: &Connection,
        now_ms: u64,
    ) {
        let is_full = self.connections.len() >= self.limits.connections;
        // Two files of one owner may have the same cell; the second has no labels of its own.
        match self.connections.entry((process.clone(), id)) {
            Entry::Vacant(entry) if !is_full => {
                entry.insert(ConnectionFigures::new(snapshot, connection, now_ms));
            }
            _ => self.connections_left_out += 1,
        }
    }

    /// Keeps those whose calls wait longest.
    fn leave_out_operations(&mut self) {
        let surplus = self.operations.len().saturating_sub(self.limits.operations);
        if surplus == 0 {
            return;
        }
        let mut waits: Vec<_> =
            self.operations.iter().map(|(key, figures)| (figures.longest_wait_ms, key.clone())).collect();
        // Of those that wait as long as each other, the first by their labels stay.
        waits.sort_by(|(a_wait, a), (b_wait, b)| a_wait.cmp(b_wait).then_with(|| b.cmp(a)));
        waits.truncate(surplus);
        for (_, key) in &waits {
            self.operations.remove(key);
        }
        self.operations_left_out += waits.len() as u64;
    }
}

/// What there is to say of a call in progress.
struct CallInProgress {
    role: Role,
    interface: String,
    operation: String,
    last_update_ms: u64,
}

impl CallInProgress {
    fn of_server(snapshot: &Snapshot, call: &ServerCall) -> Self {
        let (interface, operation) = names(snapshot, call.operation, call.interface_start, call.opnum);
        Self { role: Role::Server, interface, operation, last_update_ms: call.last_update_ms }
    }

    fn of_client(snapshot: &Snapshot, call: &ClientCall) -> Self {
        let (interface, operation) = names(snapshot, call.operation, call.interface_start, call.opnum);
        let target = target_of(snapshot, call.target);
        let last_update_ms = target.map_or(0, |target| target.last_update_ms);
        Self { role: Role::Client, interface, operation, last_update_ms }
    }
}

impl ConnectionFigures {
    fn new(snapshot: &Snapshot, connection: &Connection, now_ms: u64) -> Self {
        let escaped = |name: &str| OneLine(name).to_string();
        let target = target_of(snapshot, connection.target);
        let endpoint = match snapshot.get(connection.endpoint) {
            Some(Cell::Endpoint(endpoint)) => escaped(endpoint.name.as_str()),
            _ => target.map(|target| escaped(target.endpoint.as_str())).unwrap_or_default(),
        };
        let totals = match snapshot.get(connection.totals) {
            Some(Cell::ConnectionTotals(totals)) => Some(*totals),
            _ => None,
        };
        Self {
            role: role_of(connection),
            peer: connection.peer,
            server: target.map(|target| escaped(target.server.as_str())).unwrap_or_default(),
            endpoint,
            totals,
            since_send_ms: since(connection.last_send_ms, now_ms),
            since_receive_ms: since(connection.last_receive_ms, now_ms),
        }
    }
}

impl Default for ProcessFigures {
    fn default() -> Self {
        let endpoints = [EndpointStatus::ALLOCATED, EndpointStatus::ACTIVE, EndpointStatus::INACTIVE];
        let threads =
            [ThreadStatus::PROCESSING, ThreadStatus::DISPATCHED, ThreadStatus::ALLOCATED, ThreadStatus::IDLE];
        let calls = [CallStatus::ALLOCATED, CallStatus::ACTIVE, CallStatus::DISPATCHED];
        Self {
            endpoints: Tally::new(endpoints.iter().filter_map(|status| status.name())),
            threads: Tally::new(threads.iter().filter_map(|status| status.name())),
            server_calls: Tally::new(calls.iter().filter_map(|status| status.name())),
            client_calls: 0,
            connections: ByRole::default(),
            longest_wait_ms: ByRole::default(),
            hidden: 0,
        }
    }
}

impl ByRole {
    fn of(&mut self, role: Role) -> &mut u64 {
        match role {
            Role::Client => &mut self.client,
            Role::Server => &mut self.server,
        }
    }
}

/// A server's connection was accepted on an endpoint.
fn role_of(connection: &Connection) -> Role {
    if connection.endpoint.is_some() { Role::Server } else { Role::Client }
}

fn target_of(snapshot: &Snapshot, target: CellId) -> Option<&CallTarget> {
    match snapshot.get(target) {
        Some(Cell::CallTarget(target)) => Some(target),
        _ => None,
    }
}

/// The names of interface and operation; without these, what `rpc-state` shows in their place.
fn names(snapshot: &Snapshot, operation: CellId, interface_start: u32, opnum: u16) -> (String, String) {
    match operation_name(snapshot, operation) {
        Some(name) => (OneLine(name.interface).to_string(), OneLine(name.method).to_string()),
        None => (format!("{interface_start:#010x}"), format!("{opnum:#x}")),
    }
}

/// `None` for what has no time. A time that is later than now is of another boot, or was written while this was read.
fn since(last_ms: u64, now_ms: u64) -> Option<u64> {
    (last_ms != 0).then(|| now_ms.saturating_sub(last_ms))
}

#[cfg(test)]
mod tests;
