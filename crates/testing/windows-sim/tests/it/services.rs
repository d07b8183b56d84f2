//! A service that hosts do not come with: made up here, and registered on a pipe of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dcerpc::client::{CallRequest, ClientConfig};
use dcerpc::{FaultStatus, SyntaxId};
use host_session::rpc_client::{
    Association, Error, ErrorKind, NamedPipe, Security, SmbConnection, SmbOptions,
};
use tokio::io::duplex;
use tokio::sync::Mutex;
use tokio::time::Instant;
use windows_sim::model::Clock;
use windows_sim::service::{self, Call, Endpoint, Handler, Service};
use windows_sim::{Accounts, HostState, WindowsHost, server};
use wire::Guid;

use crate::host::{NOON, account, credentials, model};

/// An interface of nobody's.
const TALLY: SyntaxId = SyntaxId::new(Guid::from_u128(0x7a11_7000_0000_4000_8000_0000_0000_0001), 1, 0);

/// Counts the calls of all clients of a host.
#[derive(Default)]
struct Tally(Arc<AtomicU32>);

/// Counts those of one association group, too.
struct TallyOfGroup {
    host: Arc<AtomicU32>,
    group: u32,
}

impl Service for Tally {
    fn name(&self) -> &'static str {
        "tally"
    }

    fn syntax_id(&self) -> SyntaxId {
        TALLY
    }

    fn endpoints(&self) -> &[Endpoint] {
        &[Endpoint::NamedPipe("tally")]
    }

    fn handler(&self, _host: &Arc<HostState>) -> Box<dyn Handler> {
        Box::new(TallyOfGroup { host: Arc::clone(&self.0), group: 0 })
    }
}

impl Handler for TallyOfGroup {
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        if call.opnum != 0 {
            return Err(FaultStatus::NCA_S_OP_RNG_ERROR);
        }
        self.group += 1;
        let of_host = self.host.fetch_add(1, Ordering::Relaxed) + 1;
        Ok([self.group.to_le_bytes(), of_host.to_le_bytes()].concat())
    }
}

fn host() -> Arc<WindowsHost> {
    let services = [service::standard(), vec![Arc::new(Tally::default())]].concat();
    let accounts = Arc::new(Accounts::new(vec![account()]));
    let source = Arc::new(model(&Clock::manual(NOON)));
    Arc::new(WindowsHost::with_services("web1", source, accounts, &services))
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

async fn bind(
    host: &Arc<WindowsHost>,
    pipe: &str,
    interface: SyntaxId,
) -> Result<Association<NamedPipe>, Error> {
    let (ours, theirs) = duplex(64 * 1024);
    tokio::spawn(server::serve_smb(Arc::clone(host), theirs, Duration::from_secs(3600)));
    let mut smb = SmbConnection::negotiate(Box::new(ours), "web1", SmbOptions::default(), soon()).await?;
    smb.authenticate(credentials(), soon()).await?;
    smb.connect_ipc(soon()).await?;
    let pipe = NamedPipe::open(&Arc::new(Mutex::new(smb)), pipe, soon()).await?;
    let security = Security::sealed(credentials(), "cifs/web1");
    Association::bind(pipe, &[interface], Some(&security), ClientConfig::default(), soon()).await
}

/// The tallies of the group and of the host.
async fn count(association: &mut Association<NamedPipe>) -> Result<[u32; 2], Error> {
    let request = CallRequest { context_id: 0, opnum: 0, object: None, stub: &[] };
    let stub = association.call(request, soon()).await?;
    let (group, host) = stub.split_at(4);
    Ok([group, host].map(|tally| u32::from_le_bytes(tally.try_into().unwrap())))
}

#[tokio::test(start_paused = true)]
async fn a_made_up_service_is_called_through_a_pipe_of_its_own() {
    let host = host();
    let mut first = bind(&host, "tally", TALLY).await.unwrap();
    assert_eq!(count(&mut first).await.unwrap(), [1, 1]);
    assert_eq!(count(&mut first).await.unwrap(), [2, 2]);
    let mut second = bind(&host, "TALLY", TALLY).await.unwrap();
    assert_eq!(count(&mut second).await.unwrap(), [1, 3], "a group of its own on the same host");
    let request = CallRequest { context_id: 0, opnum: 9, object: None, stub: &[] };
    let fault = first.call(request, soon()).await.unwrap_err();
    assert_eq!(fault.kind(), ErrorKind::Fault(FaultStatus::NCA_S_OP_RNG_ERROR));
    assert_eq!((host.counts().calls("tally", 0), host.counts().calls("tally", 9)), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn a_pipe_refuses_to_bind_what_another_one_offers() {
    let host = host();
    for (pipe, interface) in
        [("tally", counters::pcq::SYNTAX_ID), ("tally", counters::rrp::SYNTAX_ID), ("winreg", TALLY)]
    {
        let refused = bind(&host, pipe, interface).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InterfaceRefused, "{pipe}: {refused}");
    }
    for interface in [counters::pcq::SYNTAX_ID, counters::rrp::SYNTAX_ID] {
        bind(&host, "winreg", interface).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_delays_the_service_that_it_names_and_no_other() {
    let host = host();
    let mut association = bind(&host, "tally", TALLY).await.unwrap();
    let mut time_of_call = async |rule: &str| {
        host.change_behaviour(|behaviour| behaviour.rules = vec![rule.parse().unwrap()]);
        let begun = Instant::now();
        count(&mut association).await.unwrap();
        begun.elapsed()
    };
    assert_eq!(time_of_call("tally/0=delay:3s").await, Duration::from_secs(3));
    assert_eq!(time_of_call("0=delay:3s").await, Duration::ZERO, "of pcq");
}

#[tokio::test(start_paused = true)]
async fn the_remote_registry_stops_without_the_services_behind_other_pipes() {
    let host = host();
    let mut tally = bind(&host, "tally", TALLY).await.unwrap();
    host.change_behaviour(|behaviour| behaviour.refused_opens = 1);
    host.stop_service();
    count(&mut tally).await.unwrap();
    bind(&host, "tally", TALLY).await.unwrap();
    let refused = bind(&host, "winreg", counters::pcq::SYNTAX_ID).await.unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Refused(_)), "{refused}");
}
