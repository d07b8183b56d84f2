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
    clock: &'static str,
    contestants: Vec<Contestant<'a>>,
}

struct Contestant<'a> {
    /// Without a name it is a step between contestants, which is not measured.
    name: Option<&'a str>,
    round: Round<'a>,
}

enum Round<'a> {
    Timed(Box<dyn FnMut() + 'a>),
    /// Answers what it took.
    Reported(Box<dyn FnMut() -> Duration + 'a>),
}

impl Round<'_> {
    fn run(&mut self) -> Duration {
        match self {
            Self::Timed(round) => {
                let begun = thread_cpu_time();
                round();
                thread_cpu_time().saturating_sub(begun)
            }
            Self::Reported(round) => round(),
        }
    }
}

impl<'a> Race<'a> {
    /// A race over `workload`, in which each round handles `units` of `unit`.
    #[must_use]
    pub fn new(workload: &'a str, unit: &'a str, units: u64) -> Self {
        Self { workload, unit, units, clock: "processor time of the thread", contestants: Vec::new() }
    }

    /// All contestants are [reported](Self::reported), and say how long they took by the clock on the wall: they wait for disks and
    /// other processes.
    #[must_use]
    pub fn by_the_wall(self) -> Self {
        Self { clock: "time by the clock on the wall", ..self }
    }

    /// Adds a contestant. `round` does the whole workload once.
    #[must_use]
    pub fn contestant(mut self, name: &'a str, round: impl FnMut() + 'a) -> Self {
        self.contestants.push(Contestant { name: Some(name), round: Round::Timed(Box::new(round)) });
        self
    }

    /// Adds a contestant in another process, which says itself how much processor time the workload took.
    #[must_use]
    pub fn reported(mut self, name: &'a str, round: impl FnMut() -> Duration + 'a) -> Self {
        self.contestants.push(Contestant { name: Some(name), round: Round::Reported(Box::new(round)) });
        self
    }

    /// Adds a step that every round does at this place and that is not measured: new values, for instance.
    #[must_use]
    pub fn step(mut self, step: impl FnMut() + 'a) -> Self {
        self.contestants.push(Contestant { name: None, round: Round::Timed(Box::new(step)) });
        self
    }

    /// Runs `rounds` rounds, after one to warm up, and returns each contestant's best.
    #[must_use]
    pub fn run(mut self, rounds: usize) -> Results {
        let mut best = vec![Duration::MAX; self.contestants.len()];
        for round in 0..=rounds {
            for (index, contestant) in self.contestants.iter_mut().enumerate() {
                let taken = contestant.round.run();
                if round > 0 {
                    best[index] = best[index].min(taken);
                }
            }
        }
        let names = self.contestants.iter().map(|contestant| contestant.name);
        let named = names.zip(best).filter_map(|(name, best)| Some((name?.to_owned(), best)));
        Results {
            workload: self.workload.to_owned(),
            unit: self.unit.to_owned(),
            units: self.units,
            clock: self.clock,
            rounds,
            best: named.collect(),
        }
    }
}

/// Each contestant's best round, in the order in which they were added. Prints as a table whose first row is the
/// yardstick.
pub struct Results {
    workload: String,
    unit: String,
    units: u64,
    clock: &'static str,
    rounds: usize,
    best: Vec<(String, Duration)>,
}

/// A goal that a benchmark checks: the maximum ratio of one contestant's time to another's.
///
/// A busy machine spoils ratios, too: what misses the goal is said, what takes twice as long as that is a failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal<'a> {
    /// The contestant that is measured.
    pub name: &'a str,
    pub yardstick: &'a str,
    /// The most that is wanted.
    pub ratio: f64,
}

impl Results {
    /// How many times as long as `yardstick` took `name`, where both ran.
    #[must_use]
    pub fn ratio(&self, name: &str, yardstick: &str) -> Option<f64> {
        Some(self.seconds(name)? / self.seconds(yardstick)?.max(f64::MIN_POSITIVE))
    }

    /// Prints the table and, for each goal, whether it is met. Answers whether none is missed by a factor of two.
    #[must_use]
    pub fn judge(&self, goals: &[Goal<'_>]) -> bool {
        println!("{self}");
        goals.iter().fold(true, |holds, goal| {
            let ratio = self.ratio(goal.name, goal.yardstick).unwrap_or(f64::INFINITY);
            println!("  {goal}: {ratio:.2} × ({})", verdict(ratio, goal.ratio));
            holds && ratio <= FAILURE * goal.ratio
        })
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
        writeln!(f, "{}", self.workload)?;
        let (unit, rounds, clock) = (&self.unit, self.rounds, self.clock);
        writeln!(f, "  {clock} for one {unit}, best of {rounds} interleaved rounds")?;
        let Some((yardstick, _)) = self.best.first() else { return Ok(()) };
        for (name, _) in &self.best {
            let nanos = self.nanos_a_unit(name).unwrap_or_default();
            let ratio = self.ratio(name, yardstick).unwrap_or_default();
            writeln!(f, "  {name:<40} {nanos:>12.2} ns/{:<10} {ratio:>8.2} × {yardstick}", self.unit)?;
        }
        Ok(())
    }
}

impl fmt::Display for Goal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "goal: {} within {} × {}", self.name, self.ratio, self.yardstick)
    }
}

fn verdict(ratio: f64, goal: f64) -> &'static str {
    if ratio <= goal {
        "met"
    } else if ratio <= FAILURE * goal {
        "above the goal"
    } else {
        "failed: more than twice the goal"
    }
}

/// How many times the goal is a failure.
const FAILURE: f64 = 2.0;

/// Processor time of this thread: what other programs do on the machine is not in it.
#[must_use]
pub fn thread_cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(ours_ms: u64) -> Results {
        let best = vec![
            ("memcpy".to_owned(), Duration::from_millis(10)),
            ("ours".to_owned(), Duration::from_millis(ours_ms)),
        ];
        Results {
            workload: "Rows".into(),
            unit: "row".into(),
            units: 1_000_000,
            clock: "time",
            rounds: 9,
            best,
        }
    }

    #[test]
    fn a_goal_is_met_missed_or_failed() {
        let goal = Goal { name: "ours", yardstick: "memcpy", ratio: 2.0 };
        assert_eq!(goal.to_string(), "goal: ours within 2 × memcpy");
        for (ours_ms, expected, holds) in [
            (20, "met", true),
            (21, "above the goal", true),
            (40, "above the goal", true),
            (41, "failed: more than twice the goal", false),
        ] {
            let results = results(ours_ms);
            let ratio = results.ratio("ours", "memcpy").expect("both ran");
            assert_eq!(
                (verdict(ratio, goal.ratio), results.judge(&[goal])),
                (expected, holds),
                "{ours_ms} ms"
            );
        }
    }

    #[test]
    fn who_did_not_run_meets_no_goal() {
        assert!(!results(1).judge(&[Goal { name: "theirs", yardstick: "memcpy", ratio: 2.0 }]));
    }

    #[test]
    fn of_what_another_process_reports_the_best_counts_but_for_the_first() {
        let mut reported = [1, 30, 20, 40].map(Duration::from_millis).into_iter();
        let race = Race::new("Rows", "row", 1).reported("theirs", || reported.next().expect("four rounds"));
        assert_eq!(race.run(3).nanos_a_unit("theirs"), Some(20e6));
    }

    #[test]
    fn steps_run_in_their_place_and_are_not_in_the_table() {
        let order = std::cell::RefCell::new(String::new());
        let results = Race::new("Letters", "letter", 1)
            .contestant("first", || order.borrow_mut().push('a'))
            .step(|| order.borrow_mut().push('-'))
            .contestant("second", || order.borrow_mut().push('b'))
            .run(1);
        assert_eq!(*order.borrow(), "a-ba-b");
        assert_eq!(results.to_string().lines().count(), 4);
    }
}
