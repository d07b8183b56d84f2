//! The series of sets: they are few.

use std::collections::HashMap;

use ms_pla::DataCollectorSetStatus;
use plugin_sdk::{FamilyId, Output, SeriesId};

use super::families::{
    COLLECTORS, NEXT_START, PROBLEMS, SERIAL_NUMBER, SET_ALERTS, SET_INFO, SET_JUDGED, STATUS,
};
use super::{Labels, register};
use crate::actions::Actions;
use crate::board::{Place, Watched};
use crate::host::HostSet;
use crate::model::{COLLECTOR_KINDS, Origin, ProblemKind};
use crate::sets::ShownSet;

/// The series that are there, by their family and their labels.
#[derive(Debug, Default)]
pub(super) struct SetTable(HashMap<(usize, Labels), Option<SeriesId>>);

impl SetTable {
    pub(super) fn send(
        &mut self,
        families: &[Option<FamilyId>],
        sets: &[ShownSet<'_>],
        (alerts, actions): (&[Watched], &Actions),
        output: &mut Output,
    ) {
        let counts = counts_of(alerts, sets);
        let admitted = sets.iter().filter(|set| set.host.is_none_or(|host| host.is_admitted));
        let samples: HashMap<(usize, Labels), u64> =
            admitted.flat_map(|set| samples(set, &counts[&*set.set.name], actions)).collect();
        let gone = self.0.extract_if(|key, _| !samples.contains_key(key));
        let gone: Vec<SeriesId> = gone.filter_map(|(_, id)| id).collect();
        output.retire(&gone);
        let new: Vec<(usize, Labels)> =
            samples.keys().filter(|key| !self.0.contains_key(*key)).cloned().collect();
        let ids = register(families, new.iter().map(|(family, labels)| (*family, labels)), output);
        self.0.extend(new.into_iter().zip(ids));
        for (key, value) in &samples {
            if let Some(Some(id)) = self.0.get(key) {
                output.push_u64(*id, *value);
            }
        }
    }
}

/// Numbers of one set that are not in the set.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    alerts: usize,
    of_other_hosts: usize,
    /// Sets of the host with its name that are left out.
    namesakes: usize,
}

fn counts_of<'a>(alerts: &[Watched], sets: &[ShownSet<'a>]) -> HashMap<&'a str, Counts> {
    let mut counts: HashMap<&str, Counts> =
        sets.iter().map(|set| (&*set.set.name, Counts::default())).collect();
    for alert in alerts {
        if let Some(counts) = counts.get_mut(&*alert.set) {
            counts.alerts += 1;
            counts.of_other_hosts += usize::from(alert.place() == Place::OtherHost);
        }
    }
    for set in sets.iter().filter(|set| set.host.is_some_and(|host| !host.is_admitted)) {
        counts.entry(&set.set.name).or_default().namesakes += 1;
    }
    counts
}

fn samples(shown: &ShownSet<'_>, counts: &Counts, actions: &Actions) -> Vec<((usize, Labels), u64)> {
    let ShownSet { set, has_bad_file, lacks_storage, counters_elsewhere, host, next_start_unix_s } = *shown;
    let own = || vec![("set", set.name.clone())];
    let with = |label: &'static str, value: &str| -> Labels {
        own().into_iter().chain([(label, value.to_owned())]).collect()
    };
    let path = match &set.origin {
        Origin::Configuration | Origin::Host => String::new(),
        Origin::File(path) => path.display().to_string().chars().take(PATH_CHARS_SHOWN).collect(),
    };
    let info = vec![("source", set.origin.as_str().to_owned()), ("path", path)];
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let mut samples = vec![
        ((SET_INFO, own().into_iter().chain(info).collect()), 1),
        ((SET_ALERTS, own()), count(counts.alerts)),
    ];
    if counts.alerts > 0 {
        samples.push(((SET_JUDGED, own()), u64::from(actions.is_running(&set.name))));
    }
    let problems = |kind| {
        let problems = set.problems.iter().chain(actions.problems(&set.name));
        problems.filter(|problem| problem.kind == kind).count()
    };
    for kind in ProblemKind::SHOWN {
        let number = match kind {
            ProblemKind::OtherHost => counts.of_other_hosts + counters_elsewhere,
            ProblemKind::Name => counts.namesakes,
            ProblemKind::File => usize::from(has_bad_file),
            ProblemKind::Storage => usize::from(lacks_storage) + problems(kind),
            ProblemKind::Host => usize::from(host.is_some_and(|host| host.problem.is_some())),
            kind => problems(kind),
        };
        samples.push(((PROBLEMS, with("kind", kind.as_str())), count(number)));
    }
    if set.origin != Origin::Configuration {
        let kinds = COLLECTOR_KINDS.iter().zip(set.collectors);
        samples.extend(kinds.map(|(kind, number)| ((COLLECTORS, with("kind", kind)), count(number))));
    }
    if let Some(HostSet { status, serial_number, .. }) = host {
        let now = status_word(*status);
        samples.extend(STATUS_WORDS.map(|word| ((STATUS, with("status", word)), u64::from(word == now))));
        samples.extend(serial_number.map(|number| ((SERIAL_NUMBER, own()), number.into())));
        samples.extend(next_start_unix_s.map(|seconds| ((NEXT_START, own()), seconds)));
    }
    samples
}

/// A status as metrics and people call it.
pub(crate) const fn status_word(status: DataCollectorSetStatus) -> &'static str {
    let [stopped, running, compiling, queued, unknown] = STATUS_WORDS;
    match status {
        DataCollectorSetStatus::STOPPED => stopped,
        DataCollectorSetStatus::RUNNING => running,
        DataCollectorSetStatus::COMPILING => compiling,
        DataCollectorSetStatus::PENDING => queued,
        _ => unknown,
    }
}

const STATUS_WORDS: [&str; 5] = ["stopped", "running", "compiling", "queued", "unknown"];
/// Of a file's path.
const PATH_CHARS_SHOWN: usize = 250;
