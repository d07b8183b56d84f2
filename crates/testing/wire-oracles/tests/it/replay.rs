use std::path::Path;

use test_support::oracle::names;
use wire_oracles::{INPUT_BYTES_MAX, ORACLES};

use crate::inputs;

#[test]
fn no_input_breaks_a_law_or_takes_more_memory_than_it_is_worth() {
    inputs::hush();
    for (name, oracle) in ORACLES {
        let inputs = inputs::of(name);
        assert!(!inputs.is_empty(), "{name} has no inputs");
        for (path, bytes) in inputs {
            let used = allocation_counter::measure(|| {
                let outcome = std::panic::catch_unwind(|| oracle(&bytes));
                assert!(outcome.is_ok(), "{path} breaks a law of {name}");
            });
            // What is held at one time; the laws hold several copies of what was read.
            assert!(used.bytes_max < BYTES_MAX, "{path}: {} bytes for {}", used.bytes_max, bytes.len());
        }
    }
}

/// For any input of at most [`INPUT_BYTES_MAX`]: limits here are small, and two machines stand side by side.
const BYTES_MAX: u64 = 16 << 20;

#[test]
fn every_folder_of_inputs_has_its_oracle_and_its_fuzz_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut oracles = ORACLES.map(|(name, _)| name);
    oracles.sort_unstable();
    assert_eq!(names(&root.join("tests/data")), oracles);
    let targets = names(&root.join("../../../fuzz/fuzz_targets"));
    assert!(oracles.iter().all(|oracle| targets.iter().any(|target| target == oracle)), "{targets:?}");
}

#[test]
fn an_input_without_end_is_cut() {
    inputs::hush();
    for (name, oracle) in ORACLES {
        let used = allocation_counter::measure(|| oracle(&vec![0; 2 * INPUT_BYTES_MAX]));
        assert!(used.bytes_max < BYTES_MAX, "{name}: {} bytes", used.bytes_max);
    }
}
