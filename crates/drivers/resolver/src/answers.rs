use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Addresses that name servers told, by name.
#[derive(Default)]
pub(crate) struct Answers(Mutex<HashMap<String, Answer>>);

/// What a name server told of a name.
struct Answer {
    addresses: Vec<IpAddr>,
    told_at: Instant,
    fresh_until: Instant,
}

impl Answers {
    /// The addresses of a name, as long as the name server allowed to keep them.
    pub(crate) fn fresh(&self, name: &str, now: Instant) -> Option<Vec<IpAddr>> {
        self.lock().get(name).filter(|answer| now < answer.fresh_until).map(|answer| answer.addresses.clone())
    }

    /// The last good addresses of a name, for when the name servers tell nothing.
    pub(crate) fn last_good(&self, name: &str, now: Instant) -> Option<Vec<IpAddr>> {
        self.lock().get(name).filter(|answer| answer.is_usable(now)).map(|answer| answer.addresses.clone())
    }

    /// Keeps what a name server told; `time_to_live` is what it allowed.
    pub(crate) fn keep(&self, name: &str, addresses: &[IpAddr], time_to_live: Duration, now: Instant) {
        let mut answers = self.lock();
        if answers.len() >= NAMES_MAX && !answers.contains_key(name) {
            answers.retain(|_, answer| now < answer.fresh_until);
        }
        // Full of fresh ones: then this one is asked for again each time.
        if answers.len() < NAMES_MAX || answers.contains_key(name) {
            let fresh_until = now + time_to_live.min(FRESH_MAX);
            let answer = Answer { addresses: addresses.to_vec(), told_at: now, fresh_until };
            answers.insert(name.to_owned(), answer);
        }
    }

    /// A name server said that the name has no address any more.
    pub(crate) fn forget(&self, name: &str) {
        self.lock().remove(name);
    }

    /// Other name servers are asked from now on: nothing is fresh any more.
    pub(crate) fn expire(&self, now: Instant) {
        self.lock().values_mut().for_each(|answer| answer.fresh_until = answer.fresh_until.min(now));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Answer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answer {
    fn is_usable(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.told_at) < LAST_GOOD_MAX
    }
}

/// Longer times to live are cut to this: a host that moved is found again soon.
const FRESH_MAX: Duration = Duration::from_secs(60);
/// How old an answer may be that is used while the name servers are silent.
const LAST_GOOD_MAX: Duration = Duration::from_secs(3600);
/// How many names are kept at most.
const NAMES_MAX: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_fresh_for_its_time_to_live_and_good_for_an_hour() {
        let (answers, now) = (Answers::default(), Instant::now());
        let addresses: Vec<IpAddr> = vec!["192.0.2.1".parse().unwrap()];
        answers.keep("web1", &addresses, Duration::from_secs(10), now);
        let after = |secs| now + Duration::from_secs(secs);
        assert_eq!(answers.fresh("web1", after(9)), Some(addresses.clone()));
        assert_eq!(answers.fresh("web1", after(10)), None);
        assert_eq!(answers.last_good("web1", after(3599)), Some(addresses.clone()));
        assert_eq!(answers.last_good("web1", after(3600)), None);
        answers.keep("web1", &addresses, Duration::from_secs(86_400), now);
        assert_eq!(answers.fresh("web1", after(60)), None, "no time to live is longer than a minute");
        answers.forget("web1");
        assert_eq!(answers.last_good("web1", now), None);
    }

    #[test]
    fn so_many_names_are_kept_and_no_more() {
        let (answers, now) = (Answers::default(), Instant::now());
        for number in 0..NAMES_MAX + 10 {
            answers.keep(&format!("web{number}"), &[], Duration::from_secs(10), now);
        }
        assert_eq!(answers.lock().len(), NAMES_MAX);
        answers.keep("late", &[], Duration::from_secs(10), now + Duration::from_secs(11));
        assert_eq!(answers.lock().len(), 1, "what is old makes room");
    }
}
