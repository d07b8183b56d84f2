//! `rpc-state --trace`: the way of client calls from process to process.

use std::fmt::Write as _;
use std::net::IpAddr;

use rpc_cells::{Cell, Snapshot};
use rpc_cells_view::{ClientCallRow, Escaped, Hop, Place, Trail, TrailEnd, follow};
use serde_json::{Value, json};

/// A way is followed for so many processes.
const HOPS_MAX: usize = 16;

/// Each call with its way, for people.
pub(super) fn text(snapshots: &[Snapshot], calls: impl Iterator<Item = ClientCallRow>) -> String {
    let mut text = String::new();
    for call in calls {
        let _ = writeln!(text, "{}", Start(&call));
        let trail = trail(snapshots, &call);
        for hop in &trail.hops {
            let _ = writeln!(text, "  → {}", hop_text(snapshots, hop));
        }
        let _ = writeln!(text, "  {}", end(&trail.end));
    }
    if text.is_empty() { "no client call is in progress\n".to_owned() } else { text }
}

/// The same for programs.
pub(super) fn json(snapshots: &[Snapshot], calls: impl Iterator<Item = ClientCallRow>) -> Value {
    let way = |call: ClientCallRow| {
        let trail = trail(snapshots, &call);
        let hops: Vec<Value> = trail.hops.iter().map(|hop| hop_json(snapshots, hop)).collect();
        json!({"client_call": call, "hops": hops, "end": trail.end})
    };
    calls.map(way).collect()
}

fn trail(snapshots: &[Snapshot], call: &ClientCallRow) -> Trail {
    let start = Place { file: call.found.file, cell: call.found.cell };
    follow(snapshots, start, HOPS_MAX, is_local)
}

/// Whether a server's name is one of this machine's.
fn is_local(server: &str) -> bool {
    let system = rustix::system::uname();
    let own = system.nodename().to_str().unwrap_or_default();
    let is_loopback = server.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback || [own, "localhost"].iter().any(|name| name.eq_ignore_ascii_case(server))
}

struct Start<'a>(&'a ClientCallRow);

impl std::fmt::Display for Start<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let call = self.0;
        let (pid, owner, cell) = (call.found.pid, Escaped(&call.found.owner), call.found.cell);
        write!(f, "process {pid} ({owner}) makes call {}{}, cell {cell}", call.call_id, call.names)?;
        write!(f, ", of {} at {}", Escaped(&call.server), Escaped(&call.endpoint))
    }
}

fn hop_text(snapshots: &[Snapshot], hop: &Hop) -> String {
    let server = &snapshots[hop.server_call.file].header;
    let mut text = format!("process {} ({})", server.process.pid, Escaped(server.name.as_str()));
    if let Some(Cell::Endpoint(endpoint)) = snapshots[hop.endpoint.file].get(hop.endpoint.cell) {
        let _ = write!(text, ", endpoint {}", Escaped(endpoint.name.as_str()));
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

fn end(end: &TrailEnd) -> String {
    match end {
        TrailEnd::Executing => "it is executed there".to_owned(),
        TrailEnd::NotAClientCall => "the call has ended meanwhile".to_owned(),
        TrailEnd::NoTarget => "where it goes is not known".to_owned(),
        TrailEnd::OtherMachine { server } => format!("it goes to another machine, {}", Escaped(server)),
        TrailEnd::NoEndpoint => "no process shows the endpoint that it goes to".to_owned(),
        TrailEnd::NoServerCall => {
            "the server has no such call: it has not arrived, or has been answered".to_owned()
        }
        TrailEnd::Ambiguous { candidates } => format!("{candidates} calls of servers could be this one"),
        TrailEnd::Loop => "it comes back to a call that waits for it".to_owned(),
        TrailEnd::TooLong => format!("and further: only {HOPS_MAX} processes are followed"),
    }
}
