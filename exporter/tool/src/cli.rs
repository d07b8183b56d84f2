use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use support::telemetry::log::LogFormat;

const EXAMPLES: &str = "\
Examples:
  perfmon-tool compat dashboard.json alerts.yml
  perfmon-tool compat --config /etc/perfmon-exporter/perfmon.yml dashboard.json

The program needs no exporter that runs, and contacts no host. It reads configurations of perfmon-exporter, whose plugins it
loads from where the configuration says, or from its own folder.";

const COMPAT_EXAMPLES: &str = "\
Examples:
  perfmon-tool compat dashboard.json
  perfmon-tool compat --config /etc/perfmon-exporter/perfmon.yml dashboard.json alerts.yml
  perfmon-tool compat --naming windows_exporter@0.25 dashboards/*.json rules/*.yml
  perfmon-tool compat --format json dashboard.json

Verdicts:
  there, recorded    the metric is there, or a recording rule of a FILE makes it
  renamed            it is there under another name
  obtainable         it is there with another configuration, which is shown
  not obtainable     no configuration makes it; the reason is shown
  not checked        only a host can tell, or the name is the value of a variable
  not ours           it does not come from counters of Windows hosts

Exit codes:
  0  everything is there, recorded, not checked or not ours
  1  something is not, or an expression cannot be read
  2  a FILE or the configuration cannot be read, or the command line is invalid";

/// Stands beside perfmon-exporter, as promtool beside Prometheus
#[derive(Debug, Parser)]
#[command(name = "perfmon-tool", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// The log level: error, warn, info, debug, trace, or directives per module [default: warn]
    #[arg(long = "log.level", value_name = "LEVEL", global = true)]
    pub(crate) log_level: Option<String>,

    /// The format of the log
    #[arg(long = "log.format", value_name = "FORMAT", default_value = "text", global = true)]
    pub(crate) log_format: LogFormat,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Tells which metrics of dashboards and rules made for windows_exporter are there, and what to do about the others
    #[command(after_help = COMPAT_EXAMPLES)]
    Compat(CompatOptions),
}

#[derive(Debug, Args)]
pub(crate) struct CompatOptions {
    /// Grafana dashboards, rule files of Prometheus and alert rules of Grafana, also in objects of Kubernetes
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Judges by what this configuration names and its modules collect; contacts no target
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The naming profile to judge by, as if all that it names were collected [default: windows_exporter@0.31]
    #[arg(long, value_name = "PROFILE", conflicts_with = "config")]
    pub(crate) naming: Option<String>,
    /// Judges by the profile with `bug_compatible`
    #[arg(long, conflicts_with = "config")]
    pub(crate) bug_compatible: bool,
    /// For people, or for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: CompatFormat,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CompatFormat {
    /// For people
    Text,
    /// For programs: one JSON object
    Json,
}
