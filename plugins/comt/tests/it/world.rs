//! The plugin in a host of its own, and who lends the password.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use plugin_contract::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, Failure, Lease,
    LeaseId, Secret, Stage, StageReport, TargetInfo, Waiter,
};
use plugin_host::testing::{Recorded, RecordedOutcome, RecordingSink, Value};
use plugin_host::{Host, HostOptions, Instance, InstanceConfig, Library, monotonic_ns};
use serde_json::json;

use crate::call_backs;
pub(crate) use crate::sim_host::SimHost;

pub(crate) const PASSWORD: &str = "Passw0rd-of-the-test";
pub(crate) const USER: &str = "svc-metrics";

/// The plugin, linked into this program, in a host of its own.
pub(crate) struct Plugin {
    pub(crate) library: Library,
    pub(crate) lender: Arc<Lender>,
    host: Host,
}

impl Plugin {
    /// With the right password.
    pub(crate) fn new() -> Self {
        Self::with_password(PASSWORD)
    }

    /// Waits until no instance is left.
    pub(crate) fn wait_ended(&self) {
        assert_eq!(self.host.wait_destroyed(Duration::from_secs(30)), 0);
    }

    pub(crate) fn with_password(password: &str) -> Self {
        LazyLock::force(&call_backs::FIRST);
        let lender = Arc::new(Lender { password: password.to_owned(), ..Lender::default() });
        let broker: Arc<dyn CredentialBroker> = Arc::<Lender>::clone(&lender);
        let host = Host::new(HostOptions { broker, ..HostOptions::default() });
        let library = host.link("comt", plugin_comt::entry).expect("the plugin is linked");
        Self { library, lender, host }
    }

    /// An instance for a simulated host, with nothing set.
    pub(crate) fn watch(&self, sim: &SimHost) -> Watch {
        self.watch_with(sim.port, json!({}))
    }

    pub(crate) fn watch_with(&self, port: u16, settings: serde_json::Value) -> Watch {
        self.watch_host("127.0.0.1", port, settings)
    }

    pub(crate) fn watch_host(&self, host: &str, port: u16, settings: serde_json::Value) -> Watch {
        self.watch_made(host, port, settings, false)
    }

    /// As for a probe.
    pub(crate) fn watch_on_demand(&self, port: u16, settings: serde_json::Value) -> Watch {
        self.watch_made("127.0.0.1", port, settings, true)
    }

    fn watch_made(&self, host: &str, port: u16, settings: serde_json::Value, is_on_demand: bool) -> Watch {
        let target = TargetInfo {
            name: "web1".to_owned(),
            host: host.to_owned(),
            port: Some(port),
            identity: "corp".to_owned(),
        };
        let config = InstanceConfig { target, settings, is_on_demand };
        let sink = Arc::new(RecordingSink::default());
        let created = self.library.create("comt", &config, Arc::<RecordingSink>::clone(&sink));
        Watch { instance: created.expect("the source takes the settings"), sink, config }
    }
}

/// One instance of the source with all that it said.
pub(crate) struct Watch {
    pub(crate) instance: Instance,
    sink: Arc<RecordingSink>,
    pub(crate) config: InstanceConfig,
}

/// How one collection ended, and all that had arrived by then.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: RecordedOutcome,
    pub(crate) stages: Vec<StageReport>,
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
        let last = recorded.completions.last().expect("a completion").clone();
        Ended { outcome: last.outcome, stages: last.stages, recorded }
    }

    /// Other settings from the next collection on.
    pub(crate) fn reconfigure(&self, settings: serde_json::Value) {
        let config = InstanceConfig { settings, ..self.config.clone() };
        self.instance.reconfigure(&config).expect("the source takes the settings");
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
    /// Stage, reason and message of the failure, and the next step that goes with the reason.
    #[track_caller]
    pub(crate) fn failed(&self) -> (Stage, &str, &str, &str) {
        match &self.outcome {
            RecordedOutcome::Failed(failure) => in_words(failure),
            other => panic!("it did not fail: {other:?}"),
        }
    }

    /// The same for a collection that is not complete.
    #[track_caller]
    pub(crate) fn partial(&self) -> (Stage, &str, &str, &str) {
        match &self.outcome {
            RecordedOutcome::Partial(families, Some(failure)) => {
                assert_eq!(families.len(), self.recorded.families.len(), "what was read is shown");
                in_words(failure)
            }
            other => panic!("it is not partial: {other:?}"),
        }
    }

    /// The value of a series that is there, by the object and item of its family and the values of its labels.
    pub(crate) fn value(&self, object: &str, item: &str, labels: &[&str]) -> Option<f64> {
        let series = self.recorded.series.iter().find(|series| {
            let family = &self.recorded.families[series.family as usize];
            !series.retired
                && (family.object.as_str(), family.item.as_str()) == (object, item)
                && series.labels.iter().map(|(_, value)| value.as_str()).eq(labels.iter().copied())
        })?;
        Some(match series.value? {
            Value::U64(value) => value as f64,
            Value::F64(value) => value,
            other => panic!("no family has such values: {other:?}"),
        })
    }

    /// All series with their values, but for the object.
    pub(crate) fn all_but(&self, object: &str) -> Vec<(String, Vec<String>, Option<Value>)> {
        let series = self.recorded.series.iter().filter(|series| !series.retired);
        let rows = series.map(|series| {
            let family = &self.recorded.families[series.family as usize];
            let labels = series.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
            (format!("{} {}", family.object, family.item), labels, series.value)
        });
        let mut rows: Vec<_> = rows.filter(|(name, ..)| !name.starts_with(object)).collect();
        rows.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
        rows
    }

    /// The bodies of events with this name, so far.
    pub(crate) fn events(&self, name: &str) -> Vec<&str> {
        let events = self.recorded.events.iter().filter(|(own, _)| own == name);
        events.map(|(_, body)| body.as_str()).collect()
    }

    /// How often this was logged, so far.
    pub(crate) fn logged(&self, message: &str) -> usize {
        self.recorded.logs.iter().filter(|log| log.message == message).count()
    }

    /// How many series of an object are there.
    pub(crate) fn count(&self, object: &str) -> usize {
        let of_object = |family: u32| self.recorded.families[family as usize].object == object;
        let series = self.recorded.series.iter();
        series.filter(|series| !series.retired && of_object(series.family)).count()
    }

    /// How many things were left out, by kind and reason.
    #[track_caller]
    pub(crate) fn left_out(&self, kind: &str, reason: &str) -> f64 {
        self.value("Entries", "Left Out", &[kind, reason]).expect("it is counted")
    }
}

#[track_caller]
fn in_words(failure: &Failure) -> (Stage, &str, &str, &str) {
    assert!(!failure.message.is_empty(), "{failure}");
    assert!(!failure.message.contains(PASSWORD), "{failure}");
    (failure.stage, failure.reason.as_str(), &failure.message, failure.reason.next_step())
}

/// Lends one password, and keeps what it is told.
#[derive(Default)]
pub(crate) struct Lender {
    password: String,
    verdicts: Mutex<Vec<CredentialVerdict>>,
    leases: AtomicU64,
}

impl Lender {
    pub(crate) fn verdicts(&self) -> Vec<CredentialVerdict> {
        self.verdicts.lock().expect("nobody panicked").clone()
    }
}

impl CredentialBroker for Lender {
    fn acquire(&self, request: &CredentialRequest<'_>, _waiter: &Waiter) -> CredentialAnswer {
        assert_eq!(request.identity, "corp");
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
