//! Addresses of host names, found without blocking a thread.
//!
//! A [`Resolver`] reads what the C library reads: `/etc/hosts` and `/etc/resolv.conf` with its name servers, search
//! domains, `ndots`, `timeout` and `attempts`. Both files are read again when they change. It asks DNS only: other
//! services of `nsswitch.conf` (mDNS, NIS, LDAP) are not asked.
//!
//! Slow names do not hold up other names:
//!
//! - Addresses and names of the hosts file are answered at once, without any query.
//! - Callers of the same name share one look-up. A look-up is cancelled when its last caller drops it.
//! - The number of look-ups in flight is limited. When the limit is reached, the oldest one ends with
//!   [`LookupError::TimedOut`] and makes room.
//! - When a name server is silent for a second, the next server is asked as well.
//! - When the name servers are silent or fail, the last good addresses of a name are used for up to an hour.
//!
//! Hickory asks one server one question. Its own hosts file, search list and cache are not used: its hosts file ends at the first
//! line that is not UTF-8; its search list asks a silent server once for each domain; its cache forgets an address when its time
//! is over, and that is when the last good ones are needed.
//!
//! | module | job |
//! | --- | --- |
//! | `lookup` | one call from name to addresses, in the order in which they are tried |
//! | `flights` | look-ups in flight: shared, limited, ended |
//! | `system` | the two files of the machine |
//! | `servers` | queries to the name servers |

mod flights;
mod lookup;
mod servers;
mod system;

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

pub use self::lookup::{Limits, Resolver, literal};
pub use self::system::Files;

/// Why a name has no address: a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LookupErrorKind {
    /// No name server answered in time.
    TimedOut,
    /// A name server said that there is no such name, or that it has no address.
    NotFound,
    /// The name servers failed or could not be reached.
    ServerFailed,
}

/// Why a name has no address, with details for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// No name server answered in time.
    #[error("no name server answered in time")]
    TimedOut,
    /// A name server said that there is no such name, or that it has no address.
    #[error("{0}")]
    NotFound(String),
    /// The name servers failed or could not be reached.
    #[error("{0}")]
    ServerFailed(String),
}

impl LookupError {
    #[must_use]
    pub const fn kind(&self) -> LookupErrorKind {
        match self {
            Self::TimedOut => LookupErrorKind::TimedOut,
            Self::NotFound(_) => LookupErrorKind::NotFound,
            Self::ServerFailed(_) => LookupErrorKind::ServerFailed,
        }
    }
}

impl LookupErrorKind {
    /// The word for labels and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TimedOut => "name_lookup_timed_out",
            Self::NotFound => "name_not_found",
            Self::ServerFailed => "name_server_failed",
        }
    }

    /// What happened, as a sentence.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::TimedOut => "No name server answered in time.",
            Self::NotFound => "The target's name does not resolve.",
            Self::ServerFailed => "The name servers could not resolve the name.",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::TimedOut => {
                "Check whether the name servers of /etc/resolv.conf answer for this name; the exporter \
                 retries automatically."
            }
            Self::NotFound => {
                "Check the spelling of the host, and the search domains in /etc/resolv.conf of this machine."
            }
            Self::ServerFailed => {
                "Check the name servers of /etc/resolv.conf and their logs; the exporter retries \
                 automatically."
            }
        }
    }
}

/// Addresses that name servers returned, by name.
#[derive(Default)]
struct Answers(Mutex<HashMap<String, Answer>>);

/// A name server's answer about a name.
struct Answer {
    addresses: Vec<IpAddr>,
    told_at: Instant,
    fresh_until: Instant,
}

impl Answers {
    /// The addresses of a name, as long as the name server allowed to keep them.
    fn fresh(&self, name: &str, now: Instant) -> Option<Vec<IpAddr>> {
        self.0
            .lock()
            .get(name)
            .filter(|answer| now < answer.fresh_until)
            .map(|answer| answer.addresses.clone())
    }

    /// The last good addresses of a name, used while no name server answers.
    fn last_good(&self, name: &str, now: Instant) -> Option<Vec<IpAddr>> {
        self.0.lock().get(name).filter(|answer| answer.is_usable(now)).map(|answer| answer.addresses.clone())
    }

    /// Caches an answer for its `time_to_live`.
    fn keep(&self, name: &str, addresses: &[IpAddr], time_to_live: Duration, now: Instant) {
        let mut answers = self.0.lock();
        if answers.len() >= NAMES_MAX && !answers.contains_key(name) {
            answers.retain(|_, answer| now < answer.fresh_until);
        }
        // The cache is full of fresh answers: this name is looked up again each time.
        if answers.len() < NAMES_MAX || answers.contains_key(name) {
            let fresh_until = now + time_to_live.min(FRESH_MAX);
            let answer = Answer { addresses: addresses.to_vec(), told_at: now, fresh_until };
            answers.insert(name.to_owned(), answer);
        }
    }

    /// Removes a name that has no address any more.
    fn forget(&self, name: &str) {
        self.0.lock().remove(name);
    }

    /// Marks every answer as stale, because the name servers have changed.
    fn expire(&self, now: Instant) {
        self.0.lock().values_mut().for_each(|answer| answer.fresh_until = answer.fresh_until.min(now));
    }
}

impl Answer {
    fn is_usable(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.told_at) < LAST_GOOD_MAX
    }
}

/// Maximum time to live of a cached answer, so that a host that moved is found again soon.
const FRESH_MAX: Duration = Duration::from_secs(60);
/// Maximum age of an answer that is used while the name servers are silent.
const LAST_GOOD_MAX: Duration = Duration::from_secs(3600);
/// Maximum number of cached names.
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
        assert_eq!(answers.0.lock().len(), NAMES_MAX);
        answers.keep("late", &[], Duration::from_secs(10), now + Duration::from_secs(11));
        assert_eq!(answers.0.lock().len(), 1, "what is old makes room");
    }
}
