//! `compat FILE…`: which metrics Grafana dashboards and Prometheus rules read, and whether they are there.
//!
//! | module | job |
//! | --- | --- |
//! | `file`, `dashboards`, `rules` | the expressions of a file |
//! | `promql`, `variables` | the metrics of an expression |
//! | `view` | the metrics that there are |
//! | `verdict` | what becomes of a metric |
//! | `report`, `print` | what is said of it |

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

use config::BUILT_IN_PROFILES;
use input::nearest::suggestion;

use self::report::Report;
use self::view::View;
use super::cli::{CompatFormat, CompatOptions};
use super::{FAILED, OK, USAGE};

/// `compat`: the exit code.
pub(super) fn compat(options: &CompatOptions) -> u8 {
    let naming = options.naming.as_deref().unwrap_or(BUILT_IN_PROFILES[0]);
    let Some(map) = config::built_in_profile(naming, options.bug_compatible) else {
        let hint = suggestion(naming, BUILT_IN_PROFILES.iter().copied()).unwrap_or_default();
        eprintln!("--naming {naming}: there is no such profile; {hint}");
        return USAGE;
    };
    let bugs = if options.bug_compatible { " with `bug_compatible`" } else { "" };
    let judged_by = format!("profile {naming}{bugs}, as if all were collected");
    let views = vec![View::of_profile(&map)];
    let read = options.files.iter().map(|path| (path.display().to_string(), file::read(path)));
    let read: Vec<_> = read.collect();
    let report = Report::new(judged_by, true, views, &read);
    match options.format {
        CompatFormat::Text => print!("{}", print::text(&report)),
        CompatFormat::Json => println!("{:#}", print::json(&report)),
    }
    match () {
        () if report.lacks_file() => USAGE,
        () if report.is_ok() => OK,
        () => FAILED,
    }
}
