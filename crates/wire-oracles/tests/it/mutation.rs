use std::panic::catch_unwind;

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
            let bytes = mutated(&inputs, &mut Random(seed));
            let outcome = catch_unwind(|| oracle(&bytes));
            assert!(outcome.is_ok(), "{name} breaks a law with seed {seed}: {bytes:02x?}");
        }
    }
}

/// An input with a few changes.
fn mutated(inputs: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = inputs[random.below(inputs.len())].clone();
    for _ in 0..=random.below(4) {
        change(&mut bytes, inputs, random);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, inputs: &[Vec<u8>], random: &mut Random) {
    /// Where sizes and counts go wrong.
    const VALUES: [u32; 9] = [0, 1, 7, 8, 0x7f, 0xffff, 0x7fff_ffff, 0xffff_fff8, 0xffff_ffff];
    let at = random.below(bytes.len() + 1);
    match random.below(7) {
        0 => bytes.truncate(at),
        1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        2 if at < bytes.len() => bytes[at] = random.byte(),
        3 if at + 4 <= bytes.len() => {
            bytes[at..at + 4].copy_from_slice(&VALUES[random.below(VALUES.len())].to_le_bytes());
        }
        4 => bytes.insert(at, random.byte()),
        5 => {
            let end = (at + 1 + random.below(16)).min(bytes.len());
            bytes.drain(at..end);
        }
        _ => {
            let other = &inputs[random.below(inputs.len())];
            let from = random.below(other.len() + 1);
            bytes.extend_from_slice(&other[from..]);
        }
    }
}

/// SplitMix64: the seed is the whole of it, and goes into the message of a failure.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).unwrap();
        usize::try_from(self.next() % bound).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}
