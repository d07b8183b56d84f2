//! One host on a network in memory, which serves the interface PerflibV2.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dcerpc::FaultStatus;
use dcerpc::server::IncomingCall;
use ms_dtyp::{Guid, Win32Error};
use ms_pcq::perflibv2::{CallInfo, Change, PerflibV2Server, RegistrationInfo, RegistrationRequest, dispatch};
use ms_pcq::types::QueryHandle;
use ms_pcq::wire::{CounterIdentifier, InstanceInfo};
use ssp::{Credentials, Secret};
use tokio::time::Instant;
use transport::MemoryNetwork;
use windows_session::{Options, Session, SessionError, Target};

use crate::host::{Answer, PASSWORD, Rules, USER, serve};

/// Processor Information.
pub(crate) const SET: Guid = Guid::from_u128(0xb4fc_721a_0378_476f_89ba_a5a7_9f81_0b36);

/// How the server answers the next calls, whatever the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerMode {
    Works,
    Fails(Win32Error),
    Faults(FaultStatus),
    Garbage,
    Silent,
    HangsUp,
}

pub(crate) struct World {
    pub(crate) network: MemoryNetwork,
    pub(crate) rules: Arc<Rules>,
    mode: Arc<Mutex<ServerMode>>,
    counters: Arc<Mutex<Counters>>,
}

impl World {
    /// The host `web1`, whose rules `change` may change before it starts.
    pub(crate) fn new(change: impl FnOnce(&mut Rules)) -> Self {
        let mode = Arc::new(Mutex::new(ServerMode::Works));
        let counters = Arc::new(Mutex::new(Counters::default()));
        let (modes, served) = (Arc::clone(&mode), Arc::clone(&counters));
        let handler = move |call: &IncomingCall| {
            let mode = *modes.lock().unwrap();
            answer(mode, &mut served.lock().unwrap(), call)
        };
        let mut rules = Rules::new(ms_pcq::SYNTAX_ID, handler);
        change(&mut rules);
        let rules = Arc::new(rules);
        let network = MemoryNetwork::new();
        let mut listener = network.listen("web1", 445);
        let shared = Arc::clone(&rules);
        tokio::spawn(async move {
            loop {
                let stream = listener.accept().await;
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { network, rules, mode, counters }
    }

    pub(crate) fn set_mode(&self, mode: ServerMode) {
        *self.mode.lock().unwrap() = mode;
    }

    /// The service forgets every handle, as when it was started anew.
    pub(crate) fn forget_handles(&self) {
        self.counters.lock().unwrap().open.clear();
    }

    pub(crate) async fn connect(&self) -> Result<Session, SessionError> {
        self.connect_with(PASSWORD, Options::default()).await
    }

    pub(crate) async fn connect_with(
        &self,
        password: &str,
        options: Options,
    ) -> Result<Session, SessionError> {
        let target = Target::new("web1", 445);
        Session::connect(target, credentials(password), options, &self.network, soon()).await
    }
}

pub(crate) fn credentials(password: &str) -> Credentials {
    Credentials::new("CORP", USER, Secret::new(password))
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

fn answer(mode: ServerMode, counters: &mut Counters, call: &IncomingCall) -> Answer {
    match mode {
        ServerMode::Fails(status) => counters.fails = Some(status),
        ServerMode::Works => counters.fails = None,
        ServerMode::Faults(status) => return Answer::Fault(status),
        ServerMode::Garbage => return Answer::Response(vec![0xaa; 64]),
        ServerMode::Silent => return Answer::Silence,
        ServerMode::HangsUp => return Answer::HangUp,
    }
    match dispatch(counters, CallInfo { auth_level: call.auth_level }, call.opnum, &call.stub) {
        Ok(stub) => Answer::Response(stub),
        Err(status) => Answer::Fault(status),
    }
}

/// One counterset without counters, and any number of queries.
#[derive(Default)]
struct Counters {
    open: HashSet<QueryHandle>,
    opened: u128,
    fails: Option<Win32Error>,
}

impl Counters {
    fn check(&self) -> Result<(), Win32Error> {
        self.fails.map_or(Ok(()), Err)
    }
}

impl PerflibV2Server for Counters {
    fn enumerate_counter_set(&mut self, machine: &str) -> Result<Vec<Guid>, Win32Error> {
        assert_eq!(machine, "web1");
        self.check()?;
        Ok(vec![SET])
    }

    fn query_counter_set_registration_info(
        &mut self,
        _machine: &str,
        _set: Guid,
        _request: RegistrationRequest,
    ) -> Result<RegistrationInfo, Win32Error> {
        self.check()?;
        Ok(RegistrationInfo::Text("Processor Information".to_owned()))
    }

    fn enumerate_counter_set_instances(
        &mut self,
        _machine: &str,
        _set: Guid,
    ) -> Result<Vec<InstanceInfo>, Win32Error> {
        self.check()?;
        Ok(Vec::new())
    }

    fn open_query_handle(&mut self, _machine: &str) -> Result<QueryHandle, Win32Error> {
        self.check()?;
        self.opened += 1;
        let handle = QueryHandle { attributes: 0, uuid: Guid::from_u128(self.opened) };
        self.open.insert(handle);
        Ok(handle)
    }

    fn is_open(&self, query: QueryHandle) -> bool {
        self.open.contains(&query)
    }

    fn close_query_handle(&mut self, query: QueryHandle) -> Result<(), Win32Error> {
        self.open.remove(&query);
        Ok(())
    }

    fn query_counter_info(&mut self, _query: QueryHandle) -> Result<Vec<CounterIdentifier>, Win32Error> {
        self.check()?;
        Ok(Vec::new())
    }

    fn query_counter_data(&mut self, _query: QueryHandle) -> Result<Vec<u8>, Win32Error> {
        self.check()?;
        Err(Win32Error::ERROR_NO_DATA)
    }

    fn validate_counters(
        &mut self,
        _query: QueryHandle,
        _identifiers: &mut [CounterIdentifier],
        _change: Change,
    ) -> Result<(), Win32Error> {
        self.check()
    }
}
