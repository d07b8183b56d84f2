//! Simulated hosts on loopback, the plugin in a host of its own, and who lends the password.

use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use ms_dtyp::FileTime;
use plugin_contract::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, Failure, Lease,
    LeaseId, ListeningSockets, Secret, Stage, StageReport, TargetInfo, Waiter,
};
use plugin_host::testing::{Recorded, RecordedOutcome, RecordingSink, Value};
use plugin_host::{Host, HostOptions, Instance, InstanceConfig, Library, monotonic_ns};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use windows_sim::model::{self, Clock, ComProcess, ValueSource};
use windows_sim::server::{Delivery, EventPublisher};
use windows_sim::service::{event_system, tracker};
use windows_sim::{Account, Accounts, Behaviour, WindowsHost, server};

pub(crate) const PASSWORD: &str = "Passw0rd-of-the-test";
pub(crate) const USER: &str = "svc-metrics";

/// 2026-01-01 12:00:00, two days after the simulated hosts were started.
const NOON: FileTime = FileTime(134_116_992_000_000_000);
const BOOT: FileTime = FileTime(NOON.0 - 2 * 86_400 * FileTime::INTERVALS_PER_SECOND);

/// A simulated Windows host whose object resolver is on a port of loopback.
pub(crate) struct SimHost {
    pub(crate) host: Arc<WindowsHost>,
    pub(crate) clock: Clock,
    pub(crate) port: u16,
    address: Ipv4Addr,
    source: Arc<dyn ValueSource>,
    listener: Mutex<JoinHandle<()>>,
    publisher: Mutex<EventPublisher>,
    // Last, so that what runs on it ends first.
    runtime: Runtime,
}

impl SimHost {
    /// At noon, until the clock is moved.
    pub(crate) fn new() -> Self {
        Self::on(Ipv4Addr::LOCALHOST)
    }

    /// At another address of loopback. It calls back from the first one all the same.
    pub(crate) fn on(address: Ipv4Addr) -> Self {
        let clock = Clock::manual(NOON);
        let options =
            model::HostOptions { clock: clock.clone(), boot: Some(BOOT), ..model::HostOptions::default() };
        Self::made(Arc::new(model::Host::new(options)), clock, address)
    }

    pub(crate) fn with_source(source: Arc<dyn ValueSource>, clock: Clock) -> Self {
        Self::made(source, clock, Ipv4Addr::LOCALHOST)
    }

    fn made(source: Arc<dyn ValueSource>, clock: Clock, address: Ipv4Addr) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("threads for the simulator");
        let account = Account::new("CORP", USER, ssp::Secret::new(PASSWORD));
        let accounts = Arc::new(Accounts::new(vec![account]));
        let host = Arc::new(WindowsHost::new("web1", Arc::clone(&source), accounts));
        let (port, listener) = listen(&runtime, &host, (address, 0));
        let publisher = Mutex::new(EventPublisher::new(Arc::clone(&host), call_back_port()));
        Self { host, clock, port, address, source, listener: Mutex::new(listener), publisher, runtime }
    }

    /// Calls all subscribers of the tracker with the state of now.
    pub(crate) fn publish(&self) -> Vec<Delivery> {
        let mut publisher = self.publisher.lock().expect("nobody panicked");
        self.runtime.block_on(publisher.publish())
    }

    /// The same, and insists that there is one subscriber, which takes it.
    #[track_caller]
    pub(crate) fn tell(&self) {
        let mut deliveries = self.publish();
        assert_eq!(deliveries.len(), 1);
        deliveries.remove(0).outcome.expect("the subscriber takes it");
    }

    /// What its tracker sees now.
    pub(crate) fn processes(&self) -> Vec<ComProcess> {
        self.source.com_processes(&self.source.moment())
    }

    pub(crate) fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        self.host.change_behaviour(change);
    }

    /// From now on this goes wrong, and nothing else.
    pub(crate) fn rule(&self, rule: &str) {
        let rules = vec![rule.parse().expect("a rule of the simulator")];
        self.behave(|behaviour| behaviour.rules = rules);
    }

    pub(crate) fn heal(&self) {
        self.behave(|behaviour| behaviour.rules.clear());
    }

    /// All connections end, and nobody listens any more.
    pub(crate) fn shut(&self) {
        let listener = self.listener.lock().expect("nobody panicked");
        listener.abort();
        while !listener.is_finished() {
            std::thread::yield_now();
        }
    }

    /// All connections end; the next ones are taken.
    pub(crate) fn cut(&self) {
        self.shut();
        *self.listener.lock().expect("nobody panicked") =
            listen(&self.runtime, &self.host, (self.address, self.port)).1;
    }

    /// Calls of the tracker so far: of all applications, and of the components of one.
    pub(crate) fn calls(&self) -> (u64, u64) {
        let calls = |opnum| self.host.counts().calls(tracker::NAME, opnum);
        (calls(4), calls(5))
    }

    /// Calls that store a subscription so far.
    pub(crate) fn stores(&self) -> u64 {
        self.host.counts().calls(event_system::NAME, 8)
    }

    pub(crate) fn connections(&self) -> u64 {
        self.host.counts().connections.load(Ordering::Relaxed)
    }

    /// Logons so far: right and wrong ones.
    pub(crate) fn logons(&self) -> (u64, u64) {
        let attempts = self.host.accounts().attempts();
        attempts.values().fold((0, 0), |sum, seen| (sum.0 + seen.accepted, sum.1 + seen.refused))
    }
}

fn listen(
    runtime: &Runtime,
    host: &Arc<WindowsHost>,
    (address, port): (Ipv4Addr, u16),
) -> (u16, JoinHandle<()>) {
    let bind = |port| runtime.block_on(TcpListener::bind((address, port)));
    let resolver = bind(port).expect("a port on loopback");
    let exporter = bind(0).expect("another port on loopback");
    let port = resolver.local_addr().expect("its number").port();
    let host = Arc::clone(host);
    let serving = async move {
        let served = server::listen_dcom(host, resolver, exporter, server::Limits::default()).await;
        served.expect("the listeners have addresses");
    };
    (port, runtime.spawn(serving))
}

/// The socket for call-backs, as the service manager would open it: there is one in this process, as in each.
static CALL_BACKS: LazyLock<std::net::TcpListener> = LazyLock::new(|| {
    let socket = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port on loopback");
    socket.set_nonblocking(true).expect("it is a socket");
    socket
});

fn call_back_port() -> u16 {
    CALL_BACKS.local_addr().expect("its number").port()
}

/// Hands the socket to the plugin.
struct Sockets;

impl ListeningSockets for Sockets {
    fn socket(&self, plugin: &str, name: &str) -> std::io::Result<Option<OwnedFd>> {
        assert_eq!((plugin, name), ("comt", "events"));
        Ok(Some(CALL_BACKS.try_clone()?.into()))
    }
}

/// The first host of the process, which is asked for the socket whichever host an instance is of.
static FIRST: LazyLock<(Host, Library)> = LazyLock::new(|| {
    let host = Host::new(HostOptions { sockets: Arc::new(Sockets), ..HostOptions::default() });
    let library = host.link("comt", plugin_comt::entry).expect("the plugin is linked");
    (host, library)
});

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
        LazyLock::force(&FIRST);
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
