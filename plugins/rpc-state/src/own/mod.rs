//! The source `rpc_state`: what processes of this machine keep in cells.
//!
//! | module | job |
//! | --- | --- |
//! | `files` | reads run directories, counts files by what became of them |
//! | `report` | what is made of the cells, within limits |
//! | `families`, `samples` | the families, and a report as their samples |

mod families;
mod files;
mod report;
mod samples;

use std::collections::{BTreeMap, HashSet};
use std::env;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use plugin_sdk::{
    BlockingSource, Collection, Coverage, DeclaredReason, Failure, FamilyKey, Problem, Reason, Selects,
    Setup, Stage, Target,
};
use rpc_cells::{Error, RunDirectory, boot_ms};
use serde::Deserialize;

use self::families::FAMILIES;
use self::files::Reading;
use self::report::{Report, ReportLimits};
use crate::series::SeriesTable;

/// The run directories of one module.
pub(crate) struct RpcStateSource {
    settings: Settings,
    is_on_demand: bool,
    series: SeriesTable,
    known_failed: HashSet<PathBuf>,
    /// Whether was said that there is no default directory.
    is_missing_told: bool,
}

impl BlockingSource for RpcStateSource {
    const NAME: &'static str = "rpc_state";
    const HELP: &'static str = "The state of RPC calls that processes of this machine keep in files";
    const REASONS: &'static [DeclaredReason] = REASONS;
    const SHOWN: &'static [&'static str] = SHOWN;
    type Settings = Settings;

    fn check(settings: &Settings, _: &Target) -> Vec<Problem> {
        settings.problems()
    }

    fn selects(_: &Settings, family: &FamilyKey) -> Selects {
        let is_ours = FAMILIES.iter().any(|own| {
            let own = [own.namespace, own.object, own.item];
            own.iter()
                .zip([&family.namespace, &family.object, &family.item])
                .all(|(a, b)| a.eq_ignore_ascii_case(b))
        });
        if is_ours { Selects::Yes } else { Selects::No(Vec::new()) }
    }

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        let (series, known_failed) = (SeriesTable::new(FAMILIES), HashSet::new());
        let Setup { settings, target, .. } = setup;
        let is_on_demand = target.is_on_demand;
        Ok(Self { settings, is_on_demand, series, known_failed, is_missing_told: false })
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.settings = settings;
    }

    fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        collection.enter(Stage::Plugin);
        let Self { settings, known_failed, is_on_demand, is_missing_told, .. } = self;
        let Settings { directories, include_dead, .. } = &*settings;
        let (is_default, default) = (directories.is_empty(), default_directory());
        let directories = match (is_default, &default) {
            (false, _) => directories.as_slice(),
            (true, Some(default)) => std::slice::from_ref(default),
            (true, None) if *is_on_demand => {
                if !std::mem::replace(is_missing_told, true) {
                    warn_of_missing(&no_default_directory());
                }
                &[]
            }
            (true, None) => return Err(no_default_directory()),
        };
        let (include_dead, settle) = (*include_dead, &|| std::thread::sleep(SETTLE));
        let now_ms = boot_ms();
        let may_be_missing = *is_on_demand;
        let mut reading =
            Reading { directories, is_default, include_dead, may_be_missing, now_ms, known_failed, settle };
        let mut report = Report::new(settings.limits());
        let (files, failure) = reading.read(&mut report, &|| collection.is_cancelled())?;
        self.series.send(&samples::samples(&report, &files), collection.output());
        Ok(match failure {
            // What could be read is there completely.
            Some(failure) => Coverage::Partial { families: self.series.families(), failure: Some(failure) },
            None => Coverage::Full,
        })
    }
}

/// In which a process that has just begun a file writes its head.
const SETTLE: Duration = Duration::from_millis(50);

/// Where the exporter keeps the state of its plugins, of which this is one, unless its configuration says otherwise.
fn default_directory() -> Option<PathBuf> {
    RunDirectory::default_path(|variable| env::var_os(variable))
}

/// How many there are of each status, reason or kind. What is known is counted from 0, so that its series stays.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    fn new(names: impl IntoIterator<Item = &'static str>) -> Self {
        Self(names.into_iter().map(|name| (name, 0)).collect())
    }

    /// Counts an object. A status without a name was written by another version.
    fn add(&mut self, name: Option<&'static str>) {
        self.add_many(name.unwrap_or("OTHER"), 1);
    }

    fn add_many(&mut self, name: &'static str, count: u64) {
        *self.0.entry(name).or_default() += count;
    }

    /// All that was counted.
    fn sum(&self) -> u64 {
        self.0.values().sum()
    }

    /// Each as a label's value, and its number.
    fn rows(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.0.iter().map(|(name, count)| (name.to_ascii_lowercase(), *count))
    }
}

// The settings of a module, as the exporter passes them.

/// Keys whose values are not secret: all of them.
const SHOWN: &[&str] = &["directories", "include_dead", "max_connections", "max_operations"];

/// What is read, and how much is shown of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a mapping such as `max_connections: 256`")]
pub(crate) struct Settings {
    /// The run directories that are read. Empty for the exporter's own.
    directories: Vec<PathBuf>,
    /// Whether objects of processes that have ended are shown, too.
    include_dead: bool,
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
    fn problems(&self) -> Vec<Problem> {
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

    fn limits(&self) -> ReportLimits {
        let of = |limit| usize::try_from(limit).unwrap_or(usize::MAX);
        ReportLimits { connections: of(self.max_connections), operations: of(self.max_operations) }
    }
}

/// Limits on limits, so that a slip of the keyboard costs no memory.
const DIRECTORIES_MAX: usize = 32;
const ROWS_MAX: u32 = 16_384;

// Failures of this source.

/// The reasons that the source declares, each at its index.
const REASONS: &[DeclaredReason] = &[
    DeclaredReason {
        word: "run_directory_missing",
        sentence: "The directory with the state of RPC calls is not there.",
        next_step: "Start the program that keeps its state there; the exporter makes its own directory when it starts. If `rpc_state.directory` of the configuration is set, list the \
                    same directory in `directories` of the module; with `rpc_state.level: none` there is nothing to read.",
    },
    DeclaredReason {
        word: "run_directory_refused",
        sentence: "The directory with the state of RPC calls cannot be read: it is a link, no directory, or another user's.",
        next_step: "List the directory itself in `directories` of the module, and let the exporter's user read it and its files.",
    },
    DeclaredReason {
        word: "state_files_unreadable",
        sentence: "Files with the state of RPC calls cannot be read; the others are shown.",
        next_step: "Remove what is not such a file, and update programs that write another version. The metric \
                    `perfmon_rpc_state_files_failed` counts them by reason.",
    },
];

const MISSING: u32 = 0;
const REFUSED: u32 = 1;
const UNREADABLE: u32 = 2;

/// There is no directory to read by default.
fn no_default_directory() -> Failure {
    let message = "neither RUNTIME_DIRECTORY nor XDG_RUNTIME_DIR is set, so that there is no default directory: list one in \
                   `directories` of the module";
    failure(MISSING, message)
}

/// A directory cannot be read.
fn failure_of_directory(error: &Error, is_default: bool) -> Failure {
    let index = match error {
        Error::Directory { error, .. } if error.kind() == std::io::ErrorKind::NotFound => MISSING,
        _ => REFUSED,
    };
    if is_default {
        // The exporter does not tell its plugins what its configuration says.
        let hint =
            "if `rpc_state.directory` of the configuration is set, list it in `directories` of the module";
        failure(index, format_args!("{error}: {hint}"))
    } else {
        failure(index, error)
    }
}

/// Whether a directory is not there.
fn is_missing(failure: &Failure) -> bool {
    failure.reason == Reason::Declared(MISSING)
}

/// Says what a collection before the first start of that program does not show.
fn warn_of_missing(failure: &Failure) {
    let next_step = REASONS[MISSING as usize].next_step;
    tracing::warn!(
        detail = failure.message,
        next_step,
        "Directory with the state of RPC calls is not there yet"
    );
}

/// Some files cannot be read, this among them.
fn failure_of_files(count: u64, first: &str) -> Failure {
    match count {
        1 => failure(UNREADABLE, first),
        _ => failure(UNREADABLE, format_args!("{count} files, one of them: {first}")),
    }
}

fn failure(index: u32, message: impl Display) -> Failure {
    Failure::new(Stage::Plugin, Reason::Declared(index), message)
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind};
    use std::path::PathBuf;

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

    fn word(failure: &Failure) -> &'static str {
        match failure.reason {
            Reason::Declared(index) => REASONS[index as usize].word,
            Reason::General(reason) => reason.as_str(),
        }
    }

    #[test]
    fn a_directory_that_is_missing_and_one_that_may_not_be_read_have_reasons_of_their_own() {
        let path = || PathBuf::from("/run/x");
        let directory = |kind: ErrorKind| Error::Directory { path: path(), error: io::Error::from(kind) };
        for (error, expected) in [
            (directory(ErrorKind::NotFound), "run_directory_missing"),
            (directory(ErrorKind::PermissionDenied), "run_directory_refused"),
            (Error::Refused { path: path(), reason: "it is a link".to_owned() }, "run_directory_refused"),
        ] {
            let failure = failure_of_directory(&error, false);
            assert_eq!((word(&failure), &failure.message), (expected, &error.to_string()));
            let hint = "if `rpc_state.directory` of the configuration is set";
            assert!(failure_of_directory(&error, true).message.contains(hint));
        }
        assert_eq!(word(&no_default_directory()), "run_directory_missing");
        assert_eq!(word(&failure_of_files(2, "a.cells: cut short")), "state_files_unreadable");
    }
}
