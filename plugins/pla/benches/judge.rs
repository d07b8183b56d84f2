//! Judging 100,000 thresholds on decoded replies: as many instances of alerts with a wildcard, and as many alerts that name an
//! instance. No host has so many; these are several. As many counters in records of logs beside them.
//!
//! `cargo bench -p plugin-pla` prints the table. Guarded number: each takes less than 50 ms on one core. Nothing is allocated
//! on the way, which a test sees to.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use test_support::race::Race;

use self::workload::Target;

mod workload;

const ROUNDS: usize = 20;
const THRESHOLDS: u64 = 100_000;
const GOAL_MS: f64 = 50.0;
const WILDCARDS: &str = "5 targets × 200 alerts × 100 instances";
const RECORDS: &str = "10 targets × records of 10,000 counters";
const LOG: &str = "60 s of 10,000 counters a second in a CSV file";
const SECONDS: u64 = 60;
/// Ten times what it takes: 0.1 % of one core.
const LOG_GOAL_PERCENT: f64 = 1.0;
const NAMES: &str = "10 targets × 10,000 alerts × 1 instance";

fn main() -> ExitCode {
    let wildcard = |number: usize| format!(r"\Works(*)\{}>{number}", ["Load", "Turns/sec"][number % 2]);
    let named = |number: usize| {
        format!(r"\Works({})\{}>{}", number % 100, ["Load", "Turns/sec"][number % 2], number * 7 % 100)
    };
    let mut wildcards = targets(5, &(0..200).map(wildcard).collect::<Vec<_>>());
    let mut names = targets(10, &(0..10_000).map(named).collect::<Vec<_>>());
    let both = [r"\Works(*)\Load>1", r"\Works(*)\Turns/sec>1"].map(str::to_owned);
    let mut logs: Vec<Target> = (0..10).map(|_| Target::new(5_000, &both)).collect();
    let record = |logs: &mut [Target]| black_box(logs).iter_mut().map(Target::record).sum::<usize>();
    let round = |targets: &mut [Target]| black_box(targets).iter_mut().for_each(Target::round);
    let results = Race::new("alerts judged on replies", "threshold", THRESHOLDS)
        .contestant(WILDCARDS, || round(&mut wildcards))
        .contestant(NAMES, || round(&mut names))
        .contestant(RECORDS, || assert!(record(&mut logs) >= 50_000, "they have values"))
        .run(ROUNDS);
    println!("{results}");
    assert!(wildcards.iter().chain(&names).all(|target| target.fired() > 1_000), "some are across");
    let mut holds = true;
    for name in [WILDCARDS, NAMES, RECORDS] {
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let ms = results.nanos_a_unit(name).unwrap() * THRESHOLDS as f64 / 1e6;
        println!("  goal: {name} within {GOAL_MS} ms: {ms:.1} ms");
        holds &= ms <= GOAL_MS;
    }
    let logged = log_time(&both);
    let percent = logged.as_secs_f64() / SECONDS as f64 * 100.0;
    println!(
        "  goal: {LOG} within {LOG_GOAL_PERCENT} % of a core: {percent:.2} % ({logged:.1?} of CPU time)"
    );
    holds &= percent <= LOG_GOAL_PERCENT;
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The CPU time of all threads for sampling, the queue and the file of a log.
fn log_time(thresholds: &[String]) -> Duration {
    let mut target = Target::new(5_000, thresholds);
    let place = tempfile::tempdir().unwrap();
    target.log_to(place.path().join("web1"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.unwrap().block_on(async {
        let began = cpu_time();
        for _ in 0..SECONDS {
            target.write();
            // The writer has the rest of the second.
            tokio::task::yield_now().await;
        }
        assert_eq!(target.close().await, SECONDS, "all records are in the file");
        cpu_time() - began
    })
}

fn cpu_time() -> Duration {
    let clock = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(clock).unwrap()
}

fn targets(count: usize, thresholds: &[String]) -> Vec<Target> {
    (0..count).map(|_| Target::new(100, thresholds)).collect()
}
