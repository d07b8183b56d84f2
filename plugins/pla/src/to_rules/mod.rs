//! `pla to-rules`: alerting rules of Prometheus that say what the alerts of data collector sets say.
//!
//! | module | job |
//! | --- | --- |
//! | `host`, `ask` | which counters a host has, as `discover` printed them or as it answers |
//! | `matchers` | instances as matchers of labels |
//! | `expression` | what Windows shows of a counter, in PromQL |
//! | `translate` | thresholds as rules, and what is said about others |

mod ask;
mod expression;
mod host;
mod matchers;
mod translate;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ms_pla::xml::{AlertDataCollector, DataCollectorSet, Element, Error, Limits, Position};
use plugin_sdk::{Command, Exit, Run};
use plugin_session::command::{CommandError, HostAccess, HostArguments, TransportArguments, parse_duration};
use safe_text::is_hidden;

use self::host::Host;
use self::matchers::Matcher;
use self::translate::{Setting, translate};

/// A set as it is in a file.
#[derive(Debug)]
struct Document {
    /// The file, for people.
    file: String,
    /// What the set is called.
    name: String,
    set: DataCollectorSet,
    /// Where the set begins.
    position: Position,
    /// Where its alert data collectors begin, and the thresholds of each.
    collectors: Vec<(Position, Vec<Position>)>,
}

impl Document {
    /// Reads the XML; `stem` is the set's name if it has none.
    ///
    /// # Errors
    /// When it is no set; the text has file, line and column.
    fn read(file: &str, stem: &str, bytes: &[u8]) -> Result<Self, String> {
        let read = || -> Result<_, Error> {
            let set = DataCollectorSet::read_each(bytes, &Limits::default())?;
            Ok((set, Element::read(bytes, &Limits::default())?))
        };
        let (set, root) = read().map_err(|error| {
            let path = if error.path.is_empty() { String::new() } else { format!("`{}` ", error.path) };
            format!("{}{path}{}", at(file, error.position), error.reason)
        })?;
        let own = [&set.name, &set.display_name].into_iter().flatten();
        let name = own.map(|name| name.trim()).find(|name| !name.is_empty()).unwrap_or(stem);
        Ok(Self {
            file: file.to_owned(),
            name: if name.is_empty() { "data collector set".to_owned() } else { name.to_owned() },
            position: root.position,
            collectors: root
                .elements()
                .filter(|element| element.local_name() == AlertDataCollector::ELEMENT)
                .map(|collector| {
                    let alerts = collector.elements().filter(|element| element.local_name() == "Alert");
                    (collector.position, alerts.map(|alert| alert.position).collect())
                })
                .collect(),
            set,
        })
    }
}

fn at(file: &str, position: Position) -> String {
    format!("{file}:{}:{}: ", position.line, position.column)
}

/// Makes alerting rules of data collector sets.
#[derive(Debug)]
pub(crate) struct ToRules;

#[derive(clap::Args)]
pub(crate) struct ToRulesArguments {
    /// Data collector sets with alerts, as Windows exports them (XML)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// A host that has the counters, or the name of a target in the configuration; it is asked for their types
    #[arg(long, value_name = "HOST")]
    target: Option<String>,
    /// The identity that logs on, from the configuration [default: the target's, or the only one allowed]
    #[arg(long, value_name = "NAME")]
    identity: Option<String>,
    /// What `discover --format json` printed about such a host, in place of --target; - is the standard input
    #[arg(long, value_name = "FILE")]
    discovered: Option<PathBuf>,
    /// How often Prometheus scrapes the exporter
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = parse_duration)]
    scrape_interval: Duration,
    /// Adds a label `severity` to every rule: 'warning'
    #[arg(long, value_name = "WORD")]
    severity: Option<String>,
    /// Only series with this label, such as those of the hosts that had the set: 'target=web1'
    #[arg(long = "matcher", value_name = "LABEL=VALUE", value_parser = Matcher::parse)]
    matchers: Vec<Matcher>,
    #[command(flatten)]
    transport: TransportArguments,
}

impl Command for ToRules {
    const NAME: &'static str = "to-rules";
    const HELP: &'static str = "Makes alerting rules for Prometheus of the alerts of data collector sets, and lists what rules cannot say";
    type Arguments = ToRulesArguments;

    async fn run(run: Run, arguments: ToRulesArguments) -> Exit {
        match to_rules(&run, arguments).await {
            Ok(exit) => exit,
            Err(error) => error.print(&run),
        }
    }
}

async fn to_rules(run: &Run, arguments: ToRulesArguments) -> Result<Exit, CommandError> {
    let ToRulesArguments {
        files,
        target,
        identity,
        discovered,
        scrape_interval,
        severity,
        matchers,
        transport,
    } = arguments;
    let documents: Vec<Document> = files.iter().map(|file| read_document(file)).collect::<Result<_, _>>()?;
    let host = match (target, discovered) {
        (Some(target), None) => {
            let access = HostAccess::new(HostArguments::new(target, identity), &transport)?;
            ask::ask(run, &access, &documents).await?
        }
        (None, Some(file)) => read_host(&file)?,
        (None, None) => {
            return Err(CommandError::usage(
                "--target HOST or --discovered FILE is missing: types of counters decide",
            ));
        }
        (Some(_), Some(_)) => {
            return Err(CommandError::usage("--target and --discovered exclude each other"));
        }
    };
    // By the general rules: modules of other plugins are not known here.
    let names = |family: &plugin_sdk::FamilyDef<'_>| run.metric_name(None, family);
    let scrape_s = u64::from(scrape_interval.subsec_nanos() > 0) + scrape_interval.as_secs();
    let setting = Setting { host: &host, names: &names, scrape_s, severity, matchers };
    let translated = translate(&documents, &setting);
    run.out(&write_yaml(&translated, &host.name));
    for remark in translated.sets.iter().flat_map(|set| &set.remarks) {
        run.err(&format!("{}\n", remark.with_file()));
    }
    Ok(if translated.is_complete() { Exit::Success } else { Exit::Failure })
}

fn read_document(file: &Path) -> Result<Document, CommandError> {
    let next_step = "export the set again: logman export -n NAME -xml FILE";
    let bytes =
        read_file(file, DOCUMENT_BYTES_MAX).map_err(|error| CommandError::failed(error, next_step))?;
    let stem = file.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let read = Document::read(&file.display().to_string(), &stem, &bytes);
    read.map_err(|error| CommandError::failed(error, next_step))
}

fn read_host(file: &Path) -> Result<Host, CommandError> {
    let next_step = "write it again: perfmon-exporter discover --target HOST --format json > FILE";
    let bytes = read_file(file, HOST_BYTES_MAX).map_err(|error| CommandError::failed(error, next_step))?;
    Host::read(&bytes).map_err(|error| {
        let place = format!("{}:{}:{}", file.display(), error.line(), error.column());
        CommandError::failed(format!("{place}: is not the output of discover: {error}"), next_step)
    })
}

/// All bytes of a file or of the standard input.
fn read_file(file: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let limit = bytes_max.saturating_add(1);
    let read = if file == Path::new(STANDARD_INPUT) {
        io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else if fs::metadata(file).is_ok_and(|found| !found.is_file()) {
        // A pipe or a device would keep the reader waiting.
        return Err(format!(
            "{}: is not a file; write `{STANDARD_INPUT}` for the standard input",
            file.display()
        ));
    } else {
        File::open(file).and_then(|opened| opened.take(limit).read_to_end(&mut bytes))
    };
    let read = read.map_err(|error| format!("{}: {error}", file.display()))?;
    if read as u64 > bytes_max {
        return Err(format!("{}: has more than {bytes_max} bytes", file.display()));
    }
    Ok(bytes)
}

const STANDARD_INPUT: &str = "-";
/// A set; [`ms_pla::xml::Limits`] has the same.
const DOCUMENT_BYTES_MAX: u64 = 8 << 20;
/// Hosts have hundreds of countersets with explain texts, and tens of thousands of instances.
const HOST_BYTES_MAX: u64 = 64 << 20;

// Texts of files and hosts, as YAML and readers of comments have them.

/// A scalar for any text: in single quotes, which keep backslashes, where there is nothing that only an escape can say.
fn quoted(text: &str) -> String {
    if text.chars().all(is_shown) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = "\"".to_owned();
    for char in text.chars() {
        match (char, u32::from(char)) {
            ('"' | '\\', _) => quoted.extend(['\\', char]),
            _ if is_shown(char) => quoted.push(char),
            (_, code @ ..=0xff) => quoted.push_str(&format!("\\x{code:02x}")),
            (_, code @ ..=0xffff) => quoted.push_str(&format!("\\u{code:04x}")),
            (_, code) => quoted.push_str(&format!("\\U{code:08x}")),
        }
    }
    quoted.push('"');
    quoted
}

/// A text for a comment or a terminal: one line, without characters that are not shown.
fn one_line(text: &str) -> String {
    text.chars().map(|char| if is_shown(char) { char } else { '\u{fffd}' }).collect()
}

/// Whether YAML has the character in a line, and a reader sees it where it is.
fn is_shown(char: char) -> bool {
    let is_printable = matches!(char, ' '..='~' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    // YAML's own readers take joiners, but people do not see them in what is copied.
    is_printable && !is_hidden(char) && !matches!(char, '\u{200c}' | '\u{200d}')
}

// The rules as a file of Prometheus. Names come from files and hosts, so that any text has to be quoted.

fn write_yaml(translated: &Translated, host: &str) -> String {
    let mut text =
        "# Alerting rules for Prometheus, made of data collector sets by `perfmon-exporter pla to-rules`.\n"
            .to_owned();
    comment(&mut text, "", &format!("The types of the counters are those of {host}."));
    for set in translated.sets.iter().filter(|set| !set.remarks.is_empty()) {
        text.push_str("#\n");
        comment(&mut text, "", &format!("{} ({}):", set.name, set.file));
        for remark in &set.remarks {
            comment(&mut text, "  ", &remark.without_file());
        }
    }
    let mut needs: BTreeMap<&str, Need> = BTreeMap::new();
    for rule in translated.sets.iter().flat_map(|set| &set.groups).flat_map(|group| &group.rules) {
        let known = needs.entry(&rule.needs.counterset).or_insert_with(|| rule.needs.clone());
        known.totals |= rule.needs.totals;
        known.aggregate |= rule.needs.aggregate;
    }
    if !needs.is_empty() {
        text.push_str("#\n");
        comment(
            &mut text,
            "",
            "The rules watch what a module of the plugin `pcq` exports with these countersets:",
        );
        for need in needs.values() {
            comment(&mut text, "  ", &format!("- {}", need.setting()));
        }
        comment(
            &mut text,
            "",
            "What a configuration lacks of that: `perfmon-tool compat --config FILE RULES`.",
        );
    }
    let groups: Vec<&Group> = translated.sets.iter().flat_map(|set| &set.groups).collect();
    if groups.is_empty() {
        text.push_str("groups: []\n");
        return text;
    }
    text.push_str("groups:\n");
    for group in groups {
        text.push_str(&format!("  - name: {}\n", quoted(&group.name)));
        text.push_str(&format!("    interval: {}s\n    rules:\n", group.interval_s));
        group.rules.iter().for_each(|rule| write_rule(&mut text, rule));
    }
    text
}

impl Need {
    /// The counterset as the settings of `pcq` have it.
    fn setting(&self) -> String {
        let totals = if self.totals { ", totals: keep" } else { "" };
        let aggregate = if self.aggregate { ", aggregate: true" } else { "" };
        format!("{{name: {}{totals}{aggregate}}}", quoted(&self.counterset))
    }
}

fn write_rule(text: &mut String, rule: &Rule) {
    for note in &rule.notes {
        text.push_str(&format!("      # {}\n", one_line(note)));
    }
    text.push_str(&format!("      - alert: {}\n", quoted(&rule.alert)));
    text.push_str(&format!("        expr: {}\n        labels:\n", quoted(&rule.expr)));
    for (label, value) in &rule.labels {
        text.push_str(&format!("          {label}: {}\n", quoted(value)));
    }
    text.push_str(&format!("        annotations:\n          summary: {}\n", quoted(&rule.summary)));
}

fn comment(text: &mut String, indent: &str, line: &str) {
    text.push_str(&format!("# {indent}{}\n", one_line(line)));
}

// Groups of rules, and what is said about what of a set is no rule.

#[derive(Debug, Default)]
struct Translated {
    sets: Vec<TranslatedSet>,
}

#[derive(Debug)]
struct TranslatedSet {
    name: String,
    file: String,
    /// One for each interval.
    groups: Vec<Group>,
    remarks: Vec<Remark>,
}

/// Rules that are evaluated together.
#[derive(Debug)]
struct Group {
    name: String,
    interval_s: u64,
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    alert: String,
    needs: Need,
    expr: String,
    labels: Vec<(&'static str, String)>,
    summary: String,
    notes: Vec<String>,
}

/// What the exporter has to collect for a rule.
#[derive(Clone, Debug)]
struct Need {
    counterset: String,
    /// Whether with its totals.
    totals: bool,
    /// Whether with what its instances are added up to.
    aggregate: bool,
}

/// Something that a rule does not say.
#[derive(Debug)]
struct Remark {
    file: String,
    position: Position,
    /// Whether a threshold has no rule.
    is_left_out: bool,
    text: String,
}

impl Remark {
    /// With the file, for the standard error.
    fn with_file(&self) -> String {
        format!("{}{}: {}", at(&self.file, self.position), self.kind(), one_line(&self.text))
    }

    /// Without, for a comment below the file's name.
    fn without_file(&self) -> String {
        format!("{}: {}: {}", self.position, self.kind(), self.text)
    }

    const fn kind(&self) -> &'static str {
        if self.is_left_out { "left out" } else { "note" }
    }
}

impl Translated {
    /// Whether every threshold has a rule, and there is one.
    fn is_complete(&self) -> bool {
        let mut remarks = self.sets.iter().flat_map(|set| &set.remarks);
        !remarks.any(|remark| remark.is_left_out) && self.sets.iter().any(|set| !set.groups.is_empty())
    }
}

#[cfg(test)]
mod tests;
