//! The limit of log bytes per second.

use std::collections::HashMap;

use parking_lot::Mutex;

/// What an instance, or the library itself, has logged in the current second.
#[derive(Default)]
pub(crate) struct LogBudget(Mutex<Spent>);

#[derive(Default)]
struct Spent {
    second: u64,
    bytes: u64,
    /// What each host has of it, where a record names one: none takes the room of all.
    hosts: HashMap<String, u64>,
    dropped: u64,
    /// When it is said next that records are dropped.
    said_again: u64,
}

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admitted {
    Yes,
    No,
    /// No, and so many were dropped since this was said last.
    NoAndSay(u64),
}

impl LogBudget {
    /// Takes bytes of a second, for a host if the record is about one.
    pub(crate) fn take(&self, bytes: usize, host: Option<&str>, second: u64, bytes_max: u64) -> Admitted {
        let mut spent = self.0.lock();
        if spent.second != second {
            (spent.second, spent.bytes) = (second, 0);
            spent.hosts.clear();
        }
        let (bytes, share) = (bytes as u64, bytes_max / SHARES);
        let of_host = host.and_then(|host| spent.hosts.get(host)).copied().unwrap_or(0);
        let is_known = host.is_none_or(|host| spent.hosts.contains_key(host));
        let fits = spent.bytes.saturating_add(bytes) <= bytes_max
            && (host.is_none() || of_host.saturating_add(bytes) <= share)
            && (is_known || spent.hosts.len() < HOSTS_MAX);
        if fits {
            spent.bytes += bytes;
            if let Some(host) = host {
                *spent.hosts.entry(host.to_owned()).or_default() += bytes;
            }
            return Admitted::Yes;
        }
        spent.dropped += 1;
        if second < spent.said_again {
            return Admitted::No;
        }
        spent.said_again = second + SAID_EACH_S;
        Admitted::NoAndSay(std::mem::take(&mut spent.dropped))
    }
}

/// One host has at most this part of a second.
const SHARES: u64 = 4;
/// Hosts that have a share in a second.
const HOSTS_MAX: usize = 1_024;
const SAID_EACH_S: u64 = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_fills_its_share_leaves_room_for_others_and_what_is_dropped_is_said() {
        let budget = LogBudget::default();
        let take = |bytes, host, second| budget.take(bytes, host, second, 1_000);
        assert_eq!(take(250, Some("loud"), 1), Admitted::Yes);
        assert_eq!(take(1, Some("loud"), 1), Admitted::NoAndSay(1));
        assert_eq!(take(1, Some("loud"), 1), Admitted::No);
        assert_eq!(take(250, Some("calm"), 1), Admitted::Yes);
        assert_eq!(take(500, None, 1), Admitted::Yes, "what is about no host has the rest");
        assert_eq!(take(1, Some("third"), 1), Admitted::No, "the sum has a limit, too");
        assert_eq!(take(250, Some("loud"), 2), Admitted::Yes);
        assert_eq!(take(1, Some("loud"), 61), Admitted::Yes);
        assert_eq!(take(250, Some("loud"), 61), Admitted::NoAndSay(3));
    }

    #[test]
    fn what_is_dropped_takes_no_room() {
        let budget = LogBudget::default();
        assert_eq!(budget.take(1_001, None, 1, 1_000), Admitted::NoAndSay(1));
        assert_eq!(budget.take(1_000, None, 1, 1_000), Admitted::Yes);
    }
}
