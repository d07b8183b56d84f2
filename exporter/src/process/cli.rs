use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use telemetry::log::LogFormat;

const EXAMPLES: &str = "\
Examples:
  perfmon-exporter init --host web1.corp.example.com --username 'CORP\\svc-metrics' --output /etc/perfmon-exporter
  perfmon-exporter --config /etc/perfmon-exporter/perfmon.yml
  perfmon-exporter check-config /etc/perfmon-exporter/perfmon.yml
  perfmon-exporter check-config /etc/perfmon-exporter/perfmon.yml --online
  perfmon-exporter discover --target web1.corp.example.com --username 'CORP\\me' --password-file secret
  perfmon-exporter query --config perfmon.yml --target web1 '\\Processor Information(_Total)\\% Processor Time'
  perfmon-exporter explain wrong_credentials
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
  1  the configuration, a plugin, a target or the machine does not allow it; the reason is printed
  2  the command line makes no sense
  130  a command was ended by Ctrl-C, or a server by a second SIGINT (143: SIGTERM)

Signals:
  HUP         reads the configuration again; what is wrong with it is logged, and the one before stays in use
  TERM, INT   end the process once what runs has ended; the second one at once

Commands of plugins take the configuration from --config, $PERFMON_EXPORTER_CONFIG or
/etc/perfmon-exporter/perfmon.yml, or go without one where --username and --password-file are given.";

const INIT_EXAMPLES: &str = "\
Examples:
  perfmon-exporter init
  perfmon-exporter init --host web1.corp.example.com --username 'CORP\\svc-metrics' --allow-hosts '*.corp.example.com'
  perfmon-exporter init --host 10.0.0.7 --username svc-metrics --password-file /run/secrets/corp --output /etc/perfmon-exporter
  pass show corp/svc-metrics | perfmon-exporter init --host web1 --username 'CORP\\svc-metrics' --force";

/// Watches Windows hosts without an agent and serves what it sees to Prometheus.
#[derive(Debug, Parser)]
#[command(name = "perfmon-exporter", version, after_help = EXAMPLES, args_conflicts_with_subcommands = false)]
pub(super) struct Cli {
    /// The configuration file: serve it until ended
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// TLS, passwords, headers and a limit of requests, in the format of Prometheus' exporters; wins over `web.config_file`
    #[arg(long = "web.config.file", value_name = "FILE")]
    pub(super) web_file: Option<PathBuf>,

    /// What is logged: error, warn, info, debug, trace, or directives per module
    /// [default: info; off for commands of plugins]
    #[arg(long = "log.level", value_name = "LEVEL", global = true)]
    pub(super) log_level: Option<String>,

    /// How the log looks
    #[arg(long = "log.format", value_name = "FORMAT", default_value = "text", global = true)]
    pub(super) log_format: LogFormat,

    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

impl Cli {
    /// Reads the command line. Its help lists the commands of plugins, which are asked only when it is printed.
    pub(super) fn read(arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        let wants_help =
            arguments.iter().skip(1).any(|word| word == "--help" || word == "-h" || word == "help");
        let of_plugins = if wants_help { super::command::list() } else { String::new() };
        let separator = if of_plugins.is_empty() { "" } else { "\n" };
        let matches = Self::command()
            .after_help(format!("{of_plugins}{separator}{EXAMPLES}"))
            .try_get_matches_from(arguments)?;
        <Self as clap::FromArgMatches>::from_arg_matches(&matches)
    }

    /// The names of the program's own commands.
    pub(super) fn builtin() -> Vec<String> {
        Self::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Writes a first configuration, and a password file that only you can read: asks on a terminal for what options do
    /// not say
    #[command(after_help = INIT_EXAMPLES)]
    Init(InitOptions),
    /// Checks a configuration file, the plugins' settings included; touches no target unless told to
    CheckConfig {
        /// The file
        file: PathBuf,
        /// Also collects once from every target, within its own deadline, and prints how each of them fares
        #[arg(long)]
        online: bool,
        /// Checks this file, too: TLS, passwords, headers; wins over `web.config_file`
        #[arg(long = "web.config.file", value_name = "FILE")]
        web_file: Option<PathBuf>,
    },
    /// Looks at plugins
    Plugin {
        #[command(subcommand)]
        command: PluginCommand,
    },
    /// Says what the words of a failure mean, and what to do: a reason such as `wrong_credentials`, or a stage
    Explain {
        /// The word, as the log, pages and metrics have it; all of them where there is none
        reason: Option<String>,
    },
    /// A command of a plugin
    #[command(external_subcommand)]
    OfPlugin(Vec<OsString>),
}

#[derive(Debug, Args)]
pub(super) struct InitOptions {
    /// The first Windows host to read, by name or address
    #[arg(long)]
    pub(super) host: Option<String>,
    /// The account that logs on to it
    #[arg(long, value_name = r"DOMAIN\USER")]
    pub(super) username: Option<String>,
    /// A file that already holds the password. Without this, the password is asked for without echo, or read from the
    /// standard input where that is no terminal, and written to DIR/secret
    #[arg(long, value_name = "FILE")]
    pub(super) password_file: Option<PathBuf>,
    /// Hosts that may get the password: names, patterns, networks, with commas between them [default: the host]
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    pub(super) allow_hosts: Vec<String>,
    /// Where perfmon.yaml and the password file are written
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) output: PathBuf,
    /// Replaces files that are there
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum PluginCommand {
    /// Loads a plugin alone, leads it through the contract and prints what was found
    Check {
        /// The shared library
        file: PathBuf,
    },
}
