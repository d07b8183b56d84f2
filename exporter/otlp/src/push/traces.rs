//! Which collections a collector gets as traces.

use std::time::Duration;

use support::input::wildcard;

/// `otlp[].traces:`, which collections a collector gets as traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traces {
    /// `one_in`: one of so many, drawn before it is known how the collection ends. Default 1: each.
    pub one_in: u32,
    /// `targets`: names, where `*` stands for any characters. Default: all.
    pub targets: Vec<String>,
    /// `failed`: of those that were drawn only the ones that failed, wholly or in part. Default `false`.
    pub failed: bool,
    /// `slower_than`: of those that were drawn only the ones that took longer; together with `failed` either is enough.
    pub slower_than: Option<Duration>,
}

impl Traces {
    /// The share of collections that are drawn.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        1.0 / f64::from(self.one_in.max(1))
    }

    /// Whether collections of a target are wanted.
    #[must_use]
    pub fn wants_target(&self, target: &str) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|pattern| wildcard::matches(pattern, target))
    }

    /// Whether a collection is wanted now that it is known how it ended.
    #[must_use]
    pub fn wants_end(&self, failed: bool, took: Duration) -> bool {
        let is_slow = self.slower_than.is_some_and(|slower_than| took > slower_than);
        (!self.failed && self.slower_than.is_none()) || (self.failed && failed) || is_slow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_and_slow_collections_can_be_had_without_the_others() {
        let second = Duration::from_secs(1);
        let all = Traces { one_in: 1, targets: Vec::new(), failed: false, slower_than: None };
        let failed = Traces { failed: true, ..all.clone() };
        let either = Traces { slower_than: Some(second), ..failed.clone() };
        let slow = Traces { failed: false, ..either.clone() };
        let wants = |traces: &Traces| {
            [(false, second), (true, second), (false, second * 2)]
                .map(|(bad, took)| traces.wants_end(bad, took))
        };
        assert_eq!(wants(&all), [true, true, true]);
        assert_eq!(wants(&failed), [false, true, false]);
        assert_eq!(wants(&either), [false, true, true]);
        assert_eq!(wants(&slow), [false, false, true]);
    }
}
