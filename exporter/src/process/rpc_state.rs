//! Where plugins keep the state of their RPC run time, and the command that shows it.

mod show;

use std::env;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use config::{RpcState, RpcStateLevel};
use plugin_host::{CellFiles, CellLevel, Host};
use rpc_cells::view::ClientCallRow;
use rpc_cells::{RunDirectory, Snapshot};
use safe_text::OneLine;
use serde_json::Value;
use tracing::{debug, info, warn};
use web::rpc_state::{Keeping, NotKept, end_text, hop_text, trail, trail_json};

pub(super) use self::show::{EXAMPLES, RpcStateOptions, show};

/// Makes or opens the run directory, and removes the files of processes that ended without doing so. The log says what is
/// kept where, or why nothing is.
pub(super) fn open(state: &RpcState) -> (Option<Arc<CellFiles>>, Keeping) {
    match try_open(state) {
        Ok((files, directory)) => {
            let has_client_calls = state.level == RpcStateLevel::Full;
            (Some(Arc::new(files)), Keeping::Kept { directory, has_client_calls })
        }
        Err(why) => {
            let next_step = why.next_step();
            match &why {
                NotKept::ByLevel => {}
                NotKept::NoDirectory => info!(next_step, "RPC state not kept: there is no directory for it"),
                NotKept::Refused(error) => warn!(%error, next_step, "RPC state not kept"),
            }
            (None, Keeping::Not(why))
        }
    }
}

fn try_open(state: &RpcState) -> Result<(CellFiles, PathBuf), NotKept> {
    let level = level(state).ok_or(NotKept::ByLevel)?;
    let path = directory(state).ok_or(NotKept::NoDirectory)?;
    let opened = CellFiles::open(&path, level).and_then(|files| Ok((files.remove_stale()?, files)));
    let (removed, files) = opened.map_err(|error| NotKept::Refused(error.to_string()))?;
    info!(directory = %path.display(), removed = removed.len(), "RPC state kept");
    Ok((files, path))
}

/// The same for a command: in the configured directory, if it is there. A command does not make it, because it may run as
/// another user than the exporter.
pub(super) fn open_for_command(state: &RpcState) -> Option<Arc<CellFiles>> {
    let path = state.directory.as_deref().filter(|path| path.exists())?;
    let opened = CellFiles::open(path, level(state)?);
    opened.inspect_err(|error| debug!(%error, "RPC state not kept")).ok().map(Arc::new)
}

fn level(state: &RpcState) -> Option<CellLevel> {
    match state.level {
        RpcStateLevel::None => None,
        RpcStateLevel::Server => Some(CellLevel::SERVER),
        RpcStateLevel::Full => Some(CellLevel::FULL),
    }
}

/// The run directory: the configured one, or the one that the system has for this process.
pub(super) fn directory(state: &RpcState) -> Option<PathBuf> {
    state.directory.clone().or_else(|| RunDirectory::default_path(|variable| env::var_os(variable)))
}

/// Removes the files of this process when it is dropped, at whatever end.
pub(super) struct RemoveFiles(pub(super) Host);

impl Drop for RemoveFiles {
    fn drop(&mut self) {
        self.0.remove_cell_files();
    }
}

// `rpc-state --trace`: the way of client calls from process to process.

/// Each call with its way, for people.
fn trace_text(snapshots: &[Snapshot], calls: impl Iterator<Item = ClientCallRow>) -> String {
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
fn trace_json(snapshots: &[Snapshot], calls: impl Iterator<Item = ClientCallRow>) -> Value {
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
