//! Ten hosts that each tell their state a hundred times a second over TCP: 1,000 events of 30 kB a second.
//!
//! `cargo bench -p dcom` takes a minute; `-- --seconds 10` is shorter. The hosts are a process of their own.
//! Guarded: no event is lost, less than one core, and memory that does not grow.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark fails by panicking")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use com::comt::tracking::{Component, Container, Limits, Process, Visitor, read, write};
use com::comt::{IComTrackingInfoEvents, OnNewTrackingInfoRequest};
use com::dcom::remote_unknown::{IRemUnknown2, RemQueryInterfaceRequest};
use com::dcom::resolver::{IObjectExporter, ResolveOxid2Request};
use com::dcom::types::Oxid;
use dcerpc::SyntaxId;
use dcerpc::client::ClientConfig;
use dcom::callbacks::{AdvertisedAddress, Exporter, Subscriber, SubscriberLimits, Subscribers};
use dcom::rpc_server::{Deadlines, TcpListeners};
use host_session::rpc_client::{Association, TcpTransport};
use rpc::orpc::{ComVersion, ObjectInterface, Proxy};
use rpc::{Client, Interface};
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use wire::Guid;

const HOSTS: u8 = 10;
const EVERY: Duration = Duration::from_millis(10);
const BYTES: usize = 30_000;
const CID: Guid = Guid::from_u128(0xc1d);
/// What begins the command line of the process that is the hosts; after it: the port, and how many events each tells.
const HOSTS_WORD: &str = "hosts";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    match *args.as_slice() {
        [HOSTS_WORD, port, events, ref objects @ ..] => {
            runtime.block_on(hosts(port.parse().unwrap(), events.parse().unwrap(), objects));
            ExitCode::SUCCESS
        }
        ["--seconds", seconds] => runtime.block_on(race(seconds.parse().unwrap())),
        _ => runtime.block_on(race(60)),
    }
}

/// Takes events for so long, and judges what became of them.
async fn race(seconds: u32) -> ExitCode {
    let exporter = Exporter::new(Subscribers::INTERFACES);
    let server = exporter.server(dcom::rpc_server::Limits::default(), Deadlines::default());
    let subscribers = Subscribers::new(exporter, SubscriberLimits::default());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let _listeners = TcpListeners::start(&server, vec![listener]).unwrap();
    let subscribe = |host| {
        subscribers.subscribe([address(host)], AdvertisedAddress::new("127.0.0.1", port).unwrap()).unwrap()
    };
    let all: Vec<&'static Subscriber> =
        (0..HOSTS).map(|host| &*Box::leak(Box::new(subscribe(host)))).collect();
    for subscriber in &all {
        tokio::spawn(read_all(subscriber));
    }

    let events = seconds * u32::try_from(Duration::from_secs(1).as_millis() / EVERY.as_millis()).unwrap();
    let mut hosts = Command::new(std::env::current_exe().unwrap());
    hosts.args([HOSTS_WORD, &port.to_string(), &events.to_string()]).args(all.iter().map(|one| object(one)));
    let mut hosts = hosts.stdin(Stdio::null()).spawn().unwrap();
    let begin = Instant::now();
    sleep(Duration::from_secs(u64::from(seconds) / 4)).await;
    let (early, cpu) = (resident_bytes(), cpu_seconds());
    let (since, taken) = (Instant::now(), came(&all));
    let ended = tokio::task::spawn_blocking(move || hosts.wait().unwrap()).await.unwrap();
    assert!(ended.success(), "the hosts failed");
    let (late, cores) = (resident_bytes(), (cpu_seconds() - cpu) / since.elapsed().as_secs_f64());
    let rate = (came(&all) - taken) as f64 / since.elapsed().as_secs_f64();

    let (sent, came) = (u64::from(events) * u64::from(HOSTS), came(&all));
    let superseded: u64 = all.iter().map(|one| one.counts().superseded).sum();
    println!(
        "  {sent} events of {} bytes in {:.1} s, {rate:.0} a second",
        state().len(),
        begin.elapsed().as_secs_f64()
    );
    println!("  lost {}, superseded {superseded}", sent - came);
    println!("  {cores:.2} cores (goal: under 1)");
    println!("  {early} bytes resident after a quarter, {late} at the end (goal: at most a tenth more)");
    let holds = sent == came && superseded == 0 && cores < 1.0 && late <= early + early / 10 && rate > 990.0;
    println!("  {}", if holds { "all goals met" } else { "GOAL MISSED" });
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Reads each state of a host as soon as it comes.
async fn read_all(subscriber: &Subscriber) {
    #[derive(Default)]
    struct Count(usize);
    impl<'a> Visitor<'a> for Count {
        fn component(&mut self, _: Option<&Process<'a>>, _: &Container<'a>, _: &Component<'a>) {
            self.0 += 1;
        }
    }
    loop {
        subscriber.arrived().await;
        let Some(event) = subscriber.take() else { continue };
        let mut count = Count::default();
        read(&event.bytes, &Limits::default(), &mut count).unwrap();
        assert!(count.0 > 50, "{} components", count.0);
    }
}

fn came(all: &[&Subscriber]) -> u64 {
    all.iter().map(|one| one.counts()).map(|counts| counts.taken + counts.superseded).sum()
}

/// Each host has an address of its own.
fn address(host: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, 2 + host).into()
}

/// OXID and IPID, for the hosts.
fn object(subscriber: &Subscriber) -> String {
    let objref = subscriber.objref();
    let std = objref.std().unwrap();
    format!("{}/{}", std.oxid.0, std.ipid)
}

/// All hosts, until each has sent its state so often.
async fn hosts(port: u16, events: u32, objects: &[&str]) {
    let state: &'static [u8] = Box::leak(state().into_boxed_slice());
    let mut hosts = JoinSet::new();
    for (host, object) in (0..).zip(objects) {
        let (oxid, ipid) = object.split_once('/').unwrap();
        hosts.spawn(tell(host, port, (Oxid(oxid.parse().unwrap()), ipid.parse().unwrap()), events, state));
    }
    hosts.join_all().await;
}

async fn tell(host: u8, port: u16, (oxid, ipid): (Oxid, Guid), events: u32, state: &[u8]) {
    let mut association = dial(host, port, IObjectExporter::SYNTAX_ID).await;
    let mut resolver = Client::<_, IObjectExporter>::new(association.channel(0, soon()));
    let resolved = resolver.reply(&ResolveOxid2Request::tcp(oxid)).await.unwrap();
    let mut association = dial(host, port, IRemUnknown2::SYNTAX_ID).await;
    let mut program = Proxy::<_, IRemUnknown2>::new(
        association.channel(0, soon()),
        resolved.ipid_rem_unknown,
        ComVersion::V5_7,
        CID,
    );
    let request = RemQueryInterfaceRequest::new(ipid, 1, vec![IComTrackingInfoEvents::IID]).unwrap();
    let reply = program.call(&request).await.unwrap();
    let ipid = request.results(&reply).unwrap()[0].unwrap().ipid;
    let mut association = dial(host, port, IComTrackingInfoEvents::SYNTAX_ID).await;
    let mut subscriber =
        Proxy::<_, IComTrackingInfoEvents>::new(association.channel(0, soon()), ipid, ComVersion::V5_7, CID);
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    for _ in 0..events {
        ticks.tick().await;
        subscriber.call(&OnNewTrackingInfoRequest::new(state).unwrap()).await.unwrap();
    }
}

async fn dial(host: u8, port: u16, interface: SyntaxId) -> Association<TcpTransport> {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(address(host), 0)).unwrap();
    let stream = socket.connect((Ipv4Addr::LOCALHOST, port).into()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let transport = TcpTransport::new(Box::new(stream));
    Association::bind(transport, &[interface], None, ClientConfig::default(), soon()).await.unwrap()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

/// The state of a host: as many components as fit.
fn state() -> Vec<u8> {
    let encode = |components: usize| {
        let component = |number: usize| write::Component {
            name: format!("Orders.Component{number:03}"),
            in_call: Some(2),
            ..write::Component::default()
        };
        let components = (0..components).map(component).collect();
        let containers = vec![write::Container { components, ..write::Container::default() }];
        let processes = [write::Process { process_id: Some(4711), containers, ..write::Process::default() }];
        write::encode(&processes, &write::Choices::default()).unwrap()
    };
    let each = (encode(200).len() - encode(100).len()) / 100;
    encode(BYTES / each)
}

/// User and system time of this process.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let behind_name = stat.rsplit(')').next().unwrap();
    let ticks: u32 =
        behind_name.split_whitespace().skip(11).take(2).map(|it| it.parse::<u32>().unwrap()).sum();
    // USER_HZ, which is 100 on Linux.
    f64::from(ticks) / 100.0
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
