use std::panic::catch_unwind;

use test_support::oracle::mutated;
use wire_oracles::ORACLES;

use crate::inputs;

/// Rounds for each oracle, a few seconds in all.
const ROUNDS: u64 = 1000;

#[test]
fn no_change_of_an_input_breaks_a_law() {
    inputs::hush();
    for (name, oracle) in ORACLES {
        let inputs: Vec<Vec<u8>> = inputs::of(name).into_iter().map(|(_, bytes)| bytes).collect();
        for seed in 0..ROUNDS {
            let bytes = mutated(&inputs, seed);
            let outcome = catch_unwind(|| oracle(&bytes));
            assert!(outcome.is_ok(), "{name} breaks a law with seed {seed}: {bytes:02x?}");
        }
    }
}
