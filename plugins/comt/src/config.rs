//! The settings of a module, as the exporter passes them.

use std::time::Duration;

use plugin_sdk::Problem;
use plugin_session::TransportSettings;
use plugin_session::command::parse_duration;
use serde::Deserialize;

use crate::dump_policy::Policy;
use crate::model::Limits;

/// Keys whose values are not secret: all of them, and all of the plugin as a whole.
pub(crate) const SHOWN: &[&str] = &[
    "advertise",
    "advertise_port",
    "allow",
    "application_directory",
    "directories",
    "dump",
    "events_max_age",
    "listen",
    "log_changes",
    "max_applications",
    "max_components",
    "max_processes",
    "mode",
];

/// How the host is asked, and how much is shown of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a mapping such as `mode: poll`")]
pub(crate) struct Settings {
    /// How figures come: `poll`, `events` or `both`.
    mode: String,
    /// How old an event may be that is shown again.
    events_max_age: Age,
    /// Whether changes of the host are reported as log records.
    pub(crate) log_changes: bool,
    max_applications: u32,
    /// Components of all applications at most.
    max_components: u32,
    max_processes: u32,
    /// Which processes may be dumped, and where to.
    pub(crate) dump: Policy,
    /// The target's transport; the exporter fills it in.
    pub(crate) transport: TransportSettings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// The host is asked at each collection.
    #[default]
    Poll,
    /// The host calls. It is asked where it does not.
    Events,
    /// The host is asked, and events add what only they tell.
    Both,
}

impl Mode {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Poll, POLL), (Self::Events, "events"), (Self::Both, "both")];

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, own)| *own == word).map(|(mode, _)| *mode)
    }
}

/// A time such as `60s`; `0s` is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String", expecting = "a time such as `60s`")]
struct Age(Duration);

impl TryFrom<String> for Age {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        if matches!(text.trim(), "0" | "0s") {
            Ok(Self(Duration::ZERO))
        } else {
            parse_duration(&text).map(Self)
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        let Limits { applications, components, processes } = Limits::default();
        Self {
            mode: POLL.to_owned(),
            events_max_age: Age(EVENTS_MAX_AGE),
            log_changes: false,
            max_applications: applications,
            max_components: components,
            max_processes: processes,
            dump: Policy::default(),
            transport: TransportSettings::default(),
        }
    }
}

impl Settings {
    /// What is wrong with them.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if Mode::parse(&self.mode).is_none() {
            let words = Mode::ALL.map(|(_, word)| format!("`{word}`")).join(", ");
            problems.push(Problem::new("/mode", format!("there is no mode `{}`", self.mode)).suggest(words));
        }
        problems.extend(self.dump.problems());
        let limits = [
            ("/max_applications", self.max_applications, APPLICATIONS_MAX),
            ("/max_components", self.max_components, COMPONENTS_MAX),
            ("/max_processes", self.max_processes, PROCESSES_MAX),
        ];
        for (pointer, value, max) in limits {
            if !(1..=max).contains(&value) {
                problems.push(Problem::new(pointer, format!("write a number from 1 to {max}, not {value}")));
            }
        }
        problems
    }

    pub(crate) const fn limits(&self) -> Limits {
        Limits {
            applications: self.max_applications,
            components: self.max_components,
            processes: self.max_processes,
        }
    }

    pub(crate) fn mode(&self) -> Mode {
        Mode::parse(&self.mode).unwrap_or_default()
    }

    pub(crate) const fn events_max_age(&self) -> Duration {
        self.events_max_age.0
    }
}

const POLL: &str = "poll";
/// Hosts whose applications do something tell it every second or so.
const EVENTS_MAX_AGE: Duration = Duration::from_secs(60);
/// More than a host runs: a limit on a limit, so that a slip of the keyboard costs no memory.
const APPLICATIONS_MAX: u32 = 65_536;
const COMPONENTS_MAX: u32 = 1_048_576;
const PROCESSES_MAX: u32 = 65_536;

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
    fn what_is_not_written_has_defaults() {
        let settings: Settings = plugin_sdk::parse_settings("{}").unwrap();
        assert_eq!(settings.problems(), []);
        assert_eq!(settings.limits(), Limits { applications: 512, components: 4096, processes: 256 });
        assert_eq!((settings.mode(), settings.events_max_age()), (Mode::Poll, Duration::from_secs(60)));
    }

    #[test]
    fn a_mode_or_a_limit_that_is_none_is_told_by_its_place() {
        for mode in ["poll", "events", "both"] {
            assert_eq!(problems(&format!(r#"{{"mode": "{mode}", "max_applications": 3}}"#)), [""; 0]);
        }
        assert_eq!(problems(r#"{"mode": "pull"}"#), ["/mode: there is no mode `pull`"]);
        let limit = "/max_components: write a number from 1 to 1048576, not 0";
        assert_eq!(problems(r#"{"max_components": 0}"#), [limit]);
        assert_eq!(problems(r#"{"max_component": 1}"#).len(), 1);
    }

    #[test]
    fn an_age_is_a_time_or_nothing() {
        let age = |text: &str| {
            let settings = format!(r#"{{"events_max_age": "{text}"}}"#);
            plugin_sdk::parse_settings::<Settings>(&settings).map(|settings| settings.events_max_age())
        };
        assert_eq!(age("0s").unwrap(), Duration::ZERO);
        assert_eq!(age("1m 30s").unwrap(), Duration::from_secs(90));
        for wrong in ["", "soon", "-1s"] {
            assert_eq!(age(wrong).unwrap_err().pointer, "/events_max_age", "{wrong}");
        }
    }
}
