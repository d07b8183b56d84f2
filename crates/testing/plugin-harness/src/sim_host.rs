//! Simulated Windows hosts on loopback.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use parking_lot::Mutex;
use plugin_abi::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, Lease, LeaseId,
    Secret, Waiter,
};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use windows_sim::choices::Choices;
use windows_sim::model::{Clock, Host, HostOptions, ValueSource};
use windows_sim::service::pcq;
use windows_sim::{Account, Accounts, Attempts, Behaviour, WindowsHost, server};
use wire::FileTime;

/// The time 2026-01-01 12:00:00.
pub const NOON: FileTime = FileTime(134_116_992_000_000_000);
/// When the simulated hosts were started: two days earlier.
pub const BOOT: FileTime = FileTime(NOON.0 - 2 * 86_400 * FileTime::INTERVALS_PER_SECOND);

/// The options of a model that was started at [`BOOT`].
#[must_use]
pub fn at_noon(clock: &Clock) -> HostOptions {
    HostOptions { clock: clock.clone(), boot: Some(BOOT), ..HostOptions::default() }
}

/// The accounts of a host: the one whose password is leased.
#[must_use]
pub fn account() -> Arc<Accounts> {
    Arc::new(Accounts::new(vec![Account::new("CORP", USER, ssp::Secret::new(PASSWORD))]))
}

/// A simulated Windows host that listens on loopback.
pub struct SimHost {
    pub host: Arc<WindowsHost>,
    /// The port of SMB, or of the endpoint mapper.
    pub port: u16,
    /// The port of its objects; 0 with SMB.
    pub objects: u16,
    ports: Ports,
    listener: Mutex<JoinHandle<()>>,
    // Last, so that what runs on it ends first.
    runtime: Runtime,
}

/// What the host listens for.
#[derive(Clone, Copy, Debug)]
enum Ports {
    Smb,
    /// DCOM at this address.
    Dcom(Ipv4Addr),
}

impl SimHost {
    /// A host that listens for SMB.
    #[must_use]
    pub fn smb(host: impl Into<Arc<WindowsHost>>) -> Self {
        Self::made(host.into(), Ports::Smb)
    }

    /// A host that listens for DCOM, at an address of loopback.
    #[must_use]
    pub fn dcom(host: impl Into<Arc<WindowsHost>>, address: Ipv4Addr) -> Self {
        Self::made(host.into(), Ports::Dcom(address))
    }

    fn made(host: Arc<WindowsHost>, ports: Ports) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("threads for the simulator");
        let (listener, [port, objects]) = listen(&runtime, &host, ports, [0, 0]);
        Self { host, port, objects, ports, listener: Mutex::new(listener), runtime }
    }

    /// What runs the host.
    pub const fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Changes how it behaves from now on.
    pub fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        self.host.change_behaviour(change);
    }

    /// From now on this goes wrong, and nothing else.
    pub fn rule(&self, rule: &str) {
        self.rules(&[rule]);
    }

    /// From now on these things go wrong, and nothing else.
    pub fn rules(&self, rules: &[&str]) {
        let rules = rules.iter().map(|rule| rule.parse().expect("a rule of the simulator")).collect();
        self.behave(|behaviour| behaviour.rules = rules);
    }

    /// From now on nothing goes wrong.
    pub fn heal(&self) {
        self.rules(&[]);
    }

    /// From now on the host chooses otherwise where documents leave it open.
    pub fn choose(&self, change: impl FnOnce(&mut Choices)) {
        self.behave(|behaviour| change(&mut behaviour.choices));
    }

    pub fn change_account(&self, change: impl FnOnce(&mut Account)) {
        self.host.accounts().change(|accounts| change(&mut accounts[0]));
    }

    /// All connections end, and nobody listens any more.
    pub fn shut(&self) {
        let mut listener = self.listener.lock();
        listener.abort();
        // It may have been shut before. It ends with that it was aborted.
        if !listener.is_finished() {
            let _ = self.runtime.block_on(&mut *listener);
        }
    }

    /// All connections end; the next ones are taken.
    pub fn cut(&self) {
        self.shut();
        let (listener, _) = listen(&self.runtime, &self.host, self.ports, [self.port, self.objects]);
        *self.listener.lock() = listener;
    }

    /// The host answers nothing until what is returned is dropped. Connections stay.
    #[must_use]
    pub fn freeze(&self) -> mpsc::Sender<()> {
        let ((frozen, is_frozen), (thaw, wait)) = (mpsc::channel(), mpsc::channel());
        // Its runtime has one thread, which this takes.
        self.runtime.spawn(async move {
            frozen.send(()).expect("the test waits");
            wait.recv().expect_err("nothing is sent");
        });
        is_frozen.recv().expect("the thread is there");
        thaw
    }

    #[must_use]
    pub fn connections(&self) -> u64 {
        self.host.counts().connections.load(Ordering::Relaxed)
    }

    /// Logons so far, over SMB and RPC: right and wrong ones.
    #[must_use]
    pub fn logons(&self) -> (u64, u64) {
        let attempts = self.host.accounts().attempts();
        let sum = |of: fn(&Attempts) -> u64| attempts.values().map(of).sum();
        (sum(|seen| seen.accepted), sum(|seen| seen.refused))
    }
}

/// Listens at these ports; 0 is one that is free. Returns which they are.
fn listen(
    runtime: &Runtime,
    host: &Arc<WindowsHost>,
    ports: Ports,
    numbers: [u16; 2],
) -> (JoinHandle<()>, [u16; 2]) {
    let bind = |address: Ipv4Addr, port| {
        let listener = runtime.block_on(TcpListener::bind(SocketAddr::from((address, port))));
        let listener = listener.expect("a port on loopback");
        let port = listener.local_addr().expect("its number").port();
        (listener, port)
    };
    let (host, limits) = (Arc::clone(host), server::Limits::default());
    match ports {
        Ports::Smb => {
            let (listener, port) = bind(Ipv4Addr::LOCALHOST, numbers[0]);
            (runtime.spawn(server::listen_smb(host, listener, limits)), [port, 0])
        }
        Ports::Dcom(address) => {
            let [(mapper, port), (objects, other)] = numbers.map(|number| bind(address, number));
            let serving = async move {
                let served = server::listen_dcom(host, mapper, objects, limits).await;
                served.expect("the listeners have addresses");
            };
            (runtime.spawn(serving), [port, other])
        }
    }
}

/// A simulated host that listens for SMB, whose counters tests move on with its clock.
pub struct CounterHost {
    sim: SimHost,
    /// The clock of its counters.
    pub clock: Clock,
}

impl Deref for CounterHost {
    type Target = SimHost;

    fn deref(&self) -> &SimHost {
        &self.sim
    }
}

impl Default for CounterHost {
    fn default() -> Self {
        Self::new()
    }
}

impl CounterHost {
    /// The model, at noon, until the clock is moved.
    pub fn new() -> Self {
        Self::with_options(|_| {})
    }

    /// The model with other options.
    pub fn with_options(change: impl FnOnce(&mut HostOptions)) -> Self {
        let clock = Clock::manual(NOON);
        let mut options = at_noon(&clock);
        change(&mut options);
        Self::with_source(Arc::new(Host::new(options)), clock)
    }

    /// A host with these counters.
    pub fn with_source(source: Arc<dyn ValueSource>, clock: Clock) -> Self {
        Self { sim: SimHost::smb(WindowsHost::new("web1", source, account())), clock }
    }

    /// Calls of this method of PerflibV2 so far.
    pub fn calls(&self, opnum: u16) -> u64 {
        self.host.counts().calls(pcq::NAME, opnum)
    }
}

// A credential broker that has the password of simulated hosts.

/// The password that simulated hosts take.
pub const PASSWORD: &str = "Passw0rd-of-the-test";
/// The account that simulated hosts know, of the domain `CORP`.
pub const USER: &str = "svc-metrics";

/// A credential broker with one identity, `corp`. It records requests and results.
#[derive(Debug)]
pub struct Lender {
    password: Mutex<String>,
    answer: Mutex<Option<CredentialAnswer>>,
    hosts: Mutex<Vec<String>>,
    verdicts: Mutex<Vec<CredentialVerdict>>,
    leases: AtomicU64,
}

impl Default for Lender {
    fn default() -> Self {
        Self::new(PASSWORD)
    }
}

impl Lender {
    /// Answers with this password, which may be wrong.
    #[must_use]
    pub fn new(password: &str) -> Self {
        Self {
            password: Mutex::new(password.to_owned()),
            answer: Mutex::default(),
            hosts: Mutex::default(),
            verdicts: Mutex::default(),
            leases: AtomicU64::new(0),
        }
    }

    /// Answers with another password from now on.
    pub fn change_password(&self, password: &str) {
        password.clone_into(&mut self.password.lock());
    }

    /// Gives this answer from now on; with `None`, the password again.
    pub fn answer(&self, answer: Option<CredentialAnswer>) {
        *self.answer.lock() = answer;
    }

    /// For which addresses it was asked.
    #[must_use]
    pub fn hosts(&self) -> Vec<String> {
        self.hosts.lock().clone()
    }

    /// What hosts said of what it leased.
    #[must_use]
    pub fn verdicts(&self) -> Vec<CredentialVerdict> {
        self.verdicts.lock().clone()
    }
}

impl CredentialBroker for Lender {
    fn acquire(&self, request: &CredentialRequest<'_>, _waiter: &Waiter) -> CredentialAnswer {
        assert_eq!(request.identity, "corp");
        self.hosts.lock().push(request.host.to_owned());
        if let Some(answer) = self.answer.lock().clone() {
            return answer;
        }
        CredentialAnswer::Lease(Lease {
            id: LeaseId(self.leases.fetch_add(1, Ordering::Relaxed)),
            kind: CredentialKind::Password,
            domain: "CORP".to_owned(),
            username: USER.to_owned(),
            service: None,
            allows_rc4: false,
            secret: Secret::new(self.password.lock().clone().into_bytes()),
        })
    }

    fn result(&self, _lease: LeaseId, verdict: CredentialVerdict) {
        self.verdicts.lock().push(verdict);
    }
}
