use std::collections::BTreeSet;

use crate::{
    CallFlags, Cell, CellId, ClientCall, Endpoint, ObjectCall, ProtocolSequence, ServerCall, Snapshot,
};
use serde::Serialize;

use crate::view::object_of;
use crate::view::rows::target_of;

/// A cell of one of the files: cell ids are those of their file only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The index of the snapshot.
    pub file: usize,
    pub cell: CellId,
}

/// The way of a call from one process to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The call as its client has it.
    pub client_call: Place,
    /// The endpoint that it goes to.
    pub endpoint: Place,
    /// The call as its server has it.
    pub server_call: Place,
    /// The thread that executes it, if its cell is there.
    pub thread: Option<Place>,
}

/// Why a trail ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrailEnd {
    /// The last server call makes no client call: this is what all the others wait for.
    Executing,
    /// The cell is not that of a client call.
    NotAClientCall,
    /// The target of the call has no cell.
    NoTarget,
    /// The call goes to another machine.
    OtherMachine {
        /// The front of its name.
        server: String,
    },
    /// No file has the endpoint.
    NoEndpoint,
    /// The processes with the endpoint have no such call in progress: it has not arrived, or has been answered.
    NoServerCall,
    /// Several calls in progress could be this one.
    Ambiguous { candidates: usize },
    /// The call comes back to a call that waits for it.
    Loop,
    /// There are more hops than wanted.
    TooLong,
}

/// The hops of a call, from its first client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trail {
    /// The hops, in order.
    pub hops: Vec<Hop>,
    /// Why there is not another.
    pub end: TrailEnd,
}

/// Follows a client call through its endpoint to the server call, and on to the client call that this makes, at most
/// `hops_max` times. `is_local` says whether the front of a server's name is this machine's; the empty name is.
///
/// A server call is the client's if id, interface and method are the same and it came through the endpoint; of calls of
/// DCOM objects, interface and causality id of the object too. Nothing in the cells makes that certain.
#[must_use]
pub fn follow(
    snapshots: &[Snapshot],
    start: Place,
    hops_max: usize,
    is_local: impl Fn(&str) -> bool,
) -> Trail {
    let mut hops = Vec::new();
    // Client calls and server calls: neither is twice in an honest trail.
    let mut seen = BTreeSet::new();
    let mut next = Some(start);
    while let Some(client_call) = next {
        if hops.len() == hops_max {
            return Trail { hops, end: TrailEnd::TooLong };
        }
        if !seen.insert(client_call) {
            return Trail { hops, end: TrailEnd::Loop };
        }
        let hop = match hop(snapshots, client_call, &is_local) {
            Ok(hop) => hop,
            Err(end) => return Trail { hops, end },
        };
        if !seen.insert(hop.server_call) {
            return Trail { hops, end: TrailEnd::Loop };
        }
        hops.push(hop);
        next = hop.thread.and_then(|thread| call_made_on(snapshots, thread));
    }
    Trail { hops, end: TrailEnd::Executing }
}

fn hop(
    snapshots: &[Snapshot],
    client_call: Place,
    is_local: &impl Fn(&str) -> bool,
) -> Result<Hop, TrailEnd> {
    let snapshot = snapshots.get(client_call.file).ok_or(TrailEnd::NotAClientCall)?;
    let Some(Cell::ClientCall(call)) = snapshot.get(client_call.cell) else {
        return Err(TrailEnd::NotAClientCall);
    };
    let target = target_of(snapshot, call.target).ok_or(TrailEnd::NoTarget)?;
    let server = target.server.as_str();
    if target.protocol_sequence != ProtocolSequence::LOCAL && !server.is_empty() && !is_local(server) {
        return Err(TrailEnd::OtherMachine { server: server.to_owned() });
    }
    let endpoints: Vec<Place> = places(
        snapshots,
        |_, cell| matches!(cell, Cell::Endpoint(endpoint) if leads_to(call, target.protocol_sequence, endpoint)),
    );
    if endpoints.is_empty() {
        return Err(TrailEnd::NoEndpoint);
    }
    let client_pid = snapshot.header.process.pid;
    let mut candidates = Vec::new();
    for endpoint in endpoints {
        let server = &snapshots[endpoint.file];
        for (cell, object) in &server.cells {
            let Cell::ServerCall(found) = object else { continue };
            if is_same(call, client_pid, found)
                && is_same_object(object_of(snapshot, call.object), object_of(server, found.object))
                && came_through(server, found, endpoint.cell)
            {
                candidates.push((endpoint, Place { file: endpoint.file, cell: *cell }, found));
            }
        }
    }
    // A call within one host names no endpoint, so it is found once for each that its process has.
    candidates.dedup_by_key(|(_, place, _)| *place);
    match candidates.as_slice() {
        [] => Err(TrailEnd::NoServerCall),
        [(endpoint, server_call, found)] => {
            let thread = Place { file: server_call.file, cell: found.servicing_thread };
            let is_thread = matches!(snapshots[thread.file].get(thread.cell), Some(Cell::Thread(_)));
            Ok(Hop {
                client_call,
                endpoint: *endpoint,
                server_call: *server_call,
                thread: is_thread.then_some(thread),
            })
        }
        several => Err(TrailEnd::Ambiguous { candidates: several.len() }),
    }
}

/// Whether the endpoint may be the one that the call names; the call has the shorter front of the name.
fn leads_to(call: &ClientCall, protocol_sequence: ProtocolSequence, endpoint: &Endpoint) -> bool {
    endpoint.protocol_sequence == protocol_sequence && call.endpoint.is_front_of(endpoint.name.as_str())
}

fn is_same(call: &ClientCall, client_pid: u32, found: &ServerCall) -> bool {
    found.is_in_progress()
        && (found.call_id, found.interface_start, found.opnum)
            == (call.call_id, call.interface_start, call.opnum)
        && (!found.flags.contains(CallFlags::LRPC) || found.caller_pid == client_pid)
}

/// Without the cell of either, any object may be the one.
fn is_same_object(called: Option<&ObjectCall>, found: Option<&ObjectCall>) -> bool {
    called.zip(found).is_none_or(|(called, found)| called == found)
}

/// A call whose connection has no cell may have come through any endpoint.
fn came_through(server: &Snapshot, found: &ServerCall, endpoint: CellId) -> bool {
    match server.get(found.connection) {
        Some(Cell::Connection(connection)) if !found.flags.contains(CallFlags::LRPC) => {
            connection.endpoint == endpoint
        }
        _ => true,
    }
}

/// The client call that was last made on a thread.
fn call_made_on(snapshots: &[Snapshot], thread: Place) -> Option<Place> {
    let snapshot = &snapshots[thread.file];
    let made = snapshot.cells.iter().filter_map(|(id, cell)| match cell {
        Cell::ClientCall(call) if call.servicing_thread == thread.cell => {
            let last_update_ms = target_of(snapshot, call.target).map_or(0, |target| target.last_update_ms);
            Some((last_update_ms, *id))
        }
        _ => None,
    });
    made.max().map(|(_, cell)| Place { file: thread.file, cell })
}

fn places(snapshots: &[Snapshot], is_wanted: impl Fn(&Snapshot, &Cell) -> bool) -> Vec<Place> {
    let files = snapshots.iter().enumerate();
    files
        .flat_map(|(file, snapshot)| {
            let wanted = snapshot.cells.iter().filter(|(_, cell)| is_wanted(snapshot, cell));
            wanted.map(move |(cell, _)| Place { file, cell: *cell }).collect::<Vec<_>>()
        })
        .collect()
}
