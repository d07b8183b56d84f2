//! `naming:`, which metric each family becomes: one word, or a profile file of ours or of the user's.

mod entry;
mod not_obtainable;
mod profile;

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use safe_text::nearest::suggestion;
use series::model::Kind;
use series::pipeline::{NameMap, Others, Profile};
use support::input::file;

pub use self::not_obtainable::{NotObtainable, not_obtainable};

use super::item::Item;
use super::node::Value;

/// What the configuration says of a profile beside its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Options {
    /// `others`. Default: what the profile says.
    others: Option<Others>,
    bug_compatible: bool,
}

/// A profile of ours; nothing where there is none of that name.
fn profile_of_ours(name: &str, options: Options) -> Option<Arc<NameMap>> {
    static KEPT: Mutex<Vec<(&'static str, Options, Arc<NameMap>)>> = Mutex::new(Vec::new());
    let name = BUILT_IN_PROFILES.iter().copied().find(|own| *own == name)?;
    let mut kept = KEPT.lock();
    let known = kept.iter().find(|(own, of, _)| (*own, *of) == (name, options));
    if let Some((_, _, map)) = known {
        return Some(Arc::clone(map));
    }
    // A test reads all of them in all ways.
    let map = Arc::new(profile::parse(name, built_in_text(name)?, options).ok()?);
    kept.push((name, options, Arc::clone(&map)));
    Some(map)
}

/// Reads `naming`. A relative path starts at `base`.
pub(super) fn naming(item: &Item<'_>, base: &Path) -> Option<Profile> {
    if let Value::Text(_) = item.node.value {
        let words = Profile::WORDS;
        let word = item.text()?;
        return match words.iter().find(|(own, _)| *own == word) {
            Some((_, profile)) => Some(profile.clone()),
            None => built_in(item, Options::default()),
        };
    }
    let mut section = item.section(&[])?;
    let (profile, file) = (section.get("profile"), section.get("file"));
    let words = [("drop", Others::Drop), ("native", Others::Native)];
    let others = section.choice("others", &words);
    let bug_compatible = section.flag("bug_compatible").unwrap_or_default();
    section.finish();
    let options = Options { others, bug_compatible };
    match (profile, file) {
        (Some(profile), None) => built_in(&profile, options),
        (None, Some(file)) => from_file(&file, base, options),
        (Some(_), Some(file)) => {
            file.problem("cannot be combined with `profile`", Some("remove one of them".to_owned()));
            None
        }
        (None, None) => {
            item.problem("has neither `profile` nor `file`", Some("name a profile, or a file".to_owned()));
            None
        }
    }
}

/// The metrics of a profile of ours. `None` if there is none of that name.
#[must_use]
pub fn built_in_profile(name: &str, bug_compatible: bool) -> Option<Arc<NameMap>> {
    profile_of_ours(name, Options { others: None, bug_compatible })
}

fn built_in(item: &Item<'_>, options: Options) -> Option<Profile> {
    let name = item.text()?;
    let map = profile_of_ours(name, options);
    if map.is_none() {
        let words = Profile::WORDS.map(|(word, _)| word);
        let hint = suggestion(name, words.into_iter().chain(BUILT_IN_PROFILES.iter().copied()));
        item.problem(format!("`{name}` is not a choice"), hint);
    }
    map.map(Profile::Mapped)
}

/// The profile in a file of the user's. Its mistakes are reported with their places in that file.
fn from_file(item: &Item<'_>, base: &Path, options: Options) -> Option<Profile> {
    let path = item.file(base)?;
    let name = path.display().to_string();
    let text = file::read(&path, PROFILE_BYTES_MAX).map_err(|error| error.to_string());
    let text = text.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned()));
    let text = text.map_err(|problem| item.problem(format!("`{name}`: {problem}"), None)).ok()?;
    match profile::parse(&name, &text, options) {
        Ok(map) => Some(Profile::Mapped(Arc::new(map))),
        Err(report) => {
            let count = report.problems.len();
            let mistakes = if count == 1 { "a mistake".to_owned() } else { format!("{count} mistakes") };
            item.problem(format!("`{name}` has {mistakes}"), None);
            item.problems.push_report(report);
            None
        }
    }
}

/// Maximum bytes of a profile file.
const PROFILE_BYTES_MAX: usize = 4 << 20;

// The profiles that come with the exporter.

/// Their names in the configuration.
pub const BUILT_IN_PROFILES: &[&str] = &[
    "windows_exporter@0.31",
    "windows_exporter@0.30",
    "windows_exporter@0.29",
    "windows_exporter@0.25",
    "otel",
];

/// The text of a profile.
fn built_in_text(name: &str) -> Option<&'static str> {
    Some(match name {
        "windows_exporter@0.31" => include_str!("../../profiles/windows_exporter_0.31.yaml"),
        "windows_exporter@0.30" => include_str!("../../profiles/windows_exporter_0.30.yaml"),
        "windows_exporter@0.29" => include_str!("../../profiles/windows_exporter_0.29.yaml"),
        "windows_exporter@0.25" => include_str!("../../profiles/windows_exporter_0.25.yaml"),
        "otel" => include_str!("../../profiles/opentelemetry.yaml"),
        _ => return None,
    })
}

// `style:`, how a file writes names, and the names that OpenTelemetry's rules for Prometheus make of those of its semantic
// conventions.

/// How names of metrics and labels are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Style {
    /// As they are on a page.
    #[default]
    Prometheus,
    /// As OpenTelemetry has them. A page has what its rules make of them.
    OpenTelemetry,
}

impl Style {
    /// The name of a label on a page.
    fn label(self, name: &str) -> String {
        match self {
            Self::Prometheus => name.to_owned(),
            Self::OpenTelemetry => underscored(name),
        }
    }
}

/// Each unit by UCUM, and the word at the end of names.
const UNITS: &[(&str, &str)] = &[
    ("s", "seconds"),
    ("By", "bytes"),
    ("Hz", "hertz"),
    ("Cel", "celsius"),
    ("W", "watts"),
    ("J", "joules"),
];

/// The word for a unit: empty for annotations such as `{thread}`, and nothing for one that is not known.
fn unit_word(unit: &str, kind: Kind) -> Option<&'static str> {
    if unit.is_empty() || (unit.starts_with('{') && unit.ends_with('}')) {
        return Some("");
    } else if unit == "1" {
        return Some(if kind == Kind::Gauge { "ratio" } else { "" });
    }
    UNITS.iter().find(|(code, _)| *code == unit).map(|(_, word)| *word)
}

/// Whether the semantic conventions have integers as the values of an attribute.
fn is_integer(attribute: &str) -> bool {
    INTEGERS.contains(&attribute)
}

/// Attributes of Windows hosts that are integers in the semantic conventions.
const INTEGERS: &[&str] = &[
    "cpu.logical_number",
    "process.parent_pid",
    "process.pid",
    "process.session_leader.pid",
    "server.port",
    "thread.id",
];

/// `system.cpu.time` in seconds, a counter, is `system_cpu_time_seconds_total`.
fn sample_name(name: &str, unit: &str, kind: Kind) -> String {
    let mut sample = underscored(name);
    if !unit.is_empty() && !sample.ends_with(&format!("_{unit}")) {
        sample = format!("{sample}_{unit}");
    }
    format!("{sample}{}", kind.sample_suffix())
}

/// A name with `_` for what Prometheus did not know before version 3.
fn underscored(name: &str) -> String {
    name.chars().map(|char| if char.is_ascii_alphanumeric() || char == ':' { char } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_of_ours_is_right_in_every_way_to_ask_for_it() {
        for name in BUILT_IN_PROFILES {
            for bug_compatible in [false, true] {
                for others in [None, Some(Others::Native)] {
                    let options = Options { others, bug_compatible };
                    let text = built_in_text(name).unwrap();
                    if let Err(report) = profile::parse(name, text, options) {
                        panic!("{report}");
                    }
                    assert!(profile_of_ours(name, options).is_some());
                }
            }
        }
    }
}
