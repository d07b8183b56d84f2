//! Countersets whose provider hangs when the host asks it something.
//!
//! Such a question has no answer, and the association on which it was asked takes no other. So questions about single
//! countersets have a deadline of their own. A counterset that lets it pass is not asked about again for a while, which
//! outlives connections, and the others are asked about over another pipe.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use rpc::Pause;

use super::registration::{Client, Error, HostChannel};
use crate::registration::Trouble;

/// The countersets that did not answer, by what the host knows them by.
#[derive(Debug)]
pub struct Stalls<K> {
    stalled: HashMap<K, Stall>,
    /// When the collection began that is under way.
    now: Duration,
    /// How many did not answer in this collection.
    met: u32,
}

#[derive(Debug)]
struct Stall {
    times: u32,
    pause: Pause,
}

impl<K> Default for Stalls<K> {
    fn default() -> Self {
        Self { stalled: HashMap::new(), now: Duration::ZERO, met: 0 }
    }
}

impl<K: Copy + Eq + Hash> Stalls<K> {
    /// The countersets of a host that are remembered; providers that hang are few.
    const STALLED_MAX: usize = 64;

    pub const fn begin(&mut self, now: Duration) {
        self.now = now;
        self.met = 0;
    }

    /// Forgets what did not answer: the host was away as a whole.
    pub fn forget(&mut self) {
        self.stalled.clear();
        self.met = 0;
    }

    /// How many countersets did not answer in this collection. The channel on which that happened takes no other call.
    #[must_use]
    pub const fn met(&self) -> u32 {
        self.met
    }

    /// Why a counterset is not asked about now.
    pub(crate) fn trouble(&self, key: K) -> Option<Trouble> {
        let is_paused = |stall: &&Stall| !stall.pause.is_over(self.now);
        let stall = self.stalled.get(&key).filter(is_paused)?;
        let times = stall.times;
        Some(Trouble::Failed(format!(
            "the host did not answer when it was asked about it ({times} times so far)"
        )))
    }

    /// Looks whether the question about a counterset was answered.
    pub(crate) fn note<C: HostChannel, T>(
        &mut self,
        key: K,
        client: &mut Client<C>,
        answer: &Result<T, Error<C>>,
    ) {
        match answer {
            Ok(_) => {
                self.stalled.remove(&key);
            }
            Err(counters::pcq::Error::Rpc(rpc::Error::Call { source, .. }))
                if C::is_timeout(source) && !client.channel().time_left().is_zero() =>
            {
                self.add(key);
            }
            Err(_) => {}
        }
    }

    pub(crate) fn remove(&mut self, key: K) {
        self.stalled.remove(&key);
    }

    /// A counterset let its time pass.
    pub(crate) fn add(&mut self, key: K) {
        self.met += 1;
        if self.stalled.len() >= Self::STALLED_MAX && !self.stalled.contains_key(&key) {
            return;
        }
        let stall = self.stalled.entry(key).or_insert(Stall { times: 0, pause: Pause::default() });
        stall.times = stall.times.saturating_add(1);
        stall.pause.extend(self.now, Pause::NEVER_THERE);
    }
}

/// How long a question about one counterset may take: a quarter of the time that is left, and much longer than the host
/// took for any answer so far. None where that leaves no time for others.
pub(crate) fn patience<C: HostChannel>(channel: &C) -> Option<Duration> {
    patience_of(channel.time_left(), channel.slowest_answer())
}

fn patience_of(left: Duration, slowest: Duration) -> Option<Duration> {
    const SHORTEST: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(5);
    let own = (left / 4).clamp(SHORTEST, LONGEST).max(slowest * 8);
    Some(own).filter(|own| *own * 2 <= left)
}

#[cfg(test)]
mod tests {
    use wire::Guid;

    use super::*;

    #[test]
    fn a_question_has_a_part_of_the_time_and_a_slow_host_has_all_of_it() {
        let ms = Duration::from_millis;
        assert_eq!(patience_of(ms(60_000), ms(3)), Some(ms(5_000)));
        assert_eq!(patience_of(ms(8_000), ms(3)), Some(ms(2_000)));
        assert_eq!(patience_of(ms(2_500), ms(3)), Some(ms(1_000)));
        assert_eq!(patience_of(ms(1_900), ms(3)), None);
        assert_eq!(patience_of(ms(10_000), ms(400)), Some(ms(3_200)));
        assert_eq!(patience_of(ms(10_000), ms(800)), None);
    }

    #[test]
    fn a_counterset_is_asked_about_more_and_more_rarely() {
        let (mut stalls, guid) = (Stalls::<Guid>::default(), Guid::from_u128(7));
        let mut asked = Vec::new();
        for second in 0..1000 {
            stalls.begin(Duration::from_secs(second));
            if stalls.trouble(guid).is_none() {
                asked.push(second);
                stalls.add(guid);
            }
        }
        assert_eq!(asked, [0, 60, 120, 180, 270, 405, 608, 912]);
    }
}
