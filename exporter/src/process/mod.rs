//! The command line, and the life of the process: configuration, plugins, listeners, schedule, signal, drain.

mod alerts;
mod blocking;
mod check;
mod cli;
mod command;
mod compat;
mod engine;
mod explain;
mod init;
mod library_cache;
mod living;
mod metrics;
mod online;
mod otlp;
mod output;
pub mod parsers;
mod plugins;
mod probe;
mod reload;
mod reload_counts;
mod reloadable;
mod resolver;
mod rpc_state;
mod scope;
mod secrets;
mod serve;
mod signals;
mod storage;
mod systemd;
mod targets;
mod watch;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;

use self::cli::{Cli, Command, PluginCommand};
use self::output::errln;

pub use self::metrics::own_metrics;

const OK: u8 = 0;
/// The configuration, a plugin or the machine does not allow it; the reason is printed.
const FAILED: u8 = 1;
/// The command line makes no sense.
const USAGE: u8 = 2;
/// A command was ended by a signal.
const CANCELLED: u8 = 130;

/// The first argument of a process that loads a plugin, the last one, to see whether that goes well.
const TRY_PLUGIN: &str = "--try-plugin";

/// Does what the command line asks for.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    support::telemetry::remember_start();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let [_, first, parent, file] = &arguments[..]
        && first == TRY_PLUGIN
    {
        plugin_host::run_trial(&parent.to_string_lossy(), Path::new(file));
    }
    plugin_host::guard_exit();
    let _end = EndOfMain;
    let code = run(arguments);
    support::telemetry::log::flush();
    if output::is_incomplete() { ExitCode::from(FAILED) } else { code }
}

/// Whatever way `main` is left, it is the program's own.
struct EndOfMain;

impl Drop for EndOfMain {
    fn drop(&mut self) {
        plugin_host::allow_exit();
    }
}

fn run(arguments: Vec<OsString>) -> ExitCode {
    let cli = match Cli::read(arguments) {
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
        support::telemetry::log::init(cli.log_level.as_deref().unwrap_or(default_level), cli.log_format)
    {
        errln!("--log.level: {error}; write `info`, `debug`, or `info,perfmon_exporter::web=debug`");
        return ExitCode::from(USAGE);
    }
    let code = match (cli.command, cli.config) {
        (Some(Command::CheckConfig { file, online, web_file }), _) => {
            let web_file = web_file.or(cli.web_file);
            let check = if online { online::check_config } else { check::check_config };
            check(&file, web_file.as_deref())
        }
        (Some(Command::Plugin { command: PluginCommand::Check { file } }), _) => check::check_plugin(&file),
        (Some(Command::Init(options)), _) => init::init(options),
        (Some(Command::Compat(options)), config) => compat::compat(&options, config.as_deref()),
        (Some(Command::RpcState(options)), config) => rpc_state::show(&options, config.as_deref()),
        (Some(Command::Explain { reason }), config) => explain::explain(reason.as_deref(), config.as_deref()),
        (None, Some(file)) => serve::serve(&file, cli.log_level.is_some(), cli.web_file.as_deref()),
        (Some(Command::OfPlugin(_)), _) | (None, None) => {
            errln!("name the configuration: perfmon-exporter --config FILE (--help shows more)");
            USAGE
        }
    };
    ExitCode::from(code)
}
