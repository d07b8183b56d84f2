mod ledger;
mod verdict;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use plugin_abi::{CredentialVerdict, LeaseId, Waiter};

pub use self::verdict::{Change, Decision, Fingerprint, Refusal, Refused, Remembered, State, Withheld};

use self::ledger::{Ledger, Situation};
use super::Moment;

/// Accounts that are remembered. Only accounts of the hosts themselves are as many, one for each host that was probed.
const ACCOUNTS_MAX: usize = 65_536;
/// When there is no room, a part of this size goes at a time.
const FORGOTTEN_AT_A_TIME: usize = ACCOUNTS_MAX / 16;

/// Decides which target may try a secret, so that a wrong one costs as few logons as possible, and a hostile host
/// cannot block a good one for others.
///
/// Pure: time is an argument and answers are results; the broker around it reads files and wakes threads.
///
/// # The rules
///
/// They hold per [`Scope`] and per secret: a changed secret begins again. Two hosts are different if both their names and
/// the addresses at which they were reached are ([`Host::may_be`]).
///
/// 1. *Trust* is a number from 0 to 7: the hosts that accepted the secret and whose acceptance no refusal used up. An
///    acceptance counts for ten seconds; the last one counts for ever.
/// 2. As many logons are under way at a time as the trust says, and one more; at each host there is one. Others wait, the
///    first one first. A logon without an answer counts for two seconds, one that began without trust for thirty.
/// 3. A refusal uses up one acceptance, and the host that refused is left out for the cool-down. A host whose acceptance
///    was used up adds no trust before a cool-down has passed without any refusal. An acceptance of a lease that was handed
///    out before the last refusal adds none either: it may have been decided before the password was changed.
/// 4. A refusal without trust withholds the secret from everybody, until it changes or the cool-down has passed; then one
///    host tries it, those that refused it last.
/// 5. A host that refused once is doubted: until it accepts, a cool-down later, its acceptance adds no trust, and its
///    refusal withholds nothing. It is asked again after its cool-down; without trust only if no host refused for a
///    cool-down, and nobody waits for it.
/// 6. Where a secret is withheld and a lease that was handed out before is accepted after all, that acceptance and the
///    refusal cancel each other: the secret is leased again, without trust.
/// 7. A lease without a verdict (connection lost) changes nothing.
/// 8. An account of the host itself ([`Scope::is_local`]) has nobody else to ask: one logon at a time, and every refusal
///    withholds it.
/// 9. That an account is locked, disabled, expired, or that its password has expired, is no wrong password: another attempt
///    brings no account nearer to being locked. So its pause is five minutes where a cool-down is longer, a host that is
///    doubted cannot use up an acceptance by saying it, and it never makes the pause after a wrong password shorter.
/// 10. [`Guard::retry`] ends these pauses at once. A wrong password it has tried once more, but once in a cool-down.
///
/// # What follows
///
/// - A secret that was never accepted costs one wrong logon in a cool-down, and one more if somebody wants it to be tried
///   again. The host that tries it first is believed, since nobody contradicts it: a hostile one can withhold a new secret
///   for a cool-down.
/// - A secret that was accepted once is withheld only if two different hosts refuse it.
/// - A password that is changed at the domain costs two wrong logons. While many hosts log on, as at the start, it costs
///   eight at most, as long as hosts answer within two seconds.
/// - Hostile hosts can accept whatever they are shown. With one such host, a wrong password costs two logons in a
///   cool-down; with more of them, one more for each.
/// - What a lost connection hides is not counted: a host may have refused a secret, and nobody heard of it.
#[derive(Debug)]
pub struct Guard {
    accounts: HashMap<Scope, Account>,
    leases: HashMap<LeaseId, Leased>,
    /// Leases so far. The number of a lease is its place among them.
    handed_out: u64,
    cooldown: Duration,
}

#[derive(Debug)]
struct Leased {
    scope: Scope,
    host: Host,
    fingerprint: Fingerprint,
    number: u64,
}

/// What the end of a lease changed.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What is news, of which account, and what the next process should know of it.
    pub change: Option<(Scope, Change, Remembered)>,
    /// Whom to wake once the caller holds no lock.
    pub waiters: Vec<Waiter>,
}

impl Guard {
    /// A guard that has seen nothing.
    #[must_use]
    pub fn new(cooldown: Duration) -> Self {
        Self { accounts: HashMap::new(), leases: HashMap::new(), handed_out: 0, cooldown }
    }

    /// Sets the time after which a refused secret is tried once more.
    pub fn set_cooldown(&mut self, cooldown: Duration) {
        self.cooldown = cooldown;
    }

    /// Somebody wants refused secrets to be tried again now.
    pub fn retry(&mut self, now: Moment) {
        let cooldown = self.cooldown;
        self.accounts.values_mut().for_each(|account| account.retry(now, cooldown));
    }

    /// Whether anybody asked for it yet.
    #[must_use]
    pub fn knows(&self, scope: &Scope) -> bool {
        self.accounts.contains_key(scope)
    }

    /// Takes over what an earlier process knew.
    pub fn restore(&mut self, scope: Scope, fingerprint: Fingerprint, remembered: Remembered, now: Moment) {
        let ledger = Ledger::restored(remembered, now);
        self.accounts.insert(scope, Account::new(fingerprint, ledger, now.mono));
    }

    /// Requests the secret for `host`; `lease` is the id that it would get.
    pub fn acquire(
        &mut self,
        scope: &Scope,
        host: &Host,
        fingerprint: Fingerprint,
        lease: LeaseId,
        waiter: &Waiter,
        now: Moment,
    ) -> Decision {
        let of = Situation { host, is_local: scope.is_local, now, cooldown: self.cooldown };
        let account = self
            .accounts
            .entry(scope.clone())
            .or_insert_with(|| Account::new(fingerprint, Ledger::default(), now.mono));
        let ledger = account.ask(fingerprint, now.mono);
        let decision = ledger.decide(of);
        match &decision {
            Decision::Lease => {
                ledger.lend(lease, of);
                account.stop_waiting(host);
                self.handed_out += 1;
                let number = self.handed_out;
                let leased = Leased { scope: scope.clone(), host: host.clone(), fingerprint, number };
                self.leases.insert(lease, leased);
            }
            Decision::Wait => account.wait(host, waiter, now.mono),
            Decision::Withheld(_) | Decision::LeftOut(_) => account.stop_waiting(host),
        }
        decision
    }

    /// The end of a lease.
    pub fn result(&mut self, lease: LeaseId, verdict: CredentialVerdict, now: Moment) -> Outcome {
        let Some(Leased { scope, host, fingerprint, number }) = self.leases.remove(&lease) else {
            return Outcome::default();
        };
        let Some(account) = self.accounts.get_mut(&scope) else { return Outcome::default() };
        let Some(ledger) = account.of(fingerprint) else { return Outcome::default() };
        ledger.end(lease);
        let of = Situation { host: &host, is_local: scope.is_local, now, cooldown: self.cooldown };
        let change = match (verdict, Refusal::of(verdict)) {
            (CredentialVerdict::Accepted, _) => ledger.accept(number, of),
            (_, Some(refusal)) => ledger.refuse(refusal, number, self.handed_out, of),
            _ => None,
        };
        let remembered = change.is_some().then(|| ledger.remembered());
        let waiters = account.wake(fingerprint, scope.is_local, now.mono);
        let change = change.zip(remembered).map(|(change, remembered)| (scope, change, remembered));
        Outcome { change, waiters }
    }

    /// Removes accounts if there are too many for one more; returns true if it did.
    ///
    /// Those that were asked for longest ago go first, those whose secret is withheld last of all.
    pub fn make_room(&mut self) -> bool {
        if self.accounts.len() < ACCOUNTS_MAX {
            return false;
        }
        let idle = self.accounts.iter().filter(|(_, account)| account.is_idle());
        let mut idle: Vec<_> = idle.map(|(scope, account)| (account.worth(), scope.clone())).collect();
        idle.sort_unstable();
        for (_, scope) in idle.iter().take(FORGOTTEN_AT_A_TIME) {
            self.accounts.remove(scope);
        }
        true
    }

    /// What is known of each account.
    pub fn states(&self) -> impl Iterator<Item = (&Scope, State)> {
        let latest = |account: &Account| account.latest().map_or(State::Untried, Ledger::state);
        self.accounts.iter().map(move |(scope, account)| (scope, latest(account)))
    }
}

/// A host that gets a secret. The guard distinguishes hosts by the reached address and by their name in the
/// configuration.
///
/// A host with two names and two addresses counts as two, because it cannot be recognised as one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    name: String,
    address: Option<IpAddr>,
}

impl Host {
    /// The host with this name in the configuration or the request, reached at `address`, if known.
    #[must_use]
    pub fn new(name: &str, address: Option<IpAddr>) -> Self {
        let canonical = |address: IpAddr| address.to_canonical();
        match config::address(name).map(canonical) {
            Some(named) => Self { name: named.to_string(), address: address.map(canonical).or(Some(named)) },
            None => Self { name: name.trim_end_matches('.').to_lowercase(), address: address.map(canonical) },
        }
    }

    /// In lower case; the text of an address where the host has no other name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it was reached. IPv4 in IPv6 is IPv4.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Whether both may be one host: they share the name or the address.
    #[must_use]
    pub fn may_be(&self, other: &Self) -> bool {
        self.name == other.name || (self.address.is_some() && self.address == other.address)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// One account as lockout policies count: an account of a domain, or of one host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    /// The domain. For an account of a host itself the address that was reached, so that the spelling of the host does not
    /// matter, or the name where no address is known. Lower case.
    pub realm: String,
    /// The user name; lower case.
    pub username: String,
    /// Whether the account is the host's own.
    pub is_local: bool,
}

impl Scope {
    /// Whose failures count together when `domain\username` is shown to `host`.
    ///
    /// No domain, `.`, or the host's own name means an account of that host.
    #[must_use]
    pub fn new(domain: &str, username: &str, host: &Host) -> Self {
        let is_any_host = Self::is_of_any_host(domain);
        let short_name = host.name().split('.').next().unwrap_or_default();
        let is_named = config::address(host.name()).is_none()
            && (domain.eq_ignore_ascii_case(host.name()) || domain.eq_ignore_ascii_case(short_name));
        let realm = match host.address() {
            Some(address) if is_any_host => address.to_string(),
            None if is_any_host => host.name().to_owned(),
            _ => domain.to_lowercase(),
        };
        Self { realm, username: username.to_lowercase(), is_local: is_any_host || is_named }
    }

    /// Whether an account with this domain is local to each host.
    #[must_use]
    pub fn is_of_any_host(domain: &str) -> bool {
        matches!(domain, "" | ".")
    }

    /// Whether this may be the account `domain\username`.
    #[must_use]
    pub fn may_be(&self, domain: &str, username: &str) -> bool {
        let is_realm =
            if Self::is_of_any_host(domain) { self.is_local } else { self.realm == domain.to_lowercase() };
        is_realm && self.username == username.to_lowercase()
    }
}

/// Secrets of one account that are remembered: two identities may stand for it with a secret each, and a secret that
/// was refused stays refused when another one was tried meanwhile.
const SECRETS_MAX: usize = 4;
/// Hosts of one account that are woken; the others ask again by themselves.
const WAITERS_MAX: usize = 4_096;
/// Waiters retry sooner than this, or have given up.
const WAITS_MAX: Duration = Duration::from_secs(3);

/// One account: the state of its secrets, and the waiting hosts.
#[derive(Debug)]
struct Account {
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
    fn new(fingerprint: Fingerprint, ledger: Ledger, now: Instant) -> Self {
        Self { ledgers: vec![(fingerprint, ledger)], waiters: VecDeque::new(), used: now }
    }

    /// The secret that was asked for last.
    fn latest(&self) -> Option<&Ledger> {
        self.ledgers.first().map(|(_, ledger)| ledger)
    }

    /// What is known of this secret, which is asked for now. Of a new one it is nothing.
    fn ask(&mut self, fingerprint: Fingerprint, now: Instant) -> &mut Ledger {
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
    fn of(&mut self, fingerprint: Fingerprint) -> Option<&mut Ledger> {
        self.ledgers.iter_mut().find(|(known, _)| *known == fingerprint).map(|(_, ledger)| ledger)
    }

    /// Somebody wants what was refused to be tried again now.
    fn retry(&mut self, now: Moment, cooldown: Duration) {
        self.ledgers.iter_mut().for_each(|(_, ledger)| ledger.retry(now, cooldown));
    }

    /// Adds a waiting host; a host that retries keeps its place.
    fn wait(&mut self, host: &Host, waiter: &Waiter, now: Instant) {
        let waiter = waiter.clone();
        if let Some(waiting) = self.waiters.iter_mut().find(|waiting| waiting.host == *host) {
            (waiting.waiter, waiting.asked) = (waiter, now);
        } else if self.waiters.len() < WAITERS_MAX {
            self.waiters.push_back(Waiting { host: host.clone(), waiter, asked: now });
        }
    }

    /// The host has its answer.
    fn stop_waiting(&mut self, host: &Host) {
        self.waiters.retain(|waiting| waiting.host != *host);
    }

    /// Those that may have a lease of this secret now, or, where it is withheld, all: they have their answer.
    fn wake(&mut self, fingerprint: Fingerprint, is_local: bool, now: Instant) -> Vec<Waiter> {
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
    fn is_idle(&self) -> bool {
        self.waiters.is_empty() && !self.ledgers.iter().any(|(_, ledger)| ledger.is_busy())
    }

    /// Those that go first have the lowest: what was refused stays longest, then what was asked for last.
    fn worth(&self) -> (bool, Instant) {
        (self.ledgers.iter().any(|(_, ledger)| ledger.is_withheld()), self.used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_host_however_it_is_written() {
        let first = Host::new("127.0.0.3", None);
        for name in ["::ffff:127.0.0.3", "[::ffff:7f00:3]", "127.0.0.3"] {
            assert_eq!(Host::new(name, None), first, "{name}");
        }
        let localhost = Host::new("localhost", Some(IpAddr::from([127, 0, 0, 3])));
        assert!(localhost.may_be(&first) && localhost != first);
    }

    #[test]
    fn hosts_are_two_only_if_both_name_and_address_differ() {
        let at = |name, last| Host::new(name, Some(IpAddr::from([10, 0, 0, last])));
        assert!(at("web1", 1).may_be(&at("WEB1.", 2)));
        assert!(at("web1", 1).may_be(&at("alias", 1)));
        assert!(!at("web1", 1).may_be(&at("web2", 2)));
        assert!(!Host::new("web1", None).may_be(&at("web2", 2)));
    }
}
