use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use config::{Config, Node, Position, Target, Value};
use plugin_abi::Failure;

use super::sink::Collected;
use targets::{TargetHealth, count_by_health, help, next_step};

/// The outcome of one target: that of each of its modules.
pub(super) struct Fared {
    pub(super) modules: Vec<(String, Collected)>,
    pub(super) took: Duration,
}

/// How many targets are in which state.
#[derive(Debug, Default)]
pub(super) struct Tally(Vec<TargetHealth>);

impl Tally {
    /// Whether every target is up.
    pub(super) fn is_good(&self) -> bool {
        self.0.iter().all(|state| *state == TargetHealth::Up)
    }

    pub(super) fn line(&self) -> String {
        let [down, partial, _, up] = count_by_health(self.0.iter().copied());
        let counts = [up, partial, down].map(|(state, count)| format!("{count} {}", state.as_str()));
        format!("{} asked: {}\n", targets(self.0.len()), counts.join(", "))
    }

    /// Adds a target, and writes its outcome: one line, and one for each next step.
    pub(super) fn add(&mut self, file: &str, config: &Config, target: &Target, fared: &Fared) -> String {
        let series: u64 = fared.modules.iter().map(|(_, collected)| collected.series).sum();
        let took = fared.took.as_secs_f64();
        let state = TargetHealth::of_modules(fared.modules.iter().map(|(_, collected)| collected.state));
        self.0.push(state);
        let (name, word) = (&target.name, state.as_str());
        let mut text = match state {
            TargetHealth::Down | TargetHealth::Waiting => {
                let port = config.port(target).map(|port| format!(", port {port}")).unwrap_or_default();
                format!("{name}: {word} ({}{port})\n", target.host)
            }
            TargetHealth::Partial | TargetHealth::Up => {
                format!("{name}: {word}, {series} series in {took:.2} s{}\n", by_module(fared))
            }
        };
        for (Trouble { message, next_step, help }, modules) in grouped(target, fared) {
            let place = modules.iter().find_map(|module| place(file, config, module, &message));
            let modules = modules.join(", ");
            let place = place.unwrap_or_else(|| format!("module {modules}: "));
            let _ = writeln!(text, "  {place}{message}");
            for (what, advice) in [("next", next_step), ("help", help)] {
                if !advice.is_empty() {
                    let _ = writeln!(text, "  {what}: {advice}");
                }
            }
        }
        for (module, collected) in &fared.modules {
            for (word, messages) in [("warning", &collected.warnings), ("note", &collected.notes)] {
                for message in &messages.first {
                    let place = place(file, config, module, message);
                    let place = place.unwrap_or_else(|| format!("module {module}: "));
                    let _ = writeln!(text, "  {place}{word}: {message}");
                }
                if messages.more > 0 {
                    let _ = writeln!(text, "  module {module}: {word}: and {} more", messages.more);
                }
            }
        }
        text
    }
}

fn targets(count: usize) -> String {
    if count == 1 { "1 target".to_owned() } else { format!("{count} targets") }
}

/// ` (os 400; iis 12, partial)` if there are several.
fn by_module(fared: &Fared) -> String {
    if fared.modules.len() < 2 {
        return String::new();
    }
    let part = |(module, collected): &(String, Collected)| match collected.state {
        TargetHealth::Up => format!("{module} {}", collected.series),
        state => format!("{module} {}, {}", collected.series, state.as_str()),
    };
    let parts = fared.modules.iter().map(part);
    format!(" ({})", parts.collect::<Vec<_>>().join("; "))
}

/// Why modules of a target are not up.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Trouble {
    message: String,
    next_step: String,
    /// The command for more help, named as in the log; empty if there is none.
    help: String,
}

/// The troubles, each once with the modules that it befell.
fn grouped<'a>(target: &Target, fared: &'a Fared) -> BTreeMap<Trouble, Vec<&'a str>> {
    let mut troubles: BTreeMap<Trouble, Vec<&str>> = BTreeMap::new();
    for (module, collected) in
        fared.modules.iter().filter(|(_, collected)| collected.state != TargetHealth::Up)
    {
        let trouble = match &collected.failure {
            Some(failure) => Trouble {
                message: shown(failure),
                next_step: next_step(failure, target.deadline, true),
                help: help(failure.reason.as_str()),
            },
            None if collected.series == 0 => Trouble {
                message: "the module matches nothing on the target".to_owned(),
                next_step: "compare its names and patterns with what the target offers: `perfmon-exporter --help` shows the commands that list it"
                    .to_owned(),
                help: String::new(),
            },
            None => Trouble {
                message: "something is missing, and the plugin does not say what".to_owned(),
                next_step: String::new(),
                help: String::new(),
            },
        };
        troubles.entry(trouble).or_default().push(module);
    }
    troubles
}

fn shown(failure: &Failure) -> String {
    let message = if failure.message.is_empty() { failure.reason.sentence() } else { &failure.message };
    format!("{}: {}: {message}", failure.stage, failure.reason.as_str())
}

/// The place of the text that a message quotes: `FILE:LINE:COLUMN: modules.NAME: `.
fn place(file: &str, config: &Config, module: &str, message: &str) -> Option<String> {
    let source = &config.modules.get(module)?.source;
    let mut quoted = message.split('`').skip(1).step_by(2);
    let Position { line, column } = quoted.find_map(|text| find(source, text))?;
    Some(format!("{file}:{line}:{column}: modules.{module}: "))
}

/// The first text in a tree that equals `wanted`.
fn find(node: &Node, wanted: &str) -> Option<Position> {
    match &node.value {
        Value::Text(text) => (text.to_lowercase() == wanted.to_lowercase()).then_some(node.position),
        Value::List(items) => items.iter().find_map(|item| find(item, wanted)),
        Value::Map(entries) => entries.iter().find_map(|entry| find(&entry.node, wanted)),
        _ => None,
    }
}
