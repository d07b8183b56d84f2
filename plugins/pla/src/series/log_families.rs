//! The families of sets that log counters here.

use plugin_sdk::{Display, DisplayRule, FamilyDef, Kind, ValueKind};

use super::families::NAMESPACE;

/// Their objects. The exporter's page of logs knows them by these names.
pub(super) const OBJECTS: [&str; 2] = [RUN, LOG];
const RUN: &str = "Run";
const LOG: &str = "Log";

const OF_RUN: FamilyDef<'static> = FamilyDef { value: ValueKind::F64, ..FamilyDef::gauge(NAMESPACE, RUN) };

const COUNTED_OF_RUN: FamilyDef<'static> =
    FamilyDef { kind: Kind::Counter, display: Display::by(DisplayRule::Rate), ..OF_RUN };

const OF_LOG: FamilyDef<'static> = FamilyDef { object: LOG, ..OF_RUN };

const COUNTED_OF_LOG: FamilyDef<'static> = FamilyDef { object: LOG, ..COUNTED_OF_RUN };

pub(super) static FAMILIES: &[FamilyDef<'static>] = &[
    // By `set` and `status`.
    FamilyDef {
        item: "Status",
        help: "1 for what the data collector set does here, 0 for the others: stopped, queued (its next run waits for the data \
               manager), running, compiling (the data manager works on its last run).",
        origin: "Status",
        ..OF_RUN
    },
    // By `set`.
    FamilyDef {
        item: "Serial Number",
        help: "The number of the data collector set's newest segment: it grows with each run and each segment here.",
        origin: "SerialNumber",
        ..OF_RUN
    },
    FamilyDef {
        item: "Next Start Timestamp",
        unit: "seconds",
        help: "When the data collector set starts next here by its schedules.",
        origin: "Schedules",
        ..OF_RUN
    },
    FamilyDef {
        item: "Starts",
        help: "Starts of the data collector set here since the exporter watches it, also those that resumed a run, and those that \
               the limits of the data manager did not permit then: see perfmon_pla_run_failures_total.",
        ..COUNTED_OF_RUN
    },
    FamilyDef {
        item: "Missed Starts",
        help: "Starts of the data collector set by schedules that were not made up for: the exporter did not run at that time, or \
               another start came at once.",
        ..COUNTED_OF_RUN
    },
    // By `set` and `kind`.
    FamilyDef {
        item: "Failures",
        help: "What went wrong with runs of the data collector set, by kind: a start that the limits of the data manager did not \
               permit, or for which no serial number was left (start), a step of the data manager (data_manager). The \
               exporter's log has the reasons.",
        ..COUNTED_OF_RUN
    },
    // By `set` and `limit`.
    FamilyDef {
        item: "Removed Folders",
        help: "Folders of runs of the data collector set that its data manager removed, by the limit that did not hold.",
        ..COUNTED_OF_RUN
    },
    // By `set`.
    FamilyDef {
        item: "Last Compile Timestamp",
        unit: "seconds",
        help: "When the data manager of the set last ended its work, by the exporter's clock.",
        ..OF_RUN
    },
    FamilyDef {
        item: "Last Compile Duration",
        unit: "seconds",
        help: "How long the data manager of the set worked when it last ran: reports, folder actions and limits.",
        ..OF_RUN
    },
    // By `set` and `log`.
    FamilyDef {
        item: "Records",
        help: "Records that were written into the log: each has all counters of the log at one time. They survive an end of the \
               exporter.",
        ..COUNTED_OF_LOG
    },
    FamilyDef {
        item: "Bytes",
        unit: "bytes",
        help: "Bytes that written records took in the files of the log or in its database, as far as the exporter knows.",
        ..COUNTED_OF_LOG
    },
    FamilyDef {
        item: "Segments",
        help: "Segments of the log that were begun, each in files or in a database.",
        ..COUNTED_OF_LOG
    },
    FamilyDef {
        item: "Gaps",
        help: "Times without records in the log: these were dropped, or the host gave no values for two intervals.",
        ..COUNTED_OF_LOG
    },
    FamilyDef {
        item: "Dropped Records",
        help: "Records that were dropped and are not in the log, because the disk or the database did not take them for too long.",
        ..COUNTED_OF_LOG
    },
    FamilyDef {
        item: "Waiting",
        help: "Records of earlier samples that still waited to be written when the exporter began to collect. They are in memory \
               only. 0 if the disk or the database keeps up.",
        ..OF_LOG
    },
    FamilyDef {
        item: "Waiting Memory",
        unit: "bytes",
        help: "Memory that records of earlier samples took which still waited to be written when the exporter began to collect. Of all \
               targets together it is at most plugins.settings.pla.log_memory.",
        ..OF_LOG
    },
    FamilyDef {
        item: "Failing",
        help: "1 while records cannot be written into the log and wait in memory, or are lost; else 0. The exporter's log has the reason.",
        ..OF_LOG
    },
    FamilyDef {
        item: "Left Out Instances",
        help: "Instances that the host has now and the log has not, or not with all of their counters: they came after the log had \
               begun, and are in the next segment, or they are above the limit of 20,000 columns. Each is counted once.",
        ..OF_LOG
    },
    // By `set`, `log` and `kind`.
    FamilyDef {
        item: "Failures",
        help: "Writes into the log that failed, by kind: full (the disk), denied (a file or folder may not be written), unavailable (the \
               folder or the server is not there), refused (the data), other. Each is tried again; nothing is lost before \
               records are dropped.",
        ..COUNTED_OF_LOG
    },
];

/// The indexes of the families.
pub(super) const STATUS: usize = 0;
pub(super) const SERIAL_NUMBER: usize = 1;
pub(super) const NEXT_START: usize = 2;
pub(super) const STARTS: usize = 3;
pub(super) const MISSED: usize = 4;
pub(super) const RUN_FAILURES: usize = 5;
pub(super) const REMOVED: usize = 6;
pub(super) const COMPILED_AT: usize = 7;
pub(super) const COMPILE_TIME: usize = 8;
pub(super) const RECORDS: usize = 9;
pub(super) const BYTES: usize = 10;
pub(super) const SEGMENTS: usize = 11;
pub(super) const GAPS: usize = 12;
pub(super) const DROPPED: usize = 13;
pub(super) const WAITING: usize = 14;
pub(super) const WAITING_BYTES: usize = 15;
pub(super) const FAILING: usize = 16;
pub(super) const LEFT_OUT: usize = 17;
pub(super) const LOG_FAILURES: usize = 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_the_place_of_its_family() {
        let items: Vec<(&str, &str)> = FAMILIES.iter().map(|family| (family.object, family.item)).collect();
        let of_runs = [
            STATUS,
            SERIAL_NUMBER,
            NEXT_START,
            STARTS,
            MISSED,
            RUN_FAILURES,
            REMOVED,
            COMPILED_AT,
            COMPILE_TIME,
        ];
        let expected = [
            "Status",
            "Serial Number",
            "Next Start Timestamp",
            "Starts",
            "Missed Starts",
            "Failures",
            "Removed Folders",
            "Last Compile Timestamp",
            "Last Compile Duration",
        ];
        assert_eq!(of_runs.map(|index| items[index]), expected.map(|item| (RUN, item)));
        let of_logs = [
            RECORDS,
            BYTES,
            SEGMENTS,
            GAPS,
            DROPPED,
            WAITING,
            WAITING_BYTES,
            FAILING,
            LEFT_OUT,
            LOG_FAILURES,
        ];
        let expected = [
            "Records",
            "Bytes",
            "Segments",
            "Gaps",
            "Dropped Records",
            "Waiting",
            "Waiting Memory",
            "Failing",
            "Left Out Instances",
            "Failures",
        ];
        assert_eq!(of_logs.map(|index| items[index]), expected.map(|item| (LOG, item)));
    }
}
