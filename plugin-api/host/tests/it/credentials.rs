use std::sync::Arc;

use parking_lot::Mutex;
use plugin_abi::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, GeneralReason,
    Lease, LeaseId, Secret, Waiter,
};
use plugin_host::testing::RecordedOutcome;
use serde_json::json;

use crate::rust::{collected, linked, made};
use crate::support::wait_until;

/// Lends one password to one at a time, until it is accepted.
#[derive(Default)]
struct Cautious(Mutex<State>);

#[derive(Default)]
struct State {
    password: &'static str,
    leased: u64,
    trying: bool,
    verdicts: Vec<(u64, CredentialVerdict)>,
    waiting: Vec<Waiter>,
    asked: Vec<String>,
}

impl CredentialBroker for Cautious {
    fn acquire(&self, request: &CredentialRequest<'_>, waiter: &Waiter) -> CredentialAnswer {
        let mut state = self.0.lock();
        let target = request.configured.map_or("", |target| target.name.as_str());
        state.asked.push(format!("{target} {} {}", request.host, request.identity));
        let rejected = state.verdicts.iter().any(|(_, verdict)| *verdict == CredentialVerdict::Rejected);
        if rejected {
            let message = "web1 says that it is wrong".to_owned();
            let reason = GeneralReason::CredentialsWithheld;
            return CredentialAnswer::Denied { reason, message };
        }
        if state.trying {
            state.waiting.push(waiter.clone());
            return CredentialAnswer::Wait { retry_after_ms: 3_600_000 };
        }
        state.trying = true;
        state.leased += 1;
        CredentialAnswer::Lease(Lease {
            id: LeaseId(state.leased),
            kind: CredentialKind::Password,
            service: None,
            allows_rc4: false,
            domain: "CORP".into(),
            username: "svc".into(),
            secret: Secret::new(state.password.into()),
        })
    }

    fn result(&self, lease: LeaseId, verdict: CredentialVerdict) {
        let waiting = {
            let mut state = self.0.lock();
            state.trying = false;
            state.verdicts.push((lease.0, verdict));
            std::mem::take(&mut state.waiting)
        };
        waiting.iter().for_each(Waiter::wake);
    }
}

fn broker(password: &'static str) -> Arc<Cautious> {
    Arc::new(Cautious(Mutex::new(State { password, ..State::default() })))
}

#[test]
fn a_lease_is_tried_and_its_verdict_told() {
    let broker = broker("right");
    let (_host, library) = linked(|options| options.broker = Arc::<Cautious>::clone(&broker));
    let (instance, sink) = made(&library, "counting", json!({"action": "borrow"}));
    let recorded = collected(&instance, &sink);
    assert_eq!(recorded.completions[0].outcome, RecordedOutcome::Full);
    let log =
        recorded.logs.iter().find(|log| log.message == "Borrowed").expect("the plugin logs through tracing");
    assert!(log.fields.contains(&("user".to_owned(), "svc".to_owned())), "{log:?}");
    let state = broker.0.lock();
    assert_eq!(state.verdicts, [(1, CredentialVerdict::Accepted)]);
    assert_eq!(state.asked, ["web1 web1.example corp"]);
}

#[test]
fn a_blocking_source_borrows_too_and_a_lease_that_is_forgotten_has_no_verdict() {
    let broker = broker("right");
    let (_host, library) = linked(|options| options.broker = Arc::<Cautious>::clone(&broker));
    let (instance, sink) = made(&library, "blocking", json!({"action": "borrow"}));
    assert_eq!(collected(&instance, &sink).completions[0].outcome, RecordedOutcome::Full);
    let (instance, sink) = made(&library, "counting", json!({"action": "forget"}));
    collected(&instance, &sink);
    let state = broker.0.lock();
    assert_eq!(state.verdicts, [(1, CredentialVerdict::Accepted), (2, CredentialVerdict::Unknown)]);
}

#[test]
fn who_is_told_to_wait_is_woken_and_a_wrong_password_is_tried_once() {
    let broker = broker("wrong");
    let (_host, library) = linked(|options| options.broker = Arc::<Cautious>::clone(&broker));
    broker.0.lock().trying = true;
    let all: Vec<_> = (0..3).map(|_| made(&library, "counting", json!({"action": "borrow"}))).collect();
    for (instance, _) in &all {
        instance.collect(plugin_host::monotonic_ns() + 60_000_000_000).expect("the collection begins");
    }
    wait_until("all wait", || broker.0.lock().waiting.len() == 3);
    broker.result(LeaseId(99), CredentialVerdict::Unknown);
    let mut outcomes: Vec<String> = Vec::new();
    for (_, sink) in &all {
        let recorded = sink.wait_completions(1).expect("the collection ends");
        outcomes.push(match &recorded.completions[0].outcome {
            RecordedOutcome::Failed(failure) => failure.to_string(),
            other => format!("{other:?}"),
        });
    }
    outcomes.sort();
    // The plugin does not know why; who lends does.
    let withheld = "auth: credentials_withheld: web1 says that it is wrong";
    assert_eq!(outcomes, ["Full", withheld, withheld]);
    assert_eq!(broker.0.lock().leased, 1, "one attempt in all");
}

#[test]
fn a_secret_never_shows() {
    let secret = Secret::new(b"swordfish".to_vec());
    assert_eq!(format!("{secret:?}"), "***");
    let lease = Lease {
        id: LeaseId(1),
        kind: CredentialKind::Password,
        service: None,
        allows_rc4: false,
        domain: String::new(),
        username: "u".into(),
        secret,
    };
    assert!(!format!("{lease:?}").contains("swordfish"));
}
