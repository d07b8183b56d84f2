//! Every counter type, by the PromQL that a user would write: a real Prometheus scrapes the raw series of the
//! counterset `Counter Types`, and what its queries answer is compared with the closed formulas that the
//! simulated host computes its values by.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::prometheus::{self, Sample};
use crate::Outcome;
use crate::Result;
use crate::process::poll;
use crate::stage::{self, Stage, Target};
use crate::workspace::Workspace;

/// Ticks a second with which `Queue Length` of the fourth instance, which counts four a tick in 32 bits, wraps
/// [`WRAP_AFTER`] after the start: the host is 86,460 s up then, and 806 · 2³² = 4 · frequency · 86,485 s.
const PERF_FREQ: &str = "10006734";
const WRAP_AFTER: Duration = Duration::from_secs(25);
/// What that queue's seconds stand at when it wraps for the first time since the exporter saw it.
const QUEUE_AT_WRAP: &str = "429.3";
const UPTIME_AT_START: f64 = 86_460.0;
const TIMEOUT: Duration = Duration::from_secs(90);
const INSTANCES: [u32; 4] = [1, 2, 3, 4];

/// What a query has to answer for instance n.
enum Expected {
    /// About this much: rates are taken of samples whose times are a little off.
    About(fn(f64) -> f64),
    /// This, but for the last digits of a double.
    Exactly(fn(f64) -> f64),
    /// Seconds since the object of instance n was started: n minutes after the host.
    Elapsed,
}

use Expected::{About, Elapsed, Exactly};

/// A counter of the set, the query, and what it answers. `$` stands for `perfmon_counter_types`.
type Row = (&'static str, &'static str, Expected);

/// Events a second: 100 · n, and ten million for the fourth instance.
fn r(n: f64) -> f64 {
    if n < 3.5 { 100.0 * n } else { 1e7 }
}

const ROWS: &[Row] = &[
    ("PERF_COUNTER_RAWCOUNT_HEX", "$_raw_count_hex", Exactly(|n| 3_235_774_464.0 + n)),
    ("PERF_COUNTER_LARGE_RAWCOUNT_HEX", "$_large_raw_count_hex / 2^64", Exactly(|_| 0.995_815_328_788_012_3)),
    ("PERF_COUNTER_TEXT", "max by (counter_instance) ($_text_info{text=~'text [1-4]'})", Exactly(|_| 1.0)),
    ("PERF_COUNTER_RAWCOUNT", "floor($_raws / 100)", Exactly(|n| n)),
    ("PERF_COUNTER_LARGE_RAWCOUNT", "floor($_large_raws / 2^40)", Exactly(|n| n)),
    ("PERF_COUNTER_DELTA", "rate($_delta_total[20s])", About(r)),
    ("PERF_COUNTER_LARGE_DELTA", "rate($_large_delta_total[20s])", About(|n| 1000.0 * r(n))),
    ("PERF_SAMPLE_COUNTER", "rate($_sample_counter_total[20s])", About(|n| 2.0 * r(n))),
    ("PERF_COUNTER_QUEUELEN_TYPE", "rate($_queue_length_seconds_total[20s])", About(|n| n)),
    ("PERF_COUNTER_LARGE_QUEUELEN_TYPE", "rate($_large_queue_length_seconds_total[20s])", About(|n| n)),
    ("PERF_COUNTER_100NS_QUEUELEN_TYPE", "rate($_100ns_queue_length_seconds_total[20s])", About(|n| n)),
    (
        "PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE",
        "rate($_object_time_queue_length_seconds_total[20s])",
        About(|n| n),
    ),
    ("PERF_COUNTER_COUNTER", "rate($_counter_total[20s])", About(r)),
    ("PERF_COUNTER_BULK_COUNT", "rate($_bulk_count_total[20s])", About(|n| 1000.0 * r(n))),
    ("PERF_COUNTER_TIMER", "rate($_timer_seconds_total[20s])", About(|n| n / 10.0)),
    ("PERF_COUNTER_TIMER_INV", "1 - rate($_timer_inverse_inactive_seconds_total[20s])", About(|n| n / 10.0)),
    ("PERF_100NSEC_TIMER", "rate($_100ns_timer_seconds_total[20s])", About(|n| n / 10.0)),
    (
        "PERF_100NSEC_TIMER_INV",
        "1 - rate($_100ns_timer_inverse_inactive_seconds_total[20s])",
        About(|n| n / 10.0),
    ),
    ("PERF_OBJ_TIME_TIMER", "rate($_object_time_timer_seconds_total[20s])", About(|n| n / 10.0)),
    (
        "PERF_COUNTER_MULTI_TIMER",
        "rate($_multi_timer_seconds_total[20s]) / $_multi_timer_base",
        About(|n| n / 10.0),
    ),
    (
        "PERF_COUNTER_MULTI_TIMER_INV",
        "$_multi_timer_inverse_base - rate($_multi_timer_inverse_inactive_seconds_total[20s])",
        About(|n| 4.0 * n / 10.0),
    ),
    (
        "PERF_100NSEC_MULTI_TIMER",
        "rate($_100ns_multi_timer_seconds_total[20s]) / $_100ns_multi_timer_base",
        About(|n| n / 10.0),
    ),
    (
        "PERF_100NSEC_MULTI_TIMER_INV",
        "$_100ns_multi_timer_inverse_base - rate($_100ns_multi_timer_inverse_inactive_seconds_total[20s])",
        About(|n| 4.0 * n / 10.0),
    ),
    ("PERF_RAW_FRACTION", "$_raw_fraction / $_raw_fraction_base", Exactly(|n| n / 8.0)),
    ("PERF_LARGE_RAW_FRACTION", "$_large_raw_fraction / $_large_raw_fraction_base", Exactly(|n| n / 8.0)),
    (
        "PERF_SAMPLE_FRACTION",
        "rate($_sample_fraction_total[20s]) / rate($_sample_fraction_base_total[20s])",
        About(|n| n / 10.0),
    ),
    (
        "PERF_AVERAGE_TIMER",
        "rate($_average_timer_seconds_total[20s]) / rate($_average_timer_base_total[20s])",
        About(|n| n / 1000.0),
    ),
    (
        "PERF_AVERAGE_BULK",
        "rate($_average_bulk_total[20s]) / rate($_average_bulk_base_total[20s])",
        About(|n| 512.0 * n),
    ),
    ("PERF_ELAPSED_TIME", "time() - $_elapsed_time_start_time_seconds", Elapsed),
    (
        "PERF_PRECISION_SYSTEM_TIMER",
        "rate($_precision_system_timer_seconds_total[20s]) / rate($_precision_system_timer_base_seconds_total[20s])",
        About(|n| n / 10.0),
    ),
    (
        "PERF_PRECISION_100NS_TIMER",
        "rate($_precision_100ns_timer_seconds_total[20s]) / rate($_precision_100ns_timer_base_seconds_total[20s])",
        About(|n| n / 10.0),
    ),
    (
        "PERF_PRECISION_OBJECT_TIMER",
        "rate($_precision_object_timer_seconds_total[20s]) / rate($_precision_object_timer_base_seconds_total[20s])",
        About(|n| n / 10.0),
    ),
];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let password_file = stage.password_file()?;
    let (_simulator, host) = stage.simulator(&["--perf-freq", PERF_FREQ])?;
    let started = Instant::now();
    let target = Target { name: "sim", address: host, logon: stage::Logon::of_stage(&password_file) };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (mut exporter, address) = stage.exporter(any, "1s", &[target])?;
    stage::page_when_up(&mut exporter, address, "sim")?;
    let (_prometheus, prometheus) = prometheus::start(&stage, address)?;

    let wrapped = format!(
        "perfmon_counter_types_queue_length_seconds_total{{counter_instance='4'}} > {QUEUE_AT_WRAP} + 16 \
         and count_over_time(perfmon_counter_types_queue_length_seconds_total[20s]) >= 19"
    );
    poll("a 32-bit counter that went round, and 20 s of samples", WRAP_AFTER + TIMEOUT, || {
        Ok(prometheus::query(prometheus, &wrapped)?.into_iter().next())
    })?;
    let mut wrong = Vec::new();
    for row in ROWS {
        wrong.extend(compare(prometheus, row, started)?);
    }
    if wrong.is_empty() {
        Ok(Outcome::Ran(format!("{} types, {} instances each", ROWS.len(), INSTANCES.len())))
    } else {
        Err(wrong.join("\n").into())
    }
}

/// What is wrong with the answers to one row's query.
fn compare(prometheus: SocketAddr, (name, query, expected): &Row, started: Instant) -> Result<Vec<String>> {
    let query = query.replace('$', "perfmon_counter_types");
    let samples = prometheus::query(prometheus, &query)?;
    let uptime = UPTIME_AT_START + started.elapsed().as_secs_f64();
    let problem = |n: u32| {
        let of_instance = |sample: &&Sample| sample.label("counter_instance") == Some(&n.to_string());
        let Some(sample) = samples.iter().find(of_instance) else {
            return Some(format!("{name}, instance {n}: `{query}` has no answer"));
        };
        let n = f64::from(n);
        let (right, tolerance) = match expected {
            About(formula) => (formula(n), formula(n).abs() * 0.04),
            Exactly(formula) => (formula(n), formula(n).abs() * 1e-9),
            Elapsed => (uptime - 60.0 * n, 3.0),
        };
        let is_off = (sample.value - right).abs() > tolerance || sample.value.is_nan();
        is_off.then(|| format!("{name}, instance {n}: `{query}` is {} instead of {right}", sample.value))
    };
    Ok(INSTANCES.into_iter().filter_map(problem).collect())
}
