//! The plugin in a host of its own, and who lends the password.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plugin_contract::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, Lease, LeaseId,
    Secret, Stage, TargetInfo, Waiter,
};
use plugin_host::testing::{Recorded, RecordedOutcome, RecordingSink, Value};
use plugin_host::{Host, HostOptions, Instance, InstanceConfig, Library, monotonic_ns};

pub(crate) const PASSWORD: &str = "Passw0rd-of-the-test";
pub(crate) const USER: &str = "svc-metrics";

/// The plugin, linked into this program, in a host of its own.
pub(crate) struct Plugin {
    pub(crate) library: Library,
    pub(crate) lender: Arc<Lender>,
    _host: Host,
}

impl Plugin {
    /// With the right password.
    pub(crate) fn new() -> Self {
        Self::with_password(PASSWORD)
    }

    pub(crate) fn with_password(password: &str) -> Self {
        let lender = Arc::new(Lender { password: password.to_owned(), ..Lender::default() });
        let broker: Arc<dyn CredentialBroker> = Arc::<Lender>::clone(&lender);
        let host = Host::new(HostOptions { broker, ..HostOptions::default() });
        let library = host.link("rpc_state", plugin_rpc_state::entry).expect("the plugin is linked");
        Self { library, lender, _host: host }
    }

    pub(crate) fn watch(&self, port: u16, settings: serde_json::Value) -> Watch {
        let target = TargetInfo {
            name: "web1".to_owned(),
            host: "127.0.0.1".to_owned(),
            port: Some(port),
            identity: "corp".to_owned(),
        };
        let config = InstanceConfig { target, settings, is_on_demand: false };
        let sink = Arc::new(RecordingSink::default());
        let created = self.library.create("rpc_endpoints", &config, Arc::<RecordingSink>::clone(&sink));
        Watch { instance: created.expect("the source takes the settings"), sink }
    }
}

/// One instance of the source with all that it said.
pub(crate) struct Watch {
    instance: Instance,
    sink: Arc<RecordingSink>,
}

/// How one collection ended, and all that had arrived by then.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: RecordedOutcome,
    recorded: Recorded,
}

impl Watch {
    /// Collects with a deadline far away.
    pub(crate) fn collect(&self) -> Ended {
        self.collect_within(Duration::from_secs(60))
    }

    /// Collects, and insists that it ends in time.
    #[track_caller]
    pub(crate) fn collect_within(&self, time: Duration) -> Ended {
        let before = self.sink.recorded().completions.len();
        let deadline_ns = monotonic_ns() + u64::try_from(time.as_nanos()).expect("a short time");
        self.instance.collect(deadline_ns).expect("the collection begins");
        let recorded = self.sink.wait_completions(before + 1).expect("the collection ends");
        assert!(monotonic_ns() < deadline_ns, "it ended after its deadline");
        let outcome = recorded.completions.last().expect("a completion").outcome.clone();
        Ended { outcome, recorded }
    }

    /// Collects, and insists that it is complete.
    #[track_caller]
    pub(crate) fn full(&self) -> Ended {
        let ended = self.collect();
        assert_eq!(ended.outcome, RecordedOutcome::Full);
        ended
    }
}

impl Ended {
    /// Stage, reason and message of the failure.
    #[track_caller]
    pub(crate) fn failed(&self) -> (Stage, &str, &str) {
        let (RecordedOutcome::Failed(failure) | RecordedOutcome::Partial(_, Some(failure))) = &self.outcome
        else {
            panic!("it did not fail: {:?}", self.outcome)
        };
        assert!(!failure.message.contains(PASSWORD), "{failure}");
        (failure.stage, failure.reason.as_str(), &failure.message)
    }

    /// The same for a collection that is not complete.
    #[track_caller]
    pub(crate) fn partial(&self) -> (Stage, &str, &str) {
        assert!(matches!(self.outcome, RecordedOutcome::Partial(..)), "{:?}", self.outcome);
        self.failed()
    }

    /// The value of a series that is there, by the object and item of its family and the values of its labels.
    pub(crate) fn value(&self, object: &str, item: &str, labels: &[&str]) -> Option<u64> {
        let series = self.recorded.series.iter().find(|series| {
            let family = &self.recorded.families[series.family as usize];
            !series.retired
                && (family.object.as_str(), family.item.as_str()) == (object, item)
                && series.labels.iter().map(|(_, value)| value.as_str()).eq(labels.iter().copied())
        })?;
        match series.value? {
            Value::U64(value) => Some(value),
            other => panic!("no family has such values: {other:?}"),
        }
    }

    /// A figure of the server at a port.
    pub(crate) fn server(&self, port: u16, item: &str) -> Option<u64> {
        self.value("Remote Endpoint", item, &[&port.to_string()])
    }

    /// What the server at a port did not answer: call and reason.
    pub(crate) fn refusals(&self, port: u16) -> Vec<(String, String)> {
        let rows = self.labels_of("Failure Info").into_iter().filter(|labels| labels[0] == port.to_string());
        rows.map(|labels| (labels[1].clone(), labels[2].clone())).collect()
    }

    /// The values of the labels of all series of an item.
    pub(crate) fn labels_of(&self, item: &str) -> Vec<Vec<String>> {
        let series =
            self.recorded.series.iter().filter(|series| {
                !series.retired && self.recorded.families[series.family as usize].item == item
            });
        series.map(|series| series.labels.iter().map(|(_, value)| value.clone()).collect()).collect()
    }

    /// Entries of a protocol sequence.
    pub(crate) fn entries(&self, sequence: &str) -> Option<u64> {
        self.value("Endpoint Map", "Entries", &[sequence])
    }

    pub(crate) fn left_out(&self, kind: &str, reason: &str) -> Option<u64> {
        self.value("Endpoint Map", "Left Out", &[kind, reason])
    }
}

/// Lends one password, and keeps what it is told.
#[derive(Default)]
pub(crate) struct Lender {
    password: String,
    hosts: Mutex<Vec<String>>,
    verdicts: Mutex<Vec<CredentialVerdict>>,
    leases: AtomicU64,
}

impl Lender {
    pub(crate) fn verdicts(&self) -> Vec<CredentialVerdict> {
        self.verdicts.lock().expect("nobody panicked").clone()
    }

    /// For which addresses it was lent.
    pub(crate) fn hosts(&self) -> Vec<String> {
        self.hosts.lock().expect("nobody panicked").clone()
    }
}

impl CredentialBroker for Lender {
    fn acquire(&self, request: &CredentialRequest<'_>, _waiter: &Waiter) -> CredentialAnswer {
        assert_eq!(request.identity, "corp");
        self.hosts.lock().expect("nobody panicked").push(request.host.to_owned());
        CredentialAnswer::Lease(Lease {
            id: LeaseId(self.leases.fetch_add(1, Ordering::Relaxed)),
            kind: CredentialKind::Password,
            domain: "CORP".to_owned(),
            username: USER.to_owned(),
            secret: Secret::new(self.password.clone().into_bytes()),
        })
    }

    fn result(&self, _lease: LeaseId, verdict: CredentialVerdict) {
        self.verdicts.lock().expect("nobody panicked").push(verdict);
    }
}
