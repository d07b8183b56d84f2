//! Benchmarks as races: contestants run round by round in one thread of one process, so that a noisy machine is
//! noisy for all of them; what counts is the ratio of their best rounds.
//!
//! ```
//! use test_support::race::Race;
//!
//! let bytes = vec![1_u8; 1 << 16];
//! let mut copy = vec![0_u8; 1 << 16];
//! let mut sum = 0_u64;
//! let results = Race::new("64 KiB", "byte", 1 << 16)
//!     .contestant("memcpy", || copy.copy_from_slice(&bytes))
//!     .contestant("sum", || sum += bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>())
//!     .run(9);
//! println!("{results}");
//! assert!(results.ratio("sum", "memcpy").unwrap() > 0.0);
//! ```

use std::fmt;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Contestants and what they all do once a round.
pub struct Race<'a> {
    workload: &'a str,
    unit: &'a str,
    units: u64,
    contestants: Vec<Contestant<'a>>,
}

struct Contestant<'a> {
    name: &'a str,
    round: Box<dyn FnMut() + 'a>,
}

impl<'a> Race<'a> {
    /// A race over `workload`, in which each round handles `units` of `unit`.
    #[must_use]
    pub fn new(workload: &'a str, unit: &'a str, units: u64) -> Self {
        Self { workload, unit, units, contestants: Vec::new() }
    }

    /// Adds a contestant. `round` does the whole workload once; what differs from round to round (new values,
    /// say) it prepares in a contestant of its own that runs before, or within its time.
    #[must_use]
    pub fn contestant(mut self, name: &'a str, round: impl FnMut() + 'a) -> Self {
        self.contestants.push(Contestant { name, round: Box::new(round) });
        self
    }

    /// Runs `rounds` rounds, after one that does not count, and answers each contestant's best.
    #[must_use]
    pub fn run(mut self, rounds: usize) -> Results {
        let mut best = vec![Duration::MAX; self.contestants.len()];
        for round in 0..=rounds {
            for (index, contestant) in self.contestants.iter_mut().enumerate() {
                let begun = thread_cpu_time();
                (contestant.round)();
                let taken = thread_cpu_time().saturating_sub(begun);
                if round > 0 {
                    best[index] = best[index].min(taken);
                }
            }
        }
        let names = self.contestants.iter().map(|contestant| contestant.name.to_owned());
        Results {
            workload: self.workload.to_owned(),
            unit: self.unit.to_owned(),
            units: self.units,
            best: names.zip(best).collect(),
        }
    }
}

/// Each contestant's best round, in the order in which they were added. Prints as a table whose first row is the
/// yardstick.
pub struct Results {
    workload: String,
    unit: String,
    units: u64,
    best: Vec<(String, Duration)>,
}

impl Results {
    /// How many times as long as `yardstick` took `name`, where both ran.
    #[must_use]
    pub fn ratio(&self, name: &str, yardstick: &str) -> Option<f64> {
        Some(self.seconds(name)? / self.seconds(yardstick)?.max(f64::MIN_POSITIVE))
    }

    /// A contestant's best round, in nanoseconds a unit.
    #[must_use]
    pub fn nanos_a_unit(&self, name: &str) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "units are far below 2^53")]
        Some(self.seconds(name)? * 1e9 / self.units as f64)
    }

    fn seconds(&self, name: &str) -> Option<f64> {
        self.best.iter().find(|(own, _)| own == name).map(|(_, taken)| taken.as_secs_f64())
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({} × {})", self.workload, self.units, self.unit)?;
        let Some((yardstick, _)) = self.best.first() else { return Ok(()) };
        for (name, _) in &self.best {
            let nanos = self.nanos_a_unit(name).unwrap_or_default();
            let ratio = self.ratio(name, yardstick).unwrap_or_default();
            writeln!(f, "  {name:<40} {nanos:>12.2} ns/{:<10} {ratio:>8.2} × {yardstick}", self.unit)?;
        }
        Ok(())
    }
}

/// Processor time of this thread: what other programs do on the machine is not in it.
#[must_use]
pub fn thread_cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}
