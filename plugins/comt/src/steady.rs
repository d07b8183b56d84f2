//! What a steady poll of a large host costs: 512 applications with 4,096 components, which is all that the default limits
//! show.
//!
//! `cargo test -p plugin-comt --release steady -- --nocapture` prints the figures.

use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use com::comt::{IGetTrackingData, ids};
use dcom::client::{Object, ReachedResolver};
use host_session::{Options, Target};
use rpc::orpc::ObjectInterface as _;
use ssp::{Credentials, Secret};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;
use transport::TcpConnector;
use windows_sim::model::{
    ComComponent, ComContainer, ComProcess, Counterset, Host, HostOptions, Moment, Sample, ValueSource,
};
use windows_sim::service::tracker;
use windows_sim::{Account, Accounts, WindowsHost, server};
use wire::Guid;

use crate::model::{HostFigures, Limits};
use crate::poll::{Components, poll};
use crate::progress::Progress;
use crate::stalls::Stalls;

const APPLICATIONS: u32 = 512;
const COMPONENTS: u32 = 8;
const POLLS: u32 = 3;
const PASSWORD: &str = "Passw0rd-of-the-test";

/// A host with one process for each application.
struct Large(Host);

impl ValueSource for Large {
    fn countersets(&self) -> Vec<&'static Counterset> {
        Vec::new()
    }

    fn moment(&self) -> Moment {
        self.0.moment()
    }

    fn sample(&self, _: Guid, _: &Moment) -> Option<Vec<Sample>> {
        None
    }

    fn com_processes(&self, _: &Moment) -> Vec<ComProcess> {
        (0..APPLICATIONS).map(process).collect()
    }
}

fn process(application: u32) -> ComProcess {
    let guid = |low: u32| Guid::from_u128(u128::from(application) << 96 | u128::from(low));
    let component = |number| ComComponent {
        clsid: guid(1 + number),
        name: "",
        activated: 1,
        pooled: 1,
        bound_references: 1,
        in_call: 0,
        recent: Default::default(),
    };
    let container = ComContainer {
        legacy_id: application,
        container_id: guid(0),
        application_id: guid(0),
        partition_id: guid(0),
        name: "",
        is_tracked: true,
        components: (0..COMPONENTS).map(component).collect(),
    };
    ComProcess {
        process_id: 4 * application,
        exe_name: "dllhost.exe",
        is_paused: false,
        is_recycling: false,
        is_service: false,
        containers: vec![container],
    }
}

/// The host on a thread of its own, so that its memory is not counted.
fn serve(threads: &Runtime) -> (Arc<WindowsHost>, u16) {
    let account = Account::new("CORP", "svc-metrics", Secret::new(PASSWORD));
    let source = Arc::new(Large(Host::new(HostOptions::default())));
    let host = Arc::new(WindowsHost::new("web1", source, Arc::new(Accounts::new(vec![account]))));
    let listen = || threads.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let (resolver, exporter) = (listen(), listen());
    let port = resolver.local_addr().unwrap().port();
    let served = Arc::clone(&host);
    threads.spawn(async move {
        server::listen_dcom(served, resolver, exporter, server::Limits::default()).await.unwrap();
    });
    (host, port)
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

async fn activate(port: u16) -> Object {
    let (target, connector) = (Target::new("127.0.0.1", port), TcpConnector::default());
    let reached = ReachedResolver::connect(target, Options::default(), &connector, soon()).await.unwrap();
    let credentials = Credentials::new("CORP", "svc-metrics", Secret::new(PASSWORD));
    let resolver = reached.log_on(credentials, &connector, soon()).await.unwrap();
    let interfaces = [IGetTrackingData::IID];
    resolver.activate(ids::TRACKER_SERVICE_CLASS, &interfaces, Arc::new(connector), soon()).await.unwrap()
}

#[test]
fn a_steady_poll_is_one_call_and_one_for_each_application_and_takes_little_memory() {
    let threads = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (host, port) = serve(&threads);
    let here = Builder::new_current_thread().enable_all().build().unwrap();
    let mut tracker = here.block_on(activate(port));
    let mut read = || -> HostFigures {
        let (limits, mut stalls, mut progress) = (Limits::default(), Stalls::default(), Progress::default());
        here.block_on(poll(&mut tracker, Components::All, &limits, &mut stalls, &mut progress, soon()))
            .unwrap()
    };
    let first = read();
    let components: usize = first.applications.iter().map(|application| application.components.len()).sum();
    assert_eq!((first.applications.len(), components), (512, 4096));
    let calls = || [4, 5].map(|opnum| host.counts().calls(tracker::NAME, opnum));
    let before = calls();
    let begun = Clock::now();
    let allocated = allocation_counter::measure(|| {
        for _ in 0..POLLS {
            assert_eq!(read().left_out, first.left_out);
        }
    });
    let (each, polls) = (begun.elapsed() / POLLS, u64::from(POLLS));
    assert_eq!(calls(), [before[0] + polls, before[1] + polls * 512]);
    let per_poll = allocated.count_total / polls;
    println!(
        "a poll of {APPLICATIONS} applications with {components} components: {each:?}, {per_poll} allocations, {} kB at \
         most at a time",
        allocated.bytes_max / 1000
    );
    assert_eq!(allocated.count_current, 0, "a poll keeps nothing");
    assert!(per_poll <= u64::from(APPLICATIONS) * ALLOCATIONS_MAX, "{per_poll} allocations");
    assert!(allocated.bytes_max <= BYTES_MAX, "{} bytes", allocated.bytes_max);
}

/// Of a call for the components of one application: 39 on the machine where it was written.
const ALLOCATIONS_MAX: u64 = 48;
/// At a time, of which the figures that were read are the most.
const BYTES_MAX: u64 = 2_000_000;
