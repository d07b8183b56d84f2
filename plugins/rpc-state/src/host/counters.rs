//! Counters of 32 bits that wrap, as counters that do not.

use endpoints::mgmt::types::Statistics;

/// What the server at one port has counted, over all of its wraps that were seen.
#[derive(Debug, Default)]
pub(super) struct Counters {
    last: [u32; 4],
    /// What the wraps so far amount to.
    wrapped: [u64; 4],
}

impl Counters {
    /// Adds what the server answers now. A figure below the one before has wrapped if the connection is the same, because
    /// the server's process is the same then; else the server may have been started anew, and all of them begin again.
    pub(super) fn update(&mut self, now: Statistics, is_same_connection: bool) -> [u64; 4] {
        let now = now.to_array();
        if !is_same_connection && now.iter().zip(&self.last).any(|(now, last)| now < last) {
            *self = Self::default();
        }
        let Self { last, wrapped } = self;
        for ((last, wrapped), now) in last.iter_mut().zip(wrapped.iter_mut()).zip(now) {
            if now < *last {
                *wrapped += 1 << u32::BITS;
            }
            *last = now;
        }
        std::array::from_fn(|index| wrapped[index] + u64::from(last[index]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(calls_in: u32, packets_in: u32) -> Statistics {
        Statistics { calls_in, calls_out: 0, packets_in, packets_out: 7 }
    }

    #[test]
    fn a_counter_goes_on_when_it_wraps_over_one_connection() {
        let mut counters = Counters::default();
        assert_eq!(counters.update(statistics(u32::MAX, 5), false), [0xffff_ffff, 0, 5, 7]);
        assert_eq!(counters.update(statistics(2, 6), true), [0x1_0000_0002, 0, 6, 7]);
        assert_eq!(counters.update(statistics(1, 6), true), [0x2_0000_0001, 0, 6, 7]);
    }

    #[test]
    fn another_connection_goes_on_too_unless_the_server_began_to_count_again() {
        let mut counters = Counters::default();
        counters.update(statistics(10, u32::MAX), false);
        counters.update(statistics(11, 1), true);
        assert_eq!(counters.update(statistics(12, 2), false), [12, 0, 0x1_0000_0002, 7]);
        assert_eq!(counters.update(statistics(3, 4), false), [3, 0, 4, 7]);
    }
}
