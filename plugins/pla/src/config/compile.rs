//! The sets of a module, as its settings name them.

use std::collections::HashMap;
use std::time::Duration;

use counter_types::NamePattern;
use plugin_sdk::Problem;

use super::settings::{Refresh, SetSettings};
use super::{Module, SetSource, Settings, actions, pattern, sets, storage};
use crate::host::Wanted;
use crate::model::links;
use crate::model::{ALERTS_MAX, ProblemKind, Set, Start};

/// Reads the settings of a module, and its files.
///
/// # Errors
/// What is wrong with the settings or the files.
pub(crate) fn compile(settings: &Settings) -> Result<Module, Vec<Problem>> {
    let mut compiled = Compiled::default();
    if settings.sets.is_empty() {
        compiled.refuse("/sets", "list at least one set".to_owned());
    } else if settings.sets.len() > SETS_MAX {
        compiled.refuse("/sets", format!("list at most {SETS_MAX} sets, not {}", settings.sets.len()));
    }
    for (index, set) in settings.sets.iter().enumerate().take(SETS_MAX) {
        compiled.add(settings, &format!("/sets/{index}"), set);
    }
    let control = compiled.patterns("/control", &settings.control);
    for (place, message) in actions::check(&settings.tasks).into_iter().chain(storage::check(settings)) {
        compiled.refuse(place, message);
    }
    if compiled.problems.is_empty() {
        compiled.link(settings);
    }
    let Compiled { sets, places, wanted, mut problems, left_out, .. } = compiled;
    if left_out > 0 {
        problems.push(Problem::new("/sets", format!("and {left_out} more: mend those before first")));
    }
    if problems.is_empty() { Ok(Module { sets, places, wanted, control }) } else { Err(problems) }
}

#[derive(Default)]
pub(super) struct Compiled {
    sets: Vec<SetSource>,
    /// Where each of them is.
    places: Vec<String>,
    wanted: Vec<Wanted>,
    problems: Vec<Problem>,
    left_out: usize,
    /// Where each name is.
    names: HashMap<String, String>,
    alerts: usize,
    logs: usize,
}

impl Compiled {
    fn add(&mut self, settings: &Settings, place: &str, set: &SetSettings) {
        if let Some(host) = &set.host {
            return self.add_host(place, set, host);
        }
        if let Err((key, message)) = sets::check(set) {
            return self.refuse(format!("{place}{key}"), message);
        }
        let source = match &set.file {
            Some(path) => sets::of_file(settings, set, path),
            None => {
                let is_optional = set.optional.unwrap_or_default();
                let alerts = set.alerts.as_ref().map(|alerts| self.alerts(place, alerts, is_optional));
                sets::written_here(settings, set, alerts.unwrap_or_default())
            }
        };
        let source = match source {
            Ok(source) => source,
            Err((key, message)) => return self.refuse(format!("{place}{key}"), message),
        };
        let set = source.set();
        self.alerts += set.alerts.len();
        if self.alerts > ALERTS_MAX {
            return self.refuse(place, format!("all sets together have more than {ALERTS_MAX} alerts"));
        }
        self.logs += set.logs.as_ref().map_or(0, |logs| logs.collectors.len());
        if self.logs > LOGS_MAX {
            return self.refuse(place, format!("all sets together have more than {LOGS_MAX} logs"));
        }
        if let Some(earlier) = self.names.insert(set.name.clone(), place.to_owned()) {
            let message = format!("{earlier} is a set `{}`, too: give this one another `name`", set.name);
            return self.refuse(place, message);
        }
        self.sets.push(source);
        self.places.push(place.to_owned());
    }

    fn add_host(&mut self, place: &str, settings: &SetSettings, names: &[String]) {
        let SetSettings { start, duration, category, refresh, .. } = settings;
        if sets::has_own_content(settings) {
            let message = "sets of the host have their names, alerts and counters there: write `host` with `category` and `refresh` \
                           alone";
            return self.refuse(place, message.to_owned());
        }
        if *start == Start::Triggered || duration.is_some() {
            let message = "sets of the host are always judged: write `host` without `start` and `duration`";
            return self.refuse(place, message.to_owned());
        }
        let place = format!("{place}/host");
        if names.is_empty() {
            return self.refuse(place, "name at least one set, such as `'Office*'`".to_owned());
        }
        let names = self.patterns(&place, names);
        let refresh = refresh.map_or(REFRESH, |Refresh(time)| time);
        self.wanted.push(Wanted { names, category: category.unwrap_or_default(), refresh });
    }

    fn patterns(&mut self, place: &str, texts: &[String]) -> Vec<NamePattern> {
        if texts.len() > PATTERNS_MAX {
            self.refuse(place, format!("list at most {PATTERNS_MAX} names, not {}", texts.len()));
        }
        let mut patterns = Vec::new();
        for (index, text) in texts.iter().enumerate().take(PATTERNS_MAX) {
            match pattern(text) {
                Ok(pattern) => patterns.push(pattern),
                Err(reason) => self.refuse(format!("{place}/{index}"), reason),
            }
        }
        patterns
    }

    /// Refuses actions of alerts that are written here and cannot be done. Those of files are shown as problems: a file may
    /// be changed at any time.
    fn link(&mut self, settings: &Settings) {
        let sets: Vec<&Set> = self.sets.iter().map(SetSource::set).collect();
        for problem in super::links_of(settings, &sets).problems {
            let links::LinkProblem { set, alert, kind, message } = problem;
            let key = match (alert, kind) {
                (None, ProblemKind::Task) => "/task".to_owned(),
                // That nothing starts a set may change with a file.
                (None, _) => continue,
                (Some(alert), ProblemKind::Task) => format!("/alerts/{alert}/task"),
                (Some(alert), _) => format!("/alerts/{alert}/start_set"),
            };
            if matches!(self.sets[set], SetSource::Here(_)) {
                self.refuse(format!("{}{key}", self.places[set]), message);
            }
        }
    }

    pub(super) fn refuse(&mut self, place: impl Into<String>, message: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(Problem::new(place, message));
        } else {
            self.left_out += 1;
        }
    }
}

/// Each file is looked at with every collection.
const SETS_MAX: usize = 64;
/// Each has a queue and a file of its own.
const LOGS_MAX: usize = 1_000;
/// Names of sets of the host in one list.
const PATTERNS_MAX: usize = 256;
/// Sets of hosts change rarely.
const REFRESH: Duration = Duration::from_secs(300);
/// What people read at a time.
const PROBLEMS_MAX: usize = 100;
