//! The configuration file: strict YAML in, a [`Config`] that cannot be wrong out, or a [`Report`] of everything
//! that is wrong, each with line, column and what to do.
//!
//! ```yaml
//! web: {listen: ["0.0.0.0:9483"], config_file: web.yml}       # TLS and passwords, see `web_file`; also max_connections,
//!                                             # max_connections_per_peer, max_scrapes, header_timeout, write_timeout,
//!                                             # answer_timeout, idle_timeout, handshake_timeout, enable_lifecycle,
//!                                             # external_url
//! plugins: {path: /usr/lib/perfmon-exporter, load: [pcq]}
//! scrape: {interval: 30s, deadline: 10s, max_series: 200000}   # defaults of the targets
//!                                             # also connect_rate, max_connecting, max_concurrent, drain
//!                                             # stale_after: 0 to 3 intervals, or a time
//! credentials: {state_dir: /var/lib/perfmon-exporter, cooldown: 1h}
//! rpc_state: {level: full, directory: /run/perfmon-exporter/rpc-state}    # also level: none, server
//! storage: {directory: /var/lib/perfmon-exporter/files, downloads: false}  # where sources keep files of their targets
//! identities:
//!   corp: {kind: ntlm, domain: CORP, username: svc, password_file: /run/secrets/corp, allow_hosts: ['*.corp.example']}
//! transports:
//!   default: {connect_timeout: 3s, smb: {encryption: preferred, port: 445}}
//! normalize:                                  # also of a module, of a target, of target_defaults: `normalize: {…}`
//!   naming: native                            # or verbatim, windows_exporter@0.31, {file: my-profile.yaml}
//!   drop: ['perfmon_memory_.*', {name: 'perfmon_process_.*', labels: {counter_instance: 'svchost.*'}}]
//!   rename: [{from: 'perfmon_processor_information_(.*)', to: 'cpu_$1'}]
//!   metric_relabel_configs: [{source_labels: [counter_instance], regex: '(.):', target_label: drive}]
//!   limits: {max_labels: 16, max_label_bytes: 1024, max_name_bytes: 400, max_families: 20000}
//!                                             # also max_series, max_family_series
//! modules:
//!   os: {plugin: pcq, countersets: [{name: Process V2}]}     # every key but `plugin` is the plugin's
//! targets:
//!   - {host: web1.corp.example, identity: corp, modules: [os], interval: 15s, deadline: 5s, labels: {env: prod}}
//!     # also max_series, stale_after
//! target_defaults: {identity: corp, modules: [os]}             # also transport, labels, normalize
//! target_files: ['targets.d/*.yml']           # more targets, in the format of Prometheus' file_sd
//! probe: {allow_targets: ['*.corp.example', 10.0.0.0/8]}      # who /probe may ask besides the targets above; also
//!                                             # enabled, deadline, timeout_offset, cache, max_concurrent, max_targets, idle
//! otlp:                                       # collectors that snapshots are pushed to; all but `endpoint` has a default
//!   - {endpoint: 'https://otel.example:4317', protocol: grpc, interval: 30s, compression: gzip, timeout: 10s,
//!      headers: {authorization: {file: /run/secrets/otel, prefix: 'Bearer '}}, tls: {ca_file: /etc/ssl/otel.pem},
//!      temporality: cumulative, queue_points: 5000000, request_bytes: 3145728}
//! alerts:                                     # receivers of the alerts of targets; all but `url` has a default
//!   alertmanagers: [{url: 'http://alertmanager.example:9093'}]             # also name, timeout, headers, tls
//!   webhooks: [{url: 'https://hooks.example/alerts', repeat_interval: 4h}]
//!   resend_interval: 1m                       # also labels, max_alerts
//! config: {watch: true, watch_interval: 5s}   # reads this file again when it changes
//! log: {level: 'info,perfmon_exporter::web=debug'}             # unless the command line says it
//! telemetry: {endpoint: 'http://otel.example:4318'}            # the exporter's own figures; as above, by HTTP
//! ```
//!
//! Target files may change at any time: [`TargetFiles`] looks at them, [`target_files::parse_target_file`] says what they hold.
//! Relative paths start at the file's own folder. Keys that later versions will have are told apart from
//! mistakes. The file's tree is kept (in [`Module::source`]), so that what a plugin says of its settings is
//! shown with line and column as well. What transports can be set is declared by plugins, which are loaded later:
//! [`Config::set_schemas`] checks it then.

mod alerts;
mod check;
mod declared;
mod document;
mod file_pattern;
mod hosts;
mod identity;
mod item;
pub mod libraries;
mod naming;
mod node;
mod normalize;
mod otlp;
mod outgoing;
mod password_files;
mod plugins;
mod problem;
mod schemas;
mod scrape;
mod section;
mod shown;
mod storage;
mod target;
pub mod target_files;
mod transport;
mod tree;
mod web;
pub mod web_file;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use support::input::file;

use self::item::Item;
use self::problem::Problems;
use self::target_files::TargetFiles;

pub use self::document::{Config, InUse, Probe, RpcState, RpcStateLevel};
pub use self::file_pattern::FilePattern;
pub use self::hosts::{AllowHosts, BadEntry, address, host_hint, is_host_name};
pub use self::identity::{Credentials, Identity, Kerberos, Logon, Secret, account_hint};
pub use self::naming::{BUILT_IN_PROFILES, NotObtainable, built_in_profile, not_obtainable};
pub use self::node::{Entry, Node, Position, SyntaxError, Value};
pub use self::normalize::{LimitsSection, NormalizeSection};
pub use self::password_files::PasswordFiles;
pub use self::plugins::{
    Module, PluginName, PluginSettings, Plugins, beside_program, plugin_file, plugin_files,
};
pub use self::problem::{Problem, Report};
pub use self::schemas::Schemas;
pub use self::scrape::{SERIES_MAX, Scrape, StaleAfter};
pub use self::shown::{HIDDEN, Shown, Tree, shown_module};
pub use self::storage::Storage;
pub use self::target::{Target, TargetDefaults, in_transport};
pub use self::transport::{Transport, TransportSettings, in_words};
pub use self::tree::CONFIG_BYTES_MAX;
pub use self::web::{AllowedHosts, ExternalUrl, Web};
pub use support::input::secret::SecretSource;

/// A pipe that is read when the program begins must come to its end within this time.
const PIPE_TIME_MAX: Duration = Duration::from_secs(30);

/// Reads and checks a file, or what a pipe brings within half a minute.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load(path: &Path) -> Result<Config, Report> {
    load_within(path, PIPE_TIME_MAX)
}

/// The same for a pipe that is waited for no longer than `patience`.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load_within(path: &Path, patience: Duration) -> Result<Config, Report> {
    let file = path.display().to_string();
    let text = read(path, patience)
        .map_err(|(message, hint)| Report::of_file(&file, message, Some(hint.to_owned())))?;
    let base = path.parent().unwrap_or_else(|| Path::new("."));
    parse(&file, &text, base)
}

/// Reads and checks a file, and reads the target files that it names: their targets are among the configuration's, as far
/// as they can be asked. For who wants one of them; a server looks at the files again and again, with [`TargetFiles`].
///
/// # Errors
/// Everything that is wrong with the file itself.
pub fn load_with_target_files(path: &Path) -> Result<Config, Report> {
    let config = Arc::new(load(path)?);
    let mut files = TargetFiles::new(Arc::clone(&config));
    files.look(SystemTime::now());
    let targets = files.wanted().targets;
    drop(files);
    Ok(Config { targets, ..Arc::unwrap_or_clone(config) })
}

/// Checks the text of a file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse(file: &str, text: &str, base: &Path) -> Result<Config, Report> {
    let root = Node::parse(text).map_err(|SyntaxError { position, message }| {
        Report::new(file, vec![Problem { position, path: String::new(), message, hint: None }])
    })?;
    if matches!(root.value, Value::Null) {
        let hint = Some("begin with `targets:`".to_owned());
        return Err(Report::of_file(file, "the file is empty".to_owned(), hint));
    }
    let problems = Problems::default();
    let config = document::config(&Item::root(&root, &problems), base);
    if let Some(config) = &config {
        check::references(config, &root, &problems);
    }
    let more = problems.take_reports();
    let problems = problems.into_vec();
    match config {
        Some(config) if problems.is_empty() => Ok(Config { tree: Tree::of(root), ..config }),
        _ => Err(Report { more, ..Report::new(file, problems) }),
    }
}

/// The text of a file, or what is wrong with it and what to do.
fn read(path: &Path, patience: Duration) -> Result<String, (String, &'static str)> {
    // A pipe is no mistake (`--config <(…)`).
    let bytes = file::read_or_wait(path, CONFIG_BYTES_MAX, patience).map_err(|error| {
        let hint = match error {
            file::Error::TooLarge(_) => {
                "put targets into files of their own, and name those in `target_files`"
            }
            file::Error::TooSlow(_) => {
                "write it, and close it, before it is read; or name a file with --config"
            }
            file::Error::Io(_) | file::Error::Kind(_) => "name a readable file with --config",
        };
        (error.to_string(), hint)
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        (format!("is not UTF-8, on line {line}"), "save it as UTF-8")
    })
}

#[cfg(test)]
mod tests;
