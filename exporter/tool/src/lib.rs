//! Stands beside the daemon, as promtool beside Prometheus: what needs a configuration and its plugins, and no process that
//! runs. A program of its own, so that what only it needs is not in the daemon.
//!
//! | module | what it does |
//! | --- | --- |
//! | `cli` | the command line |
//! | `compat` | which metrics of dashboards and rules are there |
//! | [`parsers`] | what reads files of other programs, for fuzzers |
mod cli;
mod compat;
pub mod parsers;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use support::errln;
use support::telemetry::output;

use self::cli::{Cli, Command};

/// Everything went well.
const OK: u8 = 0;
/// Something is not as it should be; it is printed.
const FAILED: u8 = 1;
/// The command line or a file makes no sense.
const USAGE: u8 = 2;

/// Does what the command line asks for.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    support::telemetry::remember_start();
    let _guard = plugin_host::guard_exit();
    let code = run(arguments);
    support::telemetry::log::flush();
    ExitCode::from(if output::is_incomplete() { FAILED } else { code })
}

fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // Nowhere to print is nothing to tell.
            let _ = error.print();
            return if asked_for { OK } else { USAGE };
        }
    };
    if let Err(error) =
        support::telemetry::log::init(cli.log_level.as_deref().unwrap_or("warn"), cli.log_format)
    {
        errln!("--log.level: {error}; write `info`, `debug`, or `info,plugin_host=debug`");
        return USAGE;
    }
    match cli.command {
        Command::Compat(options) => compat::compat(&options),
    }
}
