//! `compat FILE…`: which metrics Grafana dashboards and Prometheus rules read, and whether they are there.
//!
//! | module | job |
//! | --- | --- |
//! | `file`, `dashboards` | the expressions of a file |
//! | `promql`, `variables` | the metrics of an expression |
//! | `view` | the metrics that there are |
//! | `configured` | those of a configuration |
//! | `verdict` | what becomes of a metric |
//! | `print` | what is said of it |

mod configured;
mod dashboards;
mod file;
mod print;
mod promql;
mod variables;
mod verdict;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use config::{BUILT_IN_PROFILES, Node, Value};
use safe_text::nearest::suggestion;
use support::telemetry::output;
use support::{errln, outln};

use self::verdict::{Judge, Judgement, Verdict};
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
    rule_groups(root).is_some() || is_rule(root) || root.list().iter().any(is_rule)
}

/// The groups, or what stands for the only one.
fn rule_groups(root: &Node) -> Option<Vec<&Node>> {
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
fn read_rules(root: &Node, found: &mut Found) -> Result<(), String> {
    let rules: Vec<&Node> = match rule_groups(root) {
        Some(groups) => groups.iter().filter_map(|group| group.get("rules")).flat_map(Node::list).collect(),
        None if is_rule(root) => vec![root],
        None => root.list().iter().collect(),
    };
    rules.into_iter().try_for_each(|rule| read_rule(rule, found))
}

fn read_rule(rule: &Node, found: &mut Found) -> Result<(), String> {
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

// The findings, put together for people and for programs.

/// A place of a file: the file's name, and what is there.
type Place = (String, String);

/// Everything that is to be said.
#[derive(Debug)]
struct Report {
    /// By what the metrics were judged.
    judged_by: String,
    files: Vec<FileReport>,
    metrics: Vec<MetricReport>,
    /// Files that cannot be read, and expressions: with an empty place, the file.
    unreadable: Vec<(Place, String)>,
    /// What has to be collected for the metrics that are there, by namespace.
    needs: BTreeMap<String, BTreeSet<String>>,
    /// Whether nothing was asked of a configuration.
    is_without_config: bool,
}

/// How much of a file is there.
#[derive(Debug)]
struct FileReport {
    file: String,
    /// The metrics that it reads, but for those that come from somebody else.
    metrics: usize,
    there: usize,
    unreadable: usize,
}

/// What becomes of a metric.
#[derive(Debug)]
struct MetricReport {
    /// The name, or `{__name__=~"…"}`, or the variable.
    name: String,
    judgement: Judgement,
    read_by: Vec<Place>,
}

impl Report {
    /// Judges what was found in files.
    fn new(
        judged_by: String,
        is_without_config: bool,
        views: Vec<View>,
        read: &[(String, Result<Found, String>)],
    ) -> Self {
        let mut places: BTreeMap<&Reference, Vec<Place>> = BTreeMap::new();
        let mut recorded = BTreeSet::new();
        let mut unreadable = Vec::new();
        for (file, found) in read {
            match found {
                Ok(found) => {
                    recorded.extend(found.recorded.iter().cloned());
                    for (place, references) in &found.reads {
                        for reference in references {
                            let own = places.entry(reference).or_default();
                            let place = (file.clone(), place.clone());
                            if own.last() != Some(&place) {
                                own.push(place);
                            }
                        }
                    }
                    let expressions = found.unreadable.iter();
                    unreadable
                        .extend(expressions.map(|(place, why)| ((file.clone(), place.clone()), why.clone())));
                }
                Err(why) => unreadable.push(((file.clone(), String::new()), why.clone())),
            }
        }
        let judge = Judge::new(views, recorded, &places.keys().copied().collect());
        let mut judgements: BTreeMap<&Reference, Judgement> =
            places.keys().map(|reference| (*reference, judge.judge(reference))).collect();
        // Labels are shown only where they are what is wrong.
        let is_told = |reference: &Reference, judgement: &Judgement| {
            !matches!(reference, Reference::Labelled(_)) || judgement.verdict.is_failure()
        };
        judgements.retain(|reference, judgement| is_told(reference, judgement));
        places.retain(|reference, _| judgements.contains_key(reference));
        let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (reference, _) in judgements.iter().filter(|(_, own)| own.verdict == Verdict::Present) {
            for (namespace, objects) in judge.needs(reference) {
                needs.entry(namespace).or_default().extend(objects);
            }
        }
        let files = read.iter().filter_map(|(file, found)| {
            found.as_ref().ok().map(|found| FileReport::new(file, found, &judgements))
        });
        let files = files.collect();
        let metrics = places.iter().map(|(reference, places)| MetricReport {
            name: shown_reference(reference),
            judgement: judgements[reference].clone(),
            read_by: places.clone(),
        });
        let mut metrics: Vec<MetricReport> = metrics.collect();
        metrics.sort_by(|one, other| one.name.cmp(&other.name));
        Self { judged_by, files, metrics, unreadable, needs, is_without_config }
    }

    /// Those with a verdict.
    fn with(&self, verdict: Verdict) -> impl Iterator<Item = &MetricReport> {
        self.metrics.iter().filter(move |metric| metric.judgement.verdict == verdict)
    }

    /// Whether a file cannot be read.
    fn lacks_file(&self) -> bool {
        self.unreadable.iter().any(|((_, place), _)| place.is_empty())
    }

    /// Whether every metric is there that should be.
    fn is_ok(&self) -> bool {
        self.unreadable.is_empty() && !self.metrics.iter().any(|metric| metric.judgement.verdict.is_failure())
    }
}

impl FileReport {
    fn new(file: &str, found: &Found, judgements: &BTreeMap<&Reference, Judgement>) -> Self {
        let read: BTreeSet<&Reference> = found.reads.iter().flat_map(|(_, references)| references).collect();
        let lacking: BTreeSet<&str> = read
            .iter()
            .filter_map(|reference| match reference {
                Reference::Labelled(labelled) if judgements.contains_key(reference) => {
                    Some(&*labelled.metric)
                }
                _ => None,
            })
            .collect();
        let metrics = read.iter().filter(|reference| !matches!(reference, Reference::Labelled(_)));
        let verdicts: Vec<Verdict> = metrics
            .map(|reference| match judgements[reference].verdict {
                Verdict::Present if matches!(reference, Reference::Name(name) if lacking.contains(&**name)) => {
                    Verdict::Obtainable
                }
                verdict => verdict,
            })
            .collect();
        let count = |is: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| is(verdict)).count();
        Self {
            file: file.to_owned(),
            metrics: count(|verdict| *verdict != Verdict::NotOurs),
            there: count(|verdict| matches!(verdict, Verdict::Present | Verdict::Recorded)),
            unreadable: found.unreadable.len(),
        }
    }
}

fn shown_reference(reference: &Reference) -> String {
    match reference {
        Reference::Name(name) => name.clone(),
        Reference::Matching(regex) => format!("{{__name__=~\"{regex}\"}}"),
        Reference::Variable(name) => name.clone(),
        Reference::Labelled(labelled) => format!("{}{{{labelled}}}", labelled.metric),
    }
}
