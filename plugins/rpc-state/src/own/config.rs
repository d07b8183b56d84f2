//! The settings of a module, as the exporter passes them.

use std::path::PathBuf;

use plugin_sdk::Problem;
use serde::Deserialize;

use super::report::ReportLimits;

/// Keys whose values are not secret: all of them.
pub(super) const SHOWN: &[&str] = &["directories", "include_dead", "max_connections", "max_operations"];

/// What is read, and how much is shown of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a mapping such as `max_connections: 256`")]
pub(crate) struct Settings {
    /// The run directories that are read. Empty for the exporter's own.
    pub(super) directories: Vec<PathBuf>,
    /// Whether objects of processes that have ended are shown, too.
    pub(super) include_dead: bool,
    max_connections: u32,
    max_operations: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { directories: Vec::new(), include_dead: false, max_connections: 256, max_operations: 256 }
    }
}

impl Settings {
    /// What is wrong with them.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.directories.len() > DIRECTORIES_MAX {
            let message =
                format!("list at most {DIRECTORIES_MAX} directories, not {}", self.directories.len());
            problems.push(Problem::new("/directories", message));
        }
        for (index, directory) in self.directories.iter().enumerate() {
            let place = format!("/directories/{index}");
            if !directory.is_absolute() {
                let message = format!("write an absolute path, not `{}`", directory.display());
                problems.push(Problem::new(place, message));
            } else if self.directories[..index].contains(directory) {
                problems.push(Problem::new(place, "it is listed above: remove it here"));
            }
        }
        let limits = [("/max_connections", self.max_connections), ("/max_operations", self.max_operations)];
        for (pointer, value) in limits {
            if value > ROWS_MAX {
                problems.push(Problem::new(pointer, format!("write a number up to {ROWS_MAX}, not {value}")));
            }
        }
        problems
    }

    pub(super) fn limits(&self) -> ReportLimits {
        let of = |limit| usize::try_from(limit).unwrap_or(usize::MAX);
        ReportLimits { connections: of(self.max_connections), operations: of(self.max_operations) }
    }
}

/// Limits on limits, so that a slip of the keyboard costs no memory.
const DIRECTORIES_MAX: usize = 32;
const ROWS_MAX: u32 = 16_384;

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
        assert!(settings.directories.is_empty() && !settings.include_dead);
        let ReportLimits { connections, operations } = settings.limits();
        assert_eq!((connections, operations), (256, 256));
    }

    #[test]
    fn a_wrong_setting_is_told_by_its_place() {
        assert_eq!(problems(r#"{"directories": ["/run/a", "/run/b"], "max_operations": 0}"#), [""; 0]);
        assert_eq!(
            problems(r#"{"directories": ["/run/a", "run/b", "/run/a", ""]}"#),
            [
                "/directories/1: write an absolute path, not `run/b`",
                "/directories/2: it is listed above: remove it here",
                "/directories/3: write an absolute path, not ``",
            ]
        );
        let limit = "/max_connections: write a number up to 16384, not 16385";
        assert_eq!(problems(r#"{"max_connections": 16385}"#), [limit]);
        let many: Vec<String> = (0..33).map(|number| format!("\"/run/{number}\"")).collect();
        let many = format!("{{\"directories\": [{}]}}", many.join(","));
        assert_eq!(problems(&many), ["/directories: list at most 32 directories, not 33"]);
        assert_eq!(problems(r#"{"directory": "/run/a"}"#).len(), 1);
    }
}
