//! What is asked of a KDC, how often, and what hosts get meanwhile. The KDC is a script; the clock is the test's.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use config::{Identity, Kerberos, Logon, Secret};
use parking_lot::Mutex;
use perfmon_exporter::credentials::{Broker, Granted, NotGranted, Proof, TicketCache, TicketSource};
use plugin_abi::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialVerdict, GeneralReason, Waiter,
};

use super::{World, ask_with, lease, refusal};

const LIFETIME: Duration = Duration::from_secs(36_000);

/// Answers each request with what the test sends; without anything to send it hangs as a library may.
struct Script {
    asked: AtomicU32,
    answers: Mutex<Receiver<Result<Duration, GeneralReason>>>,
}

struct Named(String);

impl TicketCache for Named {
    fn name(&self) -> &str {
        &self.0
    }
}

impl TicketSource for Script {
    fn obtain(&self, name: &str, _proof: Proof<'_>, _allows_rc4: bool) -> Result<Granted, NotGranted> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = self.answers.lock().recv().unwrap_or(Err(GeneralReason::Cancelled));
        match answer {
            Ok(lifetime) => Ok(Granted {
                cache: Arc::new(Named(format!("MEMORY:{name}"))),
                principal: "svc@CORP.EXAMPLE".to_owned(),
                lifetime,
                skew_seconds: Some(2),
            }),
            Err(reason) => Err(NotGranted { reason, message: format!("scripted {reason:?}") }),
        }
    }
}

struct Realm {
    world: World,
    broker: Broker,
    script: Arc<Script>,
    answer: Sender<Result<Duration, GeneralReason>>,
}

fn realm(ntlm_fallback: bool) -> Realm {
    realm_with(ntlm_fallback, |_, _| {})
}

fn realm_with(ntlm_fallback: bool, change: impl FnOnce(&World, &mut Identity)) -> Realm {
    let world = World::new();
    let (answer, answers) = channel();
    let script = Arc::new(Script { asked: AtomicU32::new(0), answers: Mutex::new(answers) });
    let logon =
        Logon::Kerberos(Kerberos { ntlm_fallback, kdc: Vec::new(), krb5_conf: None, allow_rc4: false });
    let mut identity = world.identity(logon, "CORP.EXAMPLE", &["*"]);
    change(&world, &mut identity);
    let broker = world.broker_of(identity, None, Arc::clone(&script) as Arc<dyn TicketSource>);
    Realm { world, broker, script, answer }
}

impl Realm {
    fn asked(&self) -> u32 {
        self.script.asked.load(Ordering::Relaxed)
    }

    /// The answer once there is one, as a plugin gets it.
    fn ask(&self, host: &str) -> CredentialAnswer {
        let (wake, woken) = channel();
        loop {
            let wake = wake.clone();
            match ask_with(&self.broker, host, &Waiter::new(move || wake.send(()).unwrap_or_default())) {
                CredentialAnswer::Wait { .. } => woken.recv_timeout(Duration::from_secs(20)).unwrap(),
                answer => return answer,
            }
        }
    }

    fn kind(&self, host: &str) -> Result<CredentialKind, &'static str> {
        match self.ask(host) {
            CredentialAnswer::Lease(lease) => {
                self.broker.result(lease.id, CredentialVerdict::Accepted);
                Ok(lease.kind)
            }
            CredentialAnswer::Denied { reason, .. } => Err(reason.as_str()),
            other @ CredentialAnswer::Wait { .. } => panic!("{other:?}"),
        }
    }

    fn cache(&self, host: &str) -> String {
        match self.ask(host) {
            CredentialAnswer::Lease(lease) => {
                assert_eq!(lease.kind, CredentialKind::Kerberos);
                self.broker.result(lease.id, CredentialVerdict::Accepted);
                String::from_utf8(lease.secret.expose().to_vec()).unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    /// Asks until the thread of the identity has come so far.
    fn until(&self, mut is_so: impl FnMut(&Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while !is_so(self) {
            assert!(Instant::now() < end, "it never came so far; the KDC was asked {} times", self.asked());
            std::thread::yield_now();
        }
    }
}

#[test]
fn one_ticket_serves_all_hosts_and_is_renewed_before_it_ends() {
    let realm = realm(false);
    realm.answer.send(Ok(LIFETIME)).unwrap();
    let first = realm.cache("host-0.corp.example");
    for number in 1..1_000 {
        assert_eq!(realm.cache(&format!("host-{number}.corp.example")), first);
    }
    assert_eq!(realm.asked(), 1);

    realm.world.hands.move_on(LIFETIME.mul_f64(0.7));
    assert_eq!((realm.cache("host-0.corp.example"), realm.asked()), (first.clone(), 1));
    realm.world.hands.move_on(LIFETIME.mul_f64(0.1));
    realm.answer.send(Ok(LIFETIME)).unwrap();
    realm.until(|realm| realm.cache("host-0.corp.example") != first);
    let state = &realm.broker.tickets()["corp"];
    assert_eq!((realm.asked(), state.obtained, state.failure.clone()), (2, 2, None));
    assert_eq!(state.expires_unix_s, 1_800_000_000 + 28_800 + 36_000);
}

#[test]
fn while_a_renewal_fails_the_ticket_serves_to_its_end_and_no_longer() {
    let realm = realm(false);
    realm.answer.send(Ok(LIFETIME)).unwrap();
    let first = realm.cache("a.corp.example");
    realm.world.hands.move_on(LIFETIME.mul_f64(0.8));
    realm.answer.send(Err(GeneralReason::KdcUnreachable)).unwrap();
    realm.until(|realm| {
        assert_eq!(realm.cache("a.corp.example"), first);
        realm.broker.tickets()["corp"].failure.is_some()
    });
    realm.world.hands.move_on(LIFETIME.mul_f64(0.2));
    for _ in 0..10 {
        assert_eq!(realm.kind("a.corp.example"), Err("kdc_unreachable"));
    }
    // The KDC is back, and a reload does not wait for the pause.
    realm.answer.send(Ok(LIFETIME)).unwrap();
    realm.broker.retry_refused();
    realm.until(|realm| realm.kind("a.corp.example").is_ok());
    assert_eq!(realm.broker.tickets()["corp"].failure, None);
}

#[test]
fn a_wrong_password_costs_one_attempt_at_the_kdc_until_it_changes() {
    let realm = realm(true);
    realm.answer.send(Err(GeneralReason::WrongCredentials)).unwrap();
    for number in 0..100 {
        assert_eq!(realm.kind(&format!("host-{number}.corp.example")), Err("wrong_credentials"));
        realm.world.hands.move_on(Duration::from_secs(30));
    }
    assert_eq!(realm.asked(), 1, "the same password was tried again");
    let withheld = realm.broker.tickets()["corp"].clone();
    assert_eq!(withheld.failures.values().sum::<u64>(), 1, "an attempt is counted that was never made");
    assert_eq!(realm.broker.states()["corp"].rejected, 1);

    realm.world.password("another, made up for tests\n");
    realm.answer.send(Ok(LIFETIME)).unwrap();
    realm.until(|realm| realm.kind("a.corp.example").is_ok());
    assert_eq!((realm.asked(), realm.broker.states()["corp"].rejected), (2, 0));
}

#[test]
fn a_library_that_hangs_is_told_and_its_answer_is_used_at_last() {
    let realm = realm(false);
    let asked = ask_with(&realm.broker, "a.corp.example", &Waiter::new(|| {}));
    assert!(matches!(asked, CredentialAnswer::Wait { .. }), "{asked:?}");
    realm.until(|realm| realm.asked() == 1);
    realm.world.hands.move_on(Duration::from_secs(31));
    let (reason, message) = refusal(&realm.broker, "a.corp.example");
    assert_eq!(reason, "kdc_unreachable");
    assert!(message.contains("has not answered for 31 s"), "{message}");
    realm.answer.send(Ok(LIFETIME)).unwrap();
    realm.until(|realm| {
        matches!(ask_with(&realm.broker, "a.corp.example", &Waiter::new(|| {})), CredentialAnswer::Lease(_))
    });
}

#[test]
fn ntlm_is_used_only_where_kerberos_is_not_possible_and_ntlm_permitted() {
    for (is_permitted, because, expected) in [
        (true, GeneralReason::KdcUnreachable, Ok(CredentialKind::Password)),
        (true, GeneralReason::NoKerberos, Ok(CredentialKind::KerberosPassword)),
        (true, GeneralReason::ClockSkew, Err("clock_skew")),
        (true, GeneralReason::WrongCredentials, Err("wrong_credentials")),
        (false, GeneralReason::KdcUnreachable, Err("kdc_unreachable")),
        (false, GeneralReason::NoKerberos, Ok(CredentialKind::KerberosPassword)),
    ] {
        let realm = realm(is_permitted);
        realm.answer.send(Err(because)).unwrap();
        assert_eq!(realm.kind("a.corp.example"), expected, "{because:?}, permitted: {is_permitted}");
    }
    for (is_permitted, expected) in [(true, CredentialKind::Password), (false, CredentialKind::Kerberos)] {
        let realm = realm(is_permitted);
        realm.answer.send(Ok(LIFETIME)).unwrap();
        realm.cache("known.corp.example");
        let tickets = lease(&realm.broker, "unknown.corp.example");
        realm.broker.result(tickets.id, CredentialVerdict::Unsuitable);
        assert_eq!(realm.kind("unknown.corp.example"), Ok(expected));
        assert_eq!(realm.kind("known.corp.example"), Ok(CredentialKind::Kerberos), "another host");
        // Once in an hour, and at a reload, Kerberos is tried again.
        realm.world.hands.move_on(Duration::from_secs(3_601));
        assert_eq!(realm.kind("unknown.corp.example"), Ok(CredentialKind::Kerberos));
        let tickets = lease(&realm.broker, "unknown.corp.example");
        realm.broker.result(tickets.id, CredentialVerdict::Unsuitable);
        assert_eq!(realm.kind("unknown.corp.example"), Ok(expected));
        realm.broker.retry_refused();
        assert_eq!(realm.kind("unknown.corp.example"), Ok(CredentialKind::Kerberos));
    }
    // A KDC knows no addresses.
    let by_address = |_: &World, identity: &mut Identity| {
        identity.allow_hosts.add("10.0.0.0/8").unwrap();
    };
    let (permitted, forbidden) = (realm_with(true, by_address), realm_with(false, by_address));
    assert_eq!(permitted.kind("10.0.0.1"), Ok(CredentialKind::Password));
    assert_eq!(forbidden.kind("10.0.0.1"), Err("unknown_service"));
    assert_eq!((permitted.asked(), forbidden.asked()), (0, 0));
}

#[test]
fn a_host_that_takes_no_ticket_has_others_made_but_seldom() {
    let realm = realm(false);
    realm.answer.send(Ok(LIFETIME)).unwrap();
    let first = realm.cache("a.corp.example");
    let refused = |realm: &Realm| {
        let tickets = lease(&realm.broker, "a.corp.example");
        realm.broker.result(tickets.id, CredentialVerdict::Rejected);
    };
    refused(&realm);
    assert_eq!((realm.cache("a.corp.example"), realm.asked()), (first.clone(), 1));
    realm.world.hands.move_on(Duration::from_secs(301));
    realm.answer.send(Ok(LIFETIME)).unwrap();
    refused(&realm);
    realm.until(|realm| realm.cache("a.corp.example") != first);
    refused(&realm);
    assert_eq!(realm.asked(), 2);
    assert_eq!(realm.broker.states()["corp"].rejected, 0, "it says nothing of the keytab");
}

#[test]
fn an_identity_that_logs_on_in_another_way_after_a_reload_has_other_tickets() {
    let realm = realm(false);
    realm.answer.send(Ok(LIFETIME)).unwrap();
    let first = realm.cache("a.corp.example");
    let identity = |change: &dyn Fn(&mut Identity)| {
        let logon = Logon::Kerberos(Kerberos {
            ntlm_fallback: false,
            kdc: Vec::new(),
            krb5_conf: None,
            allow_rc4: false,
        });
        let mut identity = realm.world.identity(logon, "CORP.EXAMPLE", &["*"]);
        change(&mut identity);
        BTreeMap::from([("corp".to_owned(), identity)])
    };
    let cooldown = Duration::from_secs(3_600);
    realm.broker.set_identities(identity(&|_| {}), cooldown);
    assert_eq!((realm.cache("a.corp.example"), realm.asked()), (first.clone(), 1), "nothing changed");
    realm.answer.send(Ok(LIFETIME)).unwrap();
    realm.broker.set_identities(identity(&|identity| identity.username = "other".to_owned()), cooldown);
    assert_ne!(realm.cache("a.corp.example"), first);
    assert_eq!(realm.asked(), 2);
    realm.broker.set_identities(BTreeMap::new(), cooldown);
    assert!(realm.broker.tickets().is_empty());
}

#[test]
fn a_keytab_that_cannot_be_used_is_told_and_the_next_one_is_used() {
    let realm = realm_with(false, |world, identity| identity.secret = Secret::Keytab(world.file()));
    // What the world has there is a password.
    let CredentialAnswer::Denied { reason, message } = realm.ask("a.corp.example") else {
        panic!("a password was taken for a keytab");
    };
    assert_eq!(reason, GeneralReason::CredentialsWithheld);
    assert!(message.contains("does not begin with the bytes 5 and 2"), "{message}");
    std::fs::write(realm.world.file(), [5, 2]).unwrap();
    realm.answer.send(Ok(LIFETIME)).unwrap();
    realm.until(|realm| realm.kind("a.corp.example").is_ok());
    assert_eq!(realm.asked(), 1);
}

/// A keytab with one key of `svc@CORP.EXAMPLE`, of the type of that number.
fn keytab(encryption_type: u8) -> Vec<u8> {
    let name = [&[0, 1, 0, 12][..], b"CORP.EXAMPLE", &[0, 3], b"svc", &[0, 0, 0, 1]].concat();
    let record = [&name[..], &[0; 4], &[1, 0, encryption_type, 0, 3, 0xab, 0xcd, 0xef]].concat();
    [&[5, 2, 0, 0, 0][..], &[u8::try_from(record.len()).unwrap()], &record].concat()
}

#[test]
fn without_the_library_a_kdc_is_asked_with_the_key_itself_and_the_guard_stands_before_it() {
    let realm = realm(true);
    let absent = |realm: &Realm| realm.answer.send(Err(GeneralReason::NoKerberos)).unwrap();
    absent(&realm);
    let first = match realm.ask("a.corp.example") {
        CredentialAnswer::Lease(lease) => lease,
        other => panic!("{other:?}"),
    };
    assert_eq!((first.kind, first.secret.expose()), (CredentialKind::KerberosPassword, &b"hunter2"[..]));
    assert_eq!((first.username.as_str(), first.domain.as_str()), ("svc", "CORP.EXAMPLE"));
    let other = ask_with(&realm.broker, "b.corp.example", &Waiter::new(|| {}));
    assert!(matches!(other, CredentialAnswer::Wait { .. }), "the key is being tried: {other:?}");
    realm.broker.result(first.id, CredentialVerdict::Rejected);
    for number in 0..10 {
        assert_eq!(realm.kind(&format!("host-{number}.corp.example")), Err("wrong_credentials"));
    }
    assert_eq!(realm.broker.states()["corp"].rejected, 1);

    realm.world.password("another, made up for tests\n");
    absent(&realm);
    realm.until(|realm| realm.kind("a.corp.example") == Ok(CredentialKind::KerberosPassword));
    // It is proven: hosts need not wait for each other, until a KDC takes it no more, which the guard is told.
    let [first, second] = ["b", "c"].map(|host| lease(&realm.broker, &format!("{host}.corp.example")));
    realm.broker.result(first.id, CredentialVerdict::Rejected);
    realm.broker.result(second.id, CredentialVerdict::Unknown);
    assert_eq!(realm.kind("d.corp.example"), Err("wrong_credentials"));
    assert_eq!(realm.broker.states()["corp"].rejected, 1);
    realm.world.password("a third one, made up for tests\n");
    absent(&realm);
    realm.until(|realm| realm.kind("a.corp.example") == Ok(CredentialKind::KerberosPassword));
    // The KDC knows no such host, and others are not meant.
    realm.broker.result(lease(&realm.broker, "b.corp.example").id, CredentialVerdict::Unsuitable);
    assert_eq!(realm.kind("b.corp.example"), Ok(CredentialKind::Password));
    assert_eq!(realm.kind("a.corp.example"), Ok(CredentialKind::KerberosPassword));
    realm.world.hands.move_on(Duration::from_secs(3_601));
    assert_eq!(realm.kind("b.corp.example"), Ok(CredentialKind::KerberosPassword));
    assert!(realm.asked() <= 3, "the library is looked for again and again");
}

#[test]
fn without_the_library_a_keytab_gives_its_key_and_a_cache_nothing() {
    let cases: [(&str, Vec<u8>, Result<&str, &str>); 4] = [
        ("svc", keytab(18), Ok("18:abcdef")),
        ("svc", keytab(20), Err("encryption_type")),
        ("other", keytab(18), Err("no_keytab_entry")),
        ("svc", keytab(18)[..30].to_vec(), Err("credentials_withheld")),
    ];
    for (username, content, expected) in cases {
        let realm = realm_with(false, |world, identity| {
            identity.secret = Secret::Keytab(world.file());
            identity.username = username.to_owned();
        });
        std::fs::write(realm.world.file(), content).unwrap();
        realm.answer.send(Err(GeneralReason::NoKerberos)).unwrap();
        let found = match realm.ask("a.corp.example") {
            CredentialAnswer::Lease(lease) => {
                assert_eq!(lease.kind, CredentialKind::KerberosKey);
                Ok(String::from_utf8(lease.secret.expose().to_vec()).unwrap())
            }
            CredentialAnswer::Denied { reason, .. } => Err(reason.as_str()),
            other @ CredentialAnswer::Wait { .. } => panic!("{other:?}"),
        };
        assert_eq!(found.as_deref().map_err(|reason| *reason), expected);
    }
    let realm = realm_with(false, |_, identity| identity.secret = Secret::Cache("FILE:/never".to_owned()));
    realm.answer.send(Err(GeneralReason::NoKerberos)).unwrap();
    assert_eq!(realm.kind("a.corp.example"), Err("no_kerberos"));
}
