//! `rpc-state`: what is in the files of a run directory, as tables, JSON, and traces of calls.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use rpc_cells::Snapshot;
use rpc_cells::view::{cell, client_calls, endpoints, server_calls, threads};
use serde::Serialize;
use serde_json::{Value, json};
use support::errln;

use super::options::{Format, RpcStateOptions};
use super::{directory, trace};
use crate::process::{FAILED, OK, USAGE, output};
use web::rpc_state::State;

/// Prints what is asked for.
pub(in crate::process) fn show(options: &RpcStateOptions, config: Option<&Path>) -> u8 {
    let directories = match directories(options, config) {
        Ok(directories) => directories,
        Err(message) => {
            errln!("{message}");
            return USAGE;
        }
    };
    let Some(snapshots) = read(&directories) else { return FAILED };
    output::out(text(options, &snapshots));
    OK
}

/// Where the state is; else what to do.
fn directories(options: &RpcStateOptions, file: Option<&Path>) -> Result<Vec<PathBuf>, String> {
    if !options.directory.is_empty() {
        return Ok(options.directory.clone());
    }
    let state = match file {
        Some(file) => match config::load(file) {
            Ok(config) => config.rpc_state,
            Err(error) => return Err(format!("{error}\nname the directory of the state with --directory")),
        },
        None => config::RpcState::default(),
    };
    let found = directory(&state).map(|directory| vec![directory]);
    found.ok_or_else(|| {
        "name the directory of the state with --directory, or with --config a configuration with `rpc_state.directory`"
            .to_owned()
    })
}

/// The files of all directories; what cannot be read is printed. None if nothing can be.
fn read(directories: &[PathBuf]) -> Option<Vec<Snapshot>> {
    let state = State::read(directories);
    state.notes.iter().for_each(|note| errln!("{note}"));
    if state.is_empty() {
        errln!(
            "no process keeps its state there; `rpc_state.level` of its configuration says whether it does"
        );
    }
    (!state.is_unreadable()).then_some(state.snapshots)
}

fn text(options: &RpcStateOptions, snapshots: &[Snapshot]) -> String {
    let filter = options.calls();
    if options.endpoints {
        written(options.format, &endpoints(snapshots, options.endpoint.as_deref()))
    } else if options.threads {
        written(options.format, &threads(snapshots, options.pid, options.tid))
    } else if options.server_calls {
        written(options.format, &server_calls(snapshots, &filter))
    } else if options.client_calls {
        written(options.format, &client_calls(snapshots, &filter))
    } else if options.trace {
        let calls = client_calls(snapshots, &filter).rows;
        let wanted = calls.into_iter().filter(|call| options.cell_id.is_none_or(|id| call.found.cell == id));
        match options.format {
            Format::Text => trace::text(snapshots, wanted),
            Format::Json => pretty(&trace::json(snapshots, wanted)),
        }
    } else {
        one_cell(options, snapshots)
    }
}

fn one_cell(options: &RpcStateOptions, snapshots: &[Snapshot]) -> String {
    let (pid, id) = (options.pid.unwrap_or_default(), options.cell_id.unwrap_or_default());
    let found = cell(snapshots, pid, id);
    match options.format {
        Format::Text if found.is_empty() => format!("process {pid} has nothing in cell {id}\n"),
        Format::Text => found.iter().map(|one| format!("{}: {one}", one.owner())).collect(),
        Format::Json => {
            let cells = found.iter().map(|one| json!({"owner": one.owner(), "text": one.to_string()}));
            pretty(&cells.collect())
        }
    }
}

fn written(format: Format, table: &(impl Display + Serialize)) -> String {
    match format {
        Format::Text => table.to_string(),
        // Rows are numbers and texts.
        Format::Json => pretty(&serde_json::to_value(table).unwrap_or_default()),
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
