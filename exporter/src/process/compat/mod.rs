//! `compat FILE…`: which metrics Grafana dashboards and Prometheus rules read, and whether they are there.
//!
//! | module | job |
//! | --- | --- |
//! | `file`, `dashboards`, `rules` | the expressions of a file |
//! | `promql`, `variables` | the metrics of an expression |
//! | `view` | the metrics that there are |
//! | `configured` | those of a configuration |
//! | `verdict` | what becomes of a metric |
//! | `report`, `print` | what is said of it |

mod configured;
mod dashboards;
mod file;
mod found;
mod print;
mod promql;
mod report;
mod rules;
mod variables;
mod verdict;
mod view;

use std::path::Path;

use config::BUILT_IN_PROFILES;
use support::input::nearest::suggestion;

use self::report::Report;
use self::view::View;
use super::cli::{CompatFormat, CompatOptions};
use super::output::{errln, outln};
use super::{FAILED, OK, USAGE, output};

/// `compat`: the exit code. `config` stood before the command.
pub(super) fn compat(options: &CompatOptions, config: Option<&Path>) -> u8 {
    let config = options.config.as_deref().or(config.filter(|_| options.naming.is_none()));
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
