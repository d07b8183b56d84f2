//! What a secret costs when it is wrong, and who gets to see it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use perfmon_exporter::config::{AllowHosts, Identity, Position, SecretSource};
use perfmon_exporter::credentials::{Broker, Clock, Moment, Resolved, Resolver, VerdictFile};
use plugin_host::CredentialBroker;
use plugin_host::sink::{CredentialAnswer, CredentialRequest, CredentialVerdict, Lease, TargetInfo, Waiter};
use tempfile::TempDir;

const COOLDOWN: Duration = Duration::from_secs(3600);

/// A clock that the test moves.
struct Hands(Mutex<Moment>);

impl Hands {
    fn move_on(&self, by: Duration) {
        let mut now = self.0.lock().unwrap();
        now.mono += by;
        now.unix_s += by.as_secs();
    }
}

impl Clock for Hands {
    fn now(&self) -> Moment {
        *self.0.lock().unwrap()
    }
}

/// Answers at once, from a table.
struct Names(BTreeMap<&'static str, Vec<IpAddr>>);

impl Resolver for Names {
    fn resolve(&self, host: &str, done: Box<dyn FnOnce(Resolved) + Send>) {
        done(self.0.get(host).cloned().ok_or_else(|| "no name server answered in time".to_owned()));
    }
}

struct World {
    folder: TempDir,
    hands: Arc<Hands>,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let start = Moment { mono: Instant::now(), unix_s: 1_800_000_000 };
        let world = Self { folder, hands: Arc::new(Hands(Mutex::new(start))) };
        world.password("hunter2\n");
        world
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("password")
    }

    fn password(&self, text: &str) {
        std::fs::write(self.file(), text).unwrap();
    }

    fn broker(&self, domain: &str, allow: &[&str]) -> Broker {
        self.broker_with(domain, allow, None)
    }

    fn broker_with(&self, domain: &str, allow: &[&str], state: Option<&Path>) -> Broker {
        let mut allow_hosts = AllowHosts::default();
        allow.iter().for_each(|entry| allow_hosts.add(entry).unwrap());
        let identity = Identity {
            domain: domain.to_owned(),
            username: "svc".to_owned(),
            secret: SecretSource::File(self.file()),
            allow_hosts,
            position: Position { line: 1, column: 1 },
        };
        let names = Names(BTreeMap::from([
            ("inside.corp.example", vec![IpAddr::from([10, 0, 0, 1])]),
            ("three.corp.example", vec![IpAddr::from([127, 0, 0, 3])]),
            ("astray.corp.example", vec![IpAddr::from([10, 0, 0, 2]), IpAddr::from([192, 0, 2, 1])]),
        ]));
        let identities = BTreeMap::from([("corp".to_owned(), identity)]);
        let file = state.map(|folder| VerdictFile::open(folder).unwrap());
        let clock = Arc::clone(&self.hands) as Arc<dyn Clock>;
        Broker::new(identities, COOLDOWN, file, clock, Arc::new(names)).unwrap()
    }
}

fn ask_with(broker: &Broker, host: &str, waiter: &Waiter) -> CredentialAnswer {
    let target =
        TargetInfo { name: host.to_owned(), host: host.to_owned(), port: None, identity: "corp".to_owned() };
    broker.acquire(&CredentialRequest { configured: Some(&target), host, identity: "corp" }, waiter)
}

fn ask(broker: &Broker, host: &str) -> CredentialAnswer {
    ask_with(broker, host, &Waiter::new(|| {}))
}

/// Asks as a plugin does that was given `host` and reached `address`.
fn ask_at(broker: &Broker, host: &str, address: &str) -> CredentialAnswer {
    let target =
        TargetInfo { name: host.to_owned(), host: host.to_owned(), port: None, identity: "corp".to_owned() };
    let request = CredentialRequest { configured: Some(&target), host: address, identity: "corp" };
    broker.acquire(&request, &Waiter::new(|| {}))
}

fn lease(broker: &Broker, host: &str) -> Lease {
    match ask(broker, host) {
        CredentialAnswer::Lease(lease) => lease,
        other => panic!("{host}: {other:?}"),
    }
}

fn attempt(broker: &Broker, host: &str, verdict: CredentialVerdict) {
    broker.result(lease(broker, host).id, verdict);
}

fn denial(broker: &Broker, host: &str) -> String {
    match ask(broker, host) {
        CredentialAnswer::Denied { reason, message } => {
            assert_eq!(reason.word(), "credentials_withheld");
            message
        }
        other => panic!("{host}: {other:?}"),
    }
}

#[test]
fn fifty_targets_with_a_wrong_password_cost_exactly_one_attempt() {
    let world = World::new();
    let broker = Arc::new(world.broker("CORP", &["*"]));
    let attempts = Arc::new(AtomicUsize::new(0));
    let denied = Arc::new(AtomicUsize::new(0));
    let targets: Vec<_> = (0..50)
        .map(|index| {
            let (broker, attempts) = (Arc::clone(&broker), Arc::clone(&attempts));
            let denied = Arc::clone(&denied);
            std::thread::spawn(move || {
                let host = format!("web{index}.corp.example");
                let (wake, woken) = std::sync::mpsc::channel();
                let waiter = Waiter::new(move || wake.send(()).unwrap_or_default());
                loop {
                    match ask_with(&broker, &host, &waiter) {
                        CredentialAnswer::Lease(lease) => {
                            // What a server would see.
                            attempts.fetch_add(1, Ordering::SeqCst);
                            broker.result(lease.id, CredentialVerdict::Rejected);
                        }
                        CredentialAnswer::Wait { .. } => woken.recv().unwrap(),
                        CredentialAnswer::Denied { .. } => {
                            denied.fetch_add(1, Ordering::SeqCst);
                            return;
                        }
                    }
                }
            })
        })
        .collect();
    targets.into_iter().for_each(|target| target.join().unwrap());
    assert_eq!(attempts.load(Ordering::SeqCst), 1);
    assert_eq!(denied.load(Ordering::SeqCst), 50);
    let state = broker.states()["corp"];
    assert_eq!((state.leases, state.rejected, state.withheld), (1, 1, 50));
}

#[test]
fn one_target_tries_a_new_secret_and_the_others_wait_for_its_verdict() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    let first = lease(&broker, "a");
    assert_eq!((first.domain.as_str(), first.secret.expose()), ("CORP", b"hunter2".as_slice()));
    let woken = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&woken);
    let waiter = Waiter::new(move || {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    assert!(matches!(ask_with(&broker, "b", &waiter), CredentialAnswer::Wait { .. }));
    broker.result(first.id, CredentialVerdict::Accepted);
    assert_eq!(woken.load(Ordering::SeqCst), 1);
    // Two at a time now.
    let (b, c) = (lease(&broker, "b"), lease(&broker, "c"));
    assert_ne!(b.id, c.id);
}

#[test]
fn a_trial_that_never_came_to_a_verdict_passes_to_the_next() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "black-hole", CredentialVerdict::Unknown);
    attempt(&broker, "b", CredentialVerdict::Accepted);
    lease(&broker, "c");
}

#[test]
fn a_trial_that_hangs_holds_the_others_for_half_a_minute_at_most() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    lease(&broker, "a");
    world.hands.move_on(Duration::from_secs(29));
    assert!(matches!(ask(&broker, "b"), CredentialAnswer::Wait { .. }));
    world.hands.move_on(Duration::from_secs(1));
    lease(&broker, "b");
}

#[test]
fn a_locked_account_is_left_alone_as_well() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Locked);
    assert!(denial(&broker, "b").contains("locked by `a`"));
    assert_eq!(broker.states()["corp"].locked, 1);
}

#[test]
fn a_changed_secret_is_tried_once_at_once() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Rejected);
    denial(&broker, "b");
    world.password("correct horse");
    let trial = lease(&broker, "b");
    assert!(matches!(ask(&broker, "c"), CredentialAnswer::Wait { .. }));
    broker.result(trial.id, CredentialVerdict::Accepted);
    lease(&broker, "c");
}

#[test]
fn a_late_verdict_on_the_old_secret_says_nothing_about_the_new_one() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    let old = lease(&broker, "a");
    world.password("correct horse");
    attempt(&broker, "b", CredentialVerdict::Accepted);
    broker.result(old.id, CredentialVerdict::Rejected);
    lease(&broker, "c");
}

#[test]
fn after_the_cool_down_one_target_tries_again_and_not_the_one_that_refused() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Rejected);
    world.hands.move_on(COOLDOWN - Duration::from_secs(1));
    denial(&broker, "b");
    world.hands.move_on(Duration::from_secs(1));
    denial(&broker, "a");
    attempt(&broker, "b", CredentialVerdict::Rejected);
    denial(&broker, "c");
}

#[test]
fn a_clock_that_is_set_back_does_not_make_the_cool_down_longer() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Rejected);
    // Somebody corrects a clock that was three years ahead.
    world.hands.0.lock().unwrap().unix_s -= 3 * 365 * 86_400;
    denial(&broker, "b");
    world.hands.move_on(COOLDOWN - Duration::from_secs(1));
    denial(&broker, "b");
    world.hands.move_on(Duration::from_secs(1));
    denial(&broker, "a");
    attempt(&broker, "b", CredentialVerdict::Rejected);
    denial(&broker, "c");
}

#[test]
fn one_host_that_refuses_what_others_accept_is_left_out_alone() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Accepted);
    attempt(&broker, "hostile", CredentialVerdict::Rejected);
    // One more host decides, the others wait.
    let second = lease(&broker, "b");
    assert!(matches!(ask(&broker, "c"), CredentialAnswer::Wait { .. }));
    broker.result(second.id, CredentialVerdict::Accepted);
    lease(&broker, "c");
    denial(&broker, "hostile");
}

#[test]
fn a_password_that_was_changed_at_the_domain_costs_two_attempts() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Accepted);
    attempt(&broker, "b", CredentialVerdict::Rejected);
    attempt(&broker, "c", CredentialVerdict::Rejected);
    for host in ["a", "b", "c", "d"] {
        denial(&broker, host);
    }
}

#[test]
fn a_secret_that_was_accepted_long_ago_is_tried_on_two_hosts_before_others_get_it() {
    let world = World::new();
    let broker = busy_broker(&world);
    world.hands.move_on(Duration::from_secs(10));
    let (k, _l) = (lease(&broker, "k"), lease(&broker, "l"));
    assert!(matches!(ask(&broker, "m"), CredentialAnswer::Wait { .. }));
    broker.result(k.id, CredentialVerdict::Accepted);
    lease(&broker, "m");
}

#[test]
fn a_host_that_takes_its_time_holds_the_others_for_two_seconds_at_most() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Accepted);
    let (_b, _c) = (lease(&broker, "b"), lease(&broker, "c"));
    assert!(matches!(ask(&broker, "d"), CredentialAnswer::Wait { .. }));
    world.hands.move_on(Duration::from_secs(2));
    lease(&broker, "d");
}

#[test]
fn a_hostile_host_a_quarter_of_an_hour_after_the_logons_takes_the_secret_from_nobody_else() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Accepted);
    world.hands.move_on(Duration::from_secs(15 * 60));
    attempt(&broker, "hostile", CredentialVerdict::Rejected);
    attempt(&broker, "b", CredentialVerdict::Accepted);
    attempt(&broker, "a", CredentialVerdict::Accepted);
    denial(&broker, "hostile");
}

#[test]
fn a_host_that_was_left_out_condemns_nothing_when_it_is_tried_again() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Accepted);
    attempt(&broker, "hostile", CredentialVerdict::Rejected);
    attempt(&broker, "b", CredentialVerdict::Accepted);
    for _ in 0..3 {
        world.hands.move_on(COOLDOWN);
        attempt(&broker, "hostile", CredentialVerdict::Rejected);
        denial(&broker, "hostile");
        attempt(&broker, "a", CredentialVerdict::Accepted);
        attempt(&broker, "c", CredentialVerdict::Accepted);
    }
}

#[test]
fn one_host_by_two_names_or_at_two_addresses_does_not_confirm_its_own_refusal() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Accepted);
    attempt(&broker, "hostile", CredentialVerdict::Rejected);
    let spellings = [("hostile", "10.0.0.9"), ("Hostile.", "10.0.0.10")];
    for (host, address) in spellings {
        let answer = ask_at(&broker, host, address);
        assert!(matches!(answer, CredentialAnswer::Denied { .. }), "{host} {address}: {answer:?}");
    }
    attempt(&broker, "b", CredentialVerdict::Accepted);
}

/// How many hosts of `count`, all of which lost their connection at once, see the secret and refuse it, where each
/// takes its time to answer.
fn refusals_of_slow_hosts(broker: &Broker, count: usize) -> usize {
    let hosts: Vec<String> = (0..count).map(|index| format!("web{index}")).collect();
    let mut refusals = 0;
    loop {
        let leased: Vec<Lease> = hosts
            .iter()
            .filter_map(|host| match ask(broker, host) {
                CredentialAnswer::Lease(lease) => Some(lease),
                _ => None,
            })
            .collect();
        if leased.is_empty() {
            return refusals;
        }
        refusals += leased.len();
        leased.into_iter().for_each(|lease| broker.result(lease.id, CredentialVerdict::Rejected));
    }
}

/// A broker whose secret many hosts have just accepted.
fn busy_broker(world: &World) -> Broker {
    let broker = world.broker("CORP", &["*"]);
    for host in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] {
        attempt(&broker, host, CredentialVerdict::Accepted);
    }
    broker
}

#[test]
fn sixty_lost_connections_after_a_password_change_amid_logons_cost_eight_at_most() {
    let world = World::new();
    assert_eq!(refusals_of_slow_hosts(&busy_broker(&world), 60), 8);
}

#[test]
fn sixty_lost_connections_after_a_password_change_in_a_quiet_fleet_cost_two_logons() {
    let world = World::new();
    let broker = busy_broker(&world);
    world.hands.move_on(Duration::from_secs(10));
    assert_eq!(refusals_of_slow_hosts(&broker, 60), 2);
}

#[test]
fn one_account_of_a_host_has_one_attempt_however_the_host_is_written() {
    let world = World::new();
    let broker = world.broker("", &["*", "127.0.0.0/8"]);
    let CredentialAnswer::Lease(first) = ask_at(&broker, "127.0.0.3", "127.0.0.3") else {
        panic!("the first one gets it")
    };
    broker.result(first.id, CredentialVerdict::Rejected);
    for host in
        ["::ffff:127.0.0.3", "[::ffff:7f00:3]", "localhost", "three.corp.example", "THREE.", "127.0.0.3"]
    {
        let answer = ask_at(&broker, host, "127.0.0.3");
        assert!(matches!(answer, CredentialAnswer::Denied { .. }), "{host}: {answer:?}");
    }
    // Who does not say where it was is asked for by name, and the name leads there.
    assert!(matches!(ask(&broker, "three.corp.example"), CredentialAnswer::Wait { .. }));
    denial(&broker, "three.corp.example");
    // Another host has another account.
    assert!(matches!(ask_at(&broker, "127.0.0.4", "127.0.0.4"), CredentialAnswer::Lease(_)));
}

#[test]
fn two_identities_of_one_account_with_two_passwords_do_not_try_the_wrong_one_again_and_again() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    for _ in 0..5 {
        // As two files, of which one was forgotten when the password was changed.
        world.password("correct horse");
        attempt(&broker, "a", CredentialVerdict::Accepted);
        world.password("hunter2");
        if let CredentialAnswer::Lease(lease) = ask(&broker, "b") {
            broker.result(lease.id, CredentialVerdict::Rejected);
        }
    }
    assert_eq!(broker.states()["corp"].leases, 6, "five good ones and one that is wrong");
}

#[test]
fn accounts_of_the_hosts_themselves_are_guarded_host_by_host() {
    for domain in ["", "."] {
        let world = World::new();
        let broker = world.broker(domain, &["*"]);
        for host in ["a", "b"] {
            // The name is looked up first, and leads nowhere.
            assert!(matches!(ask(&broker, host), CredentialAnswer::Wait { .. }));
        }
        attempt(&broker, "a", CredentialVerdict::Rejected);
        denial(&broker, "a");
        attempt(&broker, "b", CredentialVerdict::Accepted);
        // The host's own refusal is believed at once: there is nobody else to ask.
        attempt(&broker, "b", CredentialVerdict::Rejected);
        denial(&broker, "b");
    }
}

#[test]
fn a_refusal_survives_a_restart_until_the_secret_changes() {
    let world = World::new();
    let state = world.folder.path().join("state");
    let broker = world.broker_with("CORP", &["*"], Some(&state));
    attempt(&broker, "a", CredentialVerdict::Rejected);
    drop(broker);
    let file = state.join("credentials.json");
    wait_for(|| file.exists());
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("hunter2"), "{text}");

    let broker = world.broker_with("CORP", &["*"], Some(&state));
    denial(&broker, "b");
    world.password("correct horse");
    attempt(&broker, "b", CredentialVerdict::Accepted);
    wait_for(|| !std::fs::read_to_string(&file).unwrap().contains("rejected"));
}

#[test]
fn an_acceptance_survives_a_restart_and_one_host_cannot_take_it_back() {
    let world = World::new();
    let state = world.folder.path().join("state");
    let broker = world.broker_with("CORP", &["*"], Some(&state));
    attempt(&broker, "a", CredentialVerdict::Accepted);
    broker.finish_writes();
    let broker = world.broker_with("CORP", &["*"], Some(&state));
    attempt(&broker, "hostile", CredentialVerdict::Rejected);
    attempt(&broker, "b", CredentialVerdict::Accepted);
    broker.finish_writes();
    // Who was left out is left out, and still has no say when its cool-down is over.
    let broker = world.broker_with("CORP", &["*"], Some(&state));
    denial(&broker, "hostile");
    world.hands.move_on(COOLDOWN);
    attempt(&broker, "hostile", CredentialVerdict::Rejected);
    attempt(&broker, "c", CredentialVerdict::Accepted);
}

#[test]
fn what_is_known_of_accounts_is_bounded_and_refusals_go_last() {
    let world = World::new();
    let broker = world.broker("", &["10.0.0.0/8"]);
    let at = |number: u32| {
        let [_, b, c, d] = number.to_be_bytes();
        format!("10.{b}.{c}.{d}")
    };
    let ask = |host: &str| match ask_at(&broker, host, host) {
        CredentialAnswer::Lease(lease) => Some(lease),
        _ => None,
    };
    for number in 0..100 {
        broker.result(ask(&at(number)).unwrap().id, CredentialVerdict::Rejected);
    }
    for number in 100..66_000 {
        broker.result(ask(&at(number)).unwrap().id, CredentialVerdict::Accepted);
    }
    let state = broker.states()["corp"];
    assert!(state.accepted + state.rejected <= 65_536, "{state:?}");
    assert_eq!(state.rejected, 100);
    assert!((0..100).all(|number| ask(&at(number)).is_none()));
}

#[test]
fn a_state_file_that_makes_no_sense_is_an_error_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credentials.json");
    for text in ["", "{}", r#"{"version":1,"salt":"zz","refused":[]}"#] {
        std::fs::write(&file, text).unwrap();
        VerdictFile::open(folder.path()).expect_err(text);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn a_secret_goes_only_to_its_own_target() {
    let world = World::new();
    let broker = world.broker("CORP", &["*.corp.example", "10.0.0.0/8"]);
    let target = TargetInfo {
        name: "web".to_owned(),
        host: "inside.corp.example".to_owned(),
        port: None,
        identity: "corp".to_owned(),
    };
    let waiter = Waiter::new(|| {});
    let ask = |host: &str, identity: &str| {
        broker.acquire(&CredentialRequest { configured: Some(&target), host, identity }, &waiter)
    };
    for (host, identity) in
        [("other.corp.example", "corp"), ("192.0.2.9", "corp"), ("inside.corp.example", "admin")]
    {
        let answer = ask(host, identity);
        assert!(matches!(answer, CredentialAnswer::Denied { .. }), "{host} {identity}: {answer:?}");
    }
    // The address that the name led to will do.
    assert!(matches!(ask("10.1.2.3", "corp"), CredentialAnswer::Lease(_)));
}

#[test]
fn a_name_that_resolves_outside_of_the_networks_gets_nothing() {
    let world = World::new();
    let broker = world.broker("CORP", &["*.corp.example", "10.0.0.0/8"]);
    // The first question starts the resolution, which here is done at once.
    for host in ["inside.corp.example", "astray.corp.example", "unknown.corp.example"] {
        assert!(matches!(ask(&broker, host), CredentialAnswer::Wait { .. }), "{host}");
    }
    assert!(denial(&broker, "astray.corp.example").contains("192.0.2.1"));
    let unknown = denial(&broker, "unknown.corp.example");
    assert!(unknown.contains("does not resolve (no name server answered in time)"), "{unknown}");
    lease(&broker, "inside.corp.example");
}

#[test]
fn a_secret_file_that_is_missing_is_a_denial_that_names_it() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    std::fs::remove_file(world.file()).unwrap();
    assert!(denial(&broker, "a").contains("cannot be read"));
}

/// The state is written by a thread of its own.
fn wait_for(condition: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < end, "in time");
        std::thread::yield_now();
    }
}
