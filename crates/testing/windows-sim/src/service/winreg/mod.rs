//! The remote registry [MS-RRP] with the list of a host's countersets: one [`RegistryService`] for each association
//! group.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dcerpc::pdu::BindNakReason;
use dcerpc::{AuthLevel, FaultStatus, SyntaxId};
use ms_dtyp::{Guid, Win32Error};
use ms_rrp::types::KeyHandle;
use ms_rrp::winreg::{
    CloseRegistryKeyReply, CloseRegistryKeyRequest, EnumerateRegistryKeyReply, EnumerateRegistryKeyRequest,
    OpenLocalMachineReply, OpenLocalMachineRequest, OpenRegistryKeyReply, OpenRegistryKeyRequest,
    QueryInfoOfRegistryKeyReply, QueryInfoOfRegistryKeyRequest, WinregServer,
};
use rpc_stub::{CallInfo, Request, ServerResult};

use super::{BindRefusal, BindRequest, Call, Endpoint, Handler, Service};
use crate::behaviour::{Behaviour, RegistryMode};
use crate::host_state::HostState;
use crate::model::ValueSource;
use crate::random;

/// The pipe of the remote registry service.
pub const PIPE: &str = "winreg";

/// The service of this interface.
pub(super) struct Winreg;

impl Service for Winreg {
    fn name(&self) -> &'static str {
        "winreg"
    }

    fn syntax_id(&self) -> SyntaxId {
        ms_rrp::SYNTAX_ID
    }

    fn endpoints(&self) -> &[Endpoint] {
        &[Endpoint::NamedPipe(PIPE)]
    }

    fn handler(&self, host: &Arc<HostState>) -> Box<dyn Handler> {
        Box::new(RegistryService::new(Arc::clone(host.source())))
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

/// The remote registry of one association group, with nothing in it but the list of countersets. Its keys close when
/// it is dropped.
pub struct RegistryService {
    source: Arc<dyn ValueSource>,
    /// Whether the caller may open anything.
    is_granted: bool,
    keys: BTreeMap<Guid, Key>,
}

/// Keys that one group may hold open.
const KEYS_MAX: usize = 256;

/// A place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    /// So many parts of [`ms_rrp::PROVIDERS_KEY`] down from the root.
    OnTheWay(usize),
    Provider(Guid),
    CounterSet,
}

impl RegistryService {
    /// Serves the registrations of the countersets of `source`.
    #[must_use]
    pub fn new(source: Arc<dyn ValueSource>) -> Self {
        Self { source, is_granted: false, keys: BTreeMap::new() }
    }

    /// Lets the caller in, or keeps it out.
    pub fn set_granted(&mut self, is_granted: bool) {
        self.is_granted = is_granted;
    }

    fn open(&mut self, key: Key) -> Result<KeyHandle, Win32Error> {
        if self.keys.len() < KEYS_MAX {
            let uuid = random::guid();
            self.keys.insert(uuid, key);
            Ok(KeyHandle { attributes: 0, uuid })
        } else {
            Err(Win32Error::ERROR_NO_SYSTEM_RESOURCES)
        }
    }

    /// `dispatch` asks whether a handle is open before it calls a method with it.
    fn key(&self, handle: KeyHandle) -> Result<Key, Win32Error> {
        self.keys.get(&handle.uuid).copied().ok_or(Win32Error::ERROR_INVALID_HANDLE)
    }

    /// The subkeys by name, in order.
    fn sub_keys(&self, key: Key) -> Vec<(String, Key)> {
        let named = |guid: Guid, key| (format!("{{{guid}}}"), key);
        match key {
            Key::OnTheWay(depth) => match ms_rrp::PROVIDERS_KEY.split('\\').nth(depth) {
                Some(part) => vec![(part.to_owned(), Key::OnTheWay(depth + 1))],
                None => {
                    let sets = self.source.countersets();
                    let providers: BTreeSet<Guid> = sets.iter().map(|set| set.provider.guid).collect();
                    providers.into_iter().map(|guid| named(guid, Key::Provider(guid))).collect()
                }
            },
            Key::Provider(provider) => {
                let sets = self.source.countersets();
                let own = sets.iter().filter(|set| set.provider.guid == provider);
                own.map(|set| named(set.guid, Key::CounterSet)).collect()
            }
            Key::CounterSet => Vec::new(),
        }
    }
}

impl Handler for RegistryService {
    /// Callers who may read counters may read the registry.
    fn call(&mut self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        self.set_granted(call.counters_auth_level() >= AuthLevel::PKT_PRIVACY);
        self.dispatch(&CallInfo { auth_level: call.auth_level, object: call.object }, call.opnum, call.stub)
    }

    fn lose_handles(&mut self) {
        self.keys.clear();
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
        if self.is_granted {
            Ok(OpenLocalMachineReply { key: self.open(Key::OnTheWay(0))?, status: SUCCESS })
        } else {
            Err(Win32Error::ERROR_ACCESS_DENIED.into())
        }
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
        let names = self.sub_keys(self.key(request.key)?);
        let name = usize::try_from(request.index).ok().and_then(|index| names.get(index));
        let (name, _) = name.ok_or(Win32Error::ERROR_NO_MORE_ITEMS)?;
        Ok(request.answer(name))
    }

    fn open_registry_key(
        &mut self,
        request: &OpenRegistryKeyRequest,
    ) -> ServerResult<OpenRegistryKeyReply, Win32Error> {
        let mut place = self.key(request.key)?;
        for part in request.sub_key.as_str().split('\\').filter(|part| !part.is_empty()) {
            let mut below = self.sub_keys(place).into_iter();
            let found = below.find(|(name, _)| name.eq_ignore_ascii_case(part));
            place = found.ok_or(Win32Error::ERROR_FILE_NOT_FOUND)?.1;
        }
        Ok(OpenRegistryKeyReply { opened: self.open(place)?, status: SUCCESS })
    }

    fn query_info_of_registry_key(
        &mut self,
        request: &QueryInfoOfRegistryKeyRequest,
    ) -> ServerResult<QueryInfoOfRegistryKeyReply, Win32Error> {
        let names = self.sub_keys(self.key(request.key)?);
        let longest = names.iter().map(|(name, _)| 2 * name.len()).max().unwrap_or(0);
        let count = |count| u32::try_from(count).unwrap_or(u32::MAX);
        let (sub_keys, sub_key_bytes_max) = (count(names.len()), count(longest));
        Ok(QueryInfoOfRegistryKeyReply { sub_keys, sub_key_bytes_max, ..request.refused(SUCCESS) })
    }
}

#[cfg(test)]
mod tests {
    use core::future::{Future, ready};

    use dcerpc::{Channel, FaultStatus};
    use ms_rrp::winreg::RegistryClient;
    use test_support::future::now;

    use super::*;
    use crate::model::{Host, HostOptions};

    struct Loop(RegistryService);

    impl Channel for Loop {
        type Error = FaultStatus;

        fn call(
            &mut self,
            opnum: u16,
            _object: Option<Guid>,
            stub: &[u8],
        ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
            ready(self.0.dispatch(&CallInfo::default(), opnum, stub))
        }
    }

    fn client(is_granted: bool) -> (Vec<Guid>, RegistryClient<Loop>) {
        let source: Arc<dyn ValueSource> = Arc::new(Host::new(HostOptions::default()));
        let mut guids: Vec<Guid> = source.countersets().iter().map(|set| set.guid).collect();
        guids.sort_unstable();
        let mut service = RegistryService::new(source);
        service.set_granted(is_granted);
        (guids, RegistryClient::new(Loop(service)))
    }

    #[test]
    fn the_registry_lists_what_the_host_counts() {
        let (guids, mut client) = client(true);
        let found = now(ms_rrp::enumerate_counter_sets(&mut client));
        assert_eq!(found.map(|found| found.counter_sets).ok(), Some(guids));
        assert!(client.channel().0.keys.is_empty(), "the client closed all keys");
    }

    #[test]
    fn the_registry_is_closed_to_whom_the_counters_are_closed_to() {
        let (_, mut client) = client(false);
        let refused = now(client.open_local_machine());
        assert_eq!(refused.map_err(|error| error.status()), Err(Some(Win32Error::ERROR_ACCESS_DENIED)));
    }
}
