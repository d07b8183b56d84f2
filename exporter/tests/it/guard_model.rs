//! Any sequence of verdicts by honest and hostile hosts, of lost connections, restarts and time, against what the guard
//! promises.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use perfmon_exporter::credentials::{
    Change, Decision, Fingerprint, Guard, Host, Moment, Outcome, Refusal, Remembered, Scope, Withheld,
};
use plugin_abi::{CredentialVerdict, LeaseId, Waiter};
use proptest::prelude::*;
use proptest::test_runner::Config;

const COOLDOWN_S: u64 = 3_600;
/// An acceptance counts for so long, but for the last one, and so many of them count.
const FRESH_S: u64 = 10;
const TRUST_MAX: usize = 7;
/// A host that takes longer to answer is not waited for.
const SLOW_AFTER_S: u64 = 2;
const HONEST: usize = 12;
/// What the first hostile host is called besides: another name that leads to its address.
const ALIAS: usize = 100;
/// However often somebody reloads: a wrong password is tried once more in a cool-down; two of these may be looked at together.
const RELOADS_THAT_COUNT: usize = 2;
/// An account that is locked is tried again sooner.
const ACCOUNT_PAUSE_S: u64 = 300;
const SECRET: Fingerprint = Fingerprint([1; 32]);

/// Something that happens. The numbers choose among what there is.
#[derive(Clone, Debug)]
enum Step {
    Ask(usize),
    /// The proof arrives at a host, which decides.
    Arrive(usize),
    Answer(usize, Hostile),
    /// The connection is lost before the proof arrives.
    Lose(usize),
    Pass(Pause),
    Restart,
    /// The domain has another password from now on.
    Change,
    /// Somebody wants refused secrets to be tried again.
    Reload,
}

/// What a hostile host says.
#[derive(Clone, Copy, Debug)]
enum Hostile {
    Accepts,
    Rejects,
    Locks,
    SaysNothing,
}

#[derive(Clone, Copy, Debug)]
enum Pause {
    Second,
    Minute,
    ElevenMinutes,
    HalfAnHour,
    Cooldown,
    CooldownAndMore,
}

impl Pause {
    const fn seconds(self) -> u64 {
        match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::ElevenMinutes => 660,
            Self::HalfAnHour => 1_800,
            Self::Cooldown => COOLDOWN_S,
            Self::CooldownAndMore => COOLDOWN_S + 901,
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let hostile = prop_oneof![
        4 => Just(Hostile::Accepts),
        4 => Just(Hostile::Rejects),
        2 => Just(Hostile::Locks),
        1 => Just(Hostile::SaysNothing),
    ];
    let pause = prop_oneof![
        3 => Just(Pause::Second),
        3 => Just(Pause::Minute),
        3 => Just(Pause::ElevenMinutes),
        2 => Just(Pause::HalfAnHour),
        2 => Just(Pause::Cooldown),
        1 => Just(Pause::CooldownAndMore),
    ];
    prop_oneof![
        24 => any::<usize>().prop_map(Step::Ask),
        8 => any::<usize>().prop_map(Step::Arrive),
        24 => (any::<usize>(), hostile).prop_map(|(which, says)| Step::Answer(which, says)),
        2 => any::<usize>().prop_map(Step::Lose),
        10 => pause.prop_map(Step::Pass),
        1 => Just(Step::Restart),
        1 => Just(Step::Change),
        1 => Just(Step::Reload),
    ]
}

/// A lease without an answer.
#[derive(Debug)]
struct Flight {
    lease: LeaseId,
    host: usize,
    since_s: u64,
    /// What the host made of the proof, once it arrived.
    decided: Option<CredentialVerdict>,
}

struct World {
    guard: Guard,
    /// What the state file holds.
    disk: Option<Remembered>,
    start: Instant,
    now_s: u64,
    hostile: usize,
    is_good: bool,
    flights: Vec<Flight>,
    leases: u64,
    /// When honest hosts saw a wrong password.
    wrong_s: Vec<u64>,
    /// Who accepted it when.
    accepted: Vec<(u64, usize)>,
    /// How many wrong logons a cool-down may have; for each hostile host there may be one more.
    bound: usize,
    was_accepted: bool,
    /// Since the secret was accepted again after it had been withheld.
    refusing: BTreeSet<usize>,
    withheld_since_s: Option<u64>,
    pause_s: u64,
    reloaded_s: Vec<u64>,
}

fn scope() -> Scope {
    Scope::new("CORP", "svc", &host(0))
}

fn host(index: usize) -> Host {
    let at = if index == ALIAS { HONEST } else { index };
    Host::new(&format!("web{index}"), Some(IpAddr::from([10, 0, 0, u8::try_from(at).unwrap()])))
}

/// Which machine a host is of.
const fn machine(index: usize) -> usize {
    if index == ALIAS { HONEST } else { index }
}

impl World {
    fn new(hostile: usize, is_good: bool) -> Self {
        Self {
            guard: Guard::new(Duration::from_secs(COOLDOWN_S)),
            disk: None,
            start: Instant::now(),
            now_s: 0,
            hostile,
            is_good,
            flights: Vec::new(),
            leases: 0,
            wrong_s: Vec::new(),
            accepted: Vec::new(),
            bound: 1,
            was_accepted: false,
            refusing: BTreeSet::new(),
            withheld_since_s: None,
            pause_s: COOLDOWN_S,
            reloaded_s: Vec::new(),
        }
    }

    fn now(&self) -> Moment {
        Moment { mono: self.start + Duration::from_secs(self.now_s), unix_s: 1_800_000_000 + self.now_s }
    }

    /// One of the hosts, or, where there is a hostile one, its other name.
    fn choose(&self, which: usize) -> usize {
        let hosts = HONEST + self.hostile;
        let index = which % (hosts + usize::from(self.hostile > 0));
        if index < hosts { index } else { ALIAS }
    }

    /// The honest hosts are the first ones.
    fn is_honest(&self, host: usize) -> bool {
        host < HONEST
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Ask(which) => {
                self.ask(self.choose(which));
            }
            Step::Arrive(which) => self.arrive(which),
            Step::Answer(which, says) => self.answer(which, says),
            Step::Lose(which) => {
                let lost = self.flights.iter().position(|flight| flight.decided.is_none());
                if let Some(first) = lost {
                    let index = (first..self.flights.len())
                        .filter(|index| self.flights[*index].decided.is_none())
                        .cycle()
                        .nth(which % self.flights.len());
                    self.end(index.unwrap_or(first), CredentialVerdict::Unknown);
                }
            }
            Step::Pass(pause) => self.pass(pause.seconds()),
            Step::Restart => {
                self.settle();
                self.flights.clear();
                self.guard = Guard::new(Duration::from_secs(COOLDOWN_S));
                if let Some(remembered) = self.disk.clone() {
                    self.guard.restore(scope(), SECRET, remembered, self.now());
                }
            }
            Step::Change => self.change(),
            Step::Reload => {
                self.guard.retry(self.now());
                self.reloaded_s.push(self.now_s);
            }
        }
    }

    fn change(&mut self) {
        if !self.is_good {
            return;
        }
        self.is_good = false;
        let fresh = self.accepted.iter().filter(|(at, _)| self.now_s - at < FRESH_S).map(|(_, host)| host);
        // Who accepted it before may say so after.
        let under_way =
            self.flights.iter().filter(|flight| flight.decided == Some(CredentialVerdict::Accepted));
        let trusting: BTreeSet<usize> = fresh.copied().chain(under_way.map(|flight| flight.host)).collect();
        if self.was_accepted || !trusting.is_empty() {
            self.bound = 1 + trusting.len().clamp(1, TRUST_MAX);
        }
    }

    fn ask(&mut self, index: usize) -> bool {
        self.leases += 1;
        let lease = LeaseId(self.leases);
        let waiter = Waiter::new(|| {});
        let decision = self.guard.acquire(&scope(), &host(index), SECRET, lease, &waiter, self.now());
        match decision {
            Decision::Lease => {
                self.flights.push(Flight { lease, host: index, since_s: self.now_s, decided: None });
                true
            }
            Decision::Wait => false,
            Decision::LeftOut(_) => {
                assert!(!self.is_good || !self.is_honest(index), "an honest host is left out");
                false
            }
            Decision::Withheld(_) => {
                let is_kept_from_honest = self.is_good && self.is_honest(index) && self.was_accepted;
                assert!(
                    !is_kept_from_honest || self.refusing.len() >= 2,
                    "withheld although only {:?} refused it",
                    self.refusing
                );
                false
            }
        }
    }

    fn arrive(&mut self, which: usize) {
        if self.flights.is_empty() {
            return;
        }
        let index = which % self.flights.len();
        let flight = &mut self.flights[index];
        if flight.host < HONEST && flight.decided.is_none() {
            let verdict =
                if self.is_good { CredentialVerdict::Accepted } else { CredentialVerdict::Rejected };
            flight.decided = Some(verdict);
            if !self.is_good {
                self.wrong_s.push(self.now_s);
                self.check_attempts();
            }
        }
    }

    fn answer(&mut self, which: usize, says: Hostile) {
        if self.flights.is_empty() {
            return;
        }
        let index = which % self.flights.len();
        self.arrive(index);
        let verdict = self.flights[index].decided.unwrap_or(match says {
            Hostile::Accepts => CredentialVerdict::Accepted,
            Hostile::Rejects => CredentialVerdict::Rejected,
            Hostile::Locks => CredentialVerdict::Locked,
            Hostile::SaysNothing => CredentialVerdict::Unknown,
        });
        self.end(index, verdict);
    }

    fn end(&mut self, index: usize, verdict: CredentialVerdict) {
        let flight = self.flights.remove(index);
        match verdict {
            CredentialVerdict::Accepted => {
                // Nobody believes a host that says both.
                self.was_accepted |= !self.refusing.contains(&machine(flight.host));
                self.accepted.push((self.now_s, machine(flight.host)));
                // After its pause, which is shorter for an account, or because somebody wants it to be tried.
                let reload_s = self.reloaded_s.last().copied();
                let is_trial = self.withheld_since_s.is_some_and(|since| {
                    flight.since_s >= since + self.pause_s
                        || reload_s.is_some_and(|at| at >= since && flight.since_s >= at)
                });
                if is_trial {
                    (self.withheld_since_s, self.refusing) = (None, BTreeSet::new());
                }
            }
            CredentialVerdict::Rejected
            | CredentialVerdict::Locked
            | CredentialVerdict::Disabled
            | CredentialVerdict::PasswordExpired => {
                self.refusing.insert(machine(flight.host));
            }
            CredentialVerdict::Unsuitable | CredentialVerdict::Unknown => {}
        }
        let Outcome { change, .. } = self.guard.result(flight.lease, verdict, self.now());
        if let Some((_, change, remembered)) = change {
            if let Change::Refused(Withheld { refused, .. }) = &change {
                self.withheld_since_s = Some(self.now_s);
                self.pause_s =
                    if refused.refusal == Refusal::Rejected { COOLDOWN_S } else { ACCOUNT_PAUSE_S };
            }
            self.disk = Some(remembered);
        }
    }

    /// Honest hosts answer what is under way.
    fn settle(&mut self) {
        while let Some(index) = self.flights.iter().position(|flight| flight.host < HONEST) {
            self.answer(index, Hostile::SaysNothing);
        }
    }

    /// Honest hosts answer within two seconds; hostile ones take their time.
    fn pass(&mut self, seconds: u64) {
        let oldest = self.flights.iter().filter(|flight| flight.host < HONEST).map(|flight| flight.since_s);
        if oldest.min().is_some_and(|since| self.now_s + seconds - since >= SLOW_AFTER_S) {
            self.settle();
        }
        self.now_s += seconds;
    }

    /// No more wrong logons in a cool-down than promised.
    fn check_attempts(&self) {
        let recent = self.wrong_s.iter().filter(|at| self.now_s - **at < COOLDOWN_S).count();
        // Each reload may cost what a cool-down costs that has passed.
        let reloads = self.reloaded_s.iter().filter(|at| self.now_s - **at < COOLDOWN_S).count();
        let most = self.bound + self.hostile + reloads.min(RELOADS_THAT_COUNT) * (1 + self.hostile);
        assert!(recent <= most, "{recent} wrong logons in a cool-down, {most} were promised");
    }

    /// However it went: without hostile hosts, a good secret comes back to every honest one.
    fn check_recovery(&mut self) {
        self.settle();
        self.flights.clear();
        let mut waiting: BTreeMap<usize, u32> = (0..HONEST).map(|host| (host, 0)).collect();
        while let Some((&host, &tries)) = waiting.iter().next() {
            assert!(tries < 10, "host {host} never gets it");
            self.pass(Pause::CooldownAndMore.seconds());
            if self.ask(host) {
                waiting.remove(&host);
                self.settle();
            } else {
                waiting.insert(host, tries + 1);
            }
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 1_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn what_the_guard_promises_holds_whatever_hosts_say(
        hostile in 0_usize..=3,
        is_good in any::<bool>(),
        steps in prop::collection::vec(step(), 0..150),
    ) {
        let mut world = World::new(hostile, is_good);
        steps.iter().for_each(|step| world.step(step));
        if world.is_good {
            world.check_recovery();
        }
    }
}
