//! The way of a client call from process to process.

use std::fmt::Write as _;
use std::net::IpAddr;

use rpc_cells::view::{ClientCallRow, Hop, Place, Trail, TrailEnd, follow};
use rpc_cells::{Cell, Snapshot};
use safe_text::OneLine;
use serde_json::{Value, json};

/// A way is followed for so many processes.
const HOPS_MAX: usize = 16;

/// The way of a call of these snapshots.
pub fn trail(snapshots: &[Snapshot], call: &ClientCallRow) -> Trail {
    let start = Place { file: call.found.file, cell: call.found.cell };
    follow(snapshots, start, HOPS_MAX, is_local)
}

/// The call with its way, for programs.
pub fn trail_json(snapshots: &[Snapshot], call: &ClientCallRow) -> Value {
    let trail = trail(snapshots, call);
    let hops: Vec<Value> = trail.hops.iter().map(|hop| hop_json(snapshots, hop)).collect();
    json!({"client_call": call, "hops": hops, "end": trail.end})
}

/// Whether a server's name is one of this machine's.
fn is_local(server: &str) -> bool {
    let system = rustix::system::uname();
    let own = system.nodename().to_str().unwrap_or_default();
    let is_loopback = server.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback || [own, "localhost"].iter().any(|name| name.eq_ignore_ascii_case(server))
}

/// One step of the way, for people.
pub fn hop_text(snapshots: &[Snapshot], hop: &Hop) -> String {
    let server = &snapshots[hop.server_call.file].header;
    let mut text = format!("process {} ({})", server.process.pid, OneLine(server.name.as_str()));
    if let Some(Cell::Endpoint(endpoint)) = snapshots[hop.endpoint.file].get(hop.endpoint.cell) {
        let _ = write!(text, ", endpoint {}", OneLine(endpoint.name.as_str()));
    }
    if let Some(Cell::ServerCall(call)) = snapshots[hop.server_call.file].get(hop.server_call.cell) {
        let _ = write!(text, ", call {} is {}, cell {}", call.call_id, call.status, hop.server_call.cell);
    }
    if let Some(thread) = hop.thread
        && let Some(Cell::Thread(found)) = snapshots[thread.file].get(thread.cell)
    {
        let _ = write!(text, ", on thread {} ({})", found.tid, found.status);
    }
    text
}

fn hop_json(snapshots: &[Snapshot], hop: &Hop) -> Value {
    let place = |place: Place| {
        let header = &snapshots[place.file].header;
        json!({
            "pid": header.process.pid,
            "owner": header.name.as_str(),
            "cell": place.cell.to_string(),
        })
    };
    json!({
        "endpoint": place(hop.endpoint),
        "server_call": place(hop.server_call),
        "thread": hop.thread.map(place),
    })
}

/// Why the way ends, for people.
pub fn end_text(end: &TrailEnd) -> String {
    match end {
        TrailEnd::Executing => "it is executed there".to_owned(),
        TrailEnd::NotAClientCall => "the call has ended meanwhile".to_owned(),
        TrailEnd::NoTarget => "where it goes is not known".to_owned(),
        TrailEnd::OtherMachine { server } => format!("it goes to another machine, {}", OneLine(server)),
        TrailEnd::NoEndpoint => "no process shows the endpoint that it goes to".to_owned(),
        TrailEnd::NoServerCall => {
            "the server has no such call: it has not arrived, or has been answered".to_owned()
        }
        TrailEnd::Ambiguous { candidates } => format!("{candidates} calls of servers could be this one"),
        TrailEnd::Loop => "it comes back to a call that waits for it".to_owned(),
        TrailEnd::TooLong => format!("and further: only {HOPS_MAX} processes are followed"),
    }
}
