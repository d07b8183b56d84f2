//! The settings of a module, as the exporter passes them.

use std::time::Duration;

use plugin_sdk::Problem;
use plugin_session::TransportSettings;
use plugin_session::command::parse_duration;
use serde::Deserialize;

use super::{Filter, Ports};

/// Keys whose values are not secret: all of them.
pub(super) const SHOWN: &[&str] = &[
    "annotations",
    "endpoint_timeout",
    "interfaces",
    "max_endpoints",
    "max_entries",
    "max_interfaces",
    "ports",
];

/// How much of a host is read and shown, and which of its ports are asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a mapping such as `max_endpoints: 16`")]
pub(crate) struct Settings {
    /// Entries of the endpoint map at most.
    max_entries: u32,
    /// Registered interfaces that have a series at most.
    max_interfaces: u32,
    /// Ports that are asked at most.
    max_endpoints: u32,
    /// How long each port may take.
    endpoint_timeout: Timeout,
    /// Ports that are asked; all if empty.
    ports: Vec<Ports>,
    /// The same by the UUIDs of interfaces.
    interfaces: Vec<String>,
    /// The same by annotations.
    annotations: Vec<String>,
    /// The target's transport; the exporter fills it in.
    pub(super) transport: TransportSettings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String", expecting = "a time such as `2s`")]
struct Timeout(Duration);

impl TryFrom<String> for Timeout {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        parse_duration(&text).map(Self)
    }
}

/// How much of a host is read and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) entries: u32,
    pub(super) interfaces: usize,
    pub(super) endpoints: usize,
    pub(super) endpoint_time: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_entries: 4096,
            max_interfaces: 512,
            max_endpoints: 16,
            endpoint_timeout: Timeout(Duration::from_secs(2)),
            ports: Vec::new(),
            interfaces: Vec::new(),
            annotations: Vec::new(),
            transport: TransportSettings::default(),
        }
    }
}

impl Settings {
    /// What is wrong with them.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let limits = [
            ("/max_entries", self.max_entries, ENTRIES_MAX),
            ("/max_interfaces", self.max_interfaces, INTERFACES_MAX),
            ("/max_endpoints", self.max_endpoints, ENDPOINTS_MAX),
        ];
        let is_wrong = |value: u32, max: u32| !(1..=max).contains(&value);
        let wrong = limits.into_iter().filter(|(_, value, max)| is_wrong(*value, *max));
        let mut problems: Vec<Problem> = wrong
            .map(|(pointer, value, max)| {
                Problem::new(pointer, format!("write a number from 1 to {max}, not {value}"))
            })
            .collect();
        for (key, patterns) in [("interfaces", &self.interfaces), ("annotations", &self.annotations)] {
            let long = patterns.iter().position(|pattern| pattern.len() > PATTERN_BYTES_MAX);
            problems.extend(long.map(|index| {
                let message = format!("write a pattern of at most {PATTERN_BYTES_MAX} bytes");
                Problem::new(format!("/{key}/{index}"), message)
            }));
        }
        problems
    }

    pub(super) fn limits(&self) -> Limits {
        let size = |limit: u32| usize::try_from(limit).unwrap_or(usize::MAX);
        Limits {
            entries: self.max_entries,
            interfaces: size(self.max_interfaces),
            endpoints: size(self.max_endpoints),
            endpoint_time: self.endpoint_timeout.0,
        }
    }

    pub(super) fn filter(&self) -> Filter {
        let Self { ports, interfaces, annotations, .. } = self;
        Filter { ports: ports.clone(), interfaces: interfaces.clone(), annotations: annotations.clone() }
    }
}

/// More than hosts have: limits on limits, so that a slip of the keyboard costs no memory.
const ENTRIES_MAX: u32 = 65_536;
const INTERFACES_MAX: u32 = 16_384;
/// Each is a connection that is kept.
const ENDPOINTS_MAX: u32 = 256;
const PATTERN_BYTES_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(settings: &str) -> Vec<String> {
        match plugin_sdk::parse_settings::<Settings>(settings) {
            Ok(settings) => {
                settings.problems().into_iter().map(|it| format!("{}: {}", it.pointer, it.message)).collect()
            }
            Err(problem) => vec![format!("{}: {}", problem.pointer, problem.message)],
        }
    }

    #[test]
    fn settings_that_are_wrong_are_told_by_their_place() {
        assert_eq!(problems("{}"), [""; 0]);
        assert_eq!(problems(r#"{"ports": [135, "49152-65535"], "endpoint_timeout": "500ms"}"#), [""; 0]);
        let range = "write a port or a range of ports such as `49152-65535`";
        for wrong in [r#""5-4""#, r#""0-9""#, "0", r#""http""#, r#""1-70000""#] {
            let found = problems(&format!(r#"{{"ports": [135, {wrong}]}}"#));
            assert_eq!(found, [format!("/ports/1: {range}")], "{wrong}");
        }
        let found = problems(r#"{"max_endpoints": 0, "max_entries": 70000}"#);
        let expected = [
            "/max_entries: write a number from 1 to 65536, not 70000",
            "/max_endpoints: write a number from 1 to 256, not 0",
        ];
        assert_eq!(found, expected);
        assert_eq!(problems(r#"{"endpoint_timeout": "0s"}"#).len(), 1);
        let long = "*".repeat(257);
        let found = problems(&format!(r#"{{"annotations": ["*", "{long}"]}}"#));
        assert_eq!(found, ["/annotations/1: write a pattern of at most 256 bytes"]);
    }
}
