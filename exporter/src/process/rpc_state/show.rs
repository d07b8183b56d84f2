//! `rpc-state`: what is in the files of a run directory, as tables, JSON, and traces of calls.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, ValueEnum};
use rpc_cells::view::{CallFilter, cell, client_calls, endpoints, server_calls, threads};
use rpc_cells::{CellId, Snapshot};
use serde::Serialize;
use serde_json::{Value, json};
use support::errln;
use web::rpc_state::{State, number};

use super::directory;
use crate::process::{FAILED, OK, USAGE, output};

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
            Format::Text => super::trace_text(snapshots, wanted),
            Format::Json => pretty(&super::trace_json(snapshots, wanted)),
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

pub(in crate::process) const EXAMPLES: &str = "\
Examples:
  perfmon-exporter rpc-state -a
  perfmon-exporter --config /etc/perfmon-exporter/perfmon.yml rpc-state -a --format json
  perfmon-exporter rpc-state --directory /run/perfmon-exporter/rpc-state -c -I 0xb60040e0 -N 4
  perfmon-exporter rpc-state -t -P 1234
  perfmon-exporter rpc-state -l -P 1234 -L 0.5
  perfmon-exporter rpc-state --trace -P 1234

Columns are those of dbgrpc, a tool of Windows: numbers in hexadecimal, times in milliseconds after boot. The names of a
method and its interface follow where the process knows them. Numbers of options are decimal, or hexadecimal after 0x.

The state of a process that ended without removing it stays until the exporter is started again.

Exit codes:
  0  printed, even if there was nothing to print
  1  the directory or all of its files cannot be read; the reason is printed
  2  the command line is invalid";

/// Which state, and how it is printed.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("query").required(true).multiple(false))]
pub(in crate::process) struct RpcStateOptions {
    /// Endpoints: where calls are taken
    #[arg(short = 'e', long, group = "query")]
    pub(super) endpoints: bool,
    /// Threads that work for calls
    #[arg(short = 't', long, group = "query", requires = "pid")]
    pub(super) threads: bool,
    /// Calls as their server has them
    #[arg(short = 'c', long, group = "query")]
    pub(super) server_calls: bool,
    /// Calls as their client has them
    #[arg(short = 'a', long, group = "query")]
    pub(super) client_calls: bool,
    /// One cell in full
    #[arg(short = 'l', long, group = "query", requires = "pid", requires = "cell_id")]
    pub(super) cell: bool,
    /// Follows client calls to the server calls that they wait for, from process to process of this machine
    #[arg(long, group = "query")]
    pub(super) trace: bool,

    /// Only this process
    #[arg(short = 'P', long, value_name = "PID", value_parser = number::<u32>)]
    pub(super) pid: Option<u32>,
    /// Only this thread
    #[arg(short = 'T', long, value_name = "TID", value_parser = number::<u32>)]
    pub(super) tid: Option<u32>,
    /// Only calls of interfaces whose UUID begins with this
    #[arg(short = 'I', long, value_name = "START", value_parser = number::<u32>)]
    pub(super) interface: Option<u32>,
    /// Only calls of this operation
    #[arg(short = 'N', long, value_name = "NUMBER", value_parser = number::<u16>)]
    pub(super) operation: Option<u16>,
    /// Only calls with this id
    #[arg(short = 'C', long, value_name = "ID", value_parser = number::<u32>)]
    pub(super) call_id: Option<u32>,
    /// Only endpoints with this name
    #[arg(short = 'E', long, value_name = "NAME")]
    pub(super) endpoint: Option<String>,
    /// This cell, as SECTION.CELL
    #[arg(short = 'L', long, value_name = "CELL")]
    pub(super) cell_id: Option<CellId>,

    /// Where the state is; can be given several times [default: `rpc_state.directory` of --config, or where the exporter keeps it
    /// by default]
    #[arg(long, value_name = "DIR")]
    pub(super) directory: Vec<PathBuf>,
    /// For people, or for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(super) format: Format,
}

/// How it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// For programs: one JSON array
    Json,
}

impl RpcStateOptions {
    pub(super) fn calls(&self) -> CallFilter {
        CallFilter {
            call_id: self.call_id,
            interface_start: self.interface,
            opnum: self.operation,
            pid: self.pid,
        }
    }
}
