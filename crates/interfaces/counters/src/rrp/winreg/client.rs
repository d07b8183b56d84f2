use dcerpc::Channel;
use rpc::{Client, Message, Method};
use wire::{DecodeError, FileTime, Win32Error};

use crate::rrp::Error;
use crate::rrp::types::{AccessMask, KeyHandle, Room, UnicodeString};
use crate::rrp::winreg::{
    CloseRegistryKeyRequest, EnumerateRegistryKeyReply, EnumerateRegistryKeyRequest, OpenLocalMachineRequest,
    OpenPerformanceDataRequest, OpenRegistryKeyRequest, QueryInfoOfRegistryKeyReply,
    QueryInfoOfRegistryKeyRequest, Winreg,
};

/// What a [`RegistryClient`] accepts from a server, in all that it does for one call of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Subkeys of one key.
    pub sub_keys_max: u32,
    /// Countersets in the whole list.
    pub counter_sets_max: u32,
    /// Bytes of one value.
    pub value_bytes_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { sub_keys_max: 1 << 12, counter_sets_max: 1 << 13, value_bytes_max: 16 << 20 }
    }
}

/// A key that is open at the server. It dies with the connection; close it with [`RegistryClient::close_key`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a key that is not closed stays open at the server"]
pub struct Key {
    handle: KeyHandle,
}

impl Key {
    /// Its name on the wire.
    #[must_use]
    pub const fn handle(&self) -> KeyHandle {
        self.handle
    }
}

/// What is said of a key as a whole. Lengths are in bytes, without NULs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct KeyInfo {
    /// How many subkeys it has.
    pub sub_keys: u32,
    /// The longest of their names.
    pub sub_key_bytes_max: u32,
    /// How many values it has.
    pub values: u32,
    /// The longest of their names.
    pub value_name_bytes_max: u32,
    /// The largest of them.
    pub value_bytes_max: u32,
    /// When the key, a value of it or the list of its subkeys was changed last.
    pub last_write_time: FileTime,
}

impl From<&QueryInfoOfRegistryKeyReply> for KeyInfo {
    fn from(reply: &QueryInfoOfRegistryKeyReply) -> Self {
        Self {
            sub_keys: reply.sub_keys,
            sub_key_bytes_max: reply.sub_key_bytes_max,
            values: reply.values,
            value_name_bytes_max: reply.value_name_bytes_max,
            value_bytes_max: reply.value_bytes_max,
            last_write_time: reply.last_write_time,
        }
    }
}

/// What is done with the methods of [`Winreg`], on a channel that is bound to [`crate::rrp::SYNTAX_ID`].
#[derive(Debug)]
pub struct RegistryClient<C> {
    client: Client<C, Winreg>,
    limits: Limits,
}

/// Room that is offered for texts, in bytes. Whatever size the server asks for, there is twice as much
/// each time, up to what 16 bits can count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rooms {
    pub(super) name: u16,
    /// The class of a key has no limit of its own; it is dropped.
    class: u16,
}

impl Default for Rooms {
    /// 255 characters and a NUL: the registry has no names that are longer.
    fn default() -> Self {
        Self { name: 2 * 256, class: 2 * 256 }
    }
}

impl Rooms {
    const MAX: u16 = u16::MAX - 1;

    /// Offers more where the server says that there was not enough; false where that is not it, or all was offered.
    pub(super) fn grow(&mut self, status: Win32Error) -> bool {
        let is_too_small =
            matches!(status, Win32Error::ERROR_MORE_DATA | Win32Error::ERROR_INSUFFICIENT_BUFFER);
        let can_grow = self.name < Self::MAX;
        self.name = self.name.saturating_mul(2).min(Self::MAX);
        self.class = self.class.saturating_mul(2).min(Self::MAX);
        is_too_small && can_grow
    }
}

impl<C: Channel> RegistryClient<C> {
    /// A client of the host at the other end of `channel`.
    pub fn new(channel: C) -> Self {
        Self { client: Client::new(channel), limits: Limits::default() }
    }

    /// The same client with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) const fn client(&mut self) -> &mut Client<C, Winreg> {
        &mut self.client
    }

    pub const fn channel(&mut self) -> &mut C {
        self.client.channel()
    }

    /// Gives the channel back.
    pub fn into_channel(self) -> C {
        self.client.into_channel()
    }

    /// Opnum 2: opens `HKEY_LOCAL_MACHINE` with all access that the caller has.
    ///
    /// # Errors
    /// `ERROR_ACCESS_DENIED` for callers that the remote registry is closed to.
    pub async fn open_local_machine(&mut self) -> Result<Key, Error<C::Error>> {
        let sam_desired = AccessMask::MAXIMUM_ALLOWED;
        let reply = self.client.call(&OpenLocalMachineRequest { server_name: None, sam_desired }).await?;
        opened(OpenLocalMachineRequest::METHOD, reply.key)
    }

    /// Opnum 3: opens `HKEY_PERFORMANCE_DATA`.
    ///
    /// # Errors
    /// `ERROR_ACCESS_DENIED` for callers who may not read performance data.
    pub async fn open_performance_data(&mut self) -> Result<Key, Error<C::Error>> {
        let sam_desired = AccessMask::MAXIMUM_ALLOWED;
        let reply = self.client.call(&OpenPerformanceDataRequest { server_name: None, sam_desired }).await?;
        opened(OpenPerformanceDataRequest::METHOD, reply.key)
    }

    /// Opnum 15: opens a key below `key` for reading; `path` has backslashes between its parts.
    ///
    /// # Errors
    /// `ERROR_FILE_NOT_FOUND` when it is not there, `ERROR_ACCESS_DENIED` when the caller may not read it.
    pub async fn open_key(&mut self, key: &Key, path: &str) -> Result<Key, Error<C::Error>> {
        let (sub_key, sam_desired) = (UnicodeString::new(path), AccessMask::KEY_READ);
        let request = OpenRegistryKeyRequest { key: key.handle, sub_key, options: 0, sam_desired };
        let reply = self.client.call(&request).await?;
        opened(OpenRegistryKeyRequest::METHOD, reply.opened)
    }

    /// Opnum 9: the name of the subkey number `index`, or `None` after the last one.
    ///
    /// # Errors
    /// When the server does not know the key any more.
    pub async fn enum_key(&mut self, key: &Key, index: u32) -> Result<Option<String>, Error<C::Error>> {
        let mut rooms = Rooms::default();
        loop {
            let name = UnicodeString::with_room(rooms.name);
            let class = Some(Box::new(UnicodeString::with_room(rooms.class)));
            let (key, last_write_time) = (key.handle, None);
            let request = EnumerateRegistryKeyRequest { key, index, name, class, last_write_time };
            let EnumerateRegistryKeyReply { name, status, .. } = self.client.reply(&request).await?;
            match status {
                Win32Error::ERROR_SUCCESS => return Ok(Some(name.text.unwrap_or_default())),
                Win32Error::ERROR_NO_MORE_ITEMS => return Ok(None),
                status if rooms.grow(status) => {}
                status => return Err(failed(EnumerateRegistryKeyRequest::METHOD, status)),
            }
        }
    }

    /// The names of all subkeys, by one call each. Keys that are made or deleted meanwhile may be missing or listed twice.
    ///
    /// # Errors
    /// [`Error::LimitExceeded`] when there are more than [`Limits::sub_keys_max`].
    pub async fn sub_keys(&mut self, key: &Key) -> Result<Vec<String>, Error<C::Error>> {
        let limit = self.limits.sub_keys_max;
        let too_many =
            || Error::LimitExceeded { method: EnumerateRegistryKeyRequest::METHOD, unit: "subkeys", limit };
        if self.query_info_key(key).await?.sub_keys > limit {
            return Err(too_many());
        }
        let mut names = Vec::new();
        for index in 0..limit {
            match self.enum_key(key, index).await? {
                Some(name) => names.push(name),
                None => return Ok(names),
            }
        }
        match self.enum_key(key, limit).await? {
            Some(_) => Err(too_many()),
            None => Ok(names),
        }
    }

    /// Opnum 16: how many subkeys and values there are, and when the key was changed last.
    ///
    /// # Errors
    /// When the server does not know the key any more.
    pub async fn query_info_key(&mut self, key: &Key) -> Result<KeyInfo, Error<C::Error>> {
        let mut rooms = Rooms::default();
        loop {
            let class_room = Room::new(rooms.class);
            let request = QueryInfoOfRegistryKeyRequest { key: key.handle, class_room };
            let reply: QueryInfoOfRegistryKeyReply = self.client.reply(&request).await?;
            match reply.status {
                Win32Error::ERROR_SUCCESS => return Ok(KeyInfo::from(&reply)),
                status if rooms.grow(status) => {}
                status => return Err(failed(QueryInfoOfRegistryKeyRequest::METHOD, status)),
            }
        }
    }

    /// Opnum 5: closes a key.
    ///
    /// # Errors
    /// When the server does not know it any more.
    pub async fn close_key(&mut self, key: Key) -> Result<(), Error<C::Error>> {
        self.client.call(&CloseRegistryKeyRequest { key: key.handle }).await?;
        Ok(())
    }
}

/// The key that a method opened.
fn opened<E: core::error::Error + 'static>(
    method: &'static Method,
    handle: KeyHandle,
) -> Result<Key, Error<E>> {
    if handle.is_null() {
        let source = DecodeError::invalid_field(method.name, "phKey", 0, "NULL, though the key was opened");
        Err(rpc::Error::Stub { method, source: source.into() }.into())
    } else {
        Ok(Key { handle })
    }
}

fn failed<E: core::error::Error + 'static>(method: &'static Method, status: Win32Error) -> Error<E> {
    rpc::Error::Status { method, status }.into()
}
