//! What readers get of two hosts, byte for byte: names, their order, HELP, TYPE, labels, escapes and values.
//!
//! The whole way is walked: simulated hosts with a fixed seed and a clock that the test moves, the counter plugin, the
//! pipeline with the rules of a configuration, and each format. Nothing in the pages depends on the time of day, on
//! how long a collection took, or on ports.
//!
//! `UPDATE_EXPECT=1 cargo test -p perfmon-exporter --test it golden_page` writes `data/golden_page/` again. A page that
//! changes is a change for everybody who has dashboards: write it again only for a change that you meant.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use config::{Config, parse};
use exposition::{Format, Representation, page_bytes};
use otlp::encode::{Earlier, Facts, Part, Requests, Resource, Scope as Plugin, Templates, Temporality};
use parking_lot::Mutex;
use plugin_abi::{
    CollectionId, Completion, CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest,
    CredentialVerdict, Lease, LeaseId, Outcome, Secret, Sinks, TargetInfo, Waiter,
};
use plugin_host::testing::RecordingSink;
use plugin_host::{Host, HostOptions, Instance, InstanceConfig, monotonic_ns};
use serde_json::Value;
use series::model::{Escaping, Snapshot, Target};
use series::pipeline::{Catalog, Limits, Scope, Store, StoreObserver};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use windows_sim::model::{self, Clock};
use windows_sim::{Account, Accounts, WindowsHost, server};
use wire::FileTime;

/// Every kind of counter there is, odd names and labels, instances by name, by number and in parts, aggregates, and a
/// counterset that exists once.
const CONFIG: &str = r#"
plugins: {load: [pcq]}
modules:
  os:
    plugin: pcq
    countersets:
      - {name: Counter Types}
      - {name: Oddities}
      - {name: Processor Information}
      - {name: Process V2, counters: {include: ['% Processor Time', 'Elapsed Time', '.* Process ID', 'Page .*', 'Working Set']}}
      - {name: HTTP Service}
      - {name: Duplicates}
      - {name: GPU Engine, counters: {include: [Utilization Percentage]}}
      - {name: Thermal Zone Information}
normalize:
  drop: ['perfmon_process_v2_page_.*']
  rename: [{from: 'perfmon_processor_information_(.*)', to: 'cpu_$1'}]
targets:
  - {host: 127.0.0.1, name: web1, modules: [os], labels: {env: prod, note: "\"C:\\\"\n\u00e4"}}
  - {host: 127.0.0.1, name: web2, modules: [os], normalize: {naming: verbatim}}
"#;

/// 2026-01-01 00:00 UTC, and two days before.
const NOW: FileTime = FileTime(134_116_992_000_000_000);
const BOOT: FileTime = FileTime(NOW.0 - 2 * 86_400 * 10_000_000);
const STEP: Duration = Duration::from_secs(30);
/// The same instant and the one after a step, as a collector reads it.
const T1: u64 = 1_767_225_600_000_000_000;
const T2: u64 = T1 + 30_000_000_000;

/// Lends one made-up password to everybody.
struct Lender;

impl CredentialBroker for Lender {
    fn acquire(&self, _request: &CredentialRequest<'_>, _waiter: &Waiter) -> CredentialAnswer {
        CredentialAnswer::Lease(Lease {
            id: LeaseId(1),
            kind: CredentialKind::Password,
            domain: "CORP".to_owned(),
            username: "svc".to_owned(),
            service: None,
            allows_rc4: false,
            secret: Secret::new(b"made up for tests".to_vec()),
        })
    }

    fn result(&self, _lease: LeaseId, _verdict: CredentialVerdict) {}
}

/// Says how each collection ended.
struct Ends(Mutex<mpsc::Sender<String>>);

impl StoreObserver for Ends {
    fn completed(&self, _: CollectionId, completion: &Completion<'_>, _: usize) {
        let told = match &completion.outcome {
            Outcome::Full => "full".to_owned(),
            other => format!("{other:?}"),
        };
        self.0.lock().send(told).unwrap();
    }
}

/// A configured target whose host is simulated.
struct Watched {
    store: Arc<Store>,
    instance: Instance,
    ends: Receiver<String>,
}

impl Watched {
    /// The snapshot of one more collection.
    fn collect(&self) -> Arc<Snapshot> {
        self.instance.collect(monotonic_ns() + 60_000_000_000).unwrap();
        assert_eq!(self.ends.recv_timeout(Duration::from_secs(60)).expect("the collection ends"), "full");
        self.store.snapshot()
    }
}

struct World {
    clock: Clock,
    targets: Vec<Watched>,
    _host: Host,
    _runtime: Runtime,
}

impl World {
    fn new() -> Self {
        let clock = Clock::manual(NOW);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let host = Host::new(HostOptions { broker: Arc::new(Lender), ..HostOptions::default() });
        let library = host.link("pcq", plugin_pcq::entry).unwrap();
        let config = parse("golden.yml", CONFIG, Path::new("/")).unwrap_or_else(|report| panic!("{report}"));
        let catalog = Catalog::new();
        let make = |(seed, index)| {
            let port = simulate(&runtime, seed, &clock);
            let (store, ends) = store_of(&catalog, &config, index);
            let target = TargetInfo {
                name: config.targets[index].name.clone(),
                host: "127.0.0.1".to_owned(),
                port: Some(port),
                identity: "corp".to_owned(),
                service_principal: None,
            };
            let settings = Value::Object(config.modules["os"].settings.clone());
            let data = Arc::<Store>::clone(&store);
            let sinks = Sinks { data, notices: Arc::<RecordingSink>::default() };
            let instance = library
                .create("pcq", &InstanceConfig { target, settings, ..InstanceConfig::default() }, sinks)
                .unwrap();
            Watched { store, instance, ends }
        };
        let targets = (1..).zip(0..config.targets.len()).map(make).collect();
        Self { clock, targets, _host: host, _runtime: runtime }
    }

    fn collect(&self) -> Vec<Arc<Snapshot>> {
        self.targets.iter().map(Watched::collect).collect()
    }
}

/// Starts a host; answers its port.
fn simulate(runtime: &Runtime, seed: u64, clock: &Clock) -> u16 {
    let options = model::HostOptions {
        seed,
        clock: clock.clone(),
        boot: Some(BOOT),
        processors: 2,
        services: 3,
        ..model::HostOptions::default()
    };
    let account = Account::new("CORP", "svc", ssp::Secret::new("made up for tests"));
    let source = Arc::new(model::Host::new(options));
    let host = WindowsHost::new(format!("sim{seed}"), source, Arc::new(Accounts::new(vec![account])));
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let port = listener.local_addr().unwrap().port();
    runtime.spawn(server::listen_smb(Arc::new(host), listener, server::Limits::default()));
    port
}

/// The store of a configured target, and where the ends of its collections are said.
fn store_of(catalog: &Arc<Catalog>, config: &Config, index: usize) -> (Arc<Store>, Receiver<String>) {
    let configured = &config.targets[index];
    let labels = configured.labels.iter();
    let target =
        labels.fold(Target::new(&configured.name), |target, (name, value)| target.with_label(name, value));
    let normalize = config.normalize(configured, "os");
    let scope =
        Scope::with_profile(Arc::clone(catalog), target, Limits::default(), normalize.profile.clone());
    let (sender, ends) = mpsc::channel();
    (scope.ruled_store(Arc::new(Ends(Mutex::new(sender))), normalize), ends)
}

/// The requests of a push, one after the other.
fn pushed(earlier: &[Arc<Snapshot>], now: &[Arc<Snapshot>], temporality: Temporality) -> Vec<u8> {
    let parts = earlier.iter().zip(now).map(|(earlier, snapshot)| Part {
        resource: Arc::new(Resource::of(
            snapshot.target(),
            &Facts { host: "127.0.0.1", os_type: "windows", os_version: "" },
        )),
        scope: Arc::new(Plugin::new("pcq", "1.0")),
        snapshot: Arc::clone(snapshot),
        time_unix_nanos: T2,
        earlier: Some(Earlier {
            sent: Arc::clone(earlier),
            counts: Arc::clone(earlier),
            counts_time_unix_nanos: T1,
        }),
    });
    let mut requests = Requests::new(parts.collect(), temporality);
    let (mut templates, mut body, mut all) = (Templates::default(), Vec::new(), Vec::new());
    while requests.next_request(&mut templates, 64 << 10, &mut body).is_some() {
        all.append(&mut body);
    }
    all
}

fn digest(name: &str, bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{name} {} bytes, sha256 {hex}\n", bytes.len())
}

/// Compares with the file of that name, or writes it.
fn check(name: &str, found: &[u8]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/golden_page").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, found).unwrap();
        return;
    }
    let expected = std::fs::read(&path).unwrap_or_default();
    if expected == found {
        return;
    }
    let line = |bytes: &[u8], index| {
        let line = bytes.split_inclusive(|byte| *byte == b'\n').nth(index);
        line.map_or_else(
            || "(the end)".to_owned(),
            |line| String::from_utf8_lossy(line).trim_end().to_owned(),
        )
    };
    let mut lines = (0..).map(|index| (index, line(&expected, index), line(found, index)));
    let differs = |(_, expected, found): &(usize, String, String)| expected != found || found == "(the end)";
    let (index, expected, found) = lines.find(differs).expect("there is an end");
    panic!(
        "{name} differs first on line {}:\n  expected {expected}\n  found    {found}\n\
         If you meant it: UPDATE_EXPECT=1 cargo test -p perfmon-exporter --test it golden_page",
        index + 1
    );
}

#[test]
fn pages_and_requests_stay_the_same_byte_for_byte() {
    let world = World::new();
    let earlier = world.collect();
    world.clock.advance(STEP);
    let now = world.collect();

    let quoted = Representation::newest(Format::Text, Escaping::AllowUtf8);
    check("text.txt", &page_bytes(quoted, now.clone(), None));
    check("openmetrics.txt", &page_bytes(Format::OpenMetrics, now.clone(), None));
    let rest = [
        ("text/plain; version=0.0.4", page_bytes(Format::Text, now.clone(), None)),
        ("protobuf", page_bytes(Format::Protobuf, now.clone(), None)),
        ("OTLP, cumulative", pushed(&earlier, &now, Temporality::Cumulative)),
        ("OTLP, delta", pushed(&earlier, &now, Temporality::Delta)),
    ];
    let digests: String = rest.iter().map(|(name, bytes)| digest(name, bytes)).collect();
    check("digests.txt", digests.as_bytes());
}
