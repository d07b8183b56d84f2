//! The series of sets that log counters here.

use counter_log::SinkErrorKind;
use counter_log::data_manager::Limit;
use jiff::Timestamp;
use pla_engine::RunState;
use plugin_sdk::{FamilyId, Output};

use super::{Key, SeriesTable, Take, log_families as families, real};
use crate::runs::{ActiveCollector, Run};

/// The series of all sets that log.
#[derive(Debug, Default)]
pub(super) struct LogTable {
    /// Empty before the first set that logs; `None` for those that the exporter dropped.
    families: Vec<Option<FamilyId>>,
    table: SeriesTable,
}

impl LogTable {
    /// The families that were accepted.
    pub(super) fn families(&self) -> impl Iterator<Item = FamilyId> {
        self.families.iter().copied().flatten()
    }

    /// Sends what is known of all sets.
    pub(super) fn send<'a>(&mut self, runs: &'a [Run], output: &mut Output) {
        if self.families.is_empty() {
            if runs.is_empty() {
                return;
            }
            self.families = output.register_families(families::FAMILIES);
        }
        let show = |take: Take<'_, 'a>| {
            for run in runs {
                show_run(run, take);
                run.collectors().iter().for_each(|active| show_log(&run.name, active, take));
            }
        };
        self.table.send(&self.families, show, output);
    }
}

fn show_run<'a>(run: &'a Run, take: Take<'_, 'a>) {
    let own = |family| Key::of(family, &run.name);
    let with = |family, name, value| own(family).with(name, value);
    if let Some(state_machine) = run.state_machine() {
        for state in RunState::ALL {
            let is_it = f64::from(u8::from(state == state_machine.state()));
            take(with(families::STATUS, "status", state.as_str()), is_it);
        }
        if let Some(number) = state_machine.serial_number() {
            take(own(families::SERIAL_NUMBER), number.into());
        }
        if let Some(start) = state_machine.next_start() {
            take(own(families::NEXT_START), seconds(start));
        }
    }
    let (counts, compiled) = (run.counts(), &run.compiled);
    take(own(families::STARTS), real(counts.runs));
    take(own(families::MISSED), real(counts.missed_starts));
    take(with(families::RUN_FAILURES, "kind", "start"), real(counts.failed_starts));
    take(with(families::RUN_FAILURES, "kind", "data_manager"), real(compiled.failures));
    for limit in Limit::ALL {
        let removed = compiled.removed.iter().find(|(by, _)| *by == limit.as_str());
        let folders = removed.map_or(0, |(_, folders)| *folders);
        take(with(families::REMOVED, "limit", limit.as_str()), real(folders));
    }
    if let Some(ended) = compiled.ended {
        take(own(families::COMPILED_AT), seconds(ended));
        take(own(families::COMPILE_TIME), compiled.took_s);
    }
}

fn show_log<'a>(set: &'a str, active: &'a ActiveCollector, take: Take<'_, 'a>) {
    let own = |family| Key::of(family, set).with("log", active.name());
    let totals = active.totals();
    take(own(families::RECORDS), real(totals.written));
    take(own(families::BYTES), real(totals.bytes));
    take(own(families::SEGMENTS), real(totals.segments));
    take(own(families::GAPS), real(totals.gaps));
    take(own(families::DROPPED), real(totals.dropped));
    take(own(families::WAITING), real(totals.waiting));
    take(own(families::WAITING_BYTES), real(totals.waiting_bytes));
    take(own(families::FAILING), f64::from(u8::from(active.is_failing())));
    take(own(families::LEFT_OUT), real(active.left_out()));
    for (kind, failures) in SinkErrorKind::ALL.into_iter().zip(totals.failures) {
        take(own(families::LOG_FAILURES).with("kind", kind.as_str()), real(failures));
    }
}

fn seconds(time: Timestamp) -> f64 {
    real(u64::try_from(time.as_second()).unwrap_or_default())
}
