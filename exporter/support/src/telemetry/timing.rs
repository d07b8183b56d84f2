use std::fmt;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram as OtelHistogram, Meter};
use parking_lot::{Mutex, RwLock};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::histogram::{Histogram, NativeHistogramConfig};

use super::metric::{Metric, MetricKind, Writer};

/// Upper bounds for what takes from microseconds to a second: work of this process.
pub const WORK_S: &[f64] = &[1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0];
/// Upper bounds for what waits for others: fine where a call over a kept connection ends, coarse up to the longest
/// deadlines.
pub const WAIT_S: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1.0, 3.0, 10.0];

/// Buckets of a native histogram grow by a tenth; where there would be more than these they are joined.
const NATIVE_BUCKETS_MAX: usize = 160;
const NATIVE_FACTOR: f64 = 1.1;

/// The distribution of one figure. Clones count together.
#[derive(Clone)]
pub struct Timing(Arc<Row>);

struct Row {
    metric: &'static Metric,
    labels: Vec<String>,
    shown: Histogram,
    /// The same for the collector that `telemetry:` names.
    otel: RwLock<Option<(OtelHistogram<f64>, Vec<KeyValue>)>>,
}

impl Timing {
    pub fn observe(&self, figure: f64) {
        self.0.shown.observe(figure);
        if let Some((otel, attributes)) = &*self.0.otel.read() {
            otel.record(figure, attributes);
        }
    }

    pub fn took(&self, time: Duration) {
        self.observe(time.as_secs_f64());
    }

    /// Does `work` and enters how long it took.
    pub fn of<T>(&self, work: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let done = work();
        self.took(began.elapsed());
        done
    }

    fn record_in(&self, otel: OtelHistogram<f64>) {
        let Row { metric, labels, .. } = &*self.0;
        let attributes = metric.labels.iter().zip(labels);
        let attributes = attributes.map(|(name, value)| KeyValue::new(*name, value.clone()));
        *self.0.otel.write() = Some((otel, attributes.collect()));
    }
}

impl fmt::Debug for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Timing").field(&self.0.metric.name).field(&self.0.labels).finish()
    }
}

/// All distributions of the process: where its time goes. Clones are the same.
///
/// Whoever measures asks once for its [`Timing`] and keeps it; what nobody keeps any more is gone from the page.
#[derive(Clone, Default)]
pub struct Timings(Arc<Mutex<All>>);

#[derive(Default)]
struct All {
    /// In the order in which the metrics were asked for, the rows of a metric side by side.
    families: Vec<(&'static Metric, Vec<Weak<Row>>)>,
    meter: Option<Meter>,
}

impl Timings {
    /// The row of `metric`, a histogram, with these values of its labels; made where there is none.
    #[must_use]
    pub fn get(&self, metric: &'static Metric, labels: &[&str]) -> Timing {
        debug_assert_eq!(metric.labels.len(), labels.len(), "{}", metric.name);
        let mut all = self.0.lock();
        let All { families, meter } = &mut *all;
        let index = families.iter().position(|(known, _)| known.name == metric.name).unwrap_or_else(|| {
            families.push((metric, Vec::new()));
            families.len() - 1
        });
        let rows = &mut families[index].1;
        rows.retain(|row| row.strong_count() > 0);
        if let Some(row) = kept(rows).find(|row| row.0.labels == labels) {
            return row;
        }
        let bounds = match metric.kind {
            MetricKind::Histogram(bounds) => bounds,
            MetricKind::Gauge | MetricKind::Counter | MetricKind::Info => &[],
        };
        let native = NativeHistogramConfig::new(NATIVE_FACTOR).max_buckets(NATIVE_BUCKETS_MAX);
        let row = Timing(Arc::new(Row {
            metric,
            labels: labels.iter().map(|&value| value.to_owned()).collect(),
            shown: Histogram::new_classic_and_native(bounds.iter().copied(), native),
            otel: RwLock::new(None),
        }));
        if let Some(meter) = meter {
            row.record_in(histogram(meter, metric));
        }
        rows.push(Arc::downgrade(&row.0));
        row
    }

    /// All that is entered from now on is entered in histograms of `meter`, too, and of no other.
    pub fn record_in(&self, meter: Meter) {
        let mut all = self.0.lock();
        for (metric, rows) in &all.families {
            let otel = histogram(&meter, metric);
            kept(rows).for_each(|row| row.record_in(otel.clone()));
        }
        all.meter = Some(meter);
    }
}

fn kept(rows: &[Weak<Row>]) -> impl Iterator<Item = Timing> {
    rows.iter().filter_map(|row| row.upgrade().map(Timing))
}

/// What a metric is recorded in for a collector.
#[must_use]
pub fn histogram(meter: &Meter, metric: &Metric) -> OtelHistogram<f64> {
    // Exponential ones are behind a feature of the SDK that is not stable yet.
    let bounds = match metric.kind {
        MetricKind::Histogram(bounds) => bounds.to_vec(),
        MetricKind::Gauge | MetricKind::Counter | MetricKind::Info => Vec::new(),
    };
    let builder = meter.f64_histogram(metric.otel_name()).with_boundaries(bounds);
    builder.with_unit(metric.otel_unit()).with_description(metric.help).build()
}

impl Collector for Timings {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let families = self.0.lock().families.clone();
        for (metric, rows) in &families {
            let rows: Vec<Timing> = kept(rows).collect();
            let rows = rows.iter().map(|row| (&*row.0.labels, &row.0.shown));
            Writer(&mut encoder).histograms(metric, rows)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Timings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Timings")
    }
}
