//! What a secret costs when it is wrong, and who gets to see it.

mod allowed;
mod hosts;
mod logons;
mod tickets;
mod verdicts;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::{AllowHosts, Identity, Logon, Position, Secret, SecretSource};
use parking_lot::Mutex;
use perfmon_exporter::credentials::{
    Broker, Clock, Moment, Resolved, Resolver, SystemKerberos, TicketSource, VerdictFile,
};
use plugin_abi::{
    CredentialAnswer, CredentialBroker, CredentialRequest, CredentialVerdict, Lease, TargetInfo, Waiter,
};
use tempfile::TempDir;

const COOLDOWN: Duration = Duration::from_secs(3600);

/// A clock that the test moves.
struct Hands(Mutex<Moment>);

impl Hands {
    fn move_on(&self, by: Duration) {
        let mut now = self.0.lock();
        now.mono += by;
        now.unix_s += by.as_secs();
    }
}

impl Clock for Hands {
    fn now(&self) -> Moment {
        *self.0.lock()
    }
}

/// Answers at once, from a table.
struct Names(BTreeMap<&'static str, Vec<IpAddr>>);

impl Resolver for Names {
    fn resolve(&self, host: &str, done: Box<dyn FnOnce(Resolved) + Send>) {
        done(self.0.get(host).cloned().ok_or_else(|| "no name server answered in time".to_owned()));
    }
}

struct World {
    folder: TempDir,
    hands: Arc<Hands>,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let start = Moment { mono: Instant::now(), unix_s: 1_800_000_000 };
        let world = Self { folder, hands: Arc::new(Hands(Mutex::new(start))) };
        world.password("hunter2\n");
        world
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("password")
    }

    fn password(&self, text: &str) {
        std::fs::write(self.file(), text).unwrap();
    }

    fn broker(&self, domain: &str, allow: &[&str]) -> Broker {
        self.broker_with(domain, allow, None)
    }

    fn identity(&self, logon: Logon, domain: &str, allow: &[&str]) -> Identity {
        let mut allow_hosts = AllowHosts::default();
        allow.iter().for_each(|entry| allow_hosts.add(entry).unwrap());
        Identity {
            logon,
            domain: domain.to_owned(),
            username: "svc".to_owned(),
            secret: Secret::Password(SecretSource::File(self.file())),
            allow_hosts,
            position: Position { line: 1, column: 1 },
        }
    }

    fn broker_with(&self, domain: &str, allow: &[&str], state: Option<&Path>) -> Broker {
        self.broker_of(self.identity(Logon::Ntlm, domain, allow), state, Arc::new(SystemKerberos))
    }

    fn broker_of(&self, identity: Identity, state: Option<&Path>, tickets: Arc<dyn TicketSource>) -> Broker {
        let names = Names(BTreeMap::from([
            ("inside.corp.example", vec![IpAddr::from([10, 0, 0, 1])]),
            ("three.corp.example", vec![IpAddr::from([127, 0, 0, 3])]),
            ("astray.corp.example", vec![IpAddr::from([10, 0, 0, 2]), IpAddr::from([192, 0, 2, 1])]),
        ]));
        let identities = BTreeMap::from([("corp".to_owned(), identity)]);
        let file = state.map(|folder| VerdictFile::open(folder).unwrap());
        let clock = Arc::clone(&self.hands) as Arc<dyn Clock>;
        Broker::new(identities, COOLDOWN, file, clock, Arc::new(names), tickets).unwrap()
    }
}

fn ask_with(broker: &Broker, host: &str, waiter: &Waiter) -> CredentialAnswer {
    ask_reached(broker, host, host, waiter)
}

fn ask(broker: &Broker, host: &str) -> CredentialAnswer {
    ask_with(broker, host, &Waiter::new(|| {}))
}

fn ask_at(broker: &Broker, host: &str, address: &str) -> CredentialAnswer {
    ask_reached(broker, host, address, &Waiter::new(|| {}))
}

/// Asks as a plugin does that was given `host` and reached `address`.
fn ask_reached(broker: &Broker, host: &str, address: &str, waiter: &Waiter) -> CredentialAnswer {
    let target = TargetInfo {
        name: host.to_owned(),
        host: host.to_owned(),
        port: None,
        identity: "corp".to_owned(),
        service_principal: None,
    };
    broker.acquire(&CredentialRequest { configured: Some(&target), host: address, identity: "corp" }, waiter)
}

fn lease(broker: &Broker, host: &str) -> Lease {
    match ask(broker, host) {
        CredentialAnswer::Lease(lease) => lease,
        other => panic!("{host}: {other:?}"),
    }
}

fn attempt(broker: &Broker, host: &str, verdict: CredentialVerdict) {
    broker.result(lease(broker, host).id, verdict);
}

/// Why a host does not get the secret: the reason, and what is said.
fn refusal(broker: &Broker, host: &str) -> (&'static str, String) {
    match ask(broker, host) {
        CredentialAnswer::Denied { reason, message } => (reason.as_str(), message),
        other => panic!("{host}: {other:?}"),
    }
}

fn denial(broker: &Broker, host: &str) -> String {
    refusal(broker, host).1
}
