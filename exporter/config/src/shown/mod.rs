//! The configuration as people are shown it: what is known to be no secret, and `hidden` for everything else.
//!
//! Names of keys are shown, since a secret may not be there. A value is shown where [`SHOWN`] lists its place; in
//! the settings of modules and in the sections of transports, which are the plugins' own, where the plugin declares its
//! key as shown. What a later version adds is hidden until it is listed there. Comments do not come through at all.

use std::fmt;
use std::sync::Arc;

use super::node::{Node, Value};
use super::plugins::Module;
use super::schemas::Schemas;

/// Stands for what is not shown.
pub const HIDDEN: &str = "hidden";

/// The configuration as it is shown, as YAML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// For authenticated readers: without secrets.
    pub to_authenticated: Arc<str>,
    /// To everybody: of identities the names alone.
    pub to_all: Arc<str>,
}

/// The tree of a file that was not shown yet.
#[derive(Clone, Default)]
pub struct Tree(Option<Arc<Node>>);

impl Tree {
    pub(super) fn of(root: Node) -> Self {
        Self(Some(Arc::new(root)))
    }

    pub(super) fn take(&mut self) -> Option<Arc<Node>> {
        self.0.take()
    }
}

impl fmt::Debug for Tree {
    /// Without what the file holds, secrets among it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tree")
    }
}

impl Shown {
    pub(super) fn of(root: &Node, schemas: &Schemas) -> Self {
        let text = |hides_identities| {
            let (out, path) = (String::new(), Vec::new());
            let mut printer = Printer { schemas, out, path, hides_identities };
            printer.node(root, 0);
            printer.out.into()
        };
        Self { to_authenticated: text(false), to_all: text(true) }
    }
}

/// One of `modules:` in the same way, indented.
#[must_use]
pub fn shown_module(name: &str, module: &Module, indent: usize) -> String {
    let path = vec!["modules".to_owned(), name.to_owned()];
    let mut schemas = Schemas::default();
    schemas.set_module(name, &module.schema);
    let out = " ".repeat(indent);
    let mut printer = Printer { schemas: &schemas, out, path, hides_identities: false };
    printer.node(&module.source, indent);
    printer.out
}

struct Printer<'a> {
    schemas: &'a Schemas,
    out: String,
    /// Where the node that is being printed is.
    path: Vec<String>,
    hides_identities: bool,
}

impl Printer<'_> {
    /// A node that may take lines of its own. The cursor is where its first line begins.
    fn node(&mut self, node: &Node, indent: usize) {
        match &node.value {
            Value::Map(entries) if !entries.is_empty() => {
                for (index, entry) in entries.iter().enumerate() {
                    self.begin_line(index, indent);
                    self.out.push_str(&scalar(&entry.key));
                    self.out.push(':');
                    self.path.push(entry.key.clone());
                    self.child(&entry.node, indent + 2);
                    self.path.pop();
                }
            }
            Value::List(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    self.begin_line(index, indent);
                    self.out.push_str("- ");
                    self.path.push(index.to_string());
                    self.node(item, indent + 2);
                    self.path.pop();
                }
            }
            _ => {
                let text = self.inline(node);
                self.out.push_str(&text);
                self.out.push('\n');
            }
        }
    }

    fn begin_line(&mut self, index: usize, indent: usize) {
        if index > 0 {
            self.out.extend(std::iter::repeat_n(' ', indent));
        }
    }

    /// The value after a key.
    fn child(&mut self, node: &Node, indent: usize) {
        let is_long = match &node.value {
            Value::Map(entries) => !entries.is_empty(),
            Value::List(items) => {
                items.iter().any(|item| matches!(item.value, Value::Map(_) | Value::List(_)))
            }
            _ => false,
        };
        if is_long {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', indent));
            self.node(node, indent);
        } else {
            self.out.push(' ');
            let text = self.inline(node);
            self.out.push_str(&text);
            self.out.push('\n');
        }
    }

    fn is_shown(&self) -> bool {
        let is_of_identity = self.path.first().is_some_and(|section| section == "identities");
        is_shown(&self.path, self.schemas) && !(self.hides_identities && is_of_identity)
    }

    /// What fits after a key: a scalar, or a list of scalars.
    fn inline(&mut self, node: &Node) -> String {
        match &node.value {
            Value::Map(_) => "{}".to_owned(),
            Value::List(items) => {
                let mut texts = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    self.path.push(index.to_string());
                    texts.push(self.inline(item));
                    self.path.pop();
                }
                format!("[{}]", texts.join(", "))
            }
            Value::Null => "null".to_owned(),
            _ if !self.is_shown() => HIDDEN.to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Unsigned(value) => value.to_string(),
            Value::Float(value) => value.to_string(),
            Value::Text(text) if self.path == ["web", "external_url"] => scalar(&without_userinfo(text)),
            Value::Text(text) => scalar(&without_secrets(text)),
        }
    }
}

/// A URL without what may be secret in it: many services tell their customers apart by the path, as those of webhooks do.
/// Other texts stay as they are.
pub(crate) fn without_secrets(text: &str) -> String {
    let shown = without_userinfo(text);
    let Some((scheme, rest)) = shown.split_once("://") else { return shown };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    if path.trim_matches('/').is_empty() { shown } else { format!("{scheme}://{host}/{HIDDEN}") }
}

/// A name made of a URL whose path is hidden, with a number where another URL has that name already.
pub(crate) fn unique(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !name.ends_with(&format!("/{HIDDEN}")) || !is_taken(&name) {
        return name;
    }
    let numbered = (2..).map(|number: u32| format!("{name} ({number})")).find(|name| !is_taken(name));
    numbered.unwrap_or(name)
}

/// Removes user and password of a URL, `https://user:password@host`, at any place, and everything after `?`.
fn without_userinfo(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host =
        authority.rsplit_once('@').map_or(authority.to_owned(), |(_, host)| format!("{HIDDEN}@{host}"));
    let path = match path.split_once('?') {
        Some((path, _)) => format!("{path}?{HIDDEN}"),
        None => path.to_owned(),
    };
    format!("{scheme}://{host}{path}")
}

/// A text as YAML has it: plain where that is safe, else in double quotes, whose escapes are those of JSON.
fn scalar(text: &str) -> String {
    let is_plain_char =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ' ' | '\\' | '(' | ')');
    let is_plain = text.starts_with(|c: char| c.is_alphabetic() || c == '/' || c == '_')
        && !text.ends_with(' ')
        && text.chars().all(is_plain_char)
        && !["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
            .contains(&text.to_ascii_lowercase().as_str());
    let is_duration = text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric())
        && !text.starts_with("0");
    if is_plain || (is_duration && !text.contains(['e', 'E', 'x', 'X'])) {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}

// What may be shown: the places that are known to hold no secret.

/// Places whose values are shown: keys with dots between them, `*` for any key or any item of a list, `**` for all
/// that is below.
const SHOWN: &[&str] = &[
    "web.listen.*",
    "web.config_file",
    "web.enable_lifecycle",
    "web.external_url",
    "web.allowed_hosts.*",
    "web.max_connections_per_peer",
    "web.answer_timeout",
    "web.idle_timeout",
    "web.handshake_timeout",
    "web.max_connections",
    "web.max_scrapes",
    "web.metrics_targets",
    "web.header_timeout",
    "web.write_timeout",
    "config.watch",
    "config.watch_interval",
    "log.level",
    "plugins.path",
    "plugins.load.*",
    "scrape.interval",
    "scrape.deadline",
    "scrape.max_connecting",
    "scrape.connect_rate",
    "scrape.max_concurrent",
    "scrape.max_series",
    "scrape.drain",
    "scrape.stale_after",
    "probe.enabled",
    "probe.allow_targets.*",
    "probe.deadline",
    "probe.timeout_offset",
    "probe.cache",
    "probe.max_concurrent",
    "probe.max_targets",
    "probe.idle",
    "credentials.state_dir",
    "credentials.cooldown",
    "rpc_state.level",
    "rpc_state.directory",
    "storage.directory",
    "storage.downloads",
    "identities.*.kind",
    "identities.*.domain",
    "identities.*.username",
    "identities.*.password_file",
    "identities.*.password_env",
    "identities.*.principal",
    "identities.*.realm",
    "identities.*.keytab_file",
    "identities.*.ccache",
    "identities.*.kdc",
    "identities.*.kdc.*",
    "identities.*.krb5_conf",
    "identities.*.ntlm_fallback",
    "identities.*.allow_rc4",
    "identities.*.allow_hosts.*",
    "transports.*.connect_timeout",
    // Rules are compared with names and labels, which everybody sees.
    "normalize.**",
    "modules.*.plugin",
    "modules.*.source",
    "modules.*.normalize.**",
    "target_defaults.identity",
    "target_defaults.transport",
    "target_defaults.modules.*",
    "target_defaults.labels.*",
    "target_defaults.normalize.**",
    "targets.*.name",
    "targets.*.host",
    "targets.*.identity",
    "targets.*.service_principal",
    "targets.*.transport",
    "targets.*.modules.*",
    "targets.*.interval",
    "targets.*.deadline",
    "targets.*.max_series",
    "targets.*.stale_after",
    "targets.*.labels.*",
    "targets.*.normalize.**",
    "target_files.*",
    "otlp.*.name",
    "otlp.*.endpoint",
    "otlp.*.protocol",
    "otlp.*.interval",
    "otlp.*.timeout",
    "otlp.*.headers.*.file",
    "otlp.*.headers.*.env",
    "otlp.*.compression",
    "otlp.*.tls.ca_file",
    "otlp.*.tls.cert_file",
    "otlp.*.tls.key_file",
    "otlp.*.temporality",
    "otlp.*.queue_points",
    "otlp.*.request_bytes",
    "otlp.*.logs",
    "otlp.*.traces.one_in",
    "otlp.*.traces.targets.*",
    "otlp.*.traces.failed",
    "otlp.*.traces.slower_than",
    "otlp.*.queue_records",
    "alerts.alertmanagers.*.url",
    "alerts.alertmanagers.*.name",
    "alerts.alertmanagers.*.timeout",
    "alerts.alertmanagers.*.headers.*.file",
    "alerts.alertmanagers.*.headers.*.env",
    "alerts.alertmanagers.*.tls.ca_file",
    "alerts.alertmanagers.*.tls.cert_file",
    "alerts.alertmanagers.*.tls.key_file",
    "alerts.webhooks.*.url",
    "alerts.webhooks.*.url_file",
    "alerts.webhooks.*.send_resolved",
    "alerts.webhooks.*.name",
    "alerts.webhooks.*.repeat_interval",
    "alerts.webhooks.*.timeout",
    "alerts.webhooks.*.headers.*.file",
    "alerts.webhooks.*.headers.*.env",
    "alerts.webhooks.*.tls.ca_file",
    "alerts.webhooks.*.tls.cert_file",
    "alerts.webhooks.*.tls.key_file",
    "alerts.resend_interval",
    "alerts.labels.*",
    "alerts.max_alerts",
    "telemetry.endpoint",
    "telemetry.interval",
    "telemetry.timeout",
    "telemetry.headers.*.file",
    "telemetry.headers.*.env",
    "telemetry.tls.ca_file",
    "telemetry.tls.cert_file",
    "telemetry.tls.key_file",
];

/// Whether the value at `path` may be shown: its keys from the root on, the items of lists by their numbers.
fn is_shown(path: &[String], schemas: &Schemas) -> bool {
    match path {
        [section, module, settings @ ..]
            if section == "modules"
                && last_key(settings).is_some_and(|key| schemas.shows_setting(module, key)) =>
        {
            return true;
        }
        [section, of_plugins, plugin, settings @ ..] if section == "plugins" && of_plugins == "settings" => {
            return last_key(settings).is_some_and(|key| schemas.shows_plugin_setting(plugin, key));
        }
        [section, _, kind, key] if section == "transports" => return schemas.shows_transport(kind, key),
        _ => {}
    }
    SHOWN.iter().any(|place| is_at(place, path))
}

/// The key that a value belongs to, also as an item of lists.
fn last_key(path: &[String]) -> Option<&str> {
    let is_index = |key: &str| key.bytes().all(|byte| byte.is_ascii_digit());
    path.iter().map(String::as_str).rev().find(|key| !is_index(key))
}

/// Whether `path` is what `place` means.
fn is_at(place: &str, path: &[String]) -> bool {
    let mut keys = place.split('.');
    for key in path {
        match keys.next() {
            Some("**") => return true,
            Some(known) if known == "*" || known == key.as_str() => {}
            _ => return false,
        }
    }
    keys.next().is_none()
}

#[cfg(test)]
mod tests;
