//! The Performance Counter Query Protocol over a [`ValueSource`]: one [`PerflibService`] for each association group.

mod corrupt;
mod query;
mod registration;

use std::collections::BTreeMap;
use std::sync::Arc;

use counters::pcq::perflibv2::methods::QueryCountersetRegistrationInfoRequest;
use counters::pcq::perflibv2::{
    CallInfo, Change, PerflibV2Service, RegistrationInfo, RegistrationRequest, dispatch,
};
use counters::pcq::types::QueryHandle;
use counters::pcq::wire::{CounterIdentifier, InstanceInfo};
use dcerpc::{FaultStatus, SyntaxId};
use rpc::{FromStub, Message};
use wire::{Guid, Win32Error};

use self::query::Query;
use super::{Call, Endpoint, Handler, Service, winreg};
use crate::choices::{Choices, IndexAnswer, OddAnswer, SmallBuffer};
use crate::host_state::HostState;
use crate::model::{Counterset, Moment, ValueSource};
use crate::rule::{Action, CallKind};
use crate::service::pcq::corrupt::returns_buffer;

/// The name of the service in rules, counts and recordings.
pub const NAME: &str = "pcq";

/// The service of this interface.
pub(super) struct Pcq;

impl Service for Pcq {
    fn name(&self) -> &'static str {
        NAME
    }

    fn syntax_id(&self) -> SyntaxId {
        counters::pcq::SYNTAX_ID
    }

    /// [MS-PCQ] 2.1: shared with the remote registry.
    fn endpoints(&self) -> &[Endpoint] {
        &[Endpoint::NamedPipe(winreg::PIPE)]
    }

    fn annotation(&self) -> Option<&'static str> {
        Some("RemoteRegistry Perflib Interface")
    }

    fn handler(&self, host: &Arc<HostState>) -> Box<dyn Handler> {
        Box::new(PerflibService::new(Arc::clone(host.source())))
    }
}

/// The methods of one association group. Its queries end when it is dropped.
///
/// The machine's name that clients send is not looked at: providers may ignore it, and ours do.
pub struct PerflibService {
    source: Arc<dyn ValueSource>,
    queries: BTreeMap<Guid, Query>,
    choices: Choices,
}

const REGISTRATION_INFO: u16 = QueryCountersetRegistrationInfoRequest::METHOD.opnum;

/// Queries that one group may hold open.
const QUERIES_MAX: usize = 64;

impl PerflibService {
    /// Serves the counters of `source`.
    #[must_use]
    pub fn new(source: Arc<dyn ValueSource>) -> Self {
        Self { source, queries: BTreeMap::new(), choices: Choices::default() }
    }

    /// Chooses otherwise from now on, where documents leave it open.
    pub fn choose(&mut self, choices: Choices) {
        self.choices = choices;
    }

    /// Executes one call, and answers as the host chooses.
    ///
    /// # Errors
    /// The fault to answer.
    pub fn execute(&mut self, info: CallInfo, opnum: u16, stub: &[u8]) -> Result<Vec<u8>, FaultStatus> {
        let odd = self.odd(opnum, stub);
        if odd == OddAnswer::Fault {
            return Err(FaultStatus::RPC_X_BAD_STUB_DATA);
        }
        let mut response = dispatch(self, info, opnum, stub)?;
        if odd == OddAnswer::TruncatedStub {
            response.truncate(response.len() / 2);
        }
        answer(self.choices.small_buffer, opnum, &mut response);
        Ok(response)
    }

    /// What is odd about the counterset that a call is about.
    fn odd(&self, opnum: u16, stub: &[u8]) -> OddAnswer {
        if self.choices.odd_answer == OddAnswer::None {
            return OddAnswer::None;
        }
        self.registered(opnum, stub).map_or(OddAnswer::None, |set| self.choices.odd(set.name))
    }

    /// The counterset whose registration a call is about.
    fn registered(&self, opnum: u16, stub: &[u8]) -> Option<&'static Counterset> {
        if opnum != REGISTRATION_INFO {
            return None;
        }
        let request = QueryCountersetRegistrationInfoRequest::from_stub(stub).ok()?;
        self.counterset(request.counterset, &self.source.moment()).ok()
    }

    /// Forgets all queries, as a service does that was stopped in between.
    pub fn lose_queries(&mut self) {
        self.queries.clear();
    }

    fn counterset(&self, guid: Guid, at: &Moment) -> Result<&'static Counterset, Win32Error> {
        self.source.counterset(guid, at).ok_or(Win32Error::ERROR_WMI_GUID_NOT_FOUND)
    }

    /// `dispatch` asks whether a handle is open before it calls a method with it.
    fn query(&mut self, handle: QueryHandle) -> Result<&mut Query, Win32Error> {
        self.queries.get_mut(&handle.uuid).ok_or(Win32Error::ERROR_INVALID_PARAMETER)
    }
}

impl Handler for PerflibService {
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        self.choose(call.host.behaviour().choices.clone());
        self.execute(
            CallInfo { auth_level: call.counters_auth_level(), object: call.object },
            call.opnum,
            call.stub,
        )
    }

    fn kind(&self, call: &Call<'_>) -> CallKind {
        let code = (call.opnum == REGISTRATION_INFO)
            .then(|| QueryCountersetRegistrationInfoRequest::from_stub(call.stub).ok())
            .flatten()
            .map(|request| request.request_code.0);
        CallKind { opnum: call.opnum, code, is_probe: corrupt::in_size(call.stub) == 0 }
    }

    /// Whether the provider of the counterset that a call is about hangs.
    fn hangs(&mut self, call: &Call<'_>) -> bool {
        let hanging = call.host.behaviour().choices.hanging_counterset.clone();
        hanging.is_some() && self.registered(call.opnum, call.stub).map(|set| set.name) == hanging.as_deref()
    }

    fn lose_handles(&mut self) {
        self.lose_queries();
    }

    fn apply(&mut self, action: &Action, call: &Call<'_>, response: &mut Vec<u8>) {
        match *action {
            Action::Corrupt(what) => corrupt::change_size(what, call.stub, response),
            Action::Status(status) => corrupt::refuse(call.opnum, status, call.stub, response),
            Action::Grow(percent) => {
                corrupt::outgrow(call.opnum, percent, call.stub, response);
                answer(self.choices.small_buffer, call.opnum, response);
            }
            _ => {}
        }
    }
}

impl PerflibV2Service for PerflibService {
    fn enumerate_counter_set(&mut self, _machine: &str) -> Result<Vec<Guid>, Win32Error> {
        Ok(self.source.countersets().iter().map(|set| set.guid).collect())
    }

    fn query_counter_set_registration_info(
        &mut self,
        _machine: &str,
        set: Guid,
        request: RegistrationRequest,
    ) -> Result<RegistrationInfo, Win32Error> {
        let set = self.counterset(set, &self.source.moment())?;
        let is_refused = self.choices.refused_codes.has(request.to_wire().0);
        if is_refused || self.choices.odd(set.name) == OddAnswer::Status {
            return Err(Win32Error::ERROR_NOT_FOUND);
        }
        let answer = registration::answer(set, request, self.source.language())?;
        registration::written(answer, request, self.choices.string_offsets, self.choices.odd(set.name))
    }

    fn enumerate_counter_set_instances(
        &mut self,
        _machine: &str,
        set: Guid,
    ) -> Result<Vec<InstanceInfo>, Win32Error> {
        let at = self.source.moment();
        let set = self.counterset(set, &at)?;
        if let Some(status) = self.source.failure(set.guid, &at) {
            return Err(status);
        }
        let samples = self.source.sample(set.guid, &at).unwrap_or_default();
        if samples.is_empty() {
            Err(Win32Error::ERROR_WMI_INSTANCE_NOT_FOUND)
        } else {
            Ok(samples.into_iter().map(|sample| sample.instance).collect())
        }
    }

    fn open_query_handle(&mut self, _machine: &str) -> Result<QueryHandle, Win32Error> {
        if self.queries.len() < QUERIES_MAX {
            let uuid = crate::random_guid();
            self.queries.insert(uuid, Query::default());
            Ok(QueryHandle { attributes: 0, uuid })
        } else {
            Err(Win32Error::ERROR_NO_SYSTEM_RESOURCES)
        }
    }

    fn is_open(&self, query: QueryHandle) -> bool {
        query.attributes == 0 && self.queries.contains_key(&query.uuid)
    }

    fn close_query_handle(&mut self, query: QueryHandle) -> Result<(), Win32Error> {
        self.queries.remove(&query.uuid);
        Ok(())
    }

    fn query_counter_info(&mut self, query: QueryHandle) -> Result<Vec<CounterIdentifier>, Win32Error> {
        Ok(self.query(query)?.identifiers().to_vec())
    }

    fn query_counter_data(&mut self, query: QueryHandle) -> Result<Vec<u8>, Win32Error> {
        let source = Arc::clone(&self.source);
        let choices = self.choices.clone();
        let data = self.query(query)?.data(&*source, &source.moment(), &choices);
        data.map_err(|_too_large| Win32Error::ERROR_OUTOFMEMORY)
    }

    fn validate_counters(
        &mut self,
        query: QueryHandle,
        identifiers: &mut [CounterIdentifier],
        change: Change,
    ) -> Result<(), Win32Error> {
        let source = Arc::clone(&self.source);
        let at = source.moment();
        let choices = self.choices.clone();
        let query = self.query(query)?;
        for identifier in &mut *identifiers {
            identifier.status = match change {
                Change::Add => query.add(&*source, &at, identifier, &choices),
                Change::Remove => query.remove(identifier, &choices),
            };
        }
        if choices.index == IndexAnswer::Untouched {
            return Ok(());
        }
        // A later one may have moved the block of an earlier one: indexes are those after the whole call.
        for identifier in identifiers {
            identifier.index = query.index_of(identifier).unwrap_or(0);
        }
        Ok(())
    }
}

/// Replaces `ERROR_NOT_ENOUGH_MEMORY` about the client's buffer by the status that the host chooses.
pub(crate) fn answer(choice: SmallBuffer, opnum: u16, response: &mut [u8]) {
    let status_at = response.len().saturating_sub(4);
    let says_too_small = response[status_at..] == Win32Error::ERROR_NOT_ENOUGH_MEMORY.0.to_le_bytes();
    if returns_buffer(opnum) && says_too_small {
        response[status_at..].copy_from_slice(&choice.status().0.to_le_bytes());
        if choice == SmallBuffer::MoreData {
            response[4 /* pdwOutSize */..8].fill(0);
        }
    }
}
