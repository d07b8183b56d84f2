//! The whole way of a password: from a file, through the guard, through the counter plugin, to simulated hosts.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use config::{AllowHosts, Identity, Logon, Position, Secret, SecretSource};
use parking_lot::Mutex;
use perfmon_exporter::credentials::{Broker, Resolved, Resolver, SystemClock, SystemKerberos};
use plugin_abi::{
    CredentialAnswer, CredentialBroker, CredentialRequest, CredentialVerdict, Failure, GeneralReason,
    LeaseId, TargetInfo, Waiter,
};
use plugin_host::testing::{RecordedOutcome, RecordingSink};
use plugin_host::{Host, HostOptions, Instance, InstanceConfig, monotonic_ns};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use windows_sim::model::{self, ValueSource};
use windows_sim::{Account, Accounts, WindowsHost, server};

const HOSTS: u8 = 50;

/// The hosts of one domain, each on an address of its own.
struct Domain {
    accounts: Arc<Accounts>,
    ports: Vec<(Ipv4Addr, u16)>,
    _runtime: Runtime,
}

impl Domain {
    fn new(password: &str) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let account = Account::new("CORP", "svc", ssp::Secret::new(password));
        let accounts = Arc::new(Accounts::new(vec![account]));
        let ports = (1..=HOSTS).map(|number| {
            let source: Arc<dyn ValueSource> = Arc::new(model::Host::new(model::HostOptions::default()));
            let host = WindowsHost::new(format!("web{number}"), source, Arc::clone(&accounts));
            let address = Ipv4Addr::new(127, 0, 0, number);
            let listener = runtime.block_on(TcpListener::bind((address, 0))).unwrap();
            let port = listener.local_addr().unwrap().port();
            runtime.spawn(server::listen_smb(Arc::new(host), listener, server::Limits::default()));
            (address, port)
        });
        Self { ports: ports.collect(), accounts, _runtime: runtime }
    }
}

struct NoNames;

impl Resolver for NoNames {
    fn resolve(&self, _host: &str, done: Box<dyn FnOnce(Resolved) + Send>) {
        done(Err("names are not resolved here".to_owned()));
    }
}

/// Lends nothing, and notes for which hosts it was asked to.
#[derive(Default)]
struct Asked(Mutex<Vec<String>>);

impl CredentialBroker for Asked {
    fn acquire(&self, request: &CredentialRequest<'_>, _waiter: &Waiter) -> CredentialAnswer {
        self.0.lock().push(request.host.to_owned());
        CredentialAnswer::Denied { reason: GeneralReason::CredentialsWithheld, message: String::new() }
    }

    fn result(&self, _lease: LeaseId, _verdict: CredentialVerdict) {}
}

#[test]
fn a_secret_is_asked_for_by_the_address_that_is_about_to_see_it() {
    let domain = Domain::new("never shown");
    let asked = Arc::new(Asked::default());
    let broker = Arc::clone(&asked) as Arc<dyn CredentialBroker>;
    let host = Host::new(HostOptions { broker, ..HostOptions::default() });
    let library = host.link("pcq", plugin_pcq::entry).unwrap();
    let (address, port) = domain.ports[0];
    let target = TargetInfo {
        name: "web1".to_owned(),
        host: "localhost".to_owned(),
        port: Some(port),
        identity: "corp".to_owned(),
        service_principal: None,
    };
    let sink = Arc::new(RecordingSink::default());
    let config = InstanceConfig {
        target,
        settings: json!({"countersets": [{"name": "HTTP Service"}]}),
        ..InstanceConfig::default()
    };
    let instance = library.create("pcq", &config, Arc::<RecordingSink>::clone(&sink)).unwrap();
    begin(&instance);
    assert_eq!(failure(&sink, 1).reason.as_str(), "credentials_withheld");
    // The name may lead elsewhere when somebody else asks for it.
    assert_eq!(*asked.0.lock(), [address.to_string()]);
}

fn broker(file: &std::path::Path) -> Broker {
    let mut allow_hosts = AllowHosts::default();
    allow_hosts.add("127.0.0.0/8").unwrap();
    let identity = Identity {
        logon: Logon::Ntlm,
        domain: "CORP".to_owned(),
        username: "svc".to_owned(),
        secret: Secret::Password(SecretSource::File(file.to_owned())),
        allow_hosts,
        position: Position { line: 1, column: 1 },
    };
    let identities = BTreeMap::from([("corp".to_owned(), identity)]);
    let cooldown = Duration::from_secs(3_600);
    Broker::new(
        identities,
        cooldown,
        None,
        Arc::new(SystemClock),
        Arc::new(NoNames),
        Arc::new(SystemKerberos),
    )
    .unwrap()
}

fn begin(instance: &Instance) {
    instance.collect(monotonic_ns() + 60_000_000_000).unwrap();
}

/// How the collection number `count` of a target ended.
fn outcome(sink: &RecordingSink, count: usize) -> RecordedOutcome {
    let recorded = sink.wait_completions(count).expect("the collection ends");
    recorded.completions[count - 1].outcome.clone()
}

fn failure(sink: &RecordingSink, count: usize) -> Failure {
    match outcome(sink, count) {
        RecordedOutcome::Failed(failure) => failure,
        other => panic!("it did not fail: {other:?}"),
    }
}

#[test]
fn a_wrong_password_costs_one_attempt_for_fifty_targets_and_a_corrected_one_brings_them_all_up() {
    let domain = Domain::new("the right one");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "a wrong one\n").unwrap();
    let broker: Arc<dyn CredentialBroker> = Arc::new(broker(&file));
    let host = Host::new(HostOptions { broker, ..HostOptions::default() });
    let library = host.link("pcq", plugin_pcq::entry).unwrap();
    let targets: Vec<(Instance, Arc<RecordingSink>)> = domain
        .ports
        .iter()
        .map(|(address, port)| {
            let target = TargetInfo {
                name: address.to_string(),
                host: address.to_string(),
                port: Some(*port),
                identity: "corp".to_owned(),
                service_principal: None,
            };
            let settings = json!({"countersets": [{"name": "HTTP Service"}]});
            let sink = Arc::new(RecordingSink::default());
            let config = InstanceConfig { target, settings, ..InstanceConfig::default() };
            (library.create("pcq", &config, Arc::<RecordingSink>::clone(&sink)).unwrap(), sink)
        })
        .collect();

    // All at once, and once more.
    for round in 1..=2 {
        targets.iter().for_each(|(instance, _)| begin(instance));
        let mut reasons = BTreeMap::<String, usize>::new();
        for (_, sink) in &targets {
            *reasons.entry(failure(sink, round).reason.as_str().to_owned()).or_default() += 1;
        }
        assert_eq!(reasons, BTreeMap::from([("wrong_credentials".to_owned(), usize::from(HOSTS))]));
        assert_eq!(domain.accounts.refused(), 1, "round {round}");
    }

    std::fs::write(&file, "the right one\n").unwrap();
    for (instance, sink) in &targets {
        begin(instance);
        assert_eq!(outcome(sink, 3), RecordedOutcome::Full);
    }
    assert_eq!(domain.accounts.refused(), 1);
    assert_eq!(domain.accounts.attempts()[r"corp\svc"].accepted, 2 * u64::from(HOSTS), "over SMB and RPC");
}
