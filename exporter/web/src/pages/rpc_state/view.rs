//! What the page shows of the state. It is made on the thread that reads the files, since following calls takes its time.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use rpc_cells::view::{
    CallFilter, ClientCallRow, ConnectionRow, EndpointRow, Found, ServerCallRow, ThreadRow, Trail, TrailEnd,
    client_calls, connections, endpoints, server_calls, threads,
};
use rpc_cells::{CallStatus, Cell, Level, ThreadStatus};
use serde_json::{Value, json};

use crate::rpc_state::{State, end_text, hop_text, trail, trail_json};

/// Rows of a table on the page.
pub(super) const ROWS_MAX: usize = 100;
/// Rows of a table for programs.
const JSON_ROWS_MAX: usize = 10_000;
/// Calls that are followed for programs.
const JSON_TRAILS_MAX: usize = ROWS_MAX;

/// A row, and what the page says of its age and its process.
#[derive(Debug)]
pub(in crate::pages) struct Aged<R> {
    pub(in crate::pages) row: R,
    /// How long ago it last changed; none if that is not known, or its process has ended.
    pub(in crate::pages) age: Option<Duration>,
    /// Whether its process runs.
    pub(in crate::pages) is_running: bool,
}

/// The first rows of a table, the most important ones.
#[derive(Debug)]
pub(super) struct Rows<R> {
    pub(super) rows: Vec<Aged<R>>,
    /// How many there are besides.
    pub(super) more: usize,
}

impl<R> Rows<R> {
    pub(super) fn count(&self) -> usize {
        self.rows.len() + self.more
    }
}

/// A file of the run directory.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) owner: String,
    pub(super) level: Level,
    pub(super) cells: usize,
    pub(super) hidden: u64,
}

/// Figures of all processes that run.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub(super) client_calls: usize,
    pub(super) server_calls: usize,
    pub(super) connections: usize,
    pub(super) threads: BTreeMap<ThreadStatus, usize>,
}

/// What the page shows.
#[derive(Debug)]
pub(super) struct View {
    pub(super) summary: Summary,
    pub(super) client_calls: Rows<ClientCallRow>,
    /// For each client call that is shown, where it goes on this machine.
    pub(super) trails: Vec<Vec<String>>,
    pub(super) server_calls: Rows<ServerCallRow>,
    pub(super) connections: Rows<ConnectionRow>,
    pub(super) endpoints: Rows<EndpointRow>,
    pub(super) threads: Rows<ThreadRow>,
    pub(super) processes: Rows<Process>,
    pub(super) notes: Vec<String>,
}

impl View {
    pub(super) fn of(state: &State, filter: &CallFilter) -> Self {
        let pid = filter.pid;
        let all = &state.snapshots;
        let calls = rows(state, client_calls(all, filter).rows, |row| (&row.found, row.last_update_ms));
        let trails = calls.rows.iter().map(|call| way(state, &call.row)).collect();
        let mut servers = server_calls(all, filter).rows;
        // Connections keep the object of a call for the next one.
        servers.retain(|call| matches!(call.status, CallStatus::ACTIVE | CallStatus::DISPATCHED));
        Self {
            summary: Summary::of(state),
            client_calls: calls,
            trails,
            server_calls: rows(state, servers, |row| (&row.found, row.last_update_ms)),
            connections: rows(state, connections(all, pid).rows, |row| {
                (&row.found, row.last_send_ms.max(row.last_receive_ms))
            }),
            endpoints: rows(state, endpoints_of(state, pid), |row| (&row.found, 0)),
            threads: rows(state, threads(all, pid, None).rows, |row| (&row.found, row.last_update_ms)),
            processes: processes(state),
            notes: state.notes.clone(),
        }
    }
}

impl Summary {
    fn of(state: &State) -> Self {
        let mut summary = Self::default();
        let running = state.snapshots.iter().zip(&state.is_running).filter(|(_, is_running)| **is_running);
        for (_, cell) in running.flat_map(|(snapshot, _)| &snapshot.cells) {
            match cell {
                Cell::ClientCall(_) => summary.client_calls += 1,
                Cell::ServerCall(call) if call.is_in_progress() => summary.server_calls += 1,
                Cell::Connection(_) => summary.connections += 1,
                Cell::Thread(thread) => *summary.threads.entry(thread.status).or_default() += 1,
                _ => {}
            }
        }
        summary
    }
}

/// The age of something of a process that runs.
fn age(state: &State, found: &Found, changed_ms: u64) -> Option<Duration> {
    let is_known = state.is_running[found.file] && changed_ms > 0;
    is_known.then(|| Duration::from_millis(state.now_ms.saturating_sub(changed_ms)))
}

/// Rows with their ages. Those of processes that run come first, and of these the oldest.
pub(in crate::pages) fn aged<R>(
    state: &State,
    rows: Vec<R>,
    of: impl Fn(&R) -> (&Found, u64),
) -> Vec<Aged<R>> {
    let aged = rows.into_iter().map(|row| {
        let (found, changed_ms) = of(&row);
        let (age, is_running) = (age(state, found, changed_ms), state.is_running[found.file]);
        Aged { row, age, is_running }
    });
    let mut aged: Vec<Aged<R>> = aged.collect();
    aged.sort_by_key(|row| Reverse((row.is_running, row.age)));
    aged
}

fn rows<R>(state: &State, rows: Vec<R>, of: impl Fn(&R) -> (&Found, u64)) -> Rows<R> {
    cut(aged(state, rows, of))
}

fn cut<R>(mut rows: Vec<Aged<R>>) -> Rows<R> {
    let more = rows.len().saturating_sub(ROWS_MAX);
    rows.truncate(ROWS_MAX);
    Rows { rows, more }
}

fn endpoints_of(state: &State, pid: Option<u32>) -> Vec<EndpointRow> {
    let mut rows = endpoints(&state.snapshots, None).rows;
    rows.retain(|row| pid.is_none_or(|pid| pid == row.found.pid));
    rows
}

fn processes(state: &State) -> Rows<Process> {
    let files = state.snapshots.iter().zip(&state.is_running);
    let mut rows: Vec<Aged<Process>> = files
        .map(|(snapshot, &is_running)| {
            let header = &snapshot.header;
            let made = Duration::from_millis(state.now_ms.saturating_sub(header.created_ms));
            let row = Process {
                pid: header.process.pid,
                owner: header.name.as_str().to_owned(),
                level: header.level,
                cells: snapshot.cells.len(),
                hidden: snapshot.hidden,
            };
            Aged { row, age: is_running.then_some(made), is_running }
        })
        .collect();
    rows.sort_by_key(|row| Reverse(row.is_running));
    cut(rows)
}

/// Where a call goes on this machine; nothing of one that leaves it, or whose server keeps no state.
fn way(state: &State, call: &ClientCallRow) -> Vec<String> {
    let Trail { hops, end } = trail(&state.snapshots, call);
    let is_elsewhere =
        matches!(end, TrailEnd::OtherMachine { .. } | TrailEnd::NoTarget | TrailEnd::NoEndpoint);
    if hops.is_empty() && is_elsewhere {
        return Vec::new();
    }
    let hops = hops.iter().map(|hop| hop_text(&state.snapshots, hop));
    hops.chain([end_text(&end)]).collect()
}

/// The same for programs: rows as the command `rpc-state` has them.
pub(super) fn json_of(state: &State, filter: &CallFilter) -> Value {
    let all = &state.snapshots;
    let mut calls = client_calls(all, filter).rows;
    let traces: Vec<Value> = calls.iter().take(JSON_TRAILS_MAX).map(|call| trail_json(all, call)).collect();
    let files = all.iter().zip(&state.is_running);
    let mut processes: Vec<Value> = files
        .map(|(snapshot, is_running)| {
            json!({
                "pid": snapshot.header.process.pid,
                "owner": snapshot.header.name.as_str(),
                "level": snapshot.header.level.to_string(),
                "hidden": snapshot.hidden,
                "is_running": is_running,
            })
        })
        .collect();
    let mut servers = server_calls(all, filter).rows;
    let mut connections = connections(all, filter.pid).rows;
    let (mut endpoints, mut threads) = (endpoints_of(state, filter.pid), threads(all, filter.pid, None).rows);
    json!({
        "now_ms": state.now_ms,
        "more": {
            "processes": cut_off(&mut processes),
            "client_calls": cut_off(&mut calls),
            "server_calls": cut_off(&mut servers),
            "connections": cut_off(&mut connections),
            "endpoints": cut_off(&mut endpoints),
            "threads": cut_off(&mut threads),
        },
        "processes": processes,
        "client_calls": calls,
        "traces": traces,
        "server_calls": servers,
        "connections": connections,
        "endpoints": endpoints,
        "threads": threads,
        "notes": state.notes,
    })
}

/// Cuts off the rows that are too many; how many these were.
fn cut_off<R>(rows: &mut Vec<R>) -> usize {
    let more = rows.len().saturating_sub(JSON_ROWS_MAX);
    rows.truncate(JSON_ROWS_MAX);
    more
}
