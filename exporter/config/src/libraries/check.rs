use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::target_files::{SharedInstance, TargetFiles, Wanted};
use plugin_host::Host;

use super::Libraries;
use crate::{Config, Problem, Report};

/// A configuration in which nothing is wrong.
pub struct Checked {
    /// With the targets of the target files.
    pub config: Config,
    /// The plugins of its modules.
    pub libraries: Libraries,
    /// What of the file itself will hardly be meant, or is not done.
    pub suspicious: Vec<Problem>,
    /// What of it and of the target files together will hardly be meant.
    pub shared: Vec<SharedInstance>,
}

/// Loads the plugins, asks them what they think of their modules, and reads the target files. The targets of these are
/// among the configuration's then.
pub fn check(file: &Path, mut config: Config, host: &Host) -> Result<Checked, Report> {
    let shown = file.display().to_string();
    let libraries = super::load(host, &config).map_err(|problems| Report::new(&shown, problems))?;
    let of_transports = super::set_schemas(&libraries, &mut config);
    config.logs_on = super::modules_that_log_on(&libraries, &config);
    let of_targets = config.without_identity();
    let of_config = config.targets.len();
    let config = Arc::new(config);
    let (Wanted { targets, shared, .. }, of_files) = match TargetFiles::check(&config, SystemTime::now()) {
        Ok(wanted) => (wanted, Vec::new()),
        Err(reports) => (Wanted { targets: config.targets.clone(), ..Wanted::default() }, reports),
    };
    let config = Config { targets, ..Arc::unwrap_or_clone(config) };
    let (mut problems, of_plugins) = super::validate(&libraries, &config);
    problems.extend(of_transports);
    problems.extend(of_targets);
    let of_file = (!problems.is_empty()).then(|| Report::new(&shown, problems));
    let mut reports = of_file.into_iter().chain(of_files);
    match reports.next() {
        Some(first) => Err(Report { more: reports.collect(), ..first }),
        None => {
            let suspicious = [config.repeated_hosts(of_config), of_plugins].concat();
            Ok(Checked { config, libraries, suspicious, shared })
        }
    }
}
