//! The settings of a module, as the exporter passes them.

use plugin_sdk::Problem;
use plugin_session::TransportSettings;
use serde::Deserialize;

use crate::dump_policy::Policy;
use crate::poll::Limits;

/// Keys whose values are not secret: all of them.
pub(crate) const SHOWN: &[&str] =
    &["allow", "application_directory", "directories", "dump", "max_applications", "max_components", "mode"];

/// How the host is asked, and how much is shown of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a mapping such as `mode: poll`")]
pub(crate) struct Settings {
    /// How figures come: `poll`.
    mode: String,
    /// Applications at most.
    max_applications: u32,
    /// Components of all applications at most.
    max_components: u32,
    /// Which processes may be dumped, and where to.
    pub(crate) dump: Policy,
    /// The target's transport; the exporter fills it in.
    pub(crate) transport: TransportSettings,
}

impl Default for Settings {
    fn default() -> Self {
        let Limits { applications, components } = Limits::default();
        Self {
            mode: POLL.to_owned(),
            max_applications: applications,
            max_components: components,
            dump: Policy::default(),
            transport: TransportSettings::default(),
        }
    }
}

impl Settings {
    /// What is wrong with them.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.mode != POLL {
            let message = match self.mode.as_str() {
                "events" | "both" => {
                    format!("mode `{}` is not offered: hosts are polled and do not call back", self.mode)
                }
                other => format!("there is no mode `{other}`"),
            };
            problems.push(Problem::new("/mode", message).suggest(POLL));
        }
        problems.extend(self.dump.problems());
        let limits = [
            ("/max_applications", self.max_applications, APPLICATIONS_MAX),
            ("/max_components", self.max_components, COMPONENTS_MAX),
        ];
        for (pointer, value, max) in limits {
            if !(1..=max).contains(&value) {
                problems.push(Problem::new(pointer, format!("write a number from 1 to {max}, not {value}")));
            }
        }
        problems
    }

    pub(crate) const fn limits(&self) -> Limits {
        Limits { applications: self.max_applications, components: self.max_components }
    }
}

const POLL: &str = "poll";
/// More than a host runs: a limit on a limit, so that a slip of the keyboard costs no memory.
const APPLICATIONS_MAX: u32 = 65_536;
const COMPONENTS_MAX: u32 = 1_048_576;

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
        assert_eq!(settings.limits(), Limits { applications: 512, components: 4096 });
    }

    #[test]
    fn a_mode_or_a_limit_that_is_none_is_told_by_its_place() {
        assert_eq!(problems(r#"{"mode": "poll", "max_applications": 3}"#), [""; 0]);
        let refused = "/mode: mode `events` is not offered: hosts are polled and do not call back";
        assert_eq!(problems(r#"{"mode": "events"}"#), [refused]);
        assert_eq!(problems(r#"{"mode": "pull"}"#), ["/mode: there is no mode `pull`"]);
        let limit = "/max_components: write a number from 1 to 1048576, not 0";
        assert_eq!(problems(r#"{"max_components": 0}"#), [limit]);
        assert_eq!(problems(r#"{"max_component": 1}"#).len(), 1);
    }
}
