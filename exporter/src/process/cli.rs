use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use support::telemetry::log::LogFormat;

use super::rpc_state::{EXAMPLES as RPC_STATE_EXAMPLES, RpcStateOptions};

const EXAMPLES: &str = "\
Examples:
  perfmon-exporter init --host web1.corp.example.com --username 'CORP\\svc-metrics' --output /etc/perfmon-exporter
  perfmon-exporter --config /etc/perfmon-exporter/perfmon.yml
  perfmon-exporter check-config /etc/perfmon-exporter/perfmon.yml
  perfmon-exporter check-config /etc/perfmon-exporter/perfmon.yml --online
  perfmon-exporter discover --target web1.corp.example.com --username 'CORP\\me' --password-file secret
  perfmon-exporter query --config perfmon.yml --target web1 '\\Processor Information(_Total)\\% Processor Time'
  perfmon-exporter explain wrong_credentials
  perfmon-exporter rpc-state -a
  perfmon-exporter plugin check /usr/lib/perfmon-exporter/libplugin_pcq.so
  perfmon-exporter --config perfmon.yml --log.format json --log.level info,perfmon_exporter::plugin=debug

A small configuration:
  plugins: {load: [pcq]}
  identities:
    corp: {kind: ntlm, domain: CORP, username: svc-metrics, password_file: secret, allow_hosts: ['*.corp.example.com']}
  modules:
    os: {plugin: pcq, countersets: [{name: Processor Information}]}
  targets:
    - {host: web1.corp.example.com, identity: corp, modules: [os]}

Exit codes:
  0  success: ended normally (also by SIGTERM or SIGINT), or the check found no error
  1  failure: an error in the configuration, a plugin, a target or the machine; the reason is printed
  2  the command line is invalid
  130  a command was stopped by Ctrl-C, or the exporter by a second SIGINT (143: SIGTERM)

Signals:
  HUP         reloads the configuration; errors are logged, and the previous one then stays in use
  TERM, INT   end the process after running collections have ended; a second signal ends it immediately

Commands of plugins take the configuration from --config, $PERFMON_EXPORTER_CONFIG or
/etc/perfmon-exporter/perfmon.yml. With --username and --password-file they need no configuration.";

const INIT_EXAMPLES: &str = "\
Examples:
  perfmon-exporter init
  perfmon-exporter init --host web1.corp.example.com --username 'CORP\\svc-metrics' --allow-hosts '*.corp.example.com'
  perfmon-exporter init --host web1.corp.example.com --principal svc-metrics@CORP.EXAMPLE.COM --keytab svc.keytab
  perfmon-exporter init --host 10.0.0.7 --username svc-metrics --password-file secret --output /etc/perfmon-exporter
  pass show corp/svc-metrics | perfmon-exporter init --host web1 --username 'CORP\\svc-metrics' --force";

/// Collects metrics of Windows hosts without an agent and serves them to Prometheus.
#[derive(Debug, Parser)]
#[command(name = "perfmon-exporter", version, after_help = EXAMPLES, args_conflicts_with_subcommands = false)]
pub(super) struct Cli {
    /// The configuration file; the exporter runs with it until it is stopped
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// TLS, passwords, headers and a rate limit, in the format of Prometheus' exporters; takes precedence over `web.config_file`
    #[arg(long = "web.config.file", value_name = "FILE")]
    pub(super) web_file: Option<PathBuf>,

    /// The log level: error, warn, info, debug, trace, or directives per module
    /// [default: info; off for commands of plugins]
    #[arg(long = "log.level", value_name = "LEVEL", global = true)]
    pub(super) log_level: Option<String>,

    /// The format of the log
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
    /// Writes a first configuration, and a password file that only you can read; on a terminal it asks for missing options
    #[command(after_help = INIT_EXAMPLES)]
    Init(InitOptions),
    /// Checks a configuration file, including the plugins' settings; contacts no target without --online
    CheckConfig {
        /// The file
        file: PathBuf,
        /// Also collects once from every target, within its own deadline, and prints each result
        #[arg(long)]
        online: bool,
        /// Also checks this file: TLS, passwords, headers; takes precedence over `web.config_file`
        #[arg(long = "web.config.file", value_name = "FILE")]
        web_file: Option<PathBuf>,
    },
    /// Commands about plugins
    Plugin {
        #[command(subcommand)]
        command: PluginCommand,
    },
    /// Explains a reason such as `wrong_credentials`, or a stage, and what to do
    Explain {
        /// The reason or stage as in the log, pages and metrics; default: all of them
        reason: Option<String>,
    },
    /// Is a command of perfmon-tool, which stands beside this program
    #[command(hide = true, disable_help_flag = true)]
    Compat {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
    /// Shows the state of RPC calls, as Windows' tool dbgrpc does: what endpoints, threads and calls of running processes do, and
    /// of those that died
    #[command(after_help = RPC_STATE_EXAMPLES)]
    RpcState(RpcStateOptions),
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
    /// The same by Kerberos
    #[arg(long, value_name = "NAME@REALM", conflicts_with = "username")]
    pub(super) principal: Option<String>,
    /// A file with the keys of --principal, instead of a password
    #[arg(long, value_name = "FILE", requires = "principal", conflicts_with = "password_file")]
    pub(super) keytab: Option<PathBuf>,
    /// A file that already holds the password. Without this option, the password is prompted for without echo, or read
    /// from standard input if that is not a terminal, and written to DIR/secret
    #[arg(long, value_name = "FILE")]
    pub(super) password_file: Option<PathBuf>,
    /// Hosts that may receive the password: names, patterns, networks, separated by commas [default: the host]
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    pub(super) allow_hosts: Vec<String>,
    /// Where perfmon.yml and the password file are written
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) output: PathBuf,
    /// Replaces existing files
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum PluginCommand {
    /// Loads a plugin, checks it against the contract and prints the findings
    Check {
        /// The shared library
        file: PathBuf,
    },
}
