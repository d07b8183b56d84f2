//! Writes the seeds into `tests/data`: `cargo run -p exporter-oracles --example seed`
#![expect(
    clippy::unwrap_used,
    reason = "a tool for who writes oracles: a missing folder is the reader's to see"
)]

use std::fs;
use std::path::Path;

use exporter_oracles::seeds;

fn main() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for (oracle, name, bytes) in seeds::seeds() {
        fs::create_dir_all(data.join(oracle)).unwrap();
        fs::write(data.join(oracle).join(name), bytes).unwrap();
    }
}
