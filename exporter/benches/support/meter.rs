//! CPU time of this thread, the best of some interleaved rounds, and a table of it.

use rustix::time::{ClockId, clock_gettime};

/// Contestants are run one after the other in each of so many rounds; the best round of each counts.
pub(crate) const ROUNDS: u64 = 9;

/// What one contestant needed.
pub(crate) struct Row {
    name: &'static str,
    best_ns: f64,
    per: usize,
}

impl Row {
    /// A contestant that handles `per` items in each round.
    pub(crate) fn new(name: &'static str, per: usize) -> Self {
        Self { name, best_ns: f64::INFINITY, per }
    }

    /// Runs it once.
    pub(crate) fn round<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begin = thread_cpu_ns();
        let result = std::hint::black_box(work());
        self.best_ns = self.best_ns.min(thread_cpu_ns() - begin);
        result
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    fn per_item(&self) -> f64 {
        self.best_ns / self.per as f64
    }
}

/// Prints each contestant beside the first one.
pub(crate) fn print(title: &str, rows: &[Row]) {
    println!("\n{title}: ns of CPU per sample, best of {ROUNDS} interleaved rounds");
    let yardstick = rows.first().map_or(1.0, Row::per_item);
    for row in rows {
        println!("  {:<44} {:>9.2}  {:>7.2} x", row.name, row.per_item(), row.per_item() / yardstick);
    }
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a benchmark stay below 2⁵³")]
fn thread_cpu_ns() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}
