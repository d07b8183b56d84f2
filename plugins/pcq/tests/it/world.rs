//! Simulated hosts on loopback, the plugin in a host of its own, and who lends the password.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ms_dtyp::FileTime;
use plugin_contract::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, Failure, Lease,
    LeaseId, Secret, Stage, StageReport, TargetInfo, Waiter,
};
use plugin_host::testing::{Recorded, RecordedFamily, RecordedOutcome, RecordingSink};
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

    pub(crate) fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        self.host.change_behaviour(change);
    }

    /// From now on this goes wrong, and nothing else.
    pub(crate) fn rule(&self, rule: &str) {
        self.rules(&[rule]);
    }

    pub(crate) fn rules(&self, rules: &[&str]) {
        let rules = rules.iter().map(|rule| rule.parse().expect("a rule of the simulator")).collect();
        self.behave(|behaviour| behaviour.rules = rules);
    }

    /// From now on the host chooses otherwise where documents leave it open.
    pub(crate) fn choose(&self, change: impl FnOnce(&mut Choices)) {
        self.behave(|behaviour| change(&mut behaviour.choices));
    }

    pub(crate) fn heal(&self) {
        self.behave(|behaviour| behaviour.rules.clear());
    }

    pub(crate) fn change_account(&self, change: impl FnOnce(&mut Account)) {
        self.host.accounts().change(|accounts| change(&mut accounts[0]));
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
        *self.listener.lock().expect("nobody panicked") = listen(&self.runtime, &self.host, self.port).1;
    }

    /// Calls of this method so far.
    pub(crate) fn calls(&self, opnum: u16) -> u64 {
        self.host.counts().calls(pcq::NAME, opnum)
    }

    pub(crate) fn all_calls(&self) -> u64 {
        (0..8).map(|opnum| self.calls(opnum)).sum()
    }

    pub(crate) fn connections(&self) -> u64 {
        self.host.counts().connections.load(Ordering::Relaxed)
    }

    /// Logons so far, over SMB and RPC: right and wrong ones.
    pub(crate) fn logons(&self) -> (u64, u64) {
        let attempts = self.host.accounts().attempts();
        let sum = |of: fn(&windows_sim::Attempts) -> u64| attempts.values().map(of).sum();
        (sum(|seen| seen.accepted), sum(|seen| seen.refused))
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
    pub(crate) lender: Arc<Lender>,
    _host: Host,
}

impl Plugin {
    /// With the right password.
    pub(crate) fn new() -> Self {
        Self::with_password(PASSWORD)
    }

    pub(crate) fn with_password(password: &str) -> Self {
        let lender = Arc::new(Lender { password: Mutex::new(password.to_owned()), ..Lender::default() });
        let broker: Arc<dyn CredentialBroker> = Arc::<Lender>::clone(&lender);
        let host = Host::new(HostOptions { broker, ..HostOptions::default() });
        let library = host.link("pcq", plugin_pcq::entry).expect("the plugin is linked");
        Self { library, lender, _host: host }
    }

    /// An instance for a simulated host.
    pub(crate) fn watch(&self, sim: &SimHost, settings: Value) -> Watch {
        self.watch_port("127.0.0.1", sim.port, settings)
    }

    pub(crate) fn watch_port(&self, host: &str, port: u16, settings: Value) -> Watch {
        let config = config(host, port, settings);
        let sink = Arc::new(RecordingSink::default());
        let created = self.library.create("pcq", &config, Arc::<RecordingSink>::clone(&sink));
        Watch { instance: created.expect("the source takes the settings"), sink, config }
    }
}

fn config(host: &str, port: u16, settings: Value) -> InstanceConfig {
    let target = TargetInfo {
        name: "web1".to_owned(),
        host: host.to_owned(),
        port: Some(port),
        identity: "corp".to_owned(),
    };
    InstanceConfig { target, settings, ..InstanceConfig::default() }
}

/// Settings for these countersets, whole.
pub(crate) fn countersets(names: &[&str]) -> Value {
    let countersets: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    json!({ "countersets": countersets })
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
    pub(crate) stages: Vec<StageReport>,
    /// But for the series that say which kind of provider gives a counterset.
    pub(crate) recorded: Recorded,
    /// Those, by the labels.
    pub(crate) providers: Vec<[String; 2]>,
}

fn without_providers(mut recorded: Recorded) -> (Vec<[String; 2]>, Recorded) {
    let mut providers = Vec::new();
    let families = &recorded.families;
    recorded.series.retain(|series| {
        let is_provider = families[series.family as usize].object == "Counterset";
        if is_provider && !series.retired {
            let [(_, counterset), (_, provider)] = &series.labels[..] else { panic!("{series:?}") };
            providers.push([counterset.clone(), provider.clone()]);
        }
        !is_provider
    });
    (providers, recorded)
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
        let (providers, recorded) = without_providers(recorded);
        Ended { outcome: last.outcome, stages: last.stages, recorded, providers }
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
}

impl Ended {
    #[track_caller]
    pub(crate) fn failure(&self) -> &Failure {
        match &self.outcome {
            RecordedOutcome::Failed(failure) => failure,
            other => panic!("it did not fail: {other:?}"),
        }
    }

    /// Stage, reason and message of the failure, and that its reason says what to do.
    #[track_caller]
    pub(crate) fn failed(&self) -> (Stage, &str, &str) {
        let failure = self.failure();
        assert!(!failure.message.is_empty(), "{failure}");
        assert!(!failure.reason.next_step().is_empty(), "{failure}");
        assert!(!failure.message.contains(PASSWORD), "{failure}");
        (failure.stage, failure.reason.as_str(), &failure.message)
    }

    /// The objects that a partial collection covers, but for what the plugin says of countersets, and why it is not full.
    #[track_caller]
    pub(crate) fn partial(&self) -> (Vec<&str>, &Failure) {
        match &self.outcome {
            RecordedOutcome::Partial(families, Some(failure)) => {
                let object = |id: &u32| self.recorded.families[*id as usize].object.as_str();
                let mut objects: Vec<&str> = families.iter().map(object).collect();
                objects.dedup();
                objects.retain(|object| *object != "Counterset");
                (objects, failure)
            }
            other => panic!("it is not partial with a reason: {other:?}"),
        }
    }

    /// The families that were registered, but for that of the providers.
    pub(crate) fn families(&self) -> impl Iterator<Item = &RecordedFamily> {
        self.recorded.families.iter().filter(|family| family.object != "Counterset")
    }

    pub(crate) fn stage(&self, stage: Stage) -> StageReport {
        *self.stages.iter().find(|report| report.stage == stage).expect("the stage was entered")
    }

    /// The series that are there, as `object|item|part{labels} = value`, sorted.
    pub(crate) fn series(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.live().map(|(line, value)| format!("{line} = {value:?}")).collect();
        lines.sort();
        lines
    }

    fn live(&self) -> impl Iterator<Item = (String, Option<plugin_host::testing::Value>)> {
        self.recorded.series.iter().filter(|series| !series.retired).map(|series| {
            let family = &self.recorded.families[series.family as usize];
            let labels: Vec<String> =
                series.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let line = format!("{}|{}|{}{{{}}}", family.object, family.item, family.part, labels.join(","));
            (line, series.value)
        })
    }

    /// What tells the instances apart of which series are there.
    pub(crate) fn instances(&self) -> Vec<String> {
        let live = self.recorded.series.iter().filter(|series| !series.retired);
        let labels = live.flat_map(|series| &series.labels);
        let is_key = |name: &str| ["counter_instance", "process_id"].contains(&name);
        let mut names: Vec<String> =
            labels.filter(|(name, _)| is_key(name)).map(|(_, value)| value.clone()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Lends one password, and keeps what it is told.
#[derive(Default)]
pub(crate) struct Lender {
    pub(crate) password: Mutex<String>,
    /// What it says instead, if anything.
    pub(crate) answer: Mutex<Option<CredentialAnswer>>,
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
        if let Some(answer) = self.answer.lock().expect("nobody panicked").clone() {
            return answer;
        }
        let password = self.password.lock().expect("nobody panicked").clone();
        CredentialAnswer::Lease(Lease {
            id: LeaseId(self.leases.fetch_add(1, Ordering::Relaxed)),
            kind: CredentialKind::Password,
            domain: "CORP".to_owned(),
            username: USER.to_owned(),
            secret: Secret::new(password.into_bytes()),
        })
    }

    fn result(&self, _lease: LeaseId, verdict: CredentialVerdict) {
        self.verdicts.lock().expect("nobody panicked").push(verdict);
    }
}
