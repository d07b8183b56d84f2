use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use counters::pcq::perflibv2::methods::QueryCounterDataRequest;
use rpc::Message;
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tracing::warn;
use windows_sim::live::Live;
use windows_sim::model::{Clock, Host, HostOptions, ValueSource};
use windows_sim::service::{self, pcq, winreg};
use windows_sim::{Account, Accounts, Action, Behaviour, RpcState, Rule, WindowsHost, server};
use wire::NtStatus;

use crate::cli::{Options, Profile, Refusal};
use crate::share::{self, Kind};
use crate::{sets, stats};

/// Why the program ends by itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The options contradict each other.
    #[error("{0}")]
    Options(String),
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        source: io::Error,
    },
    /// A file is no data collector set, or not one more.
    #[error(transparent)]
    SetFile(sets::Error),
    /// There are no cells for the state of RPC calls.
    #[error("--rpc-state: {0}; name a directory that only this user can write, or leave the option out")]
    RpcState(#[source] rpc_cells::Error),
}

fn cannot(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
    let doing = doing.into();
    move |source| Error::Io { doing, source }
}

/// Serves until SIGTERM or SIGINT.
pub(crate) async fn run(options: Options) -> Result<(), Error> {
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot("wait for SIGTERM"))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot("wait for SIGINT"))?;
    let accounts = Arc::new(Accounts::new(accounts(&options)?));
    let open = |path| RpcState::open(path, options.rpc_state_level).map_err(Error::RpcState);
    let rpc_state = options.rpc_state.as_deref().map(open).transpose()?;
    let hosts = hosts(&options, &accounts, rpc_state.as_ref())?;
    let mut tasks = JoinSet::new();
    let mut lines = String::new();
    if let Some(port) = options.smb_port {
        raise_descriptor_limit();
        let kinds = share::kinds(options.hosts, options.faults.black_hole, options.faults.slow);
        for ((host, address), kind) in hosts.iter().zip(addresses(options.bind, options.hosts)?).zip(kinds) {
            let address = SocketAddr::new(address, port);
            let doing = || format!("listen on {address}");
            let listener = TcpListener::bind(address).await.map_err(cannot(doing()))?;
            lines += &format!("listening on {}\n", listener.local_addr().map_err(cannot(doing()))?);
            serve(&mut tasks, Arc::clone(host), listener, kind);
        }
    }
    if let Some(port) = options.epm_port {
        raise_descriptor_limit();
        let kinds = share::kinds(options.hosts, options.faults.black_hole, options.faults.slow);
        for ((host, address), kind) in hosts.iter().zip(addresses(options.bind, options.hosts)?).zip(kinds) {
            let host = Arc::clone(host);
            if let Some(every) = options.events_every {
                let publisher = server::EventPublisher::new(Arc::clone(&host), options.events_port);
                tasks.spawn(publish(publisher, every));
            }
            lines += &serve_dcom(&mut tasks, host, address, port, kind == Kind::BlackHole).await?;
        }
    }
    if let Some(path) = &options.pipe_socket {
        let listener = bind_socket(path)?;
        lines += &format!("serving {} on {}\n", counters::pcq::ENDPOINT, path.display());
        let (host, limits) = (Arc::clone(&hosts[0]), server::Limits::default());
        tasks.spawn(server::listen_pipe_socket(host, winreg::PIPE, listener, limits));
    }
    if let Some(file) = options.stats_file {
        tasks.spawn(stats::keep(file, accounts, hosts));
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(lines.as_bytes()).and_then(|()| stdout.flush()).map_err(cannot("tell the addresses"))?;
    drop(stdout);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tasks.shutdown().await;
    if let Some(path) = &options.pipe_socket {
        std::fs::remove_file(path).map_err(cannot(format!("remove {}", path.display())))?;
    }
    Ok(())
}

/// Serves a host of a fleet, in its own way.
fn serve(tasks: &mut JoinSet<()>, host: Arc<WindowsHost>, listener: TcpListener, kind: Kind) {
    let limits = server::Limits::default();
    match kind {
        Kind::BlackHole => {
            tasks.spawn(server::listen_black_hole(host, listener, limits));
            return;
        }
        Kind::Slow(delay) => host.change_behaviour(|behaviour| behaviour.rules.push(late_polls(delay))),
        Kind::Healthy => {}
    }
    tasks.spawn(server::listen_smb(host, listener, limits));
}

/// Calls the subscribers of a host from time to time. Times that are missed are left out.
async fn publish(mut publisher: server::EventPublisher, every: Duration) {
    let mut ticks = tokio::time::interval(every.max(Duration::from_millis(1)));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        ticks.tick().await;
        for delivery in publisher.publish().await {
            if let Err(error) = delivery.outcome {
                warn!(subscription = %delivery.subscription, %error, "Subscriber not called");
            }
        }
    }
}

/// Serves the object resolver of a host, and its objects on a port that the system chooses.
async fn serve_dcom(
    tasks: &mut JoinSet<()>,
    host: Arc<WindowsHost>,
    address: IpAddr,
    port: u16,
    is_black_hole: bool,
) -> Result<String, Error> {
    let listen = async |port| {
        let address = SocketAddr::new(address, port);
        let listener = TcpListener::bind(address).await.map_err(cannot(format!("listen on {address}")))?;
        let address = listener.local_addr().map_err(cannot(format!("listen on {address}")))?;
        Ok((listener, address))
    };
    let (resolver, resolver_address) = listen(port).await?;
    let (exporter, exporter_address) = listen(0).await?;
    tasks.spawn(async move {
        let limits = server::Limits::default();
        if is_black_hole {
            server::listen_black_hole(host, resolver, limits).await;
        } else if let Err(error) = server::listen_dcom(host, resolver, exporter, limits).await {
            warn!(%error, "Objects are not served");
        }
    });
    Ok(format!("resolving objects on {resolver_address}, which are on {exporter_address}\n"))
}

fn late_polls(delay: Duration) -> Rule {
    let opnum = Some(QueryCounterDataRequest::METHOD.opnum);
    let service = pcq::NAME.to_owned();
    Rule { service, opnum, code: None, skip: 0, times: u32::MAX, action: Action::Delay(delay) }
}

fn accounts(options: &Options) -> Result<Vec<Account>, Error> {
    let files = &options.password_file;
    if files.len() != 1 && files.len() != options.account.len() {
        let message = "give one --password-file for all accounts, or one for each in the same order";
        return Err(Error::Options(message.to_owned()));
    }
    let account = |(name, file): (&String, &std::path::PathBuf)| {
        let Some((domain, user)) = name.split_once('\\') else {
            return Err(Error::Options(format!(r"--account {name}: write DOMAIN\user")));
        };
        let text = std::fs::read_to_string(file).map_err(cannot(format!("read {}", file.display())))?;
        let password = ssp::Secret::new(text.strip_suffix('\n').unwrap_or(&text));
        Ok(Account {
            may_read_counters: !options.faults.not_authorised,
            state: options.faults.account_state.into(),
            lock_after: options.faults.lock_after,
            ..Account::new(domain, user, password)
        })
    };
    options.account.iter().zip(files.iter().cycle()).map(account).collect()
}

fn hosts(
    options: &Options,
    accounts: &Arc<Accounts>,
    rpc_state: Option<&RpcState>,
) -> Result<Vec<Arc<WindowsHost>>, Error> {
    let clock =
        options.clock.map_or_else(Clock::wall, |origin| Clock::starting_at(origin, options.clock_speed));
    let (behaviour, set_files) = (behaviour(options)?, options.sets.read().map_err(Error::SetFile)?);
    let (services, slots) = match options.profile {
        Profile::Default => (8, 6),
        Profile::Small => (4, 0),
    };
    let host = |index: u32| {
        let source: Arc<dyn ValueSource> = if options.live {
            Arc::new(Live::new().map_err(cannot("read /proc"))?)
        } else {
            Arc::new(Host::new(HostOptions {
                seed: options.seed.wrapping_add(u64::from(index)),
                clock: clock.clone(),
                perf_freq: options.perf_freq,
                processors: options.processors.unwrap_or(4),
                services: options.services.unwrap_or(services),
                slots: options.slots.unwrap_or(slots),
                synthetic: options.countersets,
                aggregates: options.aggregates.into(),
                language: counters::pcq::types::Lcid(options.language),
                changes: options.faults.change.clone(),
                ..HostOptions::default()
            }))
        };
        let host = WindowsHost::new(format!("host{}", index + 1), source, Arc::clone(accounts));
        let host = match rpc_state {
            Some(state) => host.observed_by(state.observers()),
            None => host,
        };
        host.change_behaviour(|current| current.clone_from(&behaviour));
        sets::store(&host, &set_files).map_err(Error::SetFile)?;
        Ok(Arc::new(host))
    };
    (0..options.hosts).map(host).collect()
}

fn behaviour(options: &Options) -> Result<Behaviour, Error> {
    let faults = &options.faults;
    faults.fault.iter().try_for_each(check_rule)?;
    Ok(Behaviour {
        dialects: faults.dialects.iter().filter_map(|dialect| dialect.dialect()).collect(),
        encryption: faults.smb_encryption.into(),
        refused_opens: faults.refuse_opens,
        refusal: match faults.refusal {
            Refusal::NotAvailable => NtStatus::STATUS_PIPE_NOT_AVAILABLE,
            Refusal::NotFound => NtStatus::STATUS_OBJECT_NAME_NOT_FOUND,
        },
        idle_stop: faults.idle_stop,
        refused_after_stop: faults.refuse_after_stop,
        session_expires_after: faults.session_expires_after,
        registry: faults.registry,
        refuses_performance_data: faults.refuse_performance_data,
        cuts_set_xml: faults.cut_set_xml,
        activation: faults.activation,
        object_bindings: faults.object_bindings,
        rpc_security: faults.rpc_security,
        keytab: options.keytab.clone(),
        takes_ntlm: !options.no_ntlm,
        rules: faults.fault.clone(),
        choices: options.choices.clone(),
    })
}

/// Refuses a rule that no call can match, or whose action its service does not know.
fn check_rule(rule: &Rule) -> Result<(), Error> {
    let Rule { service, action, .. } = rule;
    if service::standard().iter().all(|known| known.name() != service) {
        return Err(Error::Options(format!("--fault: there is no service `{service}`")));
    }
    if matches!(action, Action::Corrupt(_)) && service != pcq::NAME {
        return Err(Error::Options(format!("--fault: corrupt is not for `{service}`")));
    }
    Ok(())
}

/// Consecutive addresses from `first` on. More than one are loopback addresses: nobody else shall see a fleet.
fn addresses(first: IpAddr, count: u32) -> Result<Vec<IpAddr>, Error> {
    let IpAddr::V4(v4) = first else {
        let one = (count == 1).then(|| vec![first]);
        return one.ok_or_else(|| Error::Options("--hosts needs an IPv4 address to --bind".to_owned()));
    };
    let last = v4.to_bits().checked_add(count - 1).map(std::net::Ipv4Addr::from_bits);
    if count == 1 || v4.is_loopback() && last.is_some_and(|last| last.is_loopback()) {
        Ok((0..count).map(|index| IpAddr::V4(std::net::Ipv4Addr::from_bits(v4.to_bits() + index))).collect())
    } else {
        Err(Error::Options(format!("--hosts {count} from {first} on leaves 127.0.0.0/8")))
    }
}

/// A socket that an earlier run has left is replaced; any other file is not.
fn bind_socket(path: &Path) -> Result<UnixListener, Error> {
    use std::os::unix::fs::FileTypeExt;
    if std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket()) {
        std::fs::remove_file(path).map_err(cannot(format!("replace {}", path.display())))?;
    }
    UnixListener::bind(path).map_err(cannot(format!("listen on {}", path.display())))
}

/// Each host takes a descriptor for its listener and one for each connection.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        warn!(%error, "Failed to raise the limit of file descriptors");
    }
}
