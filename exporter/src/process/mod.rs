//! The command line, and the life of the process: configuration, plugins, listeners, schedule, signal, drain.

mod blocking;
mod check;
mod cli;
mod command;
mod engine;
mod live;
mod online;
mod otlp;
mod plugins;
mod probe;
mod reload;
mod resolver;
mod secrets;
mod serve;
mod shelf;
mod signals;
mod systemd;
mod targets;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;

use self::cli::{Cli, Command, PluginCommand};

/// Everything went well.
const OK: u8 = 0;
/// The configuration, a plugin or the machine does not allow it; the reason is printed.
const FAILED: u8 = 1;
/// The command line makes no sense.
const USAGE: u8 = 2;
/// A command was ended by a signal.
const CANCELLED: u8 = 130;

/// Does what the command line asks for.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    crate::telemetry::remember_start();
    let code = run(arguments);
    crate::telemetry::log::flush();
    code
}

fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::read(arguments.into_iter().collect()) {
        Ok(cli) => cli,
        Err(error) => {
            let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // Nowhere to print is nothing to tell.
            let _ = error.print();
            return ExitCode::from(if asked_for { OK } else { USAGE });
        }
    };
    if let Some(Command::OfPlugin(words)) = cli.command {
        let builtin = Cli::builtin();
        let builtin: Vec<&str> = builtin.iter().map(String::as_str).collect();
        return ExitCode::from(command::run(
            words,
            cli.config.as_deref(),
            cli.log_level.as_deref(),
            &builtin,
        ));
    }
    // Who checks reads the findings, not how they came about.
    let default_level = if cli.command.is_some() { "warn" } else { "info" };
    if let Err(error) =
        crate::telemetry::log::init(cli.log_level.as_deref().unwrap_or(default_level), cli.log_format)
    {
        eprintln!("--log.level: {error}; write `info`, `debug`, or `info,perfmon_exporter::web=debug`");
        return ExitCode::from(USAGE);
    }
    let code = match (cli.command, cli.config) {
        (Some(Command::CheckConfig { file, online: true }), _) => {
            online::check_config(&file, cli.web_file.as_deref())
        }
        (Some(Command::CheckConfig { file, .. }), _) => check::check_config(&file, cli.web_file.as_deref()),
        (Some(Command::Plugin { command: PluginCommand::Check { file } }), _) => check::check_plugin(&file),
        (None, Some(file)) => serve::serve(&file, cli.log_level.is_some(), cli.web_file.as_deref()),
        (Some(Command::OfPlugin(_)), _) | (None, None) => {
            eprintln!("name the configuration: perfmon-exporter --config FILE (--help shows more)");
            USAGE
        }
    };
    ExitCode::from(code)
}
