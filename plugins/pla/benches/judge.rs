//! Judging 100,000 thresholds on decoded replies: as many instances of alerts with a wildcard, and as many alerts that name an
//! instance. No host has so many; these are several. As many counters in records of logs beside them.
//!
//! `cargo bench -p plugin-pla` prints the table. Guarded number: each takes less than 50 ms on one core. Nothing is allocated
//! on the way, which a test sees to.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::process::ExitCode;

use test_support::race::Race;

use self::workload::Target;

mod workload;

const ROUNDS: usize = 20;
const THRESHOLDS: u64 = 100_000;
const GOAL_MS: f64 = 50.0;
const WILDCARDS: &str = "5 targets × 200 alerts × 100 instances";
const RECORDS: &str = "10 targets × records of 10,000 counters";
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
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn targets(count: usize, thresholds: &[String]) -> Vec<Target> {
    (0..count).map(|_| Target::new(100, thresholds)).collect()
}
