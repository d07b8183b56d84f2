//! The series of sets: they are few.

use std::collections::HashMap;

use ms_pla::DataCollectorSetStatus;
use plugin_sdk::{FamilyId, Output};

use super::families::{
    COLLECTORS, NEXT_START, PROBLEMS, SERIAL_NUMBER, SET_ALERTS, SET_INFO, SET_JUDGED, STATUS,
};
use super::{Key, SeriesTable, Take, real};
use crate::actions::Actions;
use crate::alert_table::{Place, WatchedAlert};
use crate::host::HostSet;
use crate::model::{COLLECTOR_KINDS, Origin, ProblemKind, Set};
use crate::sets::ShownSet;

/// The series of all sets.
#[derive(Debug, Default)]
pub(super) struct SetTable {
    table: SeriesTable,
    /// By the name of a set, of this sample. Others are those of sets that are gone.
    counts: HashMap<String, Counts>,
}

/// Numbers of one set that are not in the set.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    alerts: u64,
    of_other_hosts: u64,
    /// Sets of the host with its name that are left out.
    namesakes: u64,
}

impl SetTable {
    pub(super) fn send<'a>(
        &mut self,
        families: &[Option<FamilyId>],
        sets: &[ShownSet<'a>],
        (alerts, actions): (&[WatchedAlert], &Actions),
        output: &mut Output,
    ) {
        self.count(alerts, sets);
        let Self { table, counts } = self;
        let show = |take: Take<'_, 'a>| {
            for set in sets.iter().filter(|set| set.host.is_none_or(|host| host.is_admitted)) {
                let counts = counts.get(&*set.set.name).copied().unwrap_or_default();
                show_set(set, counts, actions, take);
            }
        };
        table.send(families, show, output);
    }

    fn count(&mut self, alerts: &[WatchedAlert], sets: &[ShownSet<'_>]) {
        if self.counts.len() > 2 * sets.len() {
            self.counts.clear();
        }
        self.counts.values_mut().for_each(|counts| *counts = Counts::default());
        for ShownSet { set, host, .. } in sets {
            if !self.counts.contains_key(&*set.name) {
                self.counts.insert(set.name.clone(), Counts::default());
            }
            let is_left_out = host.is_some_and(|host| !host.is_admitted);
            if let Some(counts) = self.counts.get_mut(&*set.name).filter(|_| is_left_out) {
                counts.namesakes += 1;
            }
        }
        for alert in alerts {
            if let Some(counts) = self.counts.get_mut(&*alert.set) {
                counts.alerts += 1;
                counts.of_other_hosts += u64::from(alert.place() == Place::OtherHost);
            }
        }
    }
}

fn show_set<'a>(shown: &ShownSet<'a>, counts: Counts, actions: &Actions, take: Take<'_, 'a>) {
    let ShownSet { set, host, next_start_unix_s, .. } = *shown;
    let own = |family| Key::of(family, &set.name);
    take(own(SET_INFO).with("source", set.origin.as_str()).with("path", path_of(set)), 1.0);
    take(own(SET_ALERTS), real(counts.alerts));
    if counts.alerts > 0 {
        take(own(SET_JUDGED), f64::from(u8::from(actions.is_running(&set.name))));
    }
    for kind in ProblemKind::SHOWN {
        take(own(PROBLEMS).with("kind", kind.as_str()), real(problems(shown, counts, actions, kind)));
    }
    if set.origin != Origin::Configuration {
        for (kind, number) in COLLECTOR_KINDS.iter().zip(set.collectors) {
            take(own(COLLECTORS).with("kind", kind), real(to_u64(number)));
        }
    }
    if let Some(HostSet { status, serial_number, .. }) = host {
        let now = status_word(*status);
        for word in STATUS_WORDS {
            take(own(STATUS).with("status", word), f64::from(u8::from(word == now)));
        }
        if let Some(number) = serial_number {
            take(own(SERIAL_NUMBER), (*number).into());
        }
        if let Some(seconds) = next_start_unix_s {
            take(own(NEXT_START), real(seconds));
        }
    }
}

fn problems(shown: &ShownSet<'_>, counts: Counts, actions: &Actions, kind: ProblemKind) -> u64 {
    let ShownSet { set, has_bad_file, lacks_storage, counters_elsewhere, host, .. } = *shown;
    let problems = || {
        let problems = set.problems.iter().chain(actions.problems(&set.name));
        to_u64(problems.filter(|problem| problem.kind == kind).count())
    };
    match kind {
        ProblemKind::OtherHost => counts.of_other_hosts + to_u64(counters_elsewhere),
        ProblemKind::Name => counts.namesakes,
        ProblemKind::File => u64::from(has_bad_file),
        ProblemKind::Storage => u64::from(lacks_storage) + problems(),
        ProblemKind::Host => u64::from(host.is_some_and(|host| host.problem.is_some())),
        _ => problems(),
    }
}

/// The path of a set's file, or the beginning of a long one.
fn path_of(set: &Set) -> &str {
    let Origin::File(path) = &set.origin else { return "" };
    let path = path.to_str().unwrap_or("(not in UTF-8)");
    path.char_indices().nth(PATH_CHARS_SHOWN).map_or(path, |(end, _)| &path[..end])
}

fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
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
