use std::fmt;

use series::pipeline::Footprint;
use support::telemetry::{Metric, Writer};

use super::targets::TargetWithStatus;

/// Where series and memory go.
pub(super) fn write(out: &mut Writer<'_, '_>, targets: &[TargetWithStatus<'_>]) -> fmt::Result {
    let mut all = Footprint::default();
    let (mut shown, mut registered, mut families) = (0, 0, 0);
    for (entry, status) in targets {
        shown += status.series() as u64;
        for store in entry.stores() {
            all.add(store.footprint());
        }
        registered += all.series;
        families += all.families;
        all.series = 0;
        all.families = 0;
    }
    out.rows(&SERIES, [(["shown"], shown), (["silent"], registered.saturating_sub(shown))])?;
    out.row(&FAMILIES, families)?;
    let Footprint { label_bytes, value_bytes, index_bytes, .. } = all;
    out.rows(&STORE_BYTES, [(["labels"], label_bytes), (["values"], value_bytes), (["index"], index_bytes)])
}

/// What this file shows.
pub const METRICS: &[&Metric] = &[&SERIES, &FAMILIES, &STORE_BYTES];

static SERIES: Metric = Metric::gauge(
    "perfmon_exporter_series",
    &["state"],
    "Series of all targets: on the page, or registered but without a value in the last collection.",
);
static FAMILIES: Metric = Metric::gauge(
    "perfmon_exporter_families",
    &[],
    "Families of all targets; the same name counts once for each module of each target.",
);
static STORE_BYTES: Metric = Metric::gauge(
    "perfmon_exporter_store_bytes",
    &["part"],
    "Memory of the targets' series: their labels as written on a page, their values, and the indexes.",
);
