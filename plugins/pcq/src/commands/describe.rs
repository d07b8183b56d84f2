//! The results, as a module, as a table, and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::ValueEnum;
use counter_poll::Provider;
use counter_poll::registration::Counter;
use counter_poll::survey::Counterset;
use counter_types::{Selection, same_name};
use counters::pcq::types::{CounterId, InstanceType};
use counters::pcq::wire::InstanceInfo;
use safe_text::one_line;
use serde_json::{Value, json};

use super::table::{cut, wrapped};
use crate::config::DetailSettings;

/// A counterset with its current instances.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) counterset: Counterset,
    pub(super) instances: Vec<InstanceInfo>,
    /// The names of the metrics of each counter, if the exporter provides them.
    pub(super) metrics: BTreeMap<CounterId, Vec<String>>,
}

/// All results of a host.
#[derive(Debug)]
pub(super) struct Findings {
    pub(super) host: String,
    /// Name and version as the host reports them, and the time of the query.
    pub(super) about: String,
    pub(super) found: Vec<Found>,
    /// Countersets that the host did not describe, with the reasons.
    pub(super) refused: Vec<String>,
    /// Counters above this level are excluded.
    pub(super) detail: Option<DetailSettings>,
}

impl Found {
    fn has_totals(&self) -> bool {
        let is_total = |instance: &InstanceInfo| Selection::is_total(&instance.name);
        self.instances.iter().any(is_total) && !self.instances.iter().all(is_total)
    }

    /// `5 instances: 0,0 0,1 …`
    fn instances(&self) -> String {
        if self.counterset.instance_type == InstanceType::SINGLE {
            return "no instances".to_owned();
        }
        let count = self.instances.len();
        let names: Vec<String> =
            self.instances.iter().take(INSTANCES_SHOWN_MAX).map(|instance| plain(&instance.name)).collect();
        let more =
            if count > names.len() { format!(" and {} more", count - names.len()) } else { String::new() };
        match count {
            0 => "no instances now".to_owned(),
            1 => format!("1 instance: {}", names.join(" | ")),
            _ => format!("{count} instances: {}{more}", names.join(" | ")),
        }
    }

    fn counters(&self, detail: Option<DetailSettings>) -> impl Iterator<Item = &Counter> {
        self.counterset.counters.iter().filter(move |counter| {
            !self.counterset.is_helper(counter)
                && detail.is_none_or(|highest| counter.info.detail_level.0 <= highest.level().0)
        })
    }

    /// `(Prozessorinformationen)`: the name in the requested language.
    fn local(name: &str, local: Option<&String>) -> String {
        match local {
            Some(local) if local != name => format!(" ({})", plain(local)),
            _ => String::new(),
        }
    }
}

impl Findings {
    /// A configuration with one module that selects all of it.
    pub(super) fn yaml(&self) -> String {
        let mut text = format!("# What {} offers{}.\n", plain(&self.host), self.about);
        text += "# Copy the module into the configuration, name it, and delete what is not wanted.\n";
        for refused in &self.refused {
            let _ = writeln!(text, "# Left out: {}", plain(refused));
        }
        text += "plugins: {load: [pcq]}\nmodules:\n  discovered:\n    plugin: pcq\n";
        if let Some(word) = self.detail.as_ref().and_then(ValueEnum::to_possible_value) {
            let _ = writeln!(text, "    detail: {}", word.get_name());
        }
        text += "    countersets:\n";
        for found in &self.found {
            self.yaml_counterset(&mut text, found);
        }
        text
    }

    fn yaml_counterset(&self, text: &mut String, found: &Found) {
        let Counterset { name, local_name, help, provider, .. } = &found.counterset;
        text.push('\n');
        let comment = |text: &mut String, line: &str| {
            let _ = writeln!(text, "      # {line}");
        };
        for line in wrapped(&first_sentence(help), COMMENT_CHARS).iter().filter(|line| !line.is_empty()) {
            comment(text, line);
        }
        let twins =
            self.found.iter().filter(|other| same_name(&other.counterset.name.text, &name.text)).count();
        let title = format!("{}{}", plain(&name.text), Found::local(&name.text, local_name.as_ref()));
        if name.is_english && twins == 1 {
            if title != name.text {
                comment(text, &title);
            }
            let _ = writeln!(text, "      - name: {}", quoted(&name.text));
        } else {
            // Names that several countersets share, or that are not English, cannot be used.
            comment(text, &title);
            match provider {
                Provider::V2(guid) => {
                    let _ = writeln!(text, "      - guid: {guid}");
                }
                Provider::V1(index) => comment(text, &format!("left out: classic object {index}")),
            }
        }
        if found.has_totals() {
            text.push_str("        totals: drop\n");
        }
        let comment = |text: &mut String, line: &str| {
            let _ = writeln!(text, "        # {}", line.trim_end());
        };
        comment(text, &found.instances());
        for row in rows(found, self.detail, ROW_CHARS) {
            comment(text, &row);
        }
    }

    /// For a terminal of `width` columns.
    pub(super) fn table(&self, width: usize) -> String {
        let mut text = format!("{}{}\n", plain(&self.host), self.about);
        for found in &self.found {
            let Counterset { name, local_name, provider, help, .. } = &found.counterset;
            let local = Found::local(&name.text, local_name.as_ref());
            let known_by = match provider {
                Provider::V2(guid) => guid.to_string(),
                Provider::V1(index) => format!("classic object {index}"),
            };
            let _ = writeln!(text, "\n{}{local}  {known_by}", plain(&name.text));
            let help = first_sentence(help);
            if !help.is_empty() {
                wrapped(&help, width.saturating_sub(2)).iter().for_each(|line| {
                    let _ = writeln!(text, "  {line}");
                });
            }
            let _ = writeln!(text, "  {}", cut(&found.instances(), width.saturating_sub(2)));
            let rows = rows(found, self.detail, width.saturating_sub(4));
            for (row, counter) in rows.iter().zip(found.counters(self.detail)) {
                let _ = writeln!(text, "    {}", row.trim_end());
                for metric in found.metrics.get(&counter.info.counter_id).into_iter().flatten() {
                    let _ = writeln!(text, "      {metric}");
                }
            }
        }
        for refused in &self.refused {
            let _ = writeln!(text, "\nleft out: {}", plain(refused));
        }
        text
    }

    /// For programs: everything, bases and all instances too.
    pub(super) fn json(&self) -> String {
        let countersets: Vec<Value> = self.found.iter().map(counterset_json).collect();
        let all = json!({"host": self.host, "countersets": countersets, "left_out": self.refused});
        format!("{all:#}\n")
    }
}

fn counterset_json(found: &Found) -> Value {
    let Counterset { provider, name, local_name, help, instance_type, counters } = &found.counterset;
    let instances: Vec<Value> = found
        .instances
        .iter()
        .map(|instance| json!({"name": instance.name, "id": instance.instance_id.0}))
        .collect();
    let counters: Vec<Value> = counters.iter().map(|counter| counter_json(found, counter)).collect();
    let (kind, guid, object) = match provider {
        Provider::V2(guid) => ("v2", Some(guid.to_string()), None),
        Provider::V1(index) => ("v1", None, Some(index)),
    };
    json!({
        "name": name.text, "local_name": local_name, "provider": kind, "guid": guid, "object": object, "help": help,
        "instance_type": instance_type.to_string(), "instances": instances, "counters": counters,
    })
}

fn counter_json(Found { counterset, metrics, .. }: &Found, counter: &Counter) -> Value {
    let info = &counter.info;
    let metrics = metrics.get(&info.counter_id).cloned().unwrap_or_default();
    let needs = counter_types::properties(info.counter_type).map(|row| row.needs).unwrap_or_default();
    let base = match (needs.multi, needs.base) {
        (true, _) => info.multi_id,
        (false, true) => info.base_counter_id,
        (false, false) => CounterId::NONE,
    };
    json!({
        "id": info.counter_id.0, "name": counter.name, "local_name": counter.local_name, "help": counter.help,
        "type": info.counter_type.to_string(), "detail": info.detail_level.to_string(),
        "default_scale": info.default_scale, "is_helper": counterset.is_helper(counter),
        "base_id": (base != CounterId::NONE).then_some(base.0), "aggregate": info.aggregate_func.to_string(),
        "metrics": metrics,
    })
}

/// Name, type and explain text of each counter, in columns.
fn rows(found: &Found, detail: Option<DetailSettings>, width: usize) -> Vec<String> {
    let names: Vec<(String, String, String)> = found
        .counters(detail)
        .map(|counter| {
            let name = plain(&counter.name) + &Found::local(&counter.name, counter.local_name.as_ref());
            let kind = counter.info.counter_type.to_string();
            (name, kind, first_sentence(&counter.help))
        })
        .collect();
    let longest = |of: fn(&(String, String, String)) -> &String| {
        names.iter().map(of).map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let (name_width, kind_width) = (longest(|row| &row.0).min(NAME_CHARS_MAX), longest(|row| &row.1));
    let room = width.saturating_sub(name_width + kind_width + 4);
    let shown = names.iter().map(|(name, kind, help)| {
        let help = if room < HELP_CHARS_MIN { String::new() } else { cut(help, room) };
        format!("{name:name_width$}  {kind:kind_width$}  {help}")
    });
    shown.collect()
}

/// The beginning of an explain text, up to the first full stop before a space.
fn first_sentence(help: &str) -> String {
    let help = plain(help);
    let mut ends = help.match_indices(". ").map(|(at, _)| at + 1);
    // `e.g. ` and the like do not end a sentence.
    let end = ends.find(|end| help[..*end].rsplit(' ').next().is_some_and(|word| word.chars().count() > 4));
    help[..end.unwrap_or(help.len())].trim().to_owned()
}

/// One line without control characters, because texts come from a host.
fn plain(text: &str) -> String {
    let is_bad = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || is_bad(c)).filter(|word| !word.is_empty()).collect();
    one_line(&words.join(" "))
}

/// A YAML scalar for any text.
fn quoted(text: &str) -> String {
    let is_harmless = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '.' | '/' | '(' | ')');
    let begins_well = text.starts_with(|c: char| c.is_alphabetic()) && !text.ends_with(' ');
    let is_word = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word));
    if begins_well && !is_word && text.chars().all(is_harmless) {
        text.to_owned()
    } else if text.chars().any(char::is_control) {
        // JSON strings are valid YAML scalars.
        Value::from(text).to_string()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

const INSTANCES_SHOWN_MAX: usize = 8;
const COMMENT_CHARS: usize = 110;
/// Rows of counters may exceed the screen, so that no text is hidden.
const ROW_CHARS: usize = 220;
const NAME_CHARS_MAX: usize = 48;
const HELP_CHARS_MIN: usize = 20;
