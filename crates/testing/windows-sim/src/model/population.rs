use wire::FileTime;

/// Seconds as 100-nanosecond intervals.
pub(crate) const SECOND: u64 = FileTime::INTERVALS_PER_SECOND;

/// A number that looks random and depends on nothing but its two arguments (splitmix64).
#[must_use]
pub(crate) fn noise(seed: u64, index: u64) -> u64 {
    let mut z =
        seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// `noise` brought into `low..=high`.
#[must_use]
pub(crate) fn noise_in(seed: u64, index: u64, low: u64, high: u64) -> u64 {
    low + noise(seed, index) % (high - low + 1)
}

/// How busy something is: always a little, and more in bursts that come back. Its integral is a closed formula,
/// so that a counter of busy time never needs its past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// Share of the time that is always busy, in thousandths.
    pub(crate) base_permille: u64,
    /// Share that a burst adds, in thousandths.
    pub(crate) burst_permille: u64,
    /// From one burst to the next, in 100 ns.
    pub(crate) period: u64,
    /// How long a burst takes, in 100 ns.
    pub(crate) burst: u64,
}

impl Load {
    /// The load number `index` of a host with this seed; below 95 % at all times.
    #[must_use]
    pub(crate) fn seeded(seed: u64, index: u64) -> Self {
        let period = noise_in(seed, index * 4, 20, 90) * SECOND;
        Self {
            base_permille: noise_in(seed, index * 4 + 1, 20, 250),
            burst_permille: noise_in(seed, index * 4 + 2, 100, 700),
            period,
            burst: period / noise_in(seed, index * 4 + 3, 2, 6),
        }
    }

    /// Busy time in the first `elapsed` intervals:
    /// `elapsed · base + (whole periods · burst + min(rest, burst)) · extra`.
    #[must_use]
    pub(crate) fn busy_time(&self, elapsed: u64) -> u64 {
        let in_bursts = elapsed / self.period * self.burst + (elapsed % self.period).min(self.burst);
        elapsed / 1000 * self.base_permille + in_bursts / 1000 * self.burst_permille
    }
}

/// A place in which one process after the other runs for some time, with a pause in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// From one start to the next, in 100 ns.
    pub(crate) period: u64,
    /// How long a process lives, in 100 ns; less than `period`.
    pub(crate) life: u64,
    /// How far the first cycle had come when the host was started, in 100 ns.
    pub(crate) phase: u64,
}

/// One stay in a [`Slot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stay {
    /// Which one, counted from the start of the host.
    pub(crate) number: u64,
    /// When it began, in 100 ns since the start of the host.
    pub(crate) since: u64,
}

impl Slot {
    /// The slot number `index` of a host with this seed.
    #[must_use]
    pub(crate) fn seeded(seed: u64, index: u64) -> Self {
        let period = noise_in(seed, index * 3 + 0x5107, 30, 240) * SECOND;
        Self {
            period,
            life: period / 10 * noise_in(seed, index * 3 + 0x5108, 3, 8),
            phase: noise(seed, index * 3 + 0x5109) % period,
        }
    }

    /// Who is in the slot after `elapsed` intervals, if anybody.
    #[must_use]
    pub(crate) fn stay(&self, elapsed: u64) -> Option<Stay> {
        let position = elapsed + self.phase;
        let age = position % self.period;
        (age < self.life).then(|| Stay { number: position / self.period, since: elapsed.saturating_sub(age) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_grows_by_base_and_burst_and_by_base_alone_between_bursts() {
        let load = Load { base_permille: 100, burst_permille: 500, period: 10 * SECOND, burst: 4 * SECOND };
        assert_eq!(load.busy_time(4 * SECOND), SECOND * 24 / 10);
        assert_eq!(load.busy_time(10 * SECOND), SECOND * 30 / 10);
        assert_eq!(load.busy_time(24 * SECOND), 2 * SECOND * 30 / 10 + SECOND * 24 / 10);
    }

    #[test]
    fn a_slot_is_left_before_the_next_one_comes() {
        let slot = Slot { period: 10 * SECOND, life: 6 * SECOND, phase: 0 };
        assert_eq!(slot.stay(5 * SECOND), Some(Stay { number: 0, since: 0 }));
        assert_eq!(slot.stay(7 * SECOND), None);
        assert_eq!(slot.stay(11 * SECOND), Some(Stay { number: 1, since: 10 * SECOND }));
    }
}
