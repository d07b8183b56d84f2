//! The families.

use plugin_sdk::{Display, DisplayRule, FamilyDef, Kind, ValueKind};

use crate::alert_table::OF_ROWS;

/// The namespace of all of them.
pub(super) const NAMESPACE: &str = "pla";
pub(super) const OBJECTS: [&str; 2] = [ALERT, SET];
const ALERT: &str = "Alert";
const SET: &str = "Set";

const OF_ALERT: FamilyDef<'static> =
    FamilyDef { value: ValueKind::F64, ..FamilyDef::gauge(NAMESPACE, ALERT) };

const OF_SET: FamilyDef<'static> = FamilyDef { object: SET, ..OF_ALERT };

pub(super) static FAMILIES: &[FamilyDef<'static>] = &[
    // By `set`, `alert`, `counter` and `counter_instance`.
    FamilyDef {
        item: "Firing",
        help: "1 if the counter's value is across the alert's threshold now, for as long as the alert wants; else 0, also \
               where there is no value: see perfmon_pla_alert_state_info.",
        value: ValueKind::U64,
        ..OF_ALERT
    },
    FamilyDef {
        item: "State Info",
        kind: Kind::Info,
        help: "1, with the state of the alert: ok, pending (across, but not for long enough), firing, waiting (no value yet), \
               no_data (no value for two intervals), unresolved (the host has no such counter, or the path names another \
               host), unsupported (the counter is no number).",
        value: ValueKind::U64,
        ..OF_ALERT
    },
    FamilyDef {
        item: "Value",
        help: "The last value of the alert's counter, as Windows computes and shows it: that is what is compared with the \
               threshold. It stays until the next sample, after the alert's sample interval.",
        origin: "AlertThresholds",
        ..OF_ALERT
    },
    FamilyDef {
        item: "Triggered",
        kind: Kind::Counter,
        help: "Samples that fired since the exporter watches the alert. Windows acts on each of them; events here are one \
               when it begins to fire and one when it ends.",
        value: ValueKind::U64,
        display: Display::by(DisplayRule::Rate),
        ..OF_ALERT
    },
    FamilyDef {
        item: "Last Change Timestamp",
        unit: "seconds",
        help: "When the alert came into its state, by the exporter's clock.",
        ..OF_ALERT
    },
    // By `set`, `alert`, `counter` and `operator`.
    FamilyDef {
        item: "Threshold",
        help: "The number that the counter's value is compared with, in the unit that Windows shows the counter in. It \
               fires above the number if the operator is >, and below it if it is <.",
        origin: "AlertThresholds",
        ..OF_ALERT
    },
    // By `set`, `alert` and `counter`.
    FamilyDef {
        item: "Evaluation Lag",
        unit: "seconds",
        help: "How much more time than the alert's sample interval was between its last two samples: collections that are \
               rarer than the interval, or failed.",
        origin: "SampleInterval",
        ..OF_ALERT
    },
    // Without labels.
    FamilyDef {
        item: "Instances Left Out",
        kind: Kind::Counter,
        help: "Samples of instances that were not judged, because the alerts of the target have too many instances: name \
               fewer instances in their counters.",
        value: ValueKind::U64,
        ..OF_ALERT
    },
    // By `set`, `alert`, `action` and `result`.
    FamilyDef {
        item: "Actions",
        kind: Kind::Counter,
        help: "What alerts did, by action: events that an instance begins or ends to fire (event), tasks that were started when \
               one began (task), samples that start another set here, or begin to have the host start one (trigger). By \
               result: done; failed (the task could not be started, or ended with another exit status than 0; the host did not \
               start the set); timed_out (the task ran for too long and was ended); refused \
               (an argument of the task contains NUL or is too long); skipped (the task, or the host's set, was started less \
               than a minute ago, or too many wait; the set was running already).",
        value: ValueKind::U64,
        display: Display::by(DisplayRule::Rate),
        ..OF_ALERT
    },
    // By `set`, `source` and `path`.
    FamilyDef {
        item: "Info",
        kind: Kind::Info,
        help: "1, with a data collector set whose alerts are judged or whose logs are written here: where it comes from, and its \
               file.",
        ..OF_SET
    },
    // By `set`.
    FamilyDef { item: "Alerts", help: "Thresholds of the data collector set that are judged.", ..OF_SET },
    FamilyDef {
        item: "Judged",
        help: "1 if the alerts of the data collector set are judged here now: always, or because an alert started it; else 0. \
               Sets without alerts have none.",
        ..OF_SET
    },
    // By `set` and `kind`.
    FamilyDef {
        item: "Problems",
        help: "What of the data collector set is not done here, by kind: a task or a set that an alert would start (task, \
               triggered_set) and that is not there or not allowed, a collector that is not run \
               (collector), a counter of a log that cannot be read (counter), a log in a format or a database that there is not \
               (log_format), a log without a directory for files (storage), a value that cannot be read and counts as missing (value), \
               times that count as UTC though the set does not say so (time_zone), a counter of another host (other_host), a file that \
               cannot be read any more (file), a set of the host that cannot be read any more (host), a threshold that cannot \
               be read (threshold), alerts above the limit (limit), sets of the host with the same name, which are left out \
               (name). The exporter's log has the details.",
        ..OF_SET
    },
    // By `set` and `status`, for sets of the host.
    FamilyDef {
        item: "Status",
        help: "1 for the status of the data collector set on the host, 0 for the others: stopped, running, compiling (its data \
               manager is at work), queued, unknown.",
        origin: "Status",
        ..OF_SET
    },
    // By `set`, for sets of the host.
    FamilyDef {
        item: "Serial Number",
        help: "The number of the data collector set's run: it grows by one whenever the host starts the set.",
        origin: "SerialNumber",
        ..OF_SET
    },
    // By `set` and `kind`, for sets of the host and of files.
    FamilyDef {
        item: "Collectors",
        help: "Data collectors of the data collector set by kind: counter, trace, api_trace, configuration, alert.",
        origin: "DataCollectors",
        ..OF_SET
    },
    // By `set`, for sets of the host.
    FamilyDef {
        item: "Next Start Timestamp",
        unit: "seconds",
        help: "When the host starts the data collector set next by its schedules, if these are in force, with the offset that \
               the host's local time has now.",
        origin: "Schedules",
        ..OF_SET
    },
];

/// The indexes of the families; the first [`OF_ROWS`] are those of instances.
pub(super) const THRESHOLD: usize = OF_ROWS;
pub(super) const LAG: usize = 6;
pub(super) const LEFT_OUT: usize = 7;
pub(super) const ACTIONS: usize = 8;
pub(super) const SET_INFO: usize = 9;
pub(super) const SET_ALERTS: usize = 10;
pub(super) const SET_JUDGED: usize = 11;
pub(super) const PROBLEMS: usize = 12;
pub(super) const STATUS: usize = 13;
pub(super) const SERIAL_NUMBER: usize = 14;
pub(super) const COLLECTORS: usize = 15;
pub(super) const NEXT_START: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_the_place_of_its_family() {
        let items: Vec<&str> = FAMILIES.iter().map(|family| family.item).collect();
        let of_alerts = [THRESHOLD, LAG, LEFT_OUT, ACTIONS].map(|index| items[index]);
        assert_eq!(of_alerts, ["Threshold", "Evaluation Lag", "Instances Left Out", "Actions"]);
        let of_sets = [SET_INFO, SET_ALERTS, SET_JUDGED, PROBLEMS].map(|index| items[index]);
        assert_eq!(of_sets, ["Info", "Alerts", "Judged", "Problems"]);
        let of_host = [STATUS, SERIAL_NUMBER, COLLECTORS, NEXT_START].map(|index| items[index]);
        assert_eq!(of_host, ["Status", "Serial Number", "Collectors", "Next Start Timestamp"]);
        // As rows of the table have them.
        assert_eq!(items[..OF_ROWS], ["Firing", "State Info", "Value", "Triggered", "Last Change Timestamp"]);
    }
}
