use std::fmt;

use crate::schedule::Figures;
use crate::telemetry::metric::{Metric, Writer};

pub(super) fn write(out: &mut Writer<'_, '_>, schedule: &Figures) -> fmt::Result {
    let missed = schedule.missed();
    out.rows(&MISSED, [(["busy"], missed.busy), (["connecting"], missed.connecting)])?;
    out.row(&WAITING, schedule.waiting_to_connect() as u64)?;
    out.row(&BEGINNING, schedule.connecting() as u64)?;
    out.row(&RUNNING, schedule.running() as u64)?;
    out.row(&ORDERS, schedule.orders() as u64)
}

/// What this file shows.
pub(super) const METRICS: &[&Metric] = &[&MISSED, &WAITING, &BEGINNING, &RUNNING, &ORDERS];

static MISSED: Metric = Metric::counter(
    "perfmon_exporter_intervals_missed",
    &["cause"],
    "Places in the schedule that went by because a connected target or the process was busy, or because the target \
     waited for its connection.",
);
static WAITING: Metric = Metric::gauge(
    "perfmon_exporter_connections_waiting",
    &[],
    "Targets that wait for their turn to be connected, by `connect_rate` and `max_connecting`.",
);
static BEGINNING: Metric = Metric::gauge(
    "perfmon_exporter_connections_beginning",
    &[],
    "Collections that run now on targets that have no connection yet.",
);
static RUNNING: Metric =
    Metric::gauge("perfmon_exporter_collections_running", &[], "Collections that run now.");
static ORDERS: Metric = Metric::gauge(
    "perfmon_exporter_schedule_orders",
    &[],
    "What the schedule was told and has not followed yet: ends of collections, targets that come and go.",
);
