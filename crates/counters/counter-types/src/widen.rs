/// Extends a counter over several polls to 64 bits: wraps at 2³² are undone, and resets are reported.
///
/// A decrease is a wrap or a reset; both look the same. It is taken for a wrap if it means fewer than 2³¹ events.
/// Callers that know that the host or the instance was replaced call [`Widen::begin_anew`]. The result is correct
/// if there are fewer than 2³¹ events between two polls.
///
/// For a counter of 64 bits the total is its own value; only resets are detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Widen {
    /// INVARIANT: the lower half of a 32-bit counter's total is the last seen value.
    total: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// No value was seen.
    #[default]
    Unseen,
    /// The next value continues the last one.
    Seen,
    /// The next value does not continue the last one.
    Anew,
}

/// The width of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// It wraps to zero at 2³².
    Bits32,
    /// The counter never wraps around.
    Bits64,
}

/// The result of [`Widen::update`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widened {
    /// The counter with 64 bits.
    pub total: u64,
    /// The increase since the last value; the whole value after a reset or if it was not seen before.
    pub delta: u64,
    /// Whether it was reset, so that it has a new start time. False if it was not seen before.
    pub reset: bool,
}

impl Widen {
    /// A counter that was not seen yet: its first value is used unchanged.
    #[must_use]
    pub const fn new() -> Self {
        Self { total: 0, state: State::Unseen }
    }

    /// Takes the value of a poll. A value above 32 bits counts in 64 bits, even if its type says otherwise.
    pub fn update(&mut self, raw: u64, width: Width) -> Widened {
        let delta = match self.state {
            State::Unseen | State::Anew => None,
            State::Seen => delta(self.total, raw, width),
        };
        let reset = delta.is_none() && self.state != State::Unseen;
        // A sum that exceeds 2⁶⁴ is reset.
        let total = delta.and_then(|delta| self.total.checked_add(delta));
        *self = Self { total: total.unwrap_or(raw), state: State::Seen };
        Widened {
            total: self.total,
            delta: delta.unwrap_or(raw),
            reset: reset || (delta.is_some() && total.is_none()),
        }
    }

    /// Call it if the host or the instance was replaced: the next value does not continue the last one.
    pub fn begin_anew(&mut self) {
        if self.state == State::Seen {
            self.state = State::Anew;
        }
    }

    /// The 64-bit value that was returned last.
    #[must_use]
    pub const fn total(&self) -> Option<u64> {
        match self.state {
            State::Unseen => None,
            State::Seen | State::Anew => Some(self.total),
        }
    }
}

/// The increase between two values, or `None` if the counter was reset. Only the lower `width` bits of `older` are
/// used.
pub(crate) fn delta(older: u64, newer: u64, width: Width) -> Option<u64> {
    let (before, turn) = match u32::try_from(newer) {
        Ok(_) if width == Width::Bits32 => (older & u64::from(u32::MAX), u64::from(u32::MAX)),
        _ => (older, u64::MAX),
    };
    let delta = newer.wrapping_sub(before) & turn;
    (newer >= before || delta < WRAP_DELTA_MAX).then_some(delta)
}

/// A decrease that would mean an increase of this much or more is not a wrap.
const WRAP_DELTA_MAX: u64 = 1 << 31;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn totals(width: Width, values: &[u64]) -> Vec<(u64, bool)> {
        let mut counter = Widen::new();
        let update = |raw: &u64| counter.update(*raw, width);
        values.iter().map(update).map(|widened| (widened.total, widened.reset)).collect()
    }

    const MAX: u64 = u32::MAX as u64;

    #[test]
    fn a_counter_that_goes_round_goes_on() {
        let values = totals(Width::Bits32, &[MAX - 1, MAX, 3, MAX, 3]);
        let turn = 1_u64 << 32;
        let expected = [turn - 2, turn - 1, turn + 3, 2 * turn - 1, 2 * turn + 3];
        assert_eq!(values, expected.map(|total| (total, false)));
    }

    #[test]
    fn a_counter_that_falls_far_begins_anew() {
        let expected = [(1000, false), (5, true), (7, false)];
        assert_eq!(totals(Width::Bits32, &[1000, 5, 7]), expected);
        assert_eq!(totals(Width::Bits64, &[1000, 5, 7]), expected);
    }

    #[test]
    fn a_large_step_up_is_no_turn() {
        assert_eq!(totals(Width::Bits32, &[0, MAX]), [(0, false), (MAX, false)]);
    }

    // 2³¹ is the limit: from 2³¹ + 1 to 0 are 2³¹ − 1 steps.
    #[test]
    fn half_a_turn_is_the_border_between_going_round_and_beginning_anew() {
        let half = 1 << 31;
        assert_eq!(totals(Width::Bits32, &[half + 1, 0])[1], (1 << 32, false));
        assert_eq!(totals(Width::Bits32, &[half, 0])[1], (0, true));
    }

    #[test]
    fn a_counter_of_64_bits_does_not_go_round_at_32() {
        assert_eq!(totals(Width::Bits64, &[MAX, 3]), [(MAX, false), (3, true)]);
    }

    #[test]
    fn a_counter_that_is_wider_than_its_type_is_taken_as_it_is() {
        let values = [MAX + 10, MAX + 12, 5];
        assert_eq!(totals(Width::Bits32, &values)[..2], [(MAX + 10, false), (MAX + 12, false)]);
    }

    // Values wrap at 2⁶⁴, which readers take for a reset.
    #[test]
    fn a_counter_that_passes_two_to_the_64th_begins_anew() {
        assert_eq!(totals(Width::Bits64, &[u64::MAX, 4]), [(u64::MAX, false), (4, true)]);
    }

    #[test]
    fn after_a_restart_that_somebody_saw_no_value_goes_on() {
        let mut counter = Widen::new();
        counter.begin_anew();
        assert!(!counter.update(MAX, Width::Bits32).reset, "nothing was seen before");
        counter.begin_anew();
        let widened = counter.update(3, Width::Bits32);
        assert_eq!(widened, Widened { total: 3, delta: 3, reset: true });
        assert_eq!(counter.update(5, Width::Bits32), Widened { total: 5, delta: 2, reset: false });
    }

    proptest! {
        // The witness is a counter of 64 bits, of which only the lower half is visible.
        #[test]
        fn as_long_as_it_is_polled_in_time_nothing_is_lost(
            first in 0..=MAX, steps in prop::collection::vec(0..1_u64 << 31, 0..20),
        ) {
            let mut counter = Widen::new();
            let mut truth = first;
            counter.update(truth, Width::Bits32);
            for step in steps {
                truth += step;
                let widened = counter.update(truth & MAX, Width::Bits32);
                prop_assert_eq!(widened, Widened { total: truth, delta: step, reset: false });
            }
        }
    }
}
