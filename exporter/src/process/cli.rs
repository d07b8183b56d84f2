use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::telemetry::log::LogFormat;

const EXAMPLES: &str = "\
Examples:
  perfmon-exporter --config /etc/perfmon-exporter/perfmon.yml
  perfmon-exporter check-config /etc/perfmon-exporter/perfmon.yml
  perfmon-exporter plugin check /usr/lib/perfmon-exporter/libplugin_pcq.so
  perfmon-exporter --config perfmon.yml --log.format json --log.level info,perfmon_exporter::plugin=debug

A small configuration:
  plugins: {load: [pcq]}
  identities:
    corp: {kind: ntlm, domain: CORP, username: svc-metrics, password_file: /run/secrets/corp, allow_hosts: ['*.corp.example.com']}
  modules:
    os: {plugin: pcq, countersets: [{name: Processor Information}]}
  targets:
    - {host: web1.corp.example.com, identity: corp, modules: [os]}

Exit codes:
  0  ended as asked (also by SIGTERM and SIGINT), or the check found nothing
  1  the configuration, a plugin or the machine does not allow it; the reason is printed
  2  the command line makes no sense";

/// Watches Windows hosts without an agent and serves what it sees to Prometheus.
#[derive(Debug, Parser)]
#[command(name = "perfmon-exporter", version, after_help = EXAMPLES, args_conflicts_with_subcommands = false)]
pub(super) struct Cli {
    /// The configuration file: serve it until ended
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// What is logged: error, warn, info, debug, trace, or directives per module
    #[arg(long = "log.level", value_name = "LEVEL", default_value = "info", global = true)]
    pub(super) log_level: String,

    /// How the log looks
    #[arg(long = "log.format", value_name = "FORMAT", default_value = "text", global = true)]
    pub(super) log_format: LogFormat,

    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Checks a configuration file, the plugins' settings included, without touching a target
    CheckConfig {
        /// The file
        file: PathBuf,
        /// Also ask the targets (not supported yet)
        #[arg(long, hide = true)]
        online: bool,
    },
    /// Looks at plugins
    Plugin {
        #[command(subcommand)]
        command: PluginCommand,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum PluginCommand {
    /// Loads a plugin alone, leads it through the contract and prints what was found
    Check {
        /// The shared library
        file: PathBuf,
    },
}
