//! The configuration as people are shown it: what is known to be no secret, and `hidden` for everything else.
//!
//! Names of keys are shown, since a secret may not stand there. A value is shown where [`SHOWN`] knows its place;
//! in the settings of modules, which are the plugins' own, where [`SHOWN_OF_PLUGINS`] knows its key. What a later
//! version adds is hidden until it is listed here. Comments do not come through at all.

use super::tree::{Node, Value};

/// Stands for what is not shown.
pub const HIDDEN: &str = "hidden";

/// Places whose values are shown: keys with dots between them, `*` for any key or any item of a list, `**` for all
/// that is below.
const SHOWN: &[&str] = &[
    "web.listen.*",
    "web.config_file",
    "web.enable_lifecycle",
    "web.external_url",
    "web.max_connections_per_peer",
    "web.answer_timeout",
    "web.idle_timeout",
    "web.handshake_timeout",
    "web.max_connections",
    "web.max_scrapes",
    "web.metrics_targets",
    "web.enable_lifecycle",
    "web.external_url",
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
    "identities.*.kind",
    "identities.*.domain",
    "identities.*.username",
    "identities.*.password_file",
    "identities.*.password_env",
    "identities.*.keytab_file",
    "identities.*.allow_hosts.*",
    "transports.*.connect_timeout",
    "transports.*.smb.encryption",
    "transports.*.smb.port",
    "normalize.**",
    "modules.*.plugin",
    "modules.*.normalize.**",
    "target_defaults.identity",
    "target_defaults.transport",
    "target_defaults.modules.*",
    "target_defaults.labels.*",
    "targets.*.name",
    "targets.*.host",
    "targets.*.identity",
    "targets.*.transport",
    "targets.*.modules.*",
    "targets.*.interval",
    "targets.*.deadline",
    "targets.*.max_series",
    "targets.*.stale_after",
    "targets.*.labels.*",
    "targets.*.normalize.**",
    "target_files.*",
    "probe.allow_targets.*",
    "probe.enabled",
    "probe.deadline",
    "probe.timeout_offset",
    "probe.cache",
    "probe.max_concurrent",
    "probe.max_targets",
    "probe.idle",
    "config.watch",
    "config.watch_interval",
    "log.level",
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
    "telemetry.endpoint",
    "telemetry.interval",
    "telemetry.timeout",
    "telemetry.headers.*.file",
    "telemetry.headers.*.env",
    "telemetry.tls.ca_file",
    "telemetry.tls.cert_file",
    "telemetry.tls.key_file",
];

/// Keys whose values are shown wherever they stand in a module's settings.
const SHOWN_OF_PLUGINS: &[&str] = &[
    "aggregate",
    "counter",
    "counters",
    "countersets",
    "detail",
    "exact",
    "exclude",
    "guid",
    "include",
    "instance_id",
    "instances",
    "interval",
    "language",
    "n",
    "name",
    "regex",
    "totals",
    "wildcard",
];

/// The document without its secrets, as YAML.
pub(super) fn shown(root: &Node) -> String {
    let mut printer = Printer::default();
    printer.node(root, 0);
    printer.out
}

/// One of `modules:` in the same way, indented.
#[must_use]
pub fn shown_module(name: &str, source: &Node, indent: usize) -> String {
    let path = vec!["modules".to_owned(), name.to_owned()];
    let mut printer = Printer { out: " ".repeat(indent), path };
    printer.node(source, indent);
    printer.out
}

#[derive(Default)]
struct Printer {
    out: String,
    /// Where the node that is being printed stands.
    path: Vec<String>,
}

impl Printer {
    /// A node that may take lines of its own. The cursor stands where its first line begins.
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

    /// The value behind a key.
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

    /// What fits behind a key: a scalar, or a list of scalars.
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
            Value::Text(text) => scalar(&without_userinfo(text)),
        }
    }

    fn is_shown(&self) -> bool {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        // Rules are compared with names and labels, which everybody sees.
        if let ["normalize", ..] | ["modules" | "targets", _, "normalize", ..] = path.as_slice() {
            return true;
        }
        if let ["modules", _, settings @ ..] = path.as_slice() {
            let is_index = |key: &&str| key.bytes().all(|byte| byte.is_ascii_digit());
            let key = settings.iter().rev().find(|key| !is_index(key));
            if key.is_some_and(|key| SHOWN_OF_PLUGINS.contains(key)) {
                return true;
            }
        }
        SHOWN.iter().any(|place| is_at(place, &path))
    }
}

/// Whether `path` is what `place` means.
fn is_at(place: &str, path: &[&str]) -> bool {
    let mut keys = place.split('.');
    for key in path {
        match keys.next() {
            Some("**") => return true,
            Some(known) if known == "*" || known == *key => {}
            _ => return false,
        }
    }
    keys.next().is_none()
}

/// A URL may say who asks, `https://user:password@host`: that is left out, whatever the place. So is what stands
/// behind `?`.
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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn check(yaml: &str) -> String {
        let text = shown(&Node::parse(yaml).expect("it is YAML"));
        Node::parse(&text).unwrap_or_else(|error| panic!("{}: {text}", error.message));
        text
    }

    #[test]
    fn what_is_known_is_shown_and_everything_else_is_not() {
        let text = check(
            "web: {listen: ['0.0.0.0:9483'], max_scrapes: 4}
identities:
  corp: {kind: ntlm, username: svc, password: hunter2, password_file: /run/s, pin: 1234, allow_hosts: ['*.corp']}
modules:
  os: {plugin: pcq, countersets: [{name: Process V2, instances: {exclude: ['.*,_Total']}}], api_token: abc, level: 7}
normalize: {rename: [{from: 'a_(.*)', to: b_$1}]}
targets:
  - {host: web1, modules: [os], interval: 15s, labels: {env: prod}}
otlp:
  - {endpoint: 'https://me:pw@otel:4317/x?key=abc', headers: {authorization: 'Bearer abc', x: {file: /run/t, prefix: 'Bearer abc'}}}
soon: {secret: abc, list: [abc]}
",
        );
        expect![[r#"
            web:
              listen: ["0.0.0.0:9483"]
              max_scrapes: 4
            identities:
              corp:
                kind: ntlm
                username: svc
                password: hidden
                password_file: /run/s
                pin: hidden
                allow_hosts: ["*.corp"]
            modules:
              os:
                plugin: pcq
                countersets:
                  - name: Process V2
                    instances:
                      exclude: [".*,_Total"]
                api_token: hidden
                level: hidden
            normalize:
              rename:
                - from: "a_(.*)"
                  to: "b_$1"
            targets:
              - host: web1
                modules: [os]
                interval: 15s
                labels:
                  env: prod
            otlp:
              - endpoint: "https://hidden@otel:4317/x?hidden"
                headers:
                  authorization: hidden
                  x:
                    file: /run/t
                    prefix: hidden
            soon:
              secret: hidden
              list: [hidden]
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn a_secret_of_any_type_in_any_place_is_hidden() {
        for place in ["a: 5550199", "identities: {corp: {password: 5550199}}", "- 5550199"] {
            assert!(!check(place).contains("5550199"), "{place}");
            assert!(!check(&place.replace("5550199", "'s3cr 5550199'")).contains("5550199"), "{place}");
            assert!(!check(&place.replace("5550199", "[{k: 5550199}]")).contains("5550199"), "{place}");
        }
        // A list or a map where a text is known is no text that is known.
        assert!(!check("identities: {corp: {username: {x: 5550199}}}").contains("5550199"));
    }

    #[test]
    fn texts_that_yaml_would_read_otherwise_are_quoted() {
        for (text, expected) in [
            ("no", "\"no\""),
            ("a: b", "\"a: b\""),
            ("line\nbreak", "\"line\\nbreak\""),
            ("1e5", "\"1e5\""),
            ("0x1f", "\"0x1f\""),
            ("30s", "30s"),
            ("# x", "\"# x\""),
            ("", "\"\""),
            ("Processor Information", "Processor Information"),
        ] {
            assert_eq!(scalar(text), expected);
        }
    }
}
