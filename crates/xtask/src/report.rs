//! What ran, what was skipped and why, and the last line that sums it up.

use std::time::Instant;

use crate::Result;

/// What became of one check.
pub(crate) enum Outcome {
    /// It ran and holds; the sentence is the figure or fact that it found.
    Ran(String),
    /// It did not run: why, and how to get what it needs.
    Skipped(String),
}

/// Collects outcomes. A failing check does not hide those behind it.
#[derive(Default)]
pub(crate) struct Report {
    ran: usize,
    skipped: Vec<String>,
    failed: Vec<String>,
}

impl Report {
    /// Runs one check and prints a line about it.
    pub(crate) fn check(&mut self, name: &str, run: impl FnOnce() -> Result<Outcome>) {
        println!("check: {name}");
        let begun = Instant::now();
        let outcome = run();
        let seconds = begun.elapsed().as_secs_f64();
        match outcome {
            Ok(Outcome::Ran(found)) => {
                self.ran += 1;
                println!("ran: {name}{} ({seconds:.1} s)", prefixed(&found));
            }
            Ok(Outcome::Skipped(why)) => {
                println!("skipped: {name}: {why}");
                self.skipped.push(name.to_owned());
            }
            Err(error) => {
                println!("failed: {name}: {error}");
                self.failed.push(name.to_owned());
            }
        }
    }

    /// The last line. `require` makes a skipped check an error.
    pub(crate) fn finish(self, require: bool) -> Result<()> {
        let Self { ran, skipped, failed } = self;
        if require && !skipped.is_empty() {
            println!("required but skipped: {}", skipped.join(", "));
        }
        if !failed.is_empty() {
            println!("failed: {}", failed.join(", "));
        }
        println!("{ran} checks ran, {} skipped, {} failed", skipped.len(), failed.len());
        if failed.is_empty() && (skipped.is_empty() || !require) {
            Ok(())
        } else {
            Err("not everything holds".into())
        }
    }
}

fn prefixed(found: &str) -> String {
    if found.is_empty() { String::new() } else { format!(": {found}") }
}
