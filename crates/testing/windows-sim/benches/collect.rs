//! What a collection and a logon cost the simulator, in processor time of the thread that serves them.
//!
//! `cargo bench -p windows-sim` prints the figures. The host is that of `--profile small`: `Processor Information` and
//! `Process V2` with about 500 series. Guarded number: a collection over TCP, sealed by RPC and signed or encrypted by
//! SMB, takes less than 0.3 ms (65 µs on the machine where it was written, of which the values take 10), so that a fleet
//! of 4,000 hosts every 15 s leaves nearly all of the machine to its clients.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark fails by panicking")]

#[allow(dead_code, reason = "the tests use more of their client")]
#[path = "../tests/it/client.rs"]
mod client;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use counters::pcq::perflibv2::{Change, PerflibV2Client, PerflibV2Service, Query};
use counters::pcq::wire::CounterIdentifier;
use dcerpc::AuthLevel;
use ms_smb2::client::{ClientConfig, Encryption};
use ssp::{Credentials, Secret};
use test_support::race::thread_cpu_time;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use windows_sim::model::{Host, HostOptions, ValueSource};
use windows_sim::service::pcq::PerflibService;
use windows_sim::{Account, Accounts, WindowsHost, server};
use wire::Guid;

use crate::client::{Rpc, Smb};

const COLLECTIONS: u32 = 2000;
const LOGONS: u32 = 100;
const GOAL: Duration = Duration::from_micros(300);
/// A factor that a busy machine does not reach.
const FAILURE: u32 = 3;

fn main() -> ExitCode {
    println!("a host of about 500 series; processor time of the simulator's thread\n");
    print("values into a reply, without a connection", values_alone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut worst = Duration::ZERO;
    for (name, encryption) in [("signed", Encryption::Disabled), ("encrypted", Encryption::Required)] {
        let (logon, collection) = runtime.block_on(over_tcp(encryption));
        print(&format!("a logon to SMB and RPC, {name}"), logon);
        print(&format!("a collection, {name}"), collection);
        worst = worst.max(collection);
    }
    if worst < GOAL * FAILURE { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print(what: &str, each: Duration) {
    println!("  {what:<40} {:>8.1} µs", each.as_secs_f64() * 1e6);
}

fn model() -> Arc<Host> {
    Arc::new(Host::new(HostOptions { services: 4, slots: 0, ..HostOptions::default() }))
}

/// The two countersets, as a client asks for them.
fn identifiers(model: &Host) -> Vec<CounterIdentifier> {
    let wanted = ["Processor Information", "Process V2"];
    let sets = model.countersets().into_iter().filter(|set| wanted.contains(&set.name));
    sets.map(|set| CounterIdentifier::all_instances(set.guid)).collect()
}

fn values_alone() -> Duration {
    let model = model();
    let mut service = PerflibService::new(Arc::<Host>::clone(&model));
    let query = service.open_query_handle("").unwrap();
    service.validate_counters(query, &mut identifiers(&model), Change::Add).unwrap();
    let before = thread_cpu_time();
    for _ in 0..COLLECTIONS {
        assert!(service.query_counter_data(query).unwrap().len() > 8_000);
    }
    (thread_cpu_time() - before) / COLLECTIONS
}

/// The simulator on a thread of its own, which tells its processor time when it is asked.
struct Served {
    address: std::net::SocketAddr,
    questions: mpsc::UnboundedSender<oneshot::Sender<Duration>>,
}

impl Served {
    fn start(host: Arc<WindowsHost>) -> Self {
        let (questions, mut asked) = mpsc::unbounded_channel::<oneshot::Sender<Duration>>();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                tokio::spawn(server::listen_smb(host, listener, server::Limits::default()));
                while let Some(answer) = asked.recv().await {
                    answer.send(thread_cpu_time()).unwrap();
                }
            });
        });
        Self { address, questions }
    }

    async fn cpu_time(&self) -> Duration {
        let (answer, answered) = oneshot::channel();
        self.questions.send(answer).unwrap();
        answered.await.unwrap()
    }

    async fn connect(&self, encryption: Encryption) -> PerflibV2Client<Rpc> {
        let credentials = Credentials::new("CORP", "svc-metrics", Secret::new("Passw0rd!"));
        let stream = TcpStream::connect(self.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let mut config = ClientConfig::new(Guid::from_u128(1), [7; 32]);
        config.encryption = encryption;
        let mut smb = Smb::over(stream, config);
        smb.log_on(&credentials).await.unwrap();
        let file = smb.open("winreg").await.unwrap();
        Rpc::bind(smb, file, &credentials, AuthLevel::PKT_PRIVACY, 0).await.unwrap().perflib()
    }
}

/// A logon and a collection.
async fn over_tcp(encryption: Encryption) -> (Duration, Duration) {
    let model = model();
    let account = Account::new("CORP", "svc-metrics", Secret::new("Passw0rd!"));
    let source: Arc<dyn ValueSource> = Arc::<Host>::clone(&model);
    let served =
        Served::start(Arc::new(WindowsHost::new("web1", source, Arc::new(Accounts::new(vec![account])))));
    let before = served.cpu_time().await;
    for _ in 0..LOGONS {
        served.connect(encryption).await;
    }
    let logon = (served.cpu_time().await - before) / LOGONS;

    let mut client = served.connect(encryption).await;
    let mut query: Query = client.open_query_handle().await.unwrap();
    client.validate_counters(&query, &identifiers(&model), Change::Add).await.unwrap();
    client.query_counter_data(&mut query).await.unwrap();
    let before = served.cpu_time().await;
    for _ in 0..COLLECTIONS {
        client.query_counter_data(&mut query).await.unwrap();
    }
    (logon, (served.cpu_time().await - before) / COLLECTIONS)
}
