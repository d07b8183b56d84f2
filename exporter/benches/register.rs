//! Registering 1,000,000 series of 4 labels in one store: without rules, and with three such as people have.
//!
//! Guarded numbers: 2 s for all of them, and with rules no more memory a series than without.
#![allow(clippy::panic, missing_docs, reason = "a benchmark fails by panicking")]

mod support;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use series::model::{Block, Chunk, Target};
use series::pipeline::{Catalog, Limits, NoObserver, Normalize, RelabelConfig, Rule, Rules, Scope, Store};
use test_support::race::thread_cpu_time;

use self::support::workload;

const SERIES: usize = 1_000_000;
const ROUNDS: usize = 3;
const GUARDED: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let mut holds = true;
    let plain = measure("no rules", &Rules::default());
    holds &= plain.0 <= GUARDED;
    let ruled = measure("drop by name, replace by expression, labeldrop", &three());
    // The labels are as long as before: one came, one went.
    holds &= ruled.1 <= plain.1;
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn three() -> Rules {
    let text = |text: &str| Some(text.to_owned());
    let drive = RelabelConfig {
        source_labels: Some(vec!["counter_instance".to_owned()]),
        regex: text("(\\d+),disk"),
        target_label: text("drive"),
        ..RelabelConfig::default()
    };
    let without = RelabelConfig {
        action: text("labeldrop"),
        regex: text("zone|nobody_.*"),
        ..RelabelConfig::default()
    };
    Rules::from_iter([
        Rule::drop_series("perfmon_memory_.*|perfmon_process_.*_base", &[]).expect("it is a rule"),
        drive.compile(false).expect("it is a rule"),
        without.compile(false).expect("it is a rule"),
    ])
}

/// The best time of some rounds, and the bytes of prefixes a series.
fn measure(name: &str, rules: &Rules) -> (Duration, usize) {
    let mut best = Duration::MAX;
    let mut bytes = 0;
    for _ in 0..ROUNDS {
        let limits = Limits { series_max: SERIES, ..Limits::default() };
        let scope = Scope::new(Catalog::new(), Target::new("host.example.com"), limits);
        let normalize = Normalize { rules: rules.clone(), limits, ..Normalize::default() };
        let store: Arc<Store> = scope.ruled_store(Arc::new(NoObserver), normalize);
        let begun = thread_cpu_time();
        workload::register(&*store, SERIES);
        best = best.min(thread_cpu_time().saturating_sub(begun));
        assert_eq!(scope.series(), SERIES, "all are taken");
        workload::complete(&*store, 0);
        let snapshot = store.snapshot();
        let chunks = snapshot.layout().blocks().iter().flat_map(Block::chunks);
        bytes = chunks.map(|chunk: &Arc<Chunk>| chunk.prefixes().len()).sum::<usize>() / SERIES;
    }
    println!(
        "{name}: {best:.2?}, {} ns a series, {bytes} B of prefix a series",
        best.as_nanos() / SERIES as u128
    );
    (best, bytes)
}
