//! A counterset with one counter of every type, whose values are closed formulas of the host's uptime.
//!
//! Each row states the raw value and, beside it, what a client has to display after it has cooked two samples.
//! Everything is a function of the header of the reply: the uptime in seconds is `PerfTimeStamp / PerfFreq`.
//! Raw values are rounded down to whole numbers, so a cooked value is exact up to one unit of the raw one in
//! the interval.

use counters::pcq::types::{CounterType as T, DetailLevel, InstanceType};
use wire::{FileTime, Guid};

use super::super::schema::{Counter, Counterset, Sample, Value};
use super::super::{Moment, scale};
use super::{Machine, SIM_PROVIDER};

/// The GUID is ours.
pub static COUNTER_TYPES: Counterset = Counterset {
    guid: Guid::from_u128(0xc2c8a16a_38a2_4917_9b9b_1def5cf70661),
    name: "Counter Types",
    explain: "One counter of every type, with values that are closed formulas of the uptime and the instance.",
    german: Some("Zählertypen"),
    german_explain: None,
    provider: &SIM_PROVIDER,
    detail: DetailLevel::ADVANCED,
    instances: InstanceType::MULTIPLE,
    counters: &COUNTERS,
};

/// The instances are called 1, 2, 3 and 4. The fourth is fast: its 32-bit counters wrap every few minutes.
pub const INSTANCE_COUNT: u32 = 4;

/// What the formulas of one instance are made of.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The instance: 1 to 4.
    pub n: u64,
    /// Events a second: 100 · n, and ten million for the fourth instance.
    pub r: u64,
    /// Uptime in 100 ns.
    pub t: u64,
    /// Uptime in ticks of the performance clock.
    pub p: u64,
    /// Ticks a second of the performance clock.
    pub f: u64,
}

impl At {
    /// Instance `n` at `moment`.
    #[must_use]
    pub fn new(n: u32, moment: &Moment) -> Self {
        let n = u64::from(n);
        Self {
            n,
            r: if n == 4 { 10_000_000 } else { 100 * n },
            t: moment.uptime_100ns(),
            p: moment.perf_time(),
            f: moment.perf_freq,
        }
    }

    /// `rate` things a second since the start of the host.
    fn at_rate(&self, rate: u64) -> u64 {
        scale(self.t, rate, SECOND)
    }

    /// The object's own clock: one million ticks a second.
    const fn object_time(&self) -> u64 {
        self.t / 10
    }

    /// A time stamp in 100 ns that its provider renews every 1/64 s, as the base of a precision timer is.
    const fn stamp_100ns(&self) -> u64 {
        self.t - self.t % (SECOND / 64)
    }

    /// The same for the performance clock.
    const fn stamp_perf(&self) -> u64 {
        self.p - self.p % (self.f / 64)
    }
}

const SECOND: u64 = FileTime::INTERVALS_PER_SECOND;
const OBJECT_FREQ: u64 = 1_000_000;
/// How many things the multi timers sum up.
const MULTI: u64 = 4;

/// One sample after the other: `a` is the older, `b` the newer one.
type Cooked = fn(a: &At, b: &At) -> f64;

macro_rules! rows {
    ($($id:literal $kind:ident $name:literal $(.$modifier:ident($($argument:expr),*))* ; raw $raw:expr ; cooked $cooked:expr ;)*) => {
        const COUNTER_COUNT: usize = [$($id),*].len();
        static COUNTERS: [Counter; COUNTER_COUNT] = [
            $(Counter::new(
                $id,
                T::$kind,
                $name,
                concat!("A counter of type ", stringify!($kind), ", by a closed formula of the uptime."),
            )$(.$modifier($($argument),*))*,)*
        ];
        static FORMULAS: [(fn(&At) -> u64, Cooked); COUNTER_COUNT] = [$(($raw, $cooked),)*];
    };
}

rows! {
    1 PERF_COUNTER_RAWCOUNT_HEX "Raw Count Hex".hexadecimal();
        raw |at| 0xC0DE_0000 + at.n; cooked |_, b| real(0xC0DE_0000 + b.n);
    2 PERF_COUNTER_LARGE_RAWCOUNT_HEX "Large Raw Count Hex".hexadecimal();
        raw |at| 0xFEED_C0DE_0000_0000 + at.n; cooked |_, b| real(0xFEED_C0DE_0000_0000 + b.n);
    // Text of instance n: "text n".
    3 PERF_COUNTER_TEXT "Text"; raw |at| at.n; cooked |_, b| real(b.n);
    4 PERF_COUNTER_RAWCOUNT "Raw Count"; raw |at| 100 * at.n + at.t / SECOND % 60; cooked |_, b| real(100 * b.n + b.t / SECOND % 60);
    5 PERF_COUNTER_LARGE_RAWCOUNT "Large Raw Count"; raw |at| (at.n << 40) + at.t / SECOND; cooked |_, b| real((b.n << 40) + b.t / SECOND);
    6 PERF_COUNTER_DELTA "Delta"; raw |at| at.at_rate(at.r); cooked |a, b| real(b.at_rate(b.r) - a.at_rate(a.r));
    7 PERF_COUNTER_LARGE_DELTA "Large Delta"; raw |at| at.at_rate(1_000 * at.r);
        cooked |a, b| real(b.at_rate(1_000 * b.r) - a.at_rate(1_000 * a.r));
    8 PERF_SAMPLE_COUNTER "Sample Counter"; raw |at| at.at_rate(2 * at.r); cooked |_, b| real(2 * b.r);
    // A queue that always holds n things: its integral grows by n a tick.
    9 PERF_COUNTER_QUEUELEN_TYPE "Queue Length"; raw |at| at.p * at.n; cooked |_, b| real(b.n);
    10 PERF_COUNTER_LARGE_QUEUELEN_TYPE "Large Queue Length"; raw |at| at.p * at.n; cooked |_, b| real(b.n);
    11 PERF_COUNTER_100NS_QUEUELEN_TYPE "100ns Queue Length"; raw |at| at.t * at.n; cooked |_, b| real(b.n);
    12 PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE "Object Time Queue Length".clock(40, 41);
        raw |at| at.object_time() * at.n; cooked |_, b| real(b.n);
    13 PERF_COUNTER_COUNTER "Counter"; raw |at| at.at_rate(at.r); cooked |_, b| real(b.r);
    14 PERF_COUNTER_BULK_COUNT "Bulk Count"; raw |at| at.at_rate(1_000 * at.r); cooked |_, b| real(1_000 * b.r);
    // All timers: busy for n tenths of the time, so that each displays 10 · n percent. The inverse ones count the
    // idle rest.
    15 PERF_COUNTER_TIMER "Timer"; raw |at| at.p * at.n / 10; cooked |_, b| real(10 * b.n);
    16 PERF_COUNTER_TIMER_INV "Timer Inverse"; raw |at| at.p * (10 - at.n) / 10; cooked |_, b| real(10 * b.n);
    17 PERF_100NSEC_TIMER "100ns Timer"; raw |at| at.t * at.n / 10; cooked |_, b| real(10 * b.n);
    18 PERF_100NSEC_TIMER_INV "100ns Timer Inverse"; raw |at| at.t * (10 - at.n) / 10; cooked |_, b| real(10 * b.n);
    19 PERF_OBJ_TIME_TIMER "Object Time Timer".clock(40, 41);
        raw |at| at.object_time() * at.n / 10; cooked |_, b| real(10 * b.n);
    // Four things, each busy for n tenths of the time, in ticks of the clock. (The Win32 pages divide the
    // interval of this one type by the frequency as well; with ticks on both sides that factor has no place.)
    20 PERF_COUNTER_MULTI_TIMER "Multi Timer".multi(42); raw |at| MULTI * at.p * at.n / 10; cooked |_, b| real(10 * b.n);
    // The inverse multi timers are displayed for all four together: 100 · (4 − idle share).
    21 PERF_COUNTER_MULTI_TIMER_INV "Multi Timer Inverse".multi(42);
        raw |at| MULTI * at.p * (10 - at.n) / 10; cooked |_, b| real(MULTI * 10 * b.n);
    22 PERF_100NSEC_MULTI_TIMER "100ns Multi Timer".multi(42); raw |at| MULTI * at.t * at.n / 10; cooked |_, b| real(10 * b.n);
    23 PERF_100NSEC_MULTI_TIMER_INV "100ns Multi Timer Inverse".multi(43);
        raw |at| MULTI * at.t * (10 - at.n) / 10; cooked |_, b| real(MULTI * 10 * b.n);
    // n of eight.
    24 PERF_RAW_FRACTION "Raw Fraction".base(44); raw |at| at.n; cooked |_, b| 12.5 * real(b.n);
    25 PERF_LARGE_RAW_FRACTION "Large Raw Fraction".base(45); raw |at| at.n << 33; cooked |_, b| 12.5 * real(b.n);
    // n hits among ten looks, a thousand looks a second.
    26 PERF_SAMPLE_FRACTION "Sample Fraction".base(46); raw |at| at.at_rate(100 * at.n); cooked |_, b| real(10 * b.n);
    // 100 · n operations a second, each of which takes n thousandths of a second …
    27 PERF_AVERAGE_TIMER "Average Timer".base(47);
        raw |at| scale(at.at_rate(100 * at.n) * at.n, at.f, 1_000); cooked |_, b| real(b.n) / 1_000.0;
    // … and r operations a second, each of which moves 512 · n bytes.
    28 PERF_AVERAGE_BULK "Average Bulk".base(48); raw |at| at.at_rate(at.r) * 512 * at.n; cooked |_, b| real(512 * b.n);
    // The object of instance n was started n minutes after the host, by its own clock.
    29 PERF_ELAPSED_TIME "Elapsed Time".clock(40, 41);
        raw |at| 60 * at.n * OBJECT_FREQ; cooked |_, b| real(b.t) / real(SECOND) - real(60 * b.n);
    // Precision timers are right by the time stamp in their base, not by that of the reply.
    30 PERF_PRECISION_SYSTEM_TIMER "Precision System Timer".base(49); raw |at| at.stamp_perf() * at.n / 10; cooked |_, b| real(10 * b.n);
    31 PERF_PRECISION_100NS_TIMER "Precision 100ns Timer".base(50); raw |at| at.stamp_100ns() * at.n / 10; cooked |_, b| real(10 * b.n);
    32 PERF_PRECISION_OBJECT_TIMER "Precision Object Timer".base(51).clock(40, 41);
        raw |at| at.object_time() * at.n / 10; cooked |_, b| real(10 * b.n);
    33 PERF_COUNTER_NODATA "No Data"; raw |_| 0; cooked |_, _| 0.0;
    // What the arithmetic above needs: clocks, multipliers and bases.
    40 PERF_COUNTER_LARGE_RAWCOUNT "Object Time".hidden(); raw |at| at.object_time(); cooked |_, b| real(b.object_time());
    41 PERF_COUNTER_LARGE_RAWCOUNT "Object Frequency".hidden(); raw |_| OBJECT_FREQ; cooked |_, _| real(OBJECT_FREQ);
    42 PERF_COUNTER_RAWCOUNT "Multi Count".hidden(); raw |_| MULTI; cooked |_, _| real(MULTI);
    43 PERF_COUNTER_MULTI_BASE "Multi Base".hidden(); raw |_| MULTI; cooked |_, _| real(MULTI);
    44 PERF_RAW_BASE "Raw Base".hidden(); raw |_| 8; cooked |_, _| 8.0;
    45 PERF_LARGE_RAW_BASE "Large Raw Base".hidden(); raw |_| 8 << 33; cooked |_, _| real(8 << 33);
    46 PERF_SAMPLE_BASE "Sample Base".hidden(); raw |at| at.at_rate(1_000); cooked |_, b| real(b.at_rate(1_000));
    47 PERF_AVERAGE_BASE "Average Timer Base".hidden(); raw |at| at.at_rate(100 * at.n); cooked |_, b| real(b.at_rate(100 * b.n));
    48 PERF_AVERAGE_BASE "Average Bulk Base".hidden(); raw |at| at.at_rate(at.r); cooked |_, b| real(b.at_rate(b.r));
    49 PERF_LARGE_RAW_BASE "Precision System Base".hidden(); raw |at| at.stamp_perf(); cooked |_, b| real(b.stamp_perf());
    50 PERF_LARGE_RAW_BASE "Precision 100ns Base".hidden(); raw |at| at.stamp_100ns(); cooked |_, b| real(b.stamp_100ns());
    51 PERF_LARGE_RAW_BASE "Precision Object Base".hidden(); raw |at| at.object_time(); cooked |_, b| real(b.object_time());
}

/// What a client displays for counter `id` of instance `n` after samples at `older` and `newer`; for text and the
/// counters that are not displayed, the number itself.
#[must_use]
pub fn cooked(id: u32, n: u32, older: &Moment, newer: &Moment) -> Option<f64> {
    let index = COUNTERS.iter().position(|counter| counter.id == id)?;
    Some(FORMULAS[index].1(&At::new(n, older), &At::new(n, newer)))
}

pub(super) fn sample(_: Machine, at: &Moment) -> Vec<Sample> {
    (1..=INSTANCE_COUNT).map(|n| instance(n, at)).collect()
}

fn instance(n: u32, moment: &Moment) -> Sample {
    let at = At::new(n, moment);
    let numbers: Vec<u64> = FORMULAS.iter().map(|(raw, _)| raw(&at)).collect();
    let mut sample = Sample::of_numbers(&COUNTER_TYPES, n.to_string(), n, &numbers);
    for value in &mut sample.values {
        if matches!(value, Value::Text(_)) {
            *value = Value::text(&format!("text {n}"));
        }
    }
    sample
}

#[expect(clippy::cast_precision_loss, reason = "what is displayed has the precision of a double")]
const fn real(value: u64) -> f64 {
    value as f64
}
