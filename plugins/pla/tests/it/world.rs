//! Simulated hosts on loopback, the plugin in a host of its own, and who lends the password.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ms_dtyp::FileTime;
use plugin_contract::{
    AlertState, CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict,
    Lease, LeaseId, Secret, TargetInfo, Waiter,
};
use plugin_host::testing::{Recorded, RecordedOutcome, RecordingSink, Value as Recording};
use plugin_host::{Host, HostOptions, Instance, InstanceConfig, Library, monotonic_ns};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use windows_sim::choices::Choices;
use windows_sim::model::{self, Clock, ValueSource};
use windows_sim::service::pcq;
use windows_sim::{Account, Accounts, Behaviour, WindowsHost, server};

pub(crate) const PASSWORD: &str = "Passw0rd-of-the-test";
pub(crate) const USER: &str = "svc-metrics";

/// 2026-01-01 12:00:00, two days after the simulated hosts were started.
pub(crate) const NOON: FileTime = FileTime(134_116_992_000_000_000);
pub(crate) const BOOT: FileTime = FileTime(NOON.0 - 2 * 86_400 * FileTime::INTERVALS_PER_SECOND);

thread_local! {
    /// How far the clocks of this test are ahead: each test has a thread of its own.
    static AHEAD_NS: Arc<AtomicU64> = Arc::default();
}

/// A simulated Windows host on a port of loopback.
pub(crate) struct SimHost {
    pub(crate) host: Arc<WindowsHost>,
    pub(crate) clock: Clock,
    pub(crate) port: u16,
    listener: Mutex<JoinHandle<()>>,
    // Last, so that what runs on it ends first.
    runtime: Runtime,
}

/// The options of the model that the tests use.
pub(crate) fn model(clock: &Clock) -> model::HostOptions {
    model::HostOptions { clock: clock.clone(), boot: Some(BOOT), ..model::HostOptions::default() }
}

impl SimHost {
    /// The model, at noon, until the clock is moved.
    pub(crate) fn new() -> Self {
        Self::with_options(|_| {})
    }

    pub(crate) fn with_options(change: impl FnOnce(&mut model::HostOptions)) -> Self {
        let clock = Clock::manual(NOON);
        let mut options = model(&clock);
        change(&mut options);
        Self::with_source(Arc::new(model::Host::new(options)), clock)
    }

    pub(crate) fn with_source(source: Arc<dyn ValueSource>, clock: Clock) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("threads for the simulator");
        let account = Account::new("CORP", USER, ssp::Secret::new(PASSWORD));
        let host = Arc::new(WindowsHost::new("web1", source, Arc::new(Accounts::new(vec![account]))));
        let (port, listener) = listen(&runtime, &host, 0);
        Self { host, clock, port, listener: Mutex::new(listener), runtime }
    }

    /// Time passes, for the host and for the plugin.
    pub(crate) fn pass(&self, time: Duration) {
        self.clock.advance(time);
        let time_ns = u64::try_from(time.as_nanos()).expect("a short time");
        AHEAD_NS.with(|ahead_ns| ahead_ns.fetch_add(time_ns, Ordering::Relaxed));
    }

    pub(crate) fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        self.host.change_behaviour(change);
    }

    /// From now on the host chooses otherwise where documents leave it open.
    pub(crate) fn choose(&self, change: impl FnOnce(&mut Choices)) {
        self.behave(|behaviour| change(&mut behaviour.choices));
    }

    /// Connections so far.
    pub(crate) fn connections(&self) -> u64 {
        self.host.counts().connections.load(Ordering::Relaxed)
    }

    /// All connections end, and nobody listens any more.
    pub(crate) fn shut(&self) {
        let mut listener = self.listener.lock().expect("nobody panicked");
        listener.abort();
        // It may have been shut before. It ends with that it was aborted.
        if !listener.is_finished() {
            let _ = self.runtime.block_on(&mut *listener);
        }
    }

    /// All connections end; the next ones are taken.
    pub(crate) fn cut(&self) {
        self.shut();
        *self.listener.lock().expect("nobody panicked") = listen(&self.runtime, &self.host, self.port).1;
    }

    /// Values that were fetched so far: by a query, and of the registry.
    pub(crate) fn fetches(&self) -> (u64, u64) {
        (self.calls(6), self.host.counts().calls("winreg", 17))
    }

    /// Logons so far.
    pub(crate) fn logons(&self) -> u64 {
        self.host.accounts().attempts().values().map(|seen| seen.accepted + seen.refused).sum()
    }

    /// Calls of this method so far.
    pub(crate) fn calls(&self, opnum: u16) -> u64 {
        self.host.counts().calls(pcq::NAME, opnum)
    }
}

fn listen(runtime: &Runtime, host: &Arc<WindowsHost>, port: u16) -> (u16, JoinHandle<()>) {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = runtime.block_on(TcpListener::bind(address)).expect("a port on loopback");
    let port = listener.local_addr().expect("its number").port();
    let serving = server::listen_smb(Arc::clone(host), listener, server::Limits::default());
    (port, runtime.spawn(serving))
}

/// The plugin, linked into this program, in a host of its own.
pub(crate) struct Plugin {
    pub(crate) library: Library,
    host: Host,
}

impl Plugin {
    pub(crate) fn new() -> Self {
        let broker: Arc<dyn CredentialBroker> = Arc::new(Lender::default());
        let ahead_ns = AHEAD_NS.with(Arc::clone);
        let started_ns = monotonic_ns();
        let clock = Arc::new(move || started_ns + ahead_ns.load(Ordering::Relaxed));
        let host = Host::new(HostOptions { broker, clock, ..HostOptions::default() });
        let library = host.link("pla", plugin_pla::entry).expect("the plugin is linked");
        Self { library, host }
    }

    /// An instance for a simulated host.
    pub(crate) fn watch(&self, sim: &SimHost, settings: Value) -> Watch {
        self.made(sim, settings, false)
    }

    /// As for a probe.
    pub(crate) fn watch_on_demand(&self, sim: &SimHost, settings: Value) -> Watch {
        self.made(sim, settings, true)
    }

    /// Ends an instance, and waits for that.
    pub(crate) fn end(&self, watch: Watch) {
        drop(watch);
        assert_eq!(self.host.wait_destroyed(Duration::from_secs(60)), 0, "it ends");
    }

    fn made(&self, sim: &SimHost, settings: Value, is_on_demand: bool) -> Watch {
        let config = InstanceConfig { is_on_demand, ..config(sim, settings) };
        let sink = Arc::new(RecordingSink::default());
        let created = self.library.create("pla", &config, Arc::<RecordingSink>::clone(&sink));
        Watch { instance: created.expect("the source takes the settings"), sink, config }
    }
}

/// What the exporter passes for a simulated host.
pub(crate) fn config(sim: &SimHost, settings: Value) -> InstanceConfig {
    let target = TargetInfo {
        name: "web1".to_owned(),
        host: "127.0.0.1".to_owned(),
        port: Some(sim.port),
        identity: "corp".to_owned(),
    };
    InstanceConfig { target, settings, is_on_demand: false }
}

/// A set of alerts in the settings.
pub(crate) fn set(alerts: &Value) -> Value {
    json!({ "sets": [{ "name": "Mill", "alerts": alerts }] })
}

/// One instance of the source with all that it said.
pub(crate) struct Watch {
    pub(crate) instance: Instance,
    pub(crate) sink: Arc<RecordingSink>,
    pub(crate) config: InstanceConfig,
}

/// How one collection ended, and all that had arrived by then.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: RecordedOutcome,
    pub(crate) recorded: Recorded,
}

impl Watch {
    /// Collects with a deadline far away.
    #[track_caller]
    pub(crate) fn collect(&self) -> Ended {
        self.collect_within(Duration::from_secs(60))
    }

    /// Collects with this deadline.
    #[track_caller]
    pub(crate) fn collect_within(&self, time: Duration) -> Ended {
        let before = self.sink.recorded().completions.len();
        let deadline_ns = monotonic_ns() + u64::try_from(time.as_nanos()).expect("a short time");
        self.instance.collect(deadline_ns).expect("the collection begins");
        // Other programs of a busy machine may take more time than the sink's patience.
        let mut ends = (0..6).filter_map(|_| self.sink.wait_completions(before + 1));
        let recorded = ends.next().expect("the collection ends");
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

    pub(crate) fn reconfigure(&self, settings: Value) {
        let config = InstanceConfig { settings, ..self.config.clone() };
        self.instance.reconfigure(&config).expect("the source takes the settings");
    }

    /// The alerts that were reported so far.
    pub(crate) fn alerts(&self) -> Vec<(String, AlertState)> {
        self.sink.recorded().alerts
    }
}

impl Ended {
    /// Why a collection is partial.
    #[track_caller]
    pub(crate) fn partial(&self) -> String {
        match &self.outcome {
            RecordedOutcome::Partial(families, Some(failure)) => {
                assert_eq!(families.len(), self.recorded.families.len(), "all families are complete");
                failure.message.clone()
            }
            other => panic!("it is not partial with a reason: {other:?}"),
        }
    }

    /// The word of the reason why a collection is partial.
    #[track_caller]
    pub(crate) fn reason(&self) -> String {
        match &self.outcome {
            RecordedOutcome::Partial(_, Some(failure)) => failure.reason.as_str().to_owned(),
            other => panic!("it is not partial with a reason: {other:?}"),
        }
    }

    /// The next step that belongs to the reason.
    #[track_caller]
    pub(crate) fn next_step(&self) -> String {
        match &self.outcome {
            RecordedOutcome::Partial(_, Some(failure)) => failure.reason.next_step().to_owned(),
            other => panic!("it is not partial with a reason: {other:?}"),
        }
    }

    /// All values, a line each, but for times.
    pub(crate) fn page(&self) -> String {
        let items = self.recorded.families.iter().map(|family| (&*family.object, &*family.item));
        let lines = items.filter(|(_, item)| *item != "Last Change Timestamp").flat_map(|(object, item)| {
            let values = self.of(object, item).into_iter();
            values.map(move |(labels, value)| format!("{object} {item} {labels} {value}\n"))
        });
        lines.collect()
    }

    /// The series of an item that are there and have a value: labels without names, and the value.
    pub(crate) fn of(&self, object: &str, item: &str) -> Vec<(String, f64)> {
        let live = self.recorded.series.iter().filter(|series| !series.retired);
        let of = live.filter(|series| {
            let family = &self.recorded.families[series.family as usize];
            assert_eq!(family.namespace, "pla");
            family.object == object && family.item == item
        });
        let mut found: Vec<(String, f64)> = of
            .filter_map(|series| {
                let labels: Vec<&str> = series.labels.iter().map(|(_, value)| value.as_str()).collect();
                let value = match series.value? {
                    Recording::F64(value) => value,
                    Recording::U64(value) => value as f64,
                    other => panic!("{other:?}"),
                };
                Some((labels.join("|"), value))
            })
            .collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    }

    /// The states of the alerts by name and instance.
    pub(crate) fn states(&self) -> Vec<String> {
        let all = self.of("Alert", "State Info").into_iter();
        all.map(|(labels, _)| {
            let parts: Vec<&str> = labels.split('|').collect();
            format!("{}({}) {}", parts[1], parts[3], parts[4])
        })
        .collect()
    }
}

/// Lends the password.
#[derive(Default)]
struct Lender(AtomicU64);

impl CredentialBroker for Lender {
    fn acquire(&self, request: &CredentialRequest<'_>, _waiter: &Waiter) -> CredentialAnswer {
        assert_eq!(request.identity, "corp");
        CredentialAnswer::Lease(Lease {
            id: LeaseId(self.0.fetch_add(1, Ordering::Relaxed)),
            kind: CredentialKind::Password,
            domain: "CORP".to_owned(),
            username: USER.to_owned(),
            secret: Secret::new(PASSWORD.as_bytes().to_vec()),
        })
    }

    fn result(&self, _lease: LeaseId, _verdict: CredentialVerdict) {}
}
