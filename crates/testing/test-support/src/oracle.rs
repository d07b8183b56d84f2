//! What the crates of laws share. A law is an [`Oracle`]; its inputs are the files in a folder of its name, which tests
//! replay as they are and changed a little.

use std::fs;
use std::path::Path;

/// A set of laws. It panics where one is broken.
pub type Oracle = fn(&[u8]);

/// What an oracle looks at; the rest of a longer input is not read.
pub const INPUT_BYTES_MAX: usize = 64 << 10;

/// An input taken apart from its front. Where it is over, there are zeros and nothings.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// The front of `bytes`, as much of it as an oracle looks at.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(&bytes[..bytes.len().min(INPUT_BYTES_MAX)])
    }

    /// Whether the input is used up.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Eight bytes, or what is left of them.
    pub fn number(&mut self) -> u64 {
        let mut bytes = [0; 8];
        let taken = self.take(8);
        bytes[..taken.len()].copy_from_slice(taken);
        u64::from_le_bytes(bytes)
    }

    /// The next `bytes` bytes, or as many as there are.
    pub fn take(&mut self, bytes: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(self.0.len().min(bytes));
        self.0 = rest;
        taken
    }

    /// A length of two bytes, then as many bytes as that, or as there are.
    pub fn chunk(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(self.take(u16::from_le_bytes(*length).into()))
    }

    #[must_use]
    pub const fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// The inputs of an oracle below `data` with their names, in order.
///
/// # Panics
/// When they cannot be read.
#[must_use]
pub fn inputs(data: &Path, oracle: &str) -> Vec<(String, Vec<u8>)> {
    let folder = data.join(oracle);
    let entries = fs::read_dir(&folder).expect("each oracle has a folder of inputs");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a folder is listed").path()).collect();
    files.sort();
    let read = |path: &Path| fs::read(path).expect("an input can be read");
    files.into_iter().map(|path| (path.display().to_string(), read(&path))).collect()
}

/// The names of what is in a folder, without extensions, in order.
///
/// # Panics
/// When it cannot be read.
#[must_use]
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut names: Vec<String> =
        entries.map(|entry| stem(&entry.expect("a folder is listed").path())).collect();
    names.sort();
    names
}

/// One of the inputs with a few changes, which follow from `seed`.
#[must_use]
pub fn mutated(inputs: &[Vec<u8>], seed: u64) -> Vec<u8> {
    let random = &mut Random(seed);
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
        let bound = bound.max(1) as u64;
        usize::try_from(self.next() % bound).expect("it is below a usize")
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}
