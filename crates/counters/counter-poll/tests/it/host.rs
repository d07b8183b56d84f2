use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, ready};
use std::sync::Arc;
use std::time::Duration;

use counter_poll::{Client, HostChannel};
use counters::pcq::perflibv2::CallInfo;
use dcerpc::{AuthLevel, Channel, FaultStatus};
use windows_sim::model::{Clock, Host, HostOptions};
use windows_sim::service::pcq::PerflibService;
use wire::{FileTime, Guid};

/// The time 2026-01-01 12:00:00.
const NOON: FileTime = FileTime(134_116_992_000_000_000);

/// A simulated host that is called without a connection.
pub(crate) struct MemoryHost {
    service: PerflibService,
    /// What goes wrong with the next calls of a method.
    failures: VecDeque<(u16, CallError)>,
    /// The methods that were called.
    pub(crate) calls: Vec<u16>,
}

/// Why a call had no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallError {
    Fault(FaultStatus),
    Timeout,
    Lost,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for CallError {}

/// A client of the model at noon.
pub(crate) fn client() -> Client<MemoryHost> {
    client_and_clock().0
}

/// The same with the clock of the host.
pub(crate) fn client_and_clock() -> (Client<MemoryHost>, Clock) {
    let (client, clock, _model) = client_and_model();
    (client, clock)
}

/// The same with the model itself, which can be changed.
pub(crate) fn client_and_model() -> (Client<MemoryHost>, Clock, Arc<Host>) {
    let clock = Clock::manual(NOON);
    let model = Arc::new(Host::new(HostOptions { clock: clock.clone(), ..HostOptions::default() }));
    let service = PerflibService::new(Arc::<Host>::clone(&model));
    let host = MemoryHost { service, failures: VecDeque::new(), calls: Vec::new() };
    (Client::new(host, "web1"), clock, model)
}

impl MemoryHost {
    /// The next call of a method fails.
    pub(crate) fn fail(&mut self, opnum: u16, error: CallError) {
        self.failures.push_back((opnum, error));
    }

    fn answer(&mut self, opnum: u16, stub: &[u8]) -> Result<Vec<u8>, CallError> {
        self.calls.push(opnum);
        if let Some((_, error)) = self.failures.pop_front_if(|(failing, _)| *failing == opnum) {
            return Err(error);
        }
        let info = CallInfo { auth_level: AuthLevel::PKT_PRIVACY, object: None };
        self.service.execute(info, opnum, stub).map_err(CallError::Fault)
    }
}

impl Channel for MemoryHost {
    type Error = CallError;

    fn call(
        &mut self,
        opnum: u16,
        _object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, CallError>> + Send {
        ready(self.answer(opnum, stub))
    }
}

impl HostChannel for MemoryHost {
    fn time_left(&self) -> Duration {
        Duration::from_secs(10)
    }

    fn slowest_answer(&self) -> Duration {
        Duration::ZERO
    }

    fn limit_calls(&mut self, _call_max: Option<Duration>) {}

    fn is_timeout(error: &CallError) -> bool {
        *error == CallError::Timeout
    }

    fn concerns_one_call(error: &CallError) -> bool {
        matches!(error, CallError::Fault(_))
    }
}
