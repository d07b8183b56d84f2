//! The command line of `rpc-state`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use rpc_cells::CellId;
use rpc_cells::view::CallFilter;

use web::rpc_state::number;

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
