/// Makes a 64-bit counter of a 32-bit one that wraps around, by adding up what happened between two polls.
///
/// A counter that comes back lower went round, or its provider began anew; both look the same. Less than 2³¹ events
/// on the way round are taken for the former. Polling faster than the counter makes 2³¹ events keeps it right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Widen32 {
    state: Option<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    last: u32,
    total: u64,
}

/// What [`Widen32::update`] answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widened {
    /// The counter with 64 bits.
    pub total: u64,
    /// Whether it began anew.
    pub reset: bool,
}

impl Widen32 {
    /// A counter that was not seen yet: its first value is taken as it is.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: None }
    }

    /// Takes the value of a poll.
    pub fn update(&mut self, raw: u32) -> Widened {
        let anew = Widened { total: raw.into(), reset: true };
        let widened = match self.state {
            None => Widened { reset: false, ..anew },
            Some(State { last, total }) => {
                let delta = raw.wrapping_sub(last);
                if raw >= last || delta < 1 << 31 {
                    Widened { total: total.wrapping_add(delta.into()), reset: false }
                } else {
                    anew
                }
            }
        };
        self.state = Some(State { last: raw, total: widened.total });
        widened
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(values: &[u32]) -> Vec<(u64, bool)> {
        let mut counter = Widen32::new();
        values.iter().map(|raw| counter.update(*raw)).map(|widened| (widened.total, widened.reset)).collect()
    }

    #[test]
    fn a_counter_that_goes_round_goes_on() {
        let values = totals(&[u32::MAX - 1, u32::MAX, 3, u32::MAX, 3]);
        let turn = 1_u64 << 32;
        let expected = [turn - 2, turn - 1, turn + 3, 2 * turn - 1, 2 * turn + 3];
        assert_eq!(values, expected.map(|total| (total, false)));
    }

    #[test]
    fn a_counter_that_falls_far_begins_anew() {
        assert_eq!(totals(&[1000, 5, 7]), [(1000, false), (5, true), (7, false)]);
    }

    #[test]
    fn a_large_step_up_is_no_turn() {
        assert_eq!(totals(&[0, u32::MAX]), [(0, false), (u64::from(u32::MAX), false)]);
    }
}
