//! What the recorder costs a sealed call over loopback, level by level in one run, and each change that it observes.
//!
//! `cargo bench -p rpc-recorder` prints the tables. Guarded numbers: a sealed call with level `full` takes at most 1 % more
//! than with level `none`; a fragment that is noted, which updates two cells, takes at most 100 ns. That calls allocate
//! nothing is a test.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

#[allow(dead_code, reason = "the tests read the cells")]
#[path = "../tests/it/memory.rs"]
mod memory;

use std::hint::black_box;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use dcerpc::client::{CallRequest, ClientConfig};
use dcerpc::{
    AssociationInfo, AuthService, Change, FaultStatus, Observer, Observers, Role, SyntaxId, Transport,
};
use dcom::rpc_server::{Call, Interface, Options, Server, TcpListeners};
use host_session::rpc_client::{Association, Security, TcpTransport};
use rpc::Interface as _;
use rpc_cells::Level;
use rpc_recorder::{InterfaceNames, Recorder};
use ssp::{Accounts, Credentials, Mechanism, Outcome, Secret, ServerOptions, Usage};
use test_support::race::{Race, Results};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::memory::Cells;

const ROUNDS: usize = 60;
const CALLS: u32 = 400;
const CHANGES: u32 = 100_000;
const RATIO_MAX: f64 = 1.01;
const FRAGMENT_NS_MAX: f64 = 100.0;
/// A ratio of 1.01 is lost in the noise of a busy machine; this is not.
const FAILURE: f64 = 1.05;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let address = runtime.block_on(serve());
    let mut holds = true;
    for (workload, reply_bytes) in
        [("sealed calls of 64 bytes", 64), ("sealed calls with 32 KiB of reply", 32_768)]
    {
        let results = calls(&runtime, address, workload, reply_bytes);
        // What the two runs of level none differ by is noise.
        let again = results.ratio(AGAIN, NONE).unwrap();
        let ratio = results.ratio(FULL, NONE).unwrap() / f64::midpoint(1.0, again);
        println!(
            "  goal: level full within {RATIO_MAX} × none: {ratio:.4} ({})",
            verdict(ratio <= RATIO_MAX)
        );
        holds &= ratio <= FAILURE;
    }
    let fragment = changes().nanos_a_unit(FULL).unwrap();
    println!(
        "  goal: a fragment within {FRAGMENT_NS_MAX} ns: {fragment:.1} ({})",
        verdict(fragment <= FRAGMENT_NS_MAX)
    );
    if holds && fragment <= 2.0 * FRAGMENT_NS_MAX { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

const NONE: &str = "level none";
const FULL: &str = "level full";
const AGAIN: &str = "level none, again";

fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

/// Client and server share the thread, so its processor time is all of the call's.
fn calls(runtime: &Runtime, address: SocketAddr, workload: &str, reply_bytes: u32) -> Results {
    let names = [InterfaceNames::of::<Filler>()];
    let [none, full] =
        [Level::NONE, Level::FULL].map(|level| Recorder::new(Cells::new(level).writer, &names));
    let mut associations = [&none, &full, &none].map(|recorder| runtime.block_on(connect(address, recorder)));
    let [none, full, again] = &mut associations;
    let mut round = |association: &mut Association<TcpTransport>| {
        runtime.block_on(async {
            for _ in 0..CALLS {
                let stub = reply_bytes.to_le_bytes();
                let request = CallRequest { context_id: 0, opnum: 0, object: None, stub: &stub };
                let reply = association.call(request, soon()).await.unwrap();
                assert_eq!(reply.len(), reply_bytes as usize);
            }
        });
    };
    let round = std::cell::RefCell::new(&mut round);
    let results = Race::new(workload, "call", CALLS.into())
        .contestant(NONE, || round.borrow_mut()(none))
        .contestant(FULL, || round.borrow_mut()(full))
        .contestant(AGAIN, || round.borrow_mut()(again))
        .run(ROUNDS);
    println!("{results}");
    results
}

/// Fragments alone, without a call.
fn changes() -> Results {
    let clients = [Level::NONE, Level::FULL].map(|level| {
        let recorder = Recorder::new(Cells::new(level).writer, &[]);
        recorder.association(&info("127.0.0.1:49152".parse().unwrap()))
    });
    let round = |client: &Arc<dyn Observer>| {
        for bytes in 0..CHANGES as usize {
            client.observe(Role::Client, Change::FragmentSent { bytes: black_box(bytes) });
        }
    };
    let [none, full] = &clients;
    let results = Race::new("fragments that are noted", "fragment", CHANGES.into())
        .contestant(NONE, || round(none))
        .contestant(FULL, || round(full))
        .run(ROUNDS);
    println!("{results}");
    results
}

fn info(address: SocketAddr) -> AssociationInfo<'static> {
    AssociationInfo {
        role: Role::Client,
        transport: Transport::Tcp,
        server: "127.0.0.1",
        endpoint: "49152",
        peer: Some(address.ip()),
    }
}

async fn connect(address: SocketAddr, recorder: &Recorder) -> Association<TcpTransport> {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let credentials = Credentials::new("CORP", "svc-metrics", Secret::new("made up"));
    let security = Security { mechanism: Mechanism::Ntlm, ..Security::sealed(credentials, "host/server") };
    let observer = recorder.association(&info(address));
    let transport = TcpTransport::new(Box::new(stream));
    let config = ClientConfig::default();
    Association::bind_observed(transport, &[FILL], Some(&security), config, observer, soon()).await.unwrap()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

rpc::interface! {
    pub interface Filler("f1110000-0000-4000-8000-000000000001", 1.0) -> wire::Win32Error {
        /// As many bytes as are asked for.
        0 => FillerFill as fill(bytes: u32) -> ();
    }
}

const FILL: SyntaxId = Filler::SYNTAX_ID;

/// Replies with as many bytes as it is asked for.
struct Fill;

impl Interface for Fill {
    fn syntax_id(&self) -> SyntaxId {
        FILL
    }

    fn call(&self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        let bytes = call.stub.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        Ok(vec![7; bytes as usize])
    }
}

struct OneUser;

impl Accounts for OneUser {
    fn password(&self, _domain: &str, user: &str) -> Option<Secret> {
        (user == "svc-metrics").then(|| Secret::new("made up"))
    }

    fn attempted(&self, _domain: &str, _user: &str, _outcome: Outcome) {}
}

async fn serve() -> SocketAddr {
    let acceptor = Arc::new(|service| match service {
        AuthService::WINNT => {
            ssp::server(Arc::new(OneUser), ServerOptions::new(Mechanism::Ntlm, Usage::Rpc)).ok()
        }
        _ => None,
    });
    let server = Server::new(Options { acceptor, ..Options::default() }, vec![Arc::new(Fill)]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // It serves until the process ends.
    std::mem::forget(TcpListeners::start(&server, vec![listener]).unwrap());
    address
}
