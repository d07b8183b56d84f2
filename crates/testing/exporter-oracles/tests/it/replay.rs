use std::path::Path;

use exporter_oracles::{INPUT_BYTES_MAX, ORACLES};
use test_support::oracle::names;

/// For any input of at most [`INPUT_BYTES_MAX`]: what an oracle makes of it several times over, and no more.
const BYTES_MAX: u64 = 48 << 20;

#[test]
fn no_input_breaks_a_law_or_takes_more_memory_than_it_is_worth() {
    for (name, oracle) in ORACLES {
        let inputs = crate::inputs(name);
        assert!(!inputs.is_empty(), "{name} has no inputs");
        for (path, bytes) in inputs {
            let used = allocation_counter::measure(|| {
                let outcome = std::panic::catch_unwind(|| oracle(&bytes));
                assert!(outcome.is_ok(), "{path} breaks a law of {name}");
            });
            assert!(used.bytes_max < BYTES_MAX, "{path}: {} bytes for {}", used.bytes_max, bytes.len());
        }
    }
}

#[test]
fn an_input_without_end_is_cut() {
    for (name, oracle) in ORACLES {
        let used = allocation_counter::measure(|| oracle(&vec![b'a'; 2 * INPUT_BYTES_MAX]));
        assert!(used.bytes_max < BYTES_MAX, "{name}: {} bytes", used.bytes_max);
    }
}

#[test]
fn every_folder_of_inputs_has_its_oracle_and_every_fuzz_target_has_one_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut ours = ORACLES.map(|(name, _)| name.to_owned()).to_vec();
    ours.sort_unstable();
    assert_eq!(names(&root.join("tests/data")), ours);
    ours.extend(wire_oracles::ORACLES.map(|(name, _)| name.to_owned()));
    ours.sort_unstable();
    assert_eq!(names(&root.join("../../../fuzz/fuzz_targets")), ours);
}
