//! The command line, and the life of the process: configuration, plugins, listeners, schedule, signal, drain.

mod check;
mod cli;
mod engine;
mod plugins;
mod resolver;
mod serve;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use self::cli::{Cli, Command, PluginCommand};

/// Everything went well.
const OK: u8 = 0;
/// The configuration, a plugin or the machine does not allow it; the reason is printed.
const FAILED: u8 = 1;
/// The command line makes no sense.
const USAGE: u8 = 2;

/// Does what the command line asks for.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    crate::telemetry::remember_start();
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // Nowhere to print is nothing to tell.
            let _ = error.print();
            return ExitCode::from(if asked_for { OK } else { USAGE });
        }
    };
    if let Err(error) = crate::telemetry::log::init(&cli.log_level, cli.log_format) {
        eprintln!("--log.level: {error}; write `info`, `debug`, or `info,perfmon_exporter::web=debug`");
        return ExitCode::from(USAGE);
    }
    let code = match (cli.command, cli.config) {
        (Some(Command::CheckConfig { online: true, .. }), _) => {
            eprintln!("--online is not supported yet; without it the file is checked offline");
            USAGE
        }
        (Some(Command::CheckConfig { file, .. }), _) => check::check_config(&file),
        (Some(Command::Plugin { command: PluginCommand::Check { file } }), _) => check::check_plugin(&file),
        (None, Some(file)) => serve::serve(&file),
        (None, None) => {
            eprintln!("name the configuration: perfmon-exporter --config FILE (--help shows more)");
            USAGE
        }
    };
    ExitCode::from(code)
}
