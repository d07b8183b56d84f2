//! What a peer that speaks [MS-PCQ] sees of this crate.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod allocations;
mod client;
mod fixture;
mod golden;
mod hostile;
mod laws;
mod layouts;
mod mapping;
mod server;
mod tables;

/// The bytes of a file in `tests/data`: hexadecimal digits, and comments after `#`.
fn hex(text: &str) -> Vec<u8> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let digits: Vec<char> = lines.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}
