//! The remote registry [MS-RRP] with the keys of a host, the list of its countersets, and its performance data: one
//! [`RegistryService`] for each association group.

mod names;
mod performance_data;
#[cfg(test)]
mod tests;
mod translation;
mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;

use counters::rrp::types::{KeyHandle, ValueType};
use counters::rrp::winreg::{
    CloseRegistryKeyReply, CloseRegistryKeyRequest, EnumerateRegistryKeyReply, EnumerateRegistryKeyRequest,
    EnumerateRegistryValueReply, EnumerateRegistryValueRequest, OpenLocalMachineReply,
    OpenLocalMachineRequest, OpenPerformanceDataReply, OpenPerformanceDataRequest, OpenRegistryKeyReply,
    OpenRegistryKeyRequest, QueryInfoOfRegistryKeyReply, QueryInfoOfRegistryKeyRequest,
    QueryRegistryValueReply, QueryRegistryValueRequest, WinregServer,
};
use dcerpc::pdu::BindNakReason;
use dcerpc::{AuthLevel, FaultStatus, SyntaxId};
use rpc::{CallInfo, FromStub, Message, Request, ServerResult};
use wire::{Guid, Win32Error};

use self::performance_data::Query;
use super::{BindRefusal, BindRequest, Call, Endpoint, Handler, Service};
use crate::behaviour::{Behaviour, RegistryMode};
use crate::host_state::HostState;
use crate::registry::{KeyContents, RegistryValue};
use crate::rule::Action;
use crate::service::refused::refused;

/// The answer of a method that fails with `status`; nothing for a method that cannot.
fn refused(opnum: u16, request: &[u8], status: Win32Error) -> Option<Vec<u8>> {
    refused!(opnum, request, status, [
        OpenLocalMachineRequest OpenPerformanceDataRequest EnumerateRegistryKeyRequest
        EnumerateRegistryValueRequest OpenRegistryKeyRequest QueryInfoOfRegistryKeyRequest
        QueryRegistryValueRequest
    ])
}

/// The answer to a query for a value that has become larger than its room by so many percent and eight bytes. Performance
/// data do not say how large they are; here, no value does.
fn outgrown(opnum: u16, request: &[u8], percent: u32) -> Option<Vec<u8>> {
    if opnum != QueryRegistryValueRequest::METHOD.opnum {
        return None;
    }
    let request = QueryRegistryValueRequest::from_stub(request).ok()?;
    let room = u64::from(request.size.as_deref().copied().unwrap_or_default());
    let larger = usize::try_from(room + room * u64::from(percent) / 100 + 8).ok()?;
    request.answer_unsized(ValueType::REG_BINARY, vec![0; larger]).to_stub().ok()
}

/// The pipe of the remote registry service.
pub const PIPE: &str = "winreg";

/// The service of this interface.
pub(super) struct Winreg;

impl Service for Winreg {
    fn name(&self) -> &'static str {
        "winreg"
    }

    fn syntax_id(&self) -> SyntaxId {
        counters::rrp::SYNTAX_ID
    }

    fn endpoints(&self) -> &[Endpoint] {
        &[Endpoint::NamedPipe(PIPE)]
    }

    fn annotation(&self) -> Option<&'static str> {
        Some("RemoteRegistry Interface")
    }

    fn handler(&self, host: &Arc<HostState>) -> Box<dyn Handler> {
        Box::new(RegistryService::new(Arc::clone(host)))
    }

    fn refuse_bind(&self, behaviour: &Behaviour, request: BindRequest) -> Option<BindRefusal> {
        match (behaviour.registry, request) {
            (RegistryMode::AlterFault, BindRequest::AlterContext) => {
                Some(BindRefusal::Fault(FaultStatus::NCA_S_FAULT_ACCESS_DENIED))
            }
            (RegistryMode::BindRefused, BindRequest::Bind) => {
                Some(BindRefusal::Nak(BindNakReason::LOCAL_LIMIT_EXCEEDED))
            }
            (RegistryMode::AlterDrop, BindRequest::AlterContext)
            | (RegistryMode::BindDrop, BindRequest::Bind) => Some(BindRefusal::Drop),
            (RegistryMode::BindSilent, BindRequest::Bind) => Some(BindRefusal::Silence),
            _ => None,
        }
    }
}

/// The remote registry of one association group. Its keys close when it is dropped.
pub struct RegistryService {
    host: Arc<HostState>,
    /// Whether the caller may open anything.
    is_granted: bool,
    keys: BTreeMap<Guid, Key>,
}

/// Keys that one group may hold open.
const KEYS_MAX: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    /// The root of performance data.
    PerformanceData,
    /// One below `HKEY_LOCAL_MACHINE`, by its path.
    Machine(String),
}

impl RegistryService {
    /// Serves the registry of `host`.
    #[must_use]
    pub const fn new(host: Arc<HostState>) -> Self {
        Self { host, is_granted: false, keys: BTreeMap::new() }
    }

    /// Lets the caller in, or keeps it out.
    pub const fn set_granted(&mut self, is_granted: bool) {
        self.is_granted = is_granted;
    }

    fn open(&mut self, key: Key) -> Result<KeyHandle, Win32Error> {
        if !self.is_granted {
            Err(Win32Error::ERROR_ACCESS_DENIED)
        } else if self.keys.len() < KEYS_MAX {
            let uuid = crate::random_guid();
            self.keys.insert(uuid, key);
            Ok(KeyHandle { attributes: 0, uuid })
        } else {
            Err(Win32Error::ERROR_NO_SYSTEM_RESOURCES)
        }
    }

    /// `dispatch` asks whether a handle is open before it calls a method with it.
    fn key(&self, handle: KeyHandle) -> Result<&Key, Win32Error> {
        self.keys.get(&handle.uuid).ok_or(Win32Error::ERROR_INVALID_HANDLE)
    }

    /// What a key has. It may have been deleted since it was opened. The root of performance data cannot be enumerated.
    fn contents(&self, handle: KeyHandle) -> Result<KeyContents, Win32Error> {
        match self.key(handle)? {
            Key::Machine(path) => self.contents_at(path).ok_or(Win32Error::ERROR_KEY_DELETED),
            Key::PerformanceData => Ok(KeyContents::default()),
        }
    }

    fn contents_at(&self, path: &str) -> Option<KeyContents> {
        let choices = self.host.behaviour().choices.clone();
        tree::contents(&self.host, &choices, path)
    }

    /// The query for performance data that a call makes.
    fn query(&self, call: &Call<'_>) -> Option<Query> {
        if call.opnum != QueryRegistryValueRequest::METHOD.opnum {
            return None;
        }
        let request = QueryRegistryValueRequest::from_stub(call.stub).ok()?;
        match self.key(request.key).ok()? {
            Key::PerformanceData => Query::parse(request.name.as_str()),
            Key::Machine(_) => None,
        }
    }
}

impl Handler for RegistryService {
    /// Callers who may read counters may read the registry.
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        self.set_granted(call.counters_auth_level() >= AuthLevel::PKT_PRIVACY);
        self.dispatch(&CallInfo { auth_level: call.auth_level, object: call.object }, call.opnum, call.stub)
    }

    /// Whether the provider of an object that a call is about hangs.
    fn hangs(&mut self, call: &Call<'_>) -> bool {
        let choices = self.host.behaviour().choices.clone();
        choices.hanging_counterset.is_some()
            && self.query(call).is_some_and(|query| query.hangs(&**self.host.source(), &choices))
    }

    fn lose_handles(&mut self) {
        self.keys.clear();
    }

    fn apply(&mut self, action: &Action, call: &Call<'_>, response: &mut Vec<u8>) {
        let changed = match *action {
            Action::Status(status) => refused(call.opnum, call.stub, status),
            Action::Grow(percent) => outgrown(call.opnum, call.stub, percent),
            _ => None,
        };
        if let Some(stub) = changed {
            *response = stub;
        }
    }
}

const SUCCESS: Win32Error = Win32Error::ERROR_SUCCESS;

impl WinregServer for RegistryService {
    fn is_open(&self, key: KeyHandle) -> bool {
        key.attributes == 0 && self.keys.contains_key(&key.uuid)
    }

    fn open_local_machine(
        &mut self,
        _request: &OpenLocalMachineRequest,
    ) -> ServerResult<OpenLocalMachineReply, Win32Error> {
        Ok(OpenLocalMachineReply { key: self.open(Key::Machine(String::new()))?, status: SUCCESS })
    }

    fn open_performance_data(
        &mut self,
        _request: &OpenPerformanceDataRequest,
    ) -> ServerResult<OpenPerformanceDataReply, Win32Error> {
        if self.host.behaviour().refuses_performance_data {
            return Err(Win32Error::ERROR_ACCESS_DENIED.into());
        }
        Ok(OpenPerformanceDataReply { key: self.open(Key::PerformanceData)?, status: SUCCESS })
    }

    fn close_registry_key(
        &mut self,
        request: &CloseRegistryKeyRequest,
    ) -> ServerResult<CloseRegistryKeyReply, Win32Error> {
        self.keys.remove(&request.key.uuid);
        Ok(CloseRegistryKeyReply { key: KeyHandle::NULL, status: SUCCESS })
    }

    fn enumerate_registry_key(
        &mut self,
        request: &EnumerateRegistryKeyRequest,
    ) -> ServerResult<EnumerateRegistryKeyReply, Win32Error> {
        let names = self.contents(request.key)?.sub_keys;
        let name = usize::try_from(request.index).ok().and_then(|index| names.get(index));
        Ok(request.answer(name.ok_or(Win32Error::ERROR_NO_MORE_ITEMS)?))
    }

    fn enumerate_registry_value(
        &mut self,
        request: &EnumerateRegistryValueRequest<'_>,
    ) -> ServerResult<EnumerateRegistryValueReply<'static>, Win32Error> {
        let mut values = self.contents(request.key)?.values.into_iter();
        let value = usize::try_from(request.index).ok().and_then(|index| values.nth(index));
        let (name, value) = value.ok_or(Win32Error::ERROR_NO_MORE_ITEMS)?;
        Ok(request.answer(&name, value.value_type, value.bytes))
    }

    fn open_registry_key(
        &mut self,
        request: &OpenRegistryKeyRequest,
    ) -> ServerResult<OpenRegistryKeyReply, Win32Error> {
        let Key::Machine(above) = self.key(request.key)? else {
            return Err(Win32Error::ERROR_FILE_NOT_FOUND.into());
        };
        let parts = above.split('\\').chain(request.sub_key.as_str().split('\\'));
        let path = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\\");
        if self.contents_at(&path).is_none() {
            return Err(Win32Error::ERROR_FILE_NOT_FOUND.into());
        }
        Ok(OpenRegistryKeyReply { opened: self.open(Key::Machine(path))?, status: SUCCESS })
    }

    fn query_info_of_registry_key(
        &mut self,
        request: &QueryInfoOfRegistryKeyRequest,
    ) -> ServerResult<QueryInfoOfRegistryKeyReply, Win32Error> {
        let KeyContents { sub_keys, values, last_write } = self.contents(request.key)?;
        let count = |count| u32::try_from(count).unwrap_or(u32::MAX);
        let bytes = |name: &str| 2 * name.encode_utf16().count();
        let most = |lengths: &mut dyn Iterator<Item = usize>| count(lengths.max().unwrap_or(0));
        Ok(QueryInfoOfRegistryKeyReply {
            sub_keys: count(sub_keys.len()),
            sub_key_bytes_max: most(&mut sub_keys.iter().map(|name| bytes(name))),
            values: count(values.len()),
            value_name_bytes_max: most(&mut values.iter().map(|(name, _)| bytes(name))),
            value_bytes_max: most(&mut values.iter().map(|(_, value)| value.bytes.len())),
            last_write_time: last_write,
            ..request.refused(SUCCESS)
        })
    }

    fn query_registry_value(
        &mut self,
        request: &QueryRegistryValueRequest<'_>,
    ) -> ServerResult<QueryRegistryValueReply<'static>, Win32Error> {
        let name = request.name.as_str();
        if *self.key(request.key)? == Key::PerformanceData {
            let query = Query::parse(name).ok_or(Win32Error::ERROR_FILE_NOT_FOUND)?;
            let choices = self.host.behaviour().choices.clone();
            let RegistryValue { value_type, bytes } = query.answer(&self.host, &choices)?;
            return Ok(match query {
                Query::Names(..) => request.answer(value_type, bytes),
                _ => request.answer_unsized(value_type, bytes),
            });
        }
        let mut values = self.contents(request.key)?.values.into_iter();
        let found = values.find(|(found, _)| found.to_lowercase() == name.to_lowercase());
        let (_, value) = found.ok_or(Win32Error::ERROR_FILE_NOT_FOUND)?;
        Ok(request.answer(value.value_type, value.bytes))
    }
}
