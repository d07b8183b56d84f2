//! What the exporter says of itself: a [`Metric`] is what pages show under `perfmon_exporter_`, a [`Timing`] the
//! distribution of a time, and [`log`] writes lines; [`output`] is what commands
//! print. Who counts and who logs is elsewhere: no target is known here.

pub mod log;
mod metric;
pub mod output;
mod process;
mod timing;
mod words;

use std::fmt;

pub use self::metric::{Metric, MetricKind, Writer};
use self::process::process_start;
pub use self::process::{ProcessUsage, remember_start, unix_nanos, unix_seconds};
pub use self::timing::{Timing, Timings, WAIT_S, WORK_S, histogram};

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

/// What this file shows.
/// What [`write_process`] writes.
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
