use std::iter::repeat;
use std::panic::catch_unwind;

use oracles::{ORACLES, exporter};
use test_support::oracle::mutated;

use crate::inputs;

/// Rounds for each oracle, a few seconds in all: of decoders, and of the exporter, whose take longer.
const ROUNDS: [u64; 2] = [1000, 300];

#[test]
fn no_change_of_an_input_breaks_a_law() {
    inputs::hush();
    let decoders = ORACLES.into_iter().zip(repeat(ROUNDS[0]));
    for ((name, oracle), rounds) in decoders.chain(exporter::ORACLES.into_iter().zip(repeat(ROUNDS[1]))) {
        let inputs: Vec<Vec<u8>> = inputs::of(name).into_iter().map(|(_, bytes)| bytes).collect();
        for seed in 0..rounds {
            let bytes = mutated(&inputs, seed);
            let outcome = catch_unwind(|| oracle(&bytes));
            assert!(outcome.is_ok(), "{name} breaks a law with seed {seed}: {bytes:02x?}");
        }
    }
}
