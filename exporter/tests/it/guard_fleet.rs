//! A fleet that connects through the guard, told as events: what its limit of logons under way costs in time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use perfmon_exporter::credentials::{Decision, Fingerprint, Guard, Host, Moment, Scope};
use plugin_abi::{CredentialVerdict, LeaseId, Waiter};

const HOSTS: usize = 4_000;
/// The defaults of `scrape:`.
const CONNECT_STEP: Duration = Duration::from_millis(20);
const CONNECTING_MAX: usize = 64;
const DEADLINE: Duration = Duration::from_secs(10);
/// As the broker tells plugins.
const RETRY_AFTER: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Begin,
    Retry(usize),
    Answer(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Outside,
    /// It waits, and gives up then.
    Waiting(Duration),
    Asking(LeaseId, Duration),
    In,
    Failed,
}

/// What a host does with a logon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Good,
    /// Not in the domain.
    Refuses,
    Hangs,
}

struct Fleet {
    guard: Guard,
    start: Instant,
    now: Duration,
    events: BinaryHeap<Reverse<(Duration, Event)>>,
    phases: Vec<Phase>,
    kind: fn(usize) -> Kind,
    logon: fn(usize) -> Duration,
    next: usize,
    wake: Sender<usize>,
    woken: Receiver<usize>,
}

impl Fleet {
    fn new(kind: fn(usize) -> Kind, logon: fn(usize) -> Duration) -> Self {
        let (wake, woken) = mpsc::channel();
        Self {
            guard: Guard::new(Duration::from_secs(3_600)),
            start: Instant::now(),
            now: Duration::ZERO,
            events: BinaryHeap::from([Reverse((Duration::ZERO, Event::Begin))]),
            phases: vec![Phase::Outside; HOSTS],
            kind,
            logon,
            next: 0,
            wake,
            woken,
        }
    }

    /// Until nothing happens any more; answers when that was.
    fn run(&mut self) -> Duration {
        while let Some(Reverse((at, event))) = self.events.pop() {
            self.now = at;
            match event {
                Event::Begin => self.begin(),
                Event::Retry(host) => self.ask(host),
                Event::Answer(host) => self.answer(host),
            }
            while let Ok(host) = self.woken.try_recv() {
                self.ask(host);
            }
        }
        self.now
    }

    fn begin(&mut self) {
        if self.next == HOSTS {
            return;
        }
        let connecting =
            self.phases.iter().filter(|phase| matches!(phase, Phase::Waiting(_) | Phase::Asking(..)));
        if connecting.count() < CONNECTING_MAX {
            let host = self.next;
            self.next += 1;
            self.phases[host] = Phase::Waiting(self.now + DEADLINE);
            self.ask(host);
        }
        self.events.push(Reverse((self.now + CONNECT_STEP, Event::Begin)));
    }

    fn ask(&mut self, host: usize) {
        let Phase::Waiting(deadline) = self.phases[host] else { return };
        if self.now >= deadline {
            self.phases[host] = Phase::Failed;
            return;
        }
        let wake = self.wake.clone();
        let waiter = Waiter::new(move || wake.send(host).unwrap_or_default());
        let [.., high, low] = host.to_be_bytes();
        let named = Host::new(&format!("web{host}"), Some(IpAddr::from([10, 0, high, low])));
        let lease = LeaseId(u64::try_from(self.now.as_nanos()).unwrap() * 10_000 + host as u64);
        let scope = Scope::new("CORP", "svc", &named);
        match self.guard.acquire(&scope, &named, Fingerprint([0; 32]), lease, &waiter, self.moment()) {
            Decision::Lease => {
                self.phases[host] = Phase::Asking(lease, deadline);
                let takes = match (self.kind)(host) {
                    Kind::Hangs => deadline - self.now,
                    Kind::Good | Kind::Refuses => (self.logon)(host),
                };
                self.events.push(Reverse((self.now + takes, Event::Answer(host))));
            }
            Decision::Wait => {
                self.events.push(Reverse((self.now + RETRY_AFTER, Event::Retry(host))));
            }
            Decision::Withheld(_) | Decision::LeftOut(_) => self.phases[host] = Phase::Failed,
        }
    }

    fn answer(&mut self, host: usize) {
        let Phase::Asking(lease, _) = self.phases[host] else { panic!("{host} does not ask") };
        let (verdict, phase) = match (self.kind)(host) {
            Kind::Good => (CredentialVerdict::Accepted, Phase::In),
            Kind::Refuses => (CredentialVerdict::Rejected, Phase::Failed),
            Kind::Hangs => (CredentialVerdict::Unknown, Phase::Failed),
        };
        self.phases[host] = phase;
        let outcome = self.guard.result(lease, verdict, self.moment());
        outcome.waiters.iter().for_each(Waiter::wake);
    }

    fn moment(&self) -> Moment {
        Moment { mono: self.start + self.now, unix_s: 1_800_000_000 + self.now.as_secs() }
    }

    /// Good hosts that did not get in.
    fn left_outside(&self) -> usize {
        let hosts = self.phases.iter().enumerate();
        hosts.filter(|(host, phase)| (self.kind)(*host) == Kind::Good && **phase != Phase::In).count()
    }
}

/// Spread over hosts as if it were by chance.
fn chance(host: usize, of: usize) -> usize {
    host.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17) % of
}

fn in_a_data_centre(host: usize) -> Duration {
    Duration::from_millis(10 + chance(host, 50) as u64)
}

fn over_the_sea(host: usize) -> Duration {
    Duration::from_millis(200 + chance(host, 200) as u64)
}

#[test]
fn four_thousand_hosts_connect_as_fast_as_they_may_begin() {
    let mut fleet = Fleet::new(|_| Kind::Good, in_a_data_centre);
    let took = fleet.run();
    assert_eq!(fleet.left_outside(), 0);
    assert!(took < CONNECT_STEP * 4_000 + Duration::from_secs(5), "{took:?}");
}

#[test]
fn four_thousand_hosts_far_away_all_connect_though_it_takes_longer() {
    let mut fleet = Fleet::new(|_| Kind::Good, over_the_sea);
    let took = fleet.run();
    assert_eq!(fleet.left_outside(), 0);
    assert!(took < Duration::from_secs(200), "{took:?}");
}

#[test]
fn hosts_that_hang_or_refuse_keep_none_of_the_others_out() {
    let kind = |host| match chance(host, 100) {
        // The first one is believed, whatever it says.
        _ if host == 0 => Kind::Good,
        0..5 => Kind::Hangs,
        5..8 => Kind::Refuses,
        _ => Kind::Good,
    };
    let mut fleet = Fleet::new(kind, in_a_data_centre);
    let took = fleet.run();
    let refusing = (0..HOSTS).filter(|host| kind(*host) == Kind::Refuses).count();
    assert!(refusing > 80, "{refusing}");
    assert_eq!(fleet.left_outside(), 0);
    assert!(took < Duration::from_secs(200), "{took:?}");
}
