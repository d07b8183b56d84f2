//! The configuration file: strict YAML in, a [`Config`] that cannot be wrong out, or a [`Report`] of everything
//! that is wrong, each with line, column and what to do.
//!
//! ```yaml
//! web: {listen: ["0.0.0.0:9483"]}             # also max_connections, max_scrapes, header_timeout, write_timeout
//! plugins: {path: /usr/lib/perfmon-exporter, load: [pcq]}
//! scrape: {interval: 30s, deadline: 10s}      # defaults of the targets; also max_connecting, max_concurrent, drain
//! credentials: {state_dir: /var/lib/perfmon-exporter, cooldown: 1h}
//! identities:
//!   corp: {kind: ntlm, domain: CORP, username: svc, password_file: /run/secrets/corp, allow_hosts: ['*.corp.example']}
//! transports:
//!   default: {connect_timeout: 3s, smb: {encryption: preferred, port: 445}}
//! modules:
//!   os: {plugin: pcq, countersets: [{name: Process V2}]}     # every key but `plugin` is the plugin's
//! targets:
//!   - {host: web1.corp.example, identity: corp, modules: [os], interval: 15s, deadline: 5s, labels: {env: prod}}
//! ```
//!
//! Relative paths start at the file's own folder. Keys that later versions will have are told apart from
//! mistakes. The file's tree is kept (in [`Module::source`]), so that what a plugin says of its settings is
//! shown with line and column as well.

mod check;
mod hosts;
mod nearest;
mod parse;
mod problem;
mod section;
mod tree;
mod types;

use std::path::Path;

use self::problem::Problems;
use self::section::Item;

pub use self::hosts::{AllowHosts, BadEntry, address};
pub use self::nearest::{nearest, suggestion};
pub use self::problem::{Problem, Report};
pub use self::tree::{CONFIG_BYTES_MAX, Entry, Node, Position, SyntaxError, Value};
pub use self::types::{
    Config, Credentials, Encryption, Identity, Module, PluginName, Plugins, Scrape, SecretSource, Target,
    Transport, Web,
};

/// Reads and checks a file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load(path: &Path) -> Result<Config, Report> {
    let file = path.display().to_string();
    let text = read(path).map_err(|message| {
        Report::of_file(&file, message, Some("name a readable file with --config".to_owned()))
    })?;
    let base = path.parent().unwrap_or_else(|| Path::new("."));
    parse(&file, &text, base)
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
    let config = parse::config(&Item::root(&root, &problems), base);
    if let Some(config) = &config {
        check::references(config, &root, &problems);
    }
    let problems = problems.into_vec();
    match config {
        Some(config) if problems.is_empty() => Ok(config),
        _ => Err(Report::new(file, problems)),
    }
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = std::fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?.len();
    if bytes > CONFIG_BYTES_MAX as u64 {
        return Err(format!("has {bytes} bytes, the limit is {CONFIG_BYTES_MAX}"));
    }
    std::fs::read_to_string(path).map_err(|error| format!("cannot be read: {error}"))
}
