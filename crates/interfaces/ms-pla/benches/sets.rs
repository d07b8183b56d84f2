//! Reading the data collector sets of a large host as XML beside a memcpy of the same bytes: 500 sets with 10 data collectors of 5
//! counters or thresholds each.
//!
//! `cargo bench -p ms-pla` prints the table. Guarded number: all of them within 200 ms, a tenth of the time in which a client
//! shall have listed them over a sealed connection.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use ms_pla::xml::{AlertDataCollector, DataCollectorSet, Limits, PerformanceCounterDataCollector};
use test_support::race::{Goal, Race};

const SETS: usize = 500;
const ROUNDS: usize = 10;
const BUDGET: Duration = Duration::from_millis(200);
const READ: &str = "500 sets with 10 data collectors";
const WRITTEN: &str = "the same, written";

fn main() -> ExitCode {
    let sets: Vec<DataCollectorSet> = (0..SETS).map(set).collect();
    let documents: Vec<String> = sets.iter().map(|set| set.to_xml().unwrap()).collect();
    let bytes = documents.concat();
    let mut copy = vec![0; bytes.len()];
    let results = Race::new("data collector sets", "byte", bytes.len() as u64)
        .contestant("memcpy", || black_box(&mut copy).copy_from_slice(black_box(bytes.as_bytes())))
        .contestant(READ, || {
            let limits = Limits::default();
            let read = |text: &String| DataCollectorSet::read(black_box(text.as_bytes()), &limits).unwrap();
            let collectors = documents.iter().map(read).map(|set| set.counters.len() + set.alerts.len());
            assert_eq!(collectors.sum::<usize>(), 10 * SETS);
        })
        .contestant(WRITTEN, || {
            let written: usize = sets.iter().map(|set| black_box(set).to_xml().unwrap().len()).sum();
            assert_eq!(written, bytes.len());
        })
        .reported("200 ms", || BUDGET)
        .run(ROUNDS);
    let goal = |name| Goal { name, yardstick: "200 ms", ratio: 1.0 };
    let holds = results.judge(&[goal(READ), goal(WRITTEN)]);
    println!("  {} bytes", bytes.len());
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

const PATHS: [&str; 5] = [
    r"\Processor Information(*)\% Processor Time",
    r"\Memory\Available MBytes",
    r"\PhysicalDisk(*)\Avg. Disk sec/Transfer",
    r"\System\Context Switches/sec",
    r"\Process(*)\Working Set",
];

fn set(number: usize) -> DataCollectorSet {
    let paths = || PATHS.map(str::to_owned).to_vec();
    let counters = |index| PerformanceCounterDataCollector {
        name: Some(format!("DataCollector{index:02}")),
        sample_interval_s: Some(15),
        counters: paths(),
        counter_display_names: paths(),
        ..PerformanceCounterDataCollector::default()
    };
    let alert = |index| AlertDataCollector {
        name: Some(format!("DataCollector{index:02}")),
        alerts: PATHS.map(|path| format!("{path}>90")).to_vec(),
        ..AlertDataCollector::default()
    };
    DataCollectorSet {
        name: Some(format!("Generated {number:04}")),
        duration_s: Some(3600),
        root_path: Some(r"%systemdrive%\PerfLogs\Admin".to_owned()),
        security: Some("O:BAG:DUD:AI(A;;FA;;;SY)(A;;FA;;;BA)(A;;FR;;;LU)".to_owned()),
        counters: (1..9).map(counters).collect(),
        alerts: (9..11).map(alert).collect(),
        ..DataCollectorSet::default()
    }
}
