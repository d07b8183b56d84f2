//! A registry in memory, and channels that lead to it, or to a server that lies.

use core::convert::Infallible;
use core::future::{Future, ready};
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use dcerpc::{Channel, FaultStatus};
use ms_dtyp::{Guid, Win32Error};
use ms_rrp::PROVIDERS_KEY;
use ms_rrp::types::{AccessMask, KeyHandle};
use ms_rrp::winreg::{KeyInfo, RegistryServer, dispatch};

/// The key that the requests of impacket in `tests/data` name.
pub(crate) const KEY: KeyHandle =
    KeyHandle { attributes: 0, uuid: Guid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10) };

/// Keys by their path in lower case, with the name as it is written.
#[derive(Default)]
pub(crate) struct FakeRegistry {
    keys: BTreeMap<String, String>,
    denied: BTreeSet<String>,
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

impl RegistryServer for FakeRegistry {
    fn open_local_machine(&mut self, sam_desired: AccessMask) -> Result<KeyHandle, Win32Error> {
        Ok(self.opened(String::new(), sam_desired))
    }

    fn is_open(&self, key: KeyHandle) -> bool {
        self.open.contains_key(&key.uuid)
    }

    fn close_key(&mut self, key: KeyHandle) -> Result<(), Win32Error> {
        self.open.remove(&key.uuid);
        Ok(())
    }

    fn enum_key(&mut self, key: KeyHandle, index: u32) -> Result<String, Win32Error> {
        let names = self.sub_keys(key);
        let name = names.get(usize::try_from(index).unwrap()).ok_or(Win32Error::ERROR_NO_MORE_ITEMS)?;
        Ok((*name).to_owned())
    }

    fn open_key(
        &mut self,
        key: KeyHandle,
        path: &str,
        sam_desired: AccessMask,
    ) -> Result<KeyHandle, Win32Error> {
        let path = format!(r"{}\{}", self.open[&key.uuid], path.to_lowercase());
        if !self.keys.contains_key(&path) {
            return Err(Win32Error::ERROR_FILE_NOT_FOUND);
        }
        if self.denied.contains(&path) {
            return Err(Win32Error::ERROR_ACCESS_DENIED);
        }
        Ok(self.opened(path, sam_desired))
    }

    fn query_info_key(&mut self, key: KeyHandle) -> Result<KeyInfo, Win32Error> {
        let names = self.sub_keys(key);
        let longest = names.iter().map(|name| 2 * name.encode_utf16().count()).max().unwrap_or(0);
        let sub_keys = u32::try_from(names.len()).unwrap();
        Ok(KeyInfo { sub_keys, sub_key_bytes_max: u32::try_from(longest).unwrap() })
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
        ready(dispatch(&mut self.server, opnum, stub))
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

/// Runs a future that never waits.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing here waits"),
    }
}
