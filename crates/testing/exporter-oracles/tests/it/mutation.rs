use std::panic::catch_unwind;

use exporter_oracles::ORACLES;
use test_support::oracle::mutated;

/// Rounds for each oracle, a few seconds in all.
const ROUNDS: u64 = 300;

#[test]
fn no_change_of_an_input_breaks_a_law() {
    for (name, oracle) in ORACLES {
        let inputs: Vec<Vec<u8>> = crate::inputs(name).into_iter().map(|(_, bytes)| bytes).collect();
        for seed in 0..ROUNDS {
            let bytes = mutated(&inputs, seed);
            let outcome = catch_unwind(|| oracle(&bytes));
            assert!(outcome.is_ok(), "{name} breaks a law with seed {seed}");
        }
    }
}
