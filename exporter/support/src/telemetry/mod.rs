//! What the exporter says of itself: a [`Metric`] is what pages show under `perfmon_exporter_`, a [`Timing`] the
//! distribution of a time, and [`log`] writes lines; [`output`] is what commands
//! print. Who counts and who logs is elsewhere: no target is known here.

pub mod log;
mod metric;
pub mod output;
mod words;

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};
use std::{fmt, fs};

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram as OtelHistogram, Meter};
use parking_lot::{Mutex, RwLock};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::histogram::{Histogram, NativeHistogramConfig};

pub use self::metric::{Metric, MetricKind, Writer};

/// The names are those that every Prometheus client has, as far as it has any.
pub fn write_process(out: &mut Writer<'_, '_>) -> fmt::Result {
    let usage = ProcessUsage::read();
    let plain = |value: Option<u64>| value.map(|value| ([], value));
    out.rows(&CPU, usage.cpu_seconds.map(|seconds| ([], seconds)))?;
    out.rows(&RESIDENT, plain(usage.resident_bytes))?;
    out.rows(&VIRTUAL, plain(usage.virtual_bytes))?;
    out.rows(&THREADS, plain(usage.threads))?;
    out.rows(&OPEN_FDS, plain(usage.open_fds))?;
    out.rows(&MAX_FDS, plain(usage.max_fds))?;
    out.row(&START, process_start())?;
    let parts = [
        ("anonymous", usage.anonymous_bytes),
        ("file", usage.file_bytes),
        ("swapped", usage.swapped_bytes),
        ("peak", usage.peak_bytes),
    ];
    out.rows(&MEMORY, parts.into_iter().filter_map(|(part, bytes)| Some(([part], bytes?))))
}

/// What the run time of the exporter's own tasks is doing; plugins have their own.
pub fn write_runtime(out: &mut Writer<'_, '_>, runtime: &tokio::runtime::Handle) -> fmt::Result {
    let metrics = runtime.metrics();
    out.row(&TASKS, metrics.num_alive_tasks() as u64)?;
    out.row(&QUEUE, metrics.global_queue_depth() as u64)?;
    let workers: Vec<String> = (0..metrics.num_workers()).map(|worker| worker.to_string()).collect();
    let busy = workers
        .iter()
        .enumerate()
        .map(|(index, worker)| ([worker.as_str()], metrics.worker_total_busy_duration(index).as_secs_f64()));
    out.rows(&BUSY, busy.collect::<Vec<_>>())
}

/// What [`write_process`] and `write_runtime` write.
pub const PROCESS_METRICS: &[&Metric] =
    &[&CPU, &RESIDENT, &VIRTUAL, &THREADS, &OPEN_FDS, &MAX_FDS, &START, &MEMORY, &TASKS, &QUEUE, &BUSY];

static CPU: Metric = Metric::counter("process_cpu_seconds", &[], "User and system time of the process.");
static RESIDENT: Metric =
    Metric::gauge("process_resident_memory_bytes", &[], "Resident memory of the process.");
static VIRTUAL: Metric = Metric::gauge("process_virtual_memory_bytes", &[], "Virtual memory of the process.");
static THREADS: Metric = Metric::gauge("process_threads", &[], "Threads of the process.");
static OPEN_FDS: Metric = Metric::gauge("process_open_fds", &[], "Open file descriptors.");
static MAX_FDS: Metric = Metric::gauge("process_max_fds", &[], "Maximum number of open file descriptors.");
static START: Metric = Metric::gauge("process_start_time_seconds", &[], "Start time of the process.");
static MEMORY: Metric = Metric::gauge(
    "perfmon_exporter_memory_bytes",
    &["part"],
    "Memory of the process as reported by the kernel: anonymous memory, mapped files, swapped memory, and \
     peak resident memory.",
);
static TASKS: Metric =
    Metric::gauge("perfmon_exporter_runtime_tasks", &[], "Tasks of the exporter's async runtime.");
static QUEUE: Metric = Metric::gauge(
    "perfmon_exporter_runtime_queue_tasks",
    &[],
    "Tasks that are ready but not yet run by a worker.",
);
static BUSY: Metric = Metric::counter(
    "perfmon_exporter_runtime_busy_seconds",
    &["worker"],
    "Busy time of a worker of the exporter's async runtime.",
);

/// What this process uses, as the standard `process_*` metrics have it. What the kernel does not tell is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessUsage {
    /// User and system time in seconds.
    pub cpu_seconds: Option<f64>,
    pub resident_bytes: Option<u64>,
    pub virtual_bytes: Option<u64>,
    pub threads: Option<u64>,
    pub open_fds: Option<u64>,
    /// How many there may be.
    pub max_fds: Option<u64>,
    /// Of the resident memory what was allocated.
    pub anonymous_bytes: Option<u64>,
    /// Of the resident memory what maps files: the program and its plugins.
    pub file_bytes: Option<u64>,
    /// What was swapped out.
    pub swapped_bytes: Option<u64>,
    /// The most that was ever resident.
    pub peak_bytes: Option<u64>,
}

impl ProcessUsage {
    #[must_use]
    pub fn read() -> Self {
        let mut usage = Self::default();
        if let Ok(stat) = fs::read_to_string("/proc/self/stat") {
            usage.read_stat(&stat);
        }
        if let Ok(status) = fs::read_to_string("/proc/self/status") {
            usage.read_status(&status);
        }
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        usage.max_fds = limit.current;
        // The descriptor that lists the folder is one of them; it is gone when this is read.
        let listed = fs::read_dir("/proc/self/fd").map(Iterator::count).ok();
        usage.open_fds = listed.and_then(|count| u64::try_from(count.saturating_sub(1)).ok());
        usage
    }

    /// proc(5): after the name in parentheses, `utime` is field 14 of the line, `stime` 15, `num_threads` 20,
    /// `vsize` 23 in bytes and `rss` 24 in pages.
    fn read_stat(&mut self, stat: &str) {
        let Some((_, fields)) = stat.rsplit_once(')') else { return };
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).and_then(|text| text.parse::<u64>().ok());
        let ticks = |count: u64| Duration::from_millis(count.saturating_mul(1000) / clock_ticks());
        if let (Some(user), Some(system)) = (field(14), field(15)) {
            self.cpu_seconds = Some(ticks(user.saturating_add(system)).as_secs_f64());
        }
        let page_bytes = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
        self.threads = field(20);
        self.virtual_bytes = field(23);
        self.resident_bytes = field(24).map(|pages| pages.saturating_mul(page_bytes));
    }

    /// proc(5): a name, a colon, and so many kibibytes a line.
    fn read_status(&mut self, status: &str) {
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let count = line?.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok()?;
            Some(count.saturating_mul(1024))
        };
        self.anonymous_bytes = bytes("RssAnon");
        self.file_bytes = bytes("RssFile");
        self.swapped_bytes = bytes("VmSwap");
        self.peak_bytes = bytes("VmHWM");
    }
}

fn clock_ticks() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}

/// A time in Unix nanoseconds; 0 before 1970.
#[must_use]
pub fn unix_nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Now, in Unix seconds.
#[must_use]
pub fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// When the first scrape or the start asked: good to a fraction of a second, and without the boot's clock.
fn process_start() -> f64 {
    static START: std::sync::OnceLock<f64> = std::sync::OnceLock::new();
    *START.get_or_init(unix_seconds)
}

/// Remembers the beginning of the process; to be called first.
pub fn remember_start() {
    process_start();
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_without_a_line_tells_nothing_of_it() {
        let mut usage = ProcessUsage::default();
        usage.read_status("Name:\tVmSwap\nVmHWM:\t    2048 kB\nRssAnon:\t1 kB\nRssFile:\t    1 MB\n");
        let found = (usage.peak_bytes, usage.anonymous_bytes, usage.file_bytes, usage.swapped_bytes);
        assert_eq!(found, (Some(2 << 20), Some(1024), None, None));
    }

    #[test]
    fn a_process_name_with_spaces_and_parentheses_is_passed_over() {
        let mut usage = ProcessUsage::default();
        usage.read_stat(
            "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 9 0 100 2000000 512 18446744073709551615",
        );
        assert_eq!(usage.cpu_seconds, Some(2.0));
        assert_eq!((usage.threads, usage.virtual_bytes), (Some(9), Some(2_000_000)));
    }

    #[test]
    fn this_process_uses_something() {
        let usage = ProcessUsage::read();
        assert!(usage.resident_bytes.is_some_and(|bytes| bytes > 100_000), "{usage:?}");
        assert!(usage.open_fds.is_some_and(|fds| fds >= 3), "{usage:?}");
        assert!(usage.max_fds.is_some());
    }
}
