//! How many logons a secret that is wrong costs, and who waits for whose.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use perfmon_exporter::credentials::Broker;
use plugin_abi::{CredentialAnswer, CredentialBroker, CredentialVerdict, Lease, Waiter};

use super::{COOLDOWN, World, ask, ask_with, attempt, denial, lease, refusal};

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

/// What is known of an account that a host refused: the verdict, the reason that all targets have from then on, what is said,
/// and the pause.
const REFUSALS: [(CredentialVerdict, &str, &str, Duration); 4] = [
    (CredentialVerdict::Rejected, "wrong_credentials", "was rejected by `a`", COOLDOWN),
    (CredentialVerdict::Locked, "account_locked", "CORP\\svc is locked, as `a` says", MINUTES),
    (CredentialVerdict::Disabled, "account_disabled", "is disabled or has expired, as `a` says", MINUTES),
    (
        CredentialVerdict::PasswordExpired,
        "password_expired",
        "expired or must be changed, as `a` says",
        MINUTES,
    ),
];
const MINUTES: Duration = Duration::from_secs(300);
const SECOND: Duration = Duration::from_secs(1);

#[test]
fn the_reason_of_a_refused_account_stays_until_it_is_over() {
    for (verdict, reason, said, pause) in REFUSALS {
        let world = World::new();
        let broker = world.broker("CORP", &["*"]);
        attempt(&broker, "a", verdict);
        for host in ["a", "b", "c", "a", "b"] {
            let (denied, message) = refusal(&broker, host);
            assert_eq!(denied, reason, "{host}");
            assert!(message.contains(said), "{message}");
            let until = match (pause == COOLDOWN, host) {
                (true, "a") => "withheld until 09:15 UTC",
                (true, _) => "withheld until 09:00 UTC",
                (false, "a") => "withheld until 08:06 UTC",
                (false, _) => "withheld until 08:05 UTC",
            };
            assert!(message.contains(until), "{message}");
        }
        let state = broker.states()["corp"];
        assert_eq!((state.refused(), state.leases), (1, 1), "{reason}");
        world.hands.move_on(pause - SECOND);
        assert_eq!(refusal(&broker, "b").0, reason);
        world.hands.move_on(SECOND);
        attempt(&broker, "b", verdict);
        assert_eq!(refusal(&broker, "c").0, reason, "it begins again");
        world.hands.move_on(pause);
        attempt(&broker, "c", CredentialVerdict::Accepted);
        lease(&broker, "a");
    }
}

#[test]
fn a_reload_tries_a_refused_secret_once() {
    for (verdict, reason, ..) in REFUSALS {
        let world = World::new();
        let broker = world.broker("CORP", &["*"]);
        attempt(&broker, "a", verdict);
        world.hands.move_on(SECOND);
        broker.retry_refused();
        // Also the host that refused it: it may be the only one.
        let trial = lease(&broker, "a");
        assert!(matches!(ask(&broker, "b"), CredentialAnswer::Wait { .. }));
        assert_eq!(broker.states()["corp"].refused(), 1, "the metric stays while it is tried");
        broker.result(trial.id, verdict);
        let (denied, message) = refusal(&broker, "b");
        let may_be_retried = verdict != CredentialVerdict::Rejected;
        assert_eq!(
            (denied, message.contains("; a reload tries it at once")),
            (reason, may_be_retried),
            "{message}"
        );
        assert_eq!(message.contains("; a reload has tried it already"), !may_be_retried, "{message}");
        world.hands.move_on(SECOND);
        broker.retry_refused();
        if !may_be_retried {
            assert_eq!(refusal(&broker, "b").0, reason, "reloads bring no account nearer to being locked");
            world.hands.move_on(COOLDOWN - SECOND);
            // It waits longer than others, because it refused the secret last.
            assert!(refusal(&broker, "a").1.contains("; a reload tries it at once"));
            broker.retry_refused();
        }
        attempt(&broker, "b", CredentialVerdict::Accepted);
        lease(&broker, "c");
    }
}

/// What a message says is what happens: a second before the time nobody gets the secret, then this host does.
#[test]
fn a_host_is_told_the_time_that_holds_for_it() {
    for (verdict, _, _, pause) in REFUSALS {
        let extra = if pause == COOLDOWN { Duration::from_secs(900) } else { SECOND * 30 };
        // The host that refused, another one, and one that is left out and has nobody's acceptance against it.
        let left_out_as_well = |broker: &Broker, world: &World| {
            attempt(broker, "b", CredentialVerdict::Accepted);
            attempt(broker, "a", verdict);
            world.hands.move_on(SECOND * 120);
            attempt(broker, "d", CredentialVerdict::Accepted);
            attempt(broker, "c", verdict);
        };
        for (host, is_left_out, last) in
            [("a", false, pause + extra), ("b", false, pause), ("a", true, SECOND * 120 + pause)]
        {
            let world = World::new();
            let broker = world.broker("CORP", &["*"]);
            if is_left_out {
                left_out_as_well(&broker, &world);
            } else {
                attempt(&broker, "a", verdict);
            }
            let (_, message) = refusal(&broker, host);
            let minutes = last.as_secs().div_ceil(60);
            let until = format!("withheld until {:02}:{:02} UTC", 8 + minutes / 60, minutes % 60);
            assert!(message.contains(&until), "{host} after {verdict:?}: {message}, not {until}");
            let passed = if is_left_out { SECOND * 120 } else { Duration::ZERO };
            world.hands.move_on(last - passed - SECOND);
            refusal(&broker, host);
            world.hands.move_on(SECOND);
            lease(&broker, host);
        }
    }
}

#[test]
fn a_reload_is_used_up_by_whatever_the_host_says_then() {
    for verdict in
        [CredentialVerdict::Locked, CredentialVerdict::Disabled, CredentialVerdict::PasswordExpired]
    {
        let world = World::new();
        let broker = world.broker("CORP", &["*"]);
        attempt(&broker, "a", CredentialVerdict::Rejected);
        world.hands.move_on(SECOND);
        broker.retry_refused();
        // A second reload before anybody asked takes nothing away.
        world.hands.move_on(SECOND);
        broker.retry_refused();
        attempt(&broker, "b", verdict);
        for host in ["a", "b", "c"] {
            assert_eq!(refusal(&broker, host).0, "wrong_credentials", "{host} after {verdict:?}");
        }
    }
}

#[test]
fn the_only_host_of_an_account_that_was_accepted_before_is_tried_again_as_well() {
    for (verdict, reason, _, pause) in REFUSALS {
        let world = World::new();
        let broker = world.broker("CORP", &["*"]);
        attempt(&broker, "a", CredentialVerdict::Accepted);
        attempt(&broker, "a", verdict);
        assert_eq!(refusal(&broker, "a").0, reason);
        assert_eq!(broker.states()["corp"].refused(), 1, "nobody says otherwise");
        world.hands.move_on(SECOND);
        broker.retry_refused();
        attempt(&broker, "a", verdict);
        assert_eq!(refusal(&broker, "a").0, reason);
        world.hands.move_on(pause);
        attempt(&broker, "a", CredentialVerdict::Accepted);
        assert_eq!(broker.states()["corp"].refused(), 0);
        lease(&broker, "a");
    }
}

#[test]
fn a_host_that_calls_an_account_locked_does_not_have_a_wrong_password_tried_sooner() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    for host in ["a", "b"] {
        attempt(&broker, host, CredentialVerdict::Accepted);
    }
    let late = lease(&broker, "hostile");
    for host in ["a", "b", "c"] {
        world.hands.move_on(SECOND * 2);
        attempt(&broker, host, CredentialVerdict::Rejected);
    }
    assert_eq!(refusal(&broker, "d").0, "wrong_credentials");
    broker.result(late.id, CredentialVerdict::Locked);
    world.hands.move_on(MINUTES);
    assert_eq!(refusal(&broker, "d").0, "wrong_credentials");
}

#[test]
fn a_host_that_calls_an_account_locked_again_and_again_takes_it_from_nobody_else() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    for host in ["a", "b"] {
        attempt(&broker, host, CredentialVerdict::Accepted);
    }
    for _ in 0..20 {
        attempt(&broker, "hostile", CredentialVerdict::Locked);
        assert_eq!(refusal(&broker, "hostile").0, "account_locked");
        for host in ["a", "b", "c"] {
            attempt(&broker, host, CredentialVerdict::Accepted);
        }
        world.hands.move_on(MINUTES);
    }
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
    world.hands.0.lock().unix_s -= 3 * 365 * 86_400;
    denial(&broker, "b");
    world.hands.move_on(COOLDOWN - Duration::from_secs(1));
    denial(&broker, "b");
    world.hands.move_on(Duration::from_secs(1));
    denial(&broker, "a");
    attempt(&broker, "b", CredentialVerdict::Rejected);
    denial(&broker, "c");
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
