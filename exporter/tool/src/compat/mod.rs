//! `compat FILE…`: which metrics Grafana dashboards and Prometheus rules read, and whether they are there.
//!
//! | module | job |
//! | --- | --- |
//! | `file`, `dashboards`, `rules` | the expressions of a file |
//! | `promql`, `variables` | the metrics of an expression |
//! | `view` | the metrics that there are |
//! | `configured` | those of a configuration |
//! | `verdict` | what becomes of a metric |
//! | `report`, `print` | what is said of it |

mod configured;
mod dashboards;
mod file;
mod print;
mod promql;
mod report;
mod variables;
mod verdict;
mod view;

use std::collections::BTreeSet;
use std::path::Path;

use config::{BUILT_IN_PROFILES, Node, Value};
use safe_text::nearest::suggestion;
use support::telemetry::output;
use support::{errln, outln};

use self::report::Report;
use self::view::View;
use crate::cli::{CompatFormat, CompatOptions};
use crate::compat::promql::Reference;
use crate::{FAILED, OK, USAGE};

/// `compat`: the exit code.
pub(super) fn compat(options: &CompatOptions) -> u8 {
    let config = options.config.as_deref();
    let (views, judged_by) = match config.map_or_else(|| of_profile(options), of_config) {
        Ok(judged) => judged,
        Err(message) => {
            errln!("{message}");
            return USAGE;
        }
    };
    let read = options.files.iter().map(|path| (path.display().to_string(), file::read(path)));
    let read: Vec<_> = read.collect();
    let report = Report::new(judged_by, config.is_none(), views, &read);
    match options.format {
        CompatFormat::Text => output::out(print::text(&report)),
        CompatFormat::Json => outln!("{:#}", print::json(&report)),
    }
    match () {
        () if report.lacks_file() => USAGE,
        () if report.is_ok() => OK,
        () => FAILED,
    }
}

/// What there is, and by what is judged.
type Judged = Result<(Vec<View>, String), String>;

fn of_profile(options: &CompatOptions) -> Judged {
    let naming = options.naming.as_deref().unwrap_or(BUILT_IN_PROFILES[0]);
    let map = config::built_in_profile(naming, options.bug_compatible).ok_or_else(|| {
        let hint = suggestion(naming, BUILT_IN_PROFILES.iter().copied()).unwrap_or_default();
        format!("--naming {naming}: there is no such profile; {hint}")
    })?;
    let bugs = if options.bug_compatible { " with `bug_compatible`" } else { "" };
    Ok((vec![View::of_profile(&map)], format!("profile {naming}{bugs}, as if all were collected")))
}

fn of_config(file: &Path) -> Judged {
    let configured = configured::read(file).map_err(|report| report.to_string())?;
    Ok((configured.views, configured.described))
}

/// What is said of a file that holds these bytes, judged by the first profile.
pub(super) fn said_of(bytes: &[u8]) -> (String, serde_json::Value) {
    let map = config::built_in_profile(BUILT_IN_PROFILES[0], false).unwrap_or_default();
    let read = [("file".to_owned(), file::parse(bytes))];
    let report = Report::new("a profile".to_owned(), true, vec![View::of_profile(&map)], &read);
    (print::text(&report), print::json(&report))
}

/// Maximum expressions of one file.
const EXPRESSIONS_MAX: usize = 10_000;
/// Maximum bytes of the title of a panel, or the name of a rule, that are kept.
const TITLE_BYTES_MAX: usize = 100;

/// What a file reads and records.
#[derive(Debug, Default)]
struct Found {
    /// Each expression with its place.
    reads: Vec<(String, BTreeSet<Reference>)>,
    /// Each expression that is no PromQL: its place, and what the parser says.
    unreadable: Vec<(String, String)>,
    /// The names that recording rules make.
    recorded: BTreeSet<String>,
    count: usize,
}

impl Found {
    /// Adds an expression that was read at a place.
    fn add(&mut self, place: &str, references: Result<BTreeSet<Reference>, String>) {
        match references {
            Ok(references) => self.reads.push((place.to_owned(), references)),
            Err(error) => self.unreadable.push((place.to_owned(), error)),
        }
    }

    /// Counts an expression before it is read.
    ///
    /// # Errors
    /// When there are too many.
    fn count(&mut self) -> Result<(), String> {
        self.count += 1;
        self.check_count()
    }

    /// Whether there was no expression at all, not even one that cannot be read.
    fn is_empty(&self) -> bool {
        self.count == 0 && self.unreadable.is_empty()
    }

    /// Adds what was found in a part of the file.
    ///
    /// # Errors
    /// When there are too many expressions.
    fn add_part(&mut self, part: &str, found: Self) -> Result<(), String> {
        let at = |place: String| format!("{part}: {place}");
        self.reads.extend(found.reads.into_iter().map(|(place, references)| (at(place), references)));
        self.unreadable.extend(found.unreadable.into_iter().map(|(place, why)| (at(place), why)));
        self.recorded.extend(found.recorded);
        self.count += found.count;
        self.check_count()
    }

    fn check_count(&self) -> Result<(), String> {
        if self.count > EXPRESSIONS_MAX {
            return Err(format!("has more than {EXPRESSIONS_MAX} expressions, which is the limit"));
        }
        Ok(())
    }
}

fn titled(what: &str, title: &str) -> String {
    let end = (0..=TITLE_BYTES_MAX.min(title.len())).rev().find(|end| title.is_char_boundary(*end));
    let (shown, rest) = title.split_at(end.unwrap_or_default());
    format!("{what} \"{shown}{}\"", if rest.is_empty() { "" } else { "…" })
}

// What rules of Prometheus and of Grafana read and record.

/// Whether it is a rule file of Prometheus or of Grafana, an object of Kubernetes with such rules, or a mere list of rules.
fn has_rules(root: &Node) -> bool {
    groups(root).is_some() || is_rule(root) || root.list().iter().any(is_rule)
}

/// The groups, or what stands for the only one.
fn groups(root: &Node) -> Option<Vec<&Node>> {
    [Some(root), root.get("spec")].into_iter().flatten().find_map(|node| match node.get("groups") {
        Some(groups) => Some(groups.list().iter().collect()),
        None => node.get("rules").map(|_| vec![node]),
    })
}

/// Grafana's have `data`, a list of queries of which `condition` names one.
fn is_rule(node: &Node) -> bool {
    node.get("expr").is_some() || (node.get("data").is_some() && node.get("condition").is_some())
}

/// Reads what [`has_rules`].
///
/// # Errors
/// When it has too much.
fn rules(root: &Node, found: &mut Found) -> Result<(), String> {
    let rules: Vec<&Node> = match groups(root) {
        Some(groups) => groups.iter().filter_map(|group| group.get("rules")).flat_map(Node::list).collect(),
        None if is_rule(root) => vec![root],
        None => root.list().iter().collect(),
    };
    rules.into_iter().try_for_each(|rule| read(rule, found))
}

fn read(rule: &Node, found: &mut Found) -> Result<(), String> {
    let expression = rule.get("expr").or_else(|| rule.get("data"));
    let line = expression.unwrap_or(rule).position.line;
    let recorded = text(rule, "record").or_else(|| text(rule.get("record")?, "metric"));
    let what = match (recorded, text(rule, "alert").or_else(|| text(rule, "title"))) {
        (Some(name), _) => {
            found.recorded.insert(name.to_owned());
            titled("rule", name)
        }
        (None, Some(name)) => titled("alert", name),
        (None, None) => "rule".to_owned(),
    };
    let place = format!("{what} on line {line}");
    let Some(expression) = expression else {
        found.add(&place, Err("the rule has no `expr`".to_owned()));
        return Ok(());
    };
    match &expression.value {
        Value::List(_) => return dashboards::queries(&expression.to_json(), place, found),
        Value::Text(expression) => found.add(&place, promql::references(expression)),
        Value::Integer(_) | Value::Unsigned(_) | Value::Float(_) => {}
        _ => found.add(&place, Err("`expr` is no text".to_owned())),
    }
    found.count()
}

fn text<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    match &node.get(key)?.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}
