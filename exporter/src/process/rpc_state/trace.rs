//! `rpc-state --trace`: the way of client calls from process to process.

use std::fmt::Write as _;

use rpc_cells::Snapshot;
use rpc_cells::view::ClientCallRow;
use safe_text::OneLine;
use serde_json::Value;

use web::rpc_state::{end_text, hop_text, trail, trail_json};

/// Each call with its way, for people.
pub(super) fn text(snapshots: &[Snapshot], calls: impl Iterator<Item = ClientCallRow>) -> String {
    let mut text = String::new();
    for call in calls {
        let _ = writeln!(text, "{}", Start(&call));
        let trail = trail(snapshots, &call);
        for hop in &trail.hops {
            let _ = writeln!(text, "  → {}", hop_text(snapshots, hop));
        }
        let _ = writeln!(text, "  {}", end_text(&trail.end));
    }
    if text.is_empty() { "no client call is in progress\n".to_owned() } else { text }
}

/// The same for programs.
pub(super) fn json(snapshots: &[Snapshot], calls: impl Iterator<Item = ClientCallRow>) -> Value {
    calls.map(|call| trail_json(snapshots, &call)).collect()
}

struct Start<'a>(&'a ClientCallRow);

impl std::fmt::Display for Start<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let call = self.0;
        let (pid, owner, cell) = (call.found.pid, OneLine(&call.found.owner), call.found.cell);
        write!(f, "process {pid} ({owner}) makes call {}{}, cell {cell}", call.call_id, call.names)?;
        write!(f, ", of {} at {}", OneLine(&call.server), OneLine(&call.endpoint))
    }
}
