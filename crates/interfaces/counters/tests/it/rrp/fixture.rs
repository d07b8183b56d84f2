//! A registry in memory, and channels that lead to it, or to a server that lies.

use core::convert::Infallible;
use core::future::{Future, ready};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use counters::rrp::PROVIDERS_KEY;
use counters::rrp::types::{AccessMask, KeyHandle, UnicodeString, ValueType};
use counters::rrp::winreg::{
    CloseRegistryKeyReply, CloseRegistryKeyRequest, EnumerateRegistryKeyReply, EnumerateRegistryKeyRequest,
    EnumerateRegistryValueReply, EnumerateRegistryValueRequest, OpenLocalMachineReply,
    OpenLocalMachineRequest, OpenPerformanceDataReply, OpenPerformanceDataRequest, OpenRegistryKeyReply,
    OpenRegistryKeyRequest, QueryInfoOfRegistryKeyReply, QueryInfoOfRegistryKeyRequest,
    QueryRegistryValueReply, QueryRegistryValueRequest, WinregServer,
};
use dcerpc::{Channel, FaultStatus};
use rpc::{CallInfo, Request, ServerResult};
use wire::{Guid, Win32Error};

/// The key that the requests of impacket in `tests/data` name.
pub(crate) const KEY: KeyHandle =
    KeyHandle { attributes: 0, uuid: Guid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10) };

/// Asks for the name of a subkey of [`KEY`], with so much room for name and class.
pub(crate) fn enumerate(index: u32, name_room: u16, class_room: u16) -> EnumerateRegistryKeyRequest {
    let name = UnicodeString::with_room(name_room);
    let class = Some(Box::new(UnicodeString::with_room(class_room)));
    EnumerateRegistryKeyRequest { key: KEY, index, name, class, last_write_time: None }
}

/// The path of the root of performance data.
pub(crate) const PERFORMANCE_DATA: &str = "HKPD";

/// Keys by their path in lower case, with the name as it is written.
#[derive(Default)]
pub(crate) struct FakeRegistry {
    keys: BTreeMap<String, String>,
    denied: BTreeSet<String>,
    /// By the path of their key, a backslash and their name.
    pub(crate) values: BTreeMap<String, (ValueType, Vec<u8>)>,
    pub(crate) open: BTreeMap<Guid, String>,
    opened: u128,
    pub(crate) asked_for: Vec<AccessMask>,
}

impl FakeRegistry {
    /// A registry with these countersets, each below its provider.
    pub(crate) fn with_counter_sets(list: &[(&str, &[&str])]) -> Self {
        let mut registry = Self::default();
        registry.add(PROVIDERS_KEY);
        for (provider, counter_sets) in list {
            registry.add(&format!(r"{PROVIDERS_KEY}\{provider}"));
            for counter_set in *counter_sets {
                registry.add(&format!(r"{PROVIDERS_KEY}\{provider}\{counter_set}"));
            }
        }
        registry
    }

    pub(crate) fn add(&mut self, path: &str) {
        let mut below = String::new();
        for name in path.split('\\') {
            below = format!(r"{below}\{}", name.to_lowercase());
            self.keys.entry(below.clone()).or_insert_with(|| name.to_owned());
        }
    }

    pub(crate) fn remove(&mut self, path: &str) {
        self.keys.remove(&format!(r"\{}", path.to_lowercase()));
    }

    pub(crate) fn deny(&mut self, path: &str) {
        self.denied.insert(format!(r"\{}", path.to_lowercase()));
    }

    /// Lets [`KEY`] be open.
    pub(crate) fn opened_at(mut self, path: &str) -> Self {
        self.open.insert(KEY.uuid, format!(r"\{}", path.to_lowercase()));
        self
    }

    fn sub_keys(&self, key: KeyHandle) -> Vec<&str> {
        let path = format!(r"{}\", self.open[&key.uuid]);
        let below = self.keys.iter().filter_map(|(other, name)| Some((other.strip_prefix(&path)?, name)));
        below.filter(|(rest, _)| !rest.contains('\\')).map(|(_, name)| name.as_str()).collect()
    }

    fn opened(&mut self, path: String, sam_desired: AccessMask) -> KeyHandle {
        self.asked_for.push(sam_desired);
        self.opened += 1;
        let uuid = Guid::from_u128(self.opened);
        self.open.insert(uuid, path);
        KeyHandle { attributes: 0, uuid }
    }
}

const SUCCESS: Win32Error = Win32Error::ERROR_SUCCESS;

impl WinregServer for FakeRegistry {
    fn is_open(&self, key: KeyHandle) -> bool {
        self.open.contains_key(&key.uuid)
    }

    fn open_local_machine(
        &mut self,
        request: &OpenLocalMachineRequest,
    ) -> ServerResult<OpenLocalMachineReply, Win32Error> {
        let key = self.opened(String::new(), request.sam_desired);
        Ok(OpenLocalMachineReply { key, status: SUCCESS })
    }

    fn open_performance_data(
        &mut self,
        request: &OpenPerformanceDataRequest,
    ) -> ServerResult<OpenPerformanceDataReply, Win32Error> {
        let key = self.opened(PERFORMANCE_DATA.to_owned(), request.sam_desired);
        Ok(OpenPerformanceDataReply { key, status: SUCCESS })
    }

    fn query_registry_value(
        &mut self,
        request: &QueryRegistryValueRequest<'_>,
    ) -> ServerResult<QueryRegistryValueReply<'static>, Win32Error> {
        let path = self.open[&request.key.uuid].as_str();
        let (value_type, bytes) = self
            .values
            .get(&format!(r"{path}\{}", request.name.as_str()))
            .ok_or(Win32Error::ERROR_FILE_NOT_FOUND)?;
        Ok(match path {
            PERFORMANCE_DATA => request.answer_unsized(*value_type, bytes.clone()),
            _ => request.answer(*value_type, bytes.clone()),
        })
    }

    fn close_registry_key(
        &mut self,
        request: &CloseRegistryKeyRequest,
    ) -> ServerResult<CloseRegistryKeyReply, Win32Error> {
        self.open.remove(&request.key.uuid);
        Ok(CloseRegistryKeyReply { key: KeyHandle::NULL, status: SUCCESS })
    }

    fn enumerate_registry_key(
        &mut self,
        request: &EnumerateRegistryKeyRequest,
    ) -> ServerResult<EnumerateRegistryKeyReply, Win32Error> {
        let names = self.sub_keys(request.key);
        let name = names.get(usize::try_from(request.index).unwrap());
        Ok(request.answer(name.ok_or(Win32Error::ERROR_NO_MORE_ITEMS)?))
    }

    fn enumerate_registry_value(
        &mut self,
        request: &EnumerateRegistryValueRequest<'_>,
    ) -> ServerResult<EnumerateRegistryValueReply<'static>, Win32Error> {
        let path = format!(r"{}\", self.open[&request.key.uuid]);
        let below = self.values.iter().filter_map(|(name, value)| Some((name.strip_prefix(&path)?, value)));
        let found =
            below.filter(|(name, _)| !name.contains('\\')).nth(usize::try_from(request.index).unwrap());
        let (name, (value_type, bytes)) = found.ok_or(Win32Error::ERROR_NO_MORE_ITEMS)?;
        Ok(request.answer(name, *value_type, bytes.clone()))
    }

    fn open_registry_key(
        &mut self,
        request: &OpenRegistryKeyRequest,
    ) -> ServerResult<OpenRegistryKeyReply, Win32Error> {
        let path = request.sub_key.as_str().to_lowercase();
        let path = format!(r"{}\{path}", self.open[&request.key.uuid]);
        if !self.keys.contains_key(&path) {
            return Err(Win32Error::ERROR_FILE_NOT_FOUND.into());
        }
        if self.denied.contains(&path) {
            return Err(Win32Error::ERROR_ACCESS_DENIED.into());
        }
        Ok(OpenRegistryKeyReply { opened: self.opened(path, request.sam_desired), status: SUCCESS })
    }

    fn query_info_of_registry_key(
        &mut self,
        request: &QueryInfoOfRegistryKeyRequest,
    ) -> ServerResult<QueryInfoOfRegistryKeyReply, Win32Error> {
        let names = self.sub_keys(request.key);
        let longest = names.iter().map(|name| 2 * name.encode_utf16().count()).max().unwrap_or(0);
        let sub_keys = u32::try_from(names.len()).unwrap();
        let sub_key_bytes_max = u32::try_from(longest).unwrap();
        Ok(QueryInfoOfRegistryKeyReply { sub_keys, sub_key_bytes_max, ..request.refused(SUCCESS) })
    }
}

/// Something that befalls a registry.
type Change = fn(&mut FakeRegistry);

/// Leads to a registry in memory, and counts the calls. Before a call a change may befall the registry.
pub(crate) struct Loop {
    pub(crate) server: FakeRegistry,
    pub(crate) calls: u32,
    pub(crate) change_before: Option<(u32, Change)>,
}

impl Loop {
    pub(crate) fn new(server: FakeRegistry) -> Self {
        Self { server, calls: 0, change_before: None }
    }
}

impl Channel for Loop {
    type Error = FaultStatus;

    fn call(
        &mut self,
        opnum: u16,
        object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
        assert_eq!(object, None);
        self.calls += 1;
        if let Some((_, change)) = self.change_before.take_if(|(call, _)| *call == self.calls) {
            change(&mut self.server);
        }
        ready(self.server.dispatch(&CallInfo::default(), opnum, stub))
    }
}

/// Requests after which a client is taken for one that asks without an end.
const REQUESTS_MAX: usize = 1_000;

/// Answers what it was told to, one after the other; the last one again and again. Keeps what it was asked.
pub(crate) struct Canned {
    pub(crate) responses: VecDeque<Vec<u8>>,
    pub(crate) requests: Vec<(u16, Vec<u8>)>,
}

impl Canned {
    pub(crate) fn new(responses: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self { responses: responses.into_iter().collect(), requests: Vec::new() }
    }
}

impl Channel for Canned {
    type Error = Infallible;

    fn call(
        &mut self,
        opnum: u16,
        _object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Infallible>> + Send {
        self.requests.push((opnum, stub.to_vec()));
        assert!(self.requests.len() <= REQUESTS_MAX, "the client asks without an end");
        let response = if self.responses.len() > 1 {
            self.responses.pop_front().unwrap()
        } else {
            self.responses[0].clone()
        };
        ready(Ok(response))
    }
}
