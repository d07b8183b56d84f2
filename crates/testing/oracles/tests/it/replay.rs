use std::path::Path;

use oracles::{INPUT_BYTES_MAX, Oracle};
use test_support::oracle::names;

use crate::inputs;

#[test]
fn no_input_breaks_a_law_or_takes_more_memory_than_it_is_worth() {
    inputs::hush();
    for (name, oracle, bytes_max) in oracles_with_limits() {
        let inputs = inputs::of(name);
        assert!(!inputs.is_empty(), "{name} has no inputs");
        for (path, bytes) in inputs {
            let used = allocation_counter::measure(|| {
                let outcome = std::panic::catch_unwind(|| oracle(&bytes));
                assert!(outcome.is_ok(), "{path} breaks a law of {name}");
            });
            // What is held at one time; the laws hold several copies of what was read.
            assert!(used.bytes_max < bytes_max, "{path}: {} bytes for {}", used.bytes_max, bytes.len());
        }
    }
}

/// The limit of memory for any input of at most [`INPUT_BYTES_MAX`]. Those of decoders are small, and two machines stand side
/// by side; for the exporter's: what an oracle makes of it several times over, and no more.
fn oracles_with_limits() -> impl Iterator<Item = (&'static str, Oracle, u64)> {
    let decoders = oracles::ORACLES.into_iter().map(|(name, oracle)| (name, oracle, 16 << 20));
    decoders.chain(oracles::exporter::ORACLES.into_iter().map(|(name, oracle)| (name, oracle, 48 << 20)))
}

#[test]
fn every_folder_of_inputs_and_every_fuzz_target_has_its_oracle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut oracles: Vec<String> = oracles_with_limits().map(|(name, ..)| name.to_owned()).collect();
    oracles.sort_unstable();
    assert_eq!(names(&root.join("tests/data")), oracles);
    assert_eq!(names(&root.join("../../../fuzz/fuzz_targets")), oracles);
}

#[test]
fn an_input_without_end_is_cut() {
    inputs::hush();
    for (name, oracle, bytes_max) in oracles_with_limits() {
        // The exporter's own read text.
        let is_decoder = oracles::ORACLES.iter().any(|(known, _)| *known == name);
        let byte = if is_decoder { 0 } else { b'a' };
        let used = allocation_counter::measure(|| oracle(&vec![byte; 2 * INPUT_BYTES_MAX]));
        assert!(used.bytes_max < bytes_max, "{name}: {} bytes", used.bytes_max);
    }
}
