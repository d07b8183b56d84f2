//! Files that people write.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use config::target_files::parse_target_file;
use config::web_file::{WEB_USERS_MAX, WebFile};
use config::{self, Config, Node, Position, Report, SERIES_MAX, Schemas, Target, Value};
use plugin_abi::{SettingInfo, SettingKind, SettingsSchema, TransportInfo};

use crate::exporter::Input;

/// The configuration: one that can be used, or a list of what is wrong with it and where.
pub fn file(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    tree(text);
    match config::parse("perfmon.yml", text, BASE.as_ref()) {
        Err(report) => check_report(&report, text),
        Ok(mut config) => {
            targets(&config.targets, &config);
            let names: BTreeSet<&str> = config.targets.iter().map(|target| target.name.as_str()).collect();
            assert_eq!(names.len(), config.targets.len(), "a name twice");
            let again = config::parse("perfmon.yml", text, BASE.as_ref()).expect("it was good before");
            assert_eq!(format!("{again:?}"), format!("{config:?}"));
            let problems = config.set_schemas(&schemas(&config));
            if !problems.is_empty() {
                check_report(&Report::new("perfmon.yml", problems), text);
            }
            // What is shown of it is YAML again, and reads as no more than it was.
            for shown in [&config.shown.to_authenticated, &config.shown.to_all] {
                assert!(Node::parse(shown).is_ok(), "what is shown is no YAML:\n{shown}");
            }
        }
    }
}

/// What made-up plugins declare, one for all modules, with a setting of each kind.
fn schemas(config: &Config) -> Schemas {
    let setting = |key: &str, kind| SettingInfo {
        key: key.to_owned(),
        help: String::new(),
        is_shown: kind != SettingKind::Text,
        kind,
        default: None,
    };
    let settings = vec![
        setting("secret", SettingKind::Text),
        setting("encryption", SettingKind::Word(vec!["preferred".to_owned(), "required".to_owned()])),
        setting("tries", SettingKind::Integer { min: -1, max: 9 }),
        setting("is_fast", SettingKind::Bool),
        setting("pause", SettingKind::Duration { min_ms: 1, max_ms: 9_000 }),
        setting("port", SettingKind::Port),
    ];
    let transport = TransportInfo { kind: "smb".to_owned(), help: String::new(), settings };
    let schema = Arc::new(SettingsSchema {
        shown: vec!["name".to_owned(), "countersets".to_owned()],
        transports: vec![transport],
        keeps_files: false,
    });
    let mut schemas = Schemas::default();
    schemas.add_source("any", &schema);
    config.modules.keys().for_each(|module| schemas.set_module(module, &schema));
    schemas
}

/// A target file, YAML or JSON: targets that can be asked, or what is wrong and where.
pub fn target_file(bytes: &[u8]) {
    static CONFIG: LazyLock<Config> =
        LazyLock::new(|| config::parse("perfmon.yml", KNOWN, BASE.as_ref()).expect("it is right"));
    let Some(text) = text(bytes) else { return };
    let [yaml, json] = ["targets.yml", "targets.json"].map(|file| parse_target_file(file, text, &CONFIG));
    for read in [&yaml, &json] {
        match read {
            Ok(list) => {
                targets(&list.targets, &CONFIG);
                let problems: Vec<_> = list.problems().cloned().collect();
                if !problems.is_empty() {
                    check_report(&Report::new("targets.yml", problems), text);
                }
            }
            Err(report) => check_report(report, text),
        }
    }
    if let (Ok(yaml), Ok(json)) = (yaml, json) {
        assert_eq!(yaml, json, "JSON means something else as YAML");
    }
}

/// The web configuration file: settings within their limits, or what is wrong and where; no hash is ever shown.
pub fn web_file(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match WebFile::parse("web.yml", text, BASE.as_ref()) {
        Err(report) => check_report(&report, text),
        Ok(file) => {
            assert!(file.users.len() <= WEB_USERS_MAX && file.users.cost() <= 18);
            assert!(file.rate_limit.is_none_or(|limit| limit.burst > 0 && !limit.interval.is_zero()));
            assert!(
                file.headers.iter().all(|(_, value)| value.to_str().is_ok_and(|value| !value.is_empty()))
            );
            assert!(!format!("{file:?}").contains("$2y$"), "a hash is shown");
        }
    }
}

/// What is in a file that can be read at all.
fn text(bytes: &[u8]) -> Option<&str> {
    str::from_utf8(Input::new(bytes).rest()).ok()
}

/// A tree of YAML: it keeps to its limits, and each part of it is in the text.
fn tree(text: &str) {
    match Node::parse(text) {
        Ok(root) => {
            let mut nodes = 0;
            walk(&root, 0, &mut nodes, text.lines().count() as u64 + 1);
            assert!(nodes <= 500_000, "{nodes} nodes");
            let json = root.to_json().to_string();
            assert!(json.parse::<serde_json::Value>().is_ok_and(|again| again == root.to_json()));
        }
        Err(error) => {
            assert!(!error.message.is_empty());
            assert!(error.position.is_none_or(|position| is_in(position, text)), "{error:?}");
        }
    }
}

fn walk(node: &Node, depth: usize, nodes: &mut usize, lines: u64) {
    assert!(depth <= 32, "nested too deep");
    assert!((1..=lines).contains(&node.position.line), "{:?}", node.position);
    *nodes += 1;
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| walk(item, depth + 1, nodes, lines)),
        Value::Map(entries) => {
            let keys: BTreeSet<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
            assert_eq!(keys.len(), entries.len(), "a key twice");
            entries.iter().for_each(|entry| walk(&entry.node, depth + 1, nodes, lines));
        }
        Value::Float(value) => assert!(value.is_finite()),
        _ => {}
    }
}

/// Every problem has a place in the text, and is a line of what is printed.
fn check_report(report: &Report, text: &str) {
    assert!(!report.problems.is_empty() && report.more.is_empty(), "nothing is wrong");
    for problem in &report.problems {
        assert!(!problem.message.is_empty());
        assert!(problem.position.is_none_or(|position| is_in(position, text)), "{problem:?}");
    }
    let shown = report.to_string();
    assert!(shown.lines().count() <= 51, "{shown}");
    assert!(shown.lines().all(|line| line.starts_with(&report.file)), "{shown}");
    assert!(!shown.contains(|char: char| char.is_control() && char != '\n'), "{shown:?}");
    // Each problem says what is wrong with a part of the text, and may say it twice.
    assert!(shown.len() <= 50 * (4 * text.len() + 1_024), "{} bytes of problems", shown.len());
}

fn is_in(position: Position, text: &str) -> bool {
    // As editors count. The end of the text may be a line of its own, and the end of a line a column.
    let index = position.line.checked_sub(1).and_then(|index| usize::try_from(index).ok());
    let line = index.and_then(|index| text.split('\n').nth(index));
    line.is_some_and(|line| (0..=line.chars().count() as u64 + 1).contains(&position.column))
}

fn targets(targets: &[Target], config: &Config) {
    let times = Duration::from_millis(100)..=Duration::from_secs(24 * 3_600);
    for target in targets {
        let Target { name, host, modules, interval, deadline, max_series, labels, .. } = target;
        assert!(!name.is_empty() && name.len() <= 253 && !name.contains(char::is_control), "{name:?}");
        assert!(config::is_host_name(host), "{host:?}");
        assert!(times.contains(interval) && times.contains(deadline) && deadline <= interval, "{target:?}");
        assert!((1..=SERIES_MAX).contains(max_series));
        assert!(!modules.is_empty() && modules.iter().all(|module| config.modules.contains_key(module)));
        assert!(target.identity.as_ref().is_none_or(|identity| config.identities.contains_key(identity)));
        assert!(config.transports.contains_key(&target.transport), "{}", target.transport);
        let is_label = |label: &String| {
            label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !label.starts_with("__")
        };
        assert!(labels.keys().all(is_label), "{labels:?}");
    }
}

/// The folder of relative paths; nothing is read there.
const BASE: &str = "/nowhere";

/// What the names in target files are measured by.
const KNOWN: &str = "
plugins: {load: [pcq]}
identities:
  corp: {kind: ntlm, username: svc, password_file: secret, allow_hosts: ['*.corp.example.com', 10.0.0.0/8]}
transports: {slow: {connect_timeout: 9s}}
modules: {os: {plugin: pcq}, sql: {plugin: pcq}}
";
