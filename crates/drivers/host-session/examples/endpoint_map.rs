//! Tests our endpoint mapper's client, our management client and sealed RPC over TCP with a third-party server.
//!
//! ```text
//! endpoint_map --host 127.0.0.1 [--mapper-port 135] --user 'DOMAIN\user' --password-file FILE
//! endpoint_map --host web1.corp.example.com --ccache FILE:/tmp/cache
//! ```
//!
//! Lists the host's endpoint map without and with a logon, asks at which port the remote registry is, logs on there with
//! sealed calls, reads the keys below `HKEY_LOCAL_MACHINE`, and asks that server's management interface. Prints what it saw
//! as `key: value`, a line each.

mod logon;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use counters::rrp::winreg::RegistryClient;
use dcerpc::SyntaxId;
use host_session::{Options, Reason, Target, TcpPort, TcpReached, TcpService, TcpSession};
use rpc::endpoints::epm::ept::{EndpointMap, EndpointMapper, Inquiry, Limits};
use rpc::endpoints::epm::types::VersionOption;
use rpc::endpoints::epm::wire::Binding;
use rpc::endpoints::mgmt::management::Management;
use rpc::endpoints::mgmt::types::AuthenticationService;
use ssp::kerberos::Cache;
use ssp::{Credentials, Mechanism};
use tokio::time::Instant;
use transport::TcpConnector;

use self::logon::Logon;

/// Asks a host for its endpoints, and its remote registry over TCP.
#[derive(Parser)]
struct Arguments {
    /// The host.
    #[arg(long)]
    host: String,
    /// The port of its endpoint mapper.
    #[arg(long, default_value_t = rpc::endpoints::epm::PORT)]
    mapper_port: u16,
    #[command(flatten)]
    logon: Logon,
    /// NTLM without SPNEGO.
    #[arg(long)]
    ntlm: bool,
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const SERVICE: TcpService = TcpService { class: "host", stopped: Reason::RemoteRegistryStopped };

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() -> ExitCode {
    match run(&Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("endpoint_map: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<()> {
    let host = Host::new(arguments)?;
    for (name, credentials) in [("unauthenticated", None), ("sealed", Some(&host.credentials))] {
        let mut session = host.mapper(credentials).await?;
        let whole = list(&mut session, Limits::default(), &host).await?;
        let paged = list(&mut session, Limits { page_entries: 7, ..Limits::default() }, &host).await?;
        if paged != whole {
            return Err("the map is another one if it is read in pages of 7 entries".into());
        }
        println!("map {name}: {}", describe(&whole));
        let limits = Limits { page_entries: 7, entries_max: 10, ..Limits::default() };
        let part = list(&mut session, limits, &host).await?;
        println!("map {name}, 10 entries at most: {} whole {}", part.entries.len(), part.is_whole);
        let mut mapper = EndpointMapper::new(session.channel(0, host.deadline));
        let exact = Inquiry::Interface(counters::rrp::SYNTAX_ID, VersionOption::RPC_C_VERS_EXACT);
        println!("map {name}, winreg: {}", describe(&mapper.lookup(exact).await?));
        println!("winreg {name}: {:?}", mapper.tcp_port(counters::rrp::SYNTAX_ID).await?);
        let nowhere = SyntaxId::new(wire::Guid::from_u128(1), 1, 0);
        println!("nobody {name}: {:?}", mapper.tcp_port(nowhere).await?);
    }
    registry(&host).await
}

/// The remote registry at the port that the mapper tells.
async fn registry(host: &Host) -> Result<()> {
    let mut session = host.service(&[counters::rrp::SYNTAX_ID], Some(&host.credentials)).await?;
    println!("session: {}", session.target());
    let stages: Vec<&str> = session.stages().iter().map(|report| report.stage.as_str()).collect();
    println!("stages: {}", stages.join(" "));
    let mut registry = RegistryClient::new(session.channel(0, host.deadline));
    let root = registry.open_local_machine().await?;
    let keys = registry.sub_keys(&root).await?;
    registry.close_key(root).await?;
    println!("keys: {}", keys.join(" "));
    for (name, credentials) in [("unauthenticated", None), ("sealed", Some(&host.credentials))] {
        manage(host.service(&[rpc::endpoints::mgmt::SYNTAX_ID], credentials).await?, name, host).await?;
    }
    Ok(())
}

/// What a server says of itself. What it refuses is printed, too.
async fn manage(mut session: TcpSession, name: &str, host: &Host) -> Result<()> {
    let mut server = Management::new(session.channel(0, host.deadline));
    let interfaces = server.interfaces().await?;
    let words: Vec<String> = interfaces.iter().map(ToString::to_string).collect();
    println!("interfaces {name}: {}", words.join(", "));
    println!("listening {name}: {}", server.is_listening().await?);
    match server.statistics().await {
        Ok(statistics) => println!("statistics {name}: {statistics:?}"),
        Err(error) => println!("statistics {name}: {error}"),
    }
    match server.principal_name(AuthenticationService::WINNT).await {
        Ok(principal) => println!("principal {name}: {principal}"),
        Err(error) => println!("principal {name}: {error}"),
    }
    println!("usable {name}: {}", session.is_usable());
    Ok(())
}

async fn list(session: &mut TcpSession, limits: Limits, host: &Host) -> Result<EndpointMap> {
    let channel = session.channel(0, host.deadline);
    Ok(EndpointMapper::new(channel).with_limits(limits).lookup(Inquiry::All).await?)
}

/// How many entries there are, and of which protocol sequences.
fn describe(map: &EndpointMap) -> String {
    let count =
        |is: fn(&Binding) -> bool| map.entries.iter().filter(|entry| is(&entry.tower.binding)).count();
    let [tcp, http, pipes, local] = [
        count(|binding| matches!(binding, Binding::Tcp { .. })),
        count(|binding| matches!(binding, Binding::Http { .. })),
        count(|binding| matches!(binding, Binding::NamedPipe { .. })),
        count(|binding| matches!(binding, Binding::Local { .. })),
    ];
    let (all, unreadable) = (map.entries.len(), map.unreadable);
    format!(
        "{all} entries, {tcp} tcp, {http} http, {pipes} pipes, {local} local, {unreadable} unreadable, whole {}",
        map.is_whole
    )
}

/// Which host, how, and as whom.
struct Host {
    name: String,
    mapper_port: u16,
    options: Options,
    credentials: Credentials,
    _cache: Option<Cache>,
    connector: TcpConnector,
    deadline: Instant,
}

impl Host {
    fn new(arguments: &Arguments) -> Result<Self> {
        let (credentials, cache) = arguments.logon.credentials()?;
        let mechanism = if arguments.ntlm { Mechanism::Ntlm } else { Mechanism::Negotiate };
        Ok(Self {
            name: arguments.host.clone(),
            mapper_port: arguments.mapper_port,
            options: Options { mechanism, ..Options::default() },
            credentials,
            _cache: cache,
            connector: TcpConnector::default(),
            deadline: Instant::now() + Duration::from_secs(60),
        })
    }

    async fn mapper(&self, credentials: Option<&Credentials>) -> Result<TcpSession> {
        let target = Target::new(&self.name, self.mapper_port);
        let options = self.options.clone();
        let reached = TcpReached::connect(target, options, &self.connector, self.deadline).await?;
        Ok(reached.bind(SERVICE, credentials, &[rpc::endpoints::epm::SYNTAX_ID], self.deadline).await?)
    }

    async fn service(
        &self,
        interfaces: &[SyntaxId],
        credentials: Option<&Credentials>,
    ) -> Result<TcpSession> {
        let port = TcpPort::Mapped { interface: counters::rrp::SYNTAX_ID, mapper: self.mapper_port };
        let (connector, deadline) = (&self.connector, self.deadline);
        let options = self.options.clone();
        let reached =
            TcpReached::connect_service(&self.name, port, SERVICE, credentials, options, connector, deadline);
        Ok(reached.await?.bind(SERVICE, credentials, interfaces, deadline).await?)
    }
}
