//! `style:`, how a file writes names, and the names that OpenTelemetry's rules for Prometheus make of those of its semantic
//! conventions.

use series::model::Kind;

/// How names of metrics and labels are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Style {
    /// As they are on a page.
    #[default]
    Prometheus,
    /// As OpenTelemetry has them. A page has what its rules make of them.
    OpenTelemetry,
}

impl Style {
    /// The name of a label on a page.
    pub(super) fn label(self, name: &str) -> String {
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
pub(super) fn unit_word(unit: &str, kind: Kind) -> Option<&'static str> {
    if unit.is_empty() || (unit.starts_with('{') && unit.ends_with('}')) {
        return Some("");
    } else if unit == "1" {
        return Some(if kind == Kind::Gauge { "ratio" } else { "" });
    }
    UNITS.iter().find(|(code, _)| *code == unit).map(|(_, word)| *word)
}

/// Whether the semantic conventions have integers as the values of an attribute.
pub(super) fn is_integer(attribute: &str) -> bool {
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
pub(super) fn sample_name(name: &str, unit: &str, kind: Kind) -> String {
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
