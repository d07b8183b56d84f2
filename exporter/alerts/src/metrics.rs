use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use support::telemetry::{Metric, Writer};

use super::counts::{AllCounts, Counts};
use super::registry::Registry;

#[derive(Debug)]
pub struct AlertMetrics {
    pub(crate) registry: Arc<Registry>,
    pub(crate) counts: Arc<AllCounts>,
}

impl Collector for AlertMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let all = self.counts.get();
        let mut out = Writer(&mut encoder);
        out.row(&OPEN, self.registry.open_count() as u64)?;
        out.row(&OVER_LIMIT, self.registry.over_limit())?;
        let each = |read: fn(&Counts) -> u64| all.iter().map(move |counts| ([counts.name()], read(counts)));
        let tried =
            all.iter().filter_map(|counts| Some(([counts.name()], u64::from(counts.last().is_up()?))));
        out.rows(&UP, tried.collect::<Vec<_>>())?;
        out.rows(&WAITING, each(Counts::waiting))?;
        out.rows(&SENT, each(Counts::sent))?;
        let by_reason = |read: fn(&Counts) -> Vec<(&'static str, u64)>| {
            let rows = all.iter().flat_map(move |counts| {
                read(counts).into_iter().map(move |(reason, count)| ([counts.name(), reason], count))
            });
            rows.collect::<Vec<_>>()
        };
        out.rows(&FAILED, by_reason(Counts::failed))?;
        out.rows(&DROPPED, by_reason(Counts::dropped))
    }
}

/// What this file shows.
pub const METRICS: &[&Metric] = &[&OPEN, &OVER_LIMIT, &UP, &WAITING, &SENT, &FAILED, &DROPPED];

static OPEN: Metric = Metric::gauge("perfmon_exporter_alerts_open", &[], "Alerts of targets that are open.");
static OVER_LIMIT: Metric = Metric::counter(
    "perfmon_exporter_alerts_over_limit",
    &[],
    "Events that would have opened an alert above `alerts.max_alerts`.",
);
static UP: Metric = Metric::gauge(
    "perfmon_exporter_alerts_up",
    RECEIVER,
    "Whether the receiver accepted the last request; absent before the first one.",
);
static WAITING: Metric = Metric::gauge(
    "perfmon_exporter_alerts_waiting",
    RECEIVER,
    "Alerts whose state the receiver does not know yet.",
);
static SENT: Metric = Metric::counter(
    "perfmon_exporter_alerts_sent",
    RECEIVER,
    "Alerts that the receiver accepted, each time that they were sent.",
);
static FAILED: Metric = Metric::counter(
    "perfmon_exporter_alerts_failed",
    &["receiver", "reason"],
    "Requests that the receiver did not answer, or did not accept.",
);
static DROPPED: Metric = Metric::counter(
    "perfmon_exporter_alerts_dropped",
    &["receiver", "reason"],
    "Alerts that were not delivered to the receiver.",
);

const RECEIVER: &[&str] = &["receiver"];
