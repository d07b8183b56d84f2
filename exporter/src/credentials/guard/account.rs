use std::collections::VecDeque;
use std::time::{Duration, Instant};

use plugin_abi::Waiter;

use super::ledger::Ledger;
use super::{Fingerprint, Host};
use crate::credentials::Moment;

/// Secrets of one account that are remembered: two identities may stand for it with a secret each, and a secret that
/// was refused stays refused when another one was tried meanwhile.
const SECRETS_MAX: usize = 4;
/// Hosts of one account that are woken; the others ask again by themselves.
const WAITERS_MAX: usize = 4_096;
/// Waiters retry sooner than this, or have given up.
const WAITS_MAX: Duration = Duration::from_secs(3);

/// One account: the state of its secrets, and the waiting hosts.
#[derive(Debug)]
pub(super) struct Account {
    /// The secret that was asked for last is the first. INVARIANT: a verdict is about one secret.
    ledgers: Vec<(Fingerprint, Ledger)>,
    /// The longest waiting host is the first.
    waiters: VecDeque<Waiting>,
    /// Time of the last request.
    used: Instant,
}

#[derive(Debug)]
struct Waiting {
    host: Host,
    waiter: Waiter,
    /// When it asked last.
    asked: Instant,
}

impl Account {
    pub(super) fn new(fingerprint: Fingerprint, ledger: Ledger, now: Instant) -> Self {
        Self { ledgers: vec![(fingerprint, ledger)], waiters: VecDeque::new(), used: now }
    }

    /// The secret that was asked for last.
    pub(super) fn latest(&self) -> Option<&Ledger> {
        self.ledgers.first().map(|(_, ledger)| ledger)
    }

    /// What is known of this secret, which is asked for now. Of a new one it is nothing.
    pub(super) fn ask(&mut self, fingerprint: Fingerprint, now: Instant) -> &mut Ledger {
        self.used = now;
        let known = self.ledgers.iter().position(|(known, _)| *known == fingerprint);
        let ledger = match known {
            Some(index) => self.ledgers.remove(index),
            None => (fingerprint, Ledger::default()),
        };
        self.ledgers.insert(0, ledger);
        self.ledgers.truncate(SECRETS_MAX);
        &mut self.ledgers[0].1
    }

    /// What is known of this secret, if it is not forgotten.
    pub(super) fn of(&mut self, fingerprint: Fingerprint) -> Option<&mut Ledger> {
        self.ledgers.iter_mut().find(|(known, _)| *known == fingerprint).map(|(_, ledger)| ledger)
    }

    /// Somebody wants what was refused to be tried again now.
    pub(super) fn retry(&mut self, now: Moment, cooldown: Duration) {
        self.ledgers.iter_mut().for_each(|(_, ledger)| ledger.retry(now, cooldown));
    }

    /// Adds a waiting host; a host that retries keeps its place.
    pub(super) fn wait(&mut self, host: &Host, waiter: &Waiter, now: Instant) {
        let waiter = waiter.clone();
        if let Some(waiting) = self.waiters.iter_mut().find(|waiting| waiting.host == *host) {
            (waiting.waiter, waiting.asked) = (waiter, now);
        } else if self.waiters.len() < WAITERS_MAX {
            self.waiters.push_back(Waiting { host: host.clone(), waiter, asked: now });
        }
    }

    /// The host has its answer.
    pub(super) fn stop_waiting(&mut self, host: &Host) {
        self.waiters.retain(|waiting| waiting.host != *host);
    }

    /// Those that may have a lease of this secret now, or, where it is withheld, all: they have their answer.
    pub(super) fn wake(&mut self, fingerprint: Fingerprint, is_local: bool, now: Instant) -> Vec<Waiter> {
        self.waiters.retain(|waiting| now.saturating_duration_since(waiting.asked) < WAITS_MAX);
        let Some((_, ledger)) = self.ledgers.iter().find(|(known, _)| *known == fingerprint) else {
            return Vec::new();
        };
        let room = if ledger.is_withheld() { usize::MAX } else { ledger.room(is_local) };
        let mut woken = Vec::new();
        self.waiters.retain(|waiting| {
            let stays = woken.len() >= room || ledger.is_asking(&waiting.host);
            if !stays {
                woken.push(waiting.waiter.clone());
            }
            stays
        });
        woken
    }

    /// Whether nothing is lost with it but what it knows.
    pub(super) fn is_idle(&self) -> bool {
        self.waiters.is_empty() && !self.ledgers.iter().any(|(_, ledger)| ledger.is_busy())
    }

    /// Those that go first have the lowest: what was refused stays longest, then what was asked for last.
    pub(super) fn worth(&self) -> (bool, Instant) {
        (self.ledgers.iter().any(|(_, ledger)| ledger.is_withheld()), self.used)
    }
}
