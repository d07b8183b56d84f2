use std::path::Path;
use std::time::SystemTime;

use config::libraries::Checked;
use config::{Config, Problem, Report};
use http_server::Gate;
use plugin_host::{Host, HostOptions};
use support::telemetry::output::Shown;
use support::{errln, outln};

use super::{FAILED, OK, secrets};

pub(super) fn check_config(file: &Path, web_file: Option<&Path>) -> u8 {
    match check(file, web_file) {
        Ok((checked, gate)) => {
            print_good(file, &checked, &gate);
            OK
        }
        Err(report) => {
            errln!("{report}");
            FAILED
        }
    }
}

fn check(file: &Path, web_file: Option<&Path>) -> Result<(Checked, Gate), Report> {
    let config = config::load(file)?;
    let gate = gate(&config, web_file)?;
    let checked = config::libraries::check(file, config, &Host::new(HostOptions::default()))?;
    secrets(file, &checked.config)?;
    Ok((checked, gate))
}

/// Whether every password file holds a password.
pub(super) fn secrets(file: &Path, config: &Config) -> Result<(), Report> {
    let problems = secrets::problems(config);
    if problems.is_empty() { Ok(()) } else { Err(Report::new(&file.display().to_string(), problems)) }
}

/// The access rules of the web file that the command line or the configuration names.
pub(super) fn gate(config: &Config, web_file: Option<&Path>) -> Result<Gate, Report> {
    Gate::open(web_file.or(config.web.config_file.as_deref()), SystemTime::now())
}

/// What is said of a file in which nothing is wrong.
pub(super) fn print_good(file: &Path, Checked { config, suspicious, shared, .. }: &Checked, gate: &Gate) {
    let of_gate = gate.warnings(SystemTime::now());
    if let Some(path) = gate.path() {
        of_gate.iter().for_each(|warning| outln!("{}: warning: {warning}", path.display()));
    }
    let file_shown = file.display().to_string();
    let suspicious: Vec<_> = suspicious.iter().map(|problem| (file_shown.clone(), problem.clone())).collect();
    print_warnings(file, &suspicious);
    let of_storage =
        super::storage_suspicions(config).into_iter().map(|problem| (file_shown.clone(), problem));
    print_warnings(file, &of_storage.collect::<Vec<_>>());
    let shared: Vec<_> = shared.iter().map(|shared| shared.warning(&file_shown)).collect();
    print_warnings(file, &shared);
    warnings(config).iter().for_each(|warning| outln!("{}: warning: {warning}", file.display()));
    outln!("{}: OK: {}", file.display(), summary(config));
}

/// Warnings of one kind, each with its file.
fn print_warnings(of: &Path, warnings: &[(String, Problem)]) {
    for (file, problem) in warnings.iter().take(WARNINGS_SHOWN_MAX) {
        outln!("{file}{}: warning: {problem}", place(problem));
    }
    if let Some(more @ 1..) = warnings.len().checked_sub(WARNINGS_SHOWN_MAX) {
        outln!("{}: and {more} more", of.display());
    }
}

fn place(problem: &Problem) -> String {
    problem.position.map_or_else(String::new, |position| format!(":{position}"))
}

/// Maximum warnings of one kind shown. One line counts the others.
const WARNINGS_SHOWN_MAX: usize = 10;

/// What is no mistake of the file, but will be missed.
fn warnings(config: &Config) -> Vec<String> {
    let mut warnings = secrets::warnings(config);
    if !config.identities.is_empty() && config.credentials.state_dir.is_none() {
        warnings.push(
            "credentials.state_dir is not set: after a restart a refused password is tried once more"
                .to_owned(),
        );
    }
    warnings
}

fn summary(config: &Config) -> String {
    let plugins: Vec<&str> = config.plugins.load.iter().map(|plugin| plugin.name.as_str()).collect();
    let plugins =
        if plugins.is_empty() { "no plugins".to_owned() } else { format!("plugins {}", plugins.join(", ")) };
    format!(
        "targets {}, modules {}, identities {}, {plugins}",
        config.targets.len(),
        config.modules.len(),
        config.identities.len()
    )
}

pub(super) fn check_plugin(file: &Path) -> u8 {
    // A bare file name would be looked for where the linker looks, and not here.
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    match plugin_host::check::run(&file, &mut Shown) {
        Ok(report) if report.is_ok() => OK,
        Ok(_) => FAILED,
        Err(error) => {
            errln!("print the findings: {error}");
            FAILED
        }
    }
}
