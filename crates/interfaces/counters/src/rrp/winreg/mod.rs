//! [MS-RRP] 3.1.5, the interface `winreg`: the methods that are here, and a client of them.

mod client;

use core::ops::Range;

use dcerpc::Channel;
use rpc::Message;
use rpc::ndr::ConformantVaryingBytes;
use wire::{FileTime, Win32Error};

pub use self::client::{Key, KeyInfo, Limits, RegistryClient};

use self::client::Rooms;
use super::Error;
use crate::rrp::types::{AccessMask, KeyHandle, Room, UnicodeString, ValueType};

rpc::interface! {
    /// [MS-RRP] 1.9: the remote registry, version 1.0.
    #[doc(alias = "winreg")]
    pub interface Winreg("338cd001-2244-31f1-aaaa-900038001003", 1.0) -> Win32Error {
        /// [MS-RRP] 3.1.5.3: opens the root `HKEY_LOCAL_MACHINE`. The server's name is one character at most, and
        /// means nothing.
        2 => OpenLocalMachine(server_name: Option<Box<u16>>, sam_desired: AccessMask) -> (key: KeyHandle);

        /// [MS-RRP] 3.1.5.4: opens the root `HKEY_PERFORMANCE_DATA`, whose values are performance data.
        3 => OpenPerformanceData(server_name: Option<Box<u16>>, sam_desired: AccessMask) -> (key: KeyHandle);

        /// [MS-RRP] 3.1.5.6: closes a key, whose handle is NULL afterwards.
        5 => BaseRegCloseKey as close_registry_key(#[ndr(handle)] key: KeyHandle) -> (key: KeyHandle);

        /// [MS-RRP] 3.1.5.10: names the subkey number `index`. Name and class come with the room that there is for them.
        9 => BaseRegEnumKey as enumerate_registry_key(
            #[ndr(handle)] key: KeyHandle, index: u32, name: UnicodeString,
            class: Option<Box<UnicodeString>>, last_write_time: Option<Box<FileTime>>,
        ) -> (name: UnicodeString, class: Option<Box<UnicodeString>>, last_write_time: Option<Box<FileTime>>);

        /// [MS-RRP] 3.1.5.11: names and reads the value number `index`. The name comes with the room that there is for it;
        /// `size` and `length` are as those of BaseRegQueryValue.
        10 => BaseRegEnumValue as enumerate_registry_value(
            #[ndr(handle)] key: KeyHandle, index: u32, name: UnicodeString,
            #[ndr(name = "lpType")] value_type: Option<Box<ValueType>>,
            #[ndr(name = "lpData")] data: Option<Box<ConformantVaryingBytes<'stub>>>,
            #[ndr(name = "lpcbData")] size: Option<Box<u32>>, #[ndr(name = "lpcbLen")] length: Option<Box<u32>>,
        ) -> (
            name: UnicodeString, #[ndr(name = "lpType")] value_type: Option<Box<ValueType>>,
            #[ndr(name = "lpData")] data: Option<Box<ConformantVaryingBytes<'stub>>>,
            #[ndr(name = "lpcbData")] size: Option<Box<u32>>, #[ndr(name = "lpcbLen")] length: Option<Box<u32>>,
        );

        /// [MS-RRP] 3.1.5.15: opens a key below `key`; `sub_key` has backslashes between its parts, and may be empty.
        15 => BaseRegOpenKey as open_registry_key(
            #[ndr(handle)] key: KeyHandle, sub_key: UnicodeString, options: u32, sam_desired: AccessMask,
        ) -> (opened: KeyHandle);

        /// [MS-RRP] 3.1.5.16: says how many subkeys and values a key has, and how long they are at most, in bytes.
        16 => BaseRegQueryInfoKey as query_info_of_registry_key(
            #[ndr(handle)] key: KeyHandle, class_room: Room,
        ) -> (
            class: UnicodeString, sub_keys: u32, sub_key_bytes_max: u32, class_bytes_max: u32, values: u32,
            value_name_bytes_max: u32, value_bytes_max: u32, security_descriptor_bytes: u32,
            last_write_time: FileTime,
        );

        /// [MS-RRP] 3.1.5.17: reads a value of a key. `size` is the room of `data`, and of the reply how long the value is;
        /// `length` is how much of it there is.
        17 => BaseRegQueryValue as query_registry_value(
            #[ndr(handle)] key: KeyHandle, name: UnicodeString, #[ndr(name = "lpType")] value_type: Option<Box<ValueType>>,
            #[ndr(name = "lpData")] data: Option<Box<ConformantVaryingBytes<'stub>>>,
            #[ndr(name = "lpcbData")] size: Option<Box<u32>>, #[ndr(name = "lpcbLen")] length: Option<Box<u32>>,
        ) -> (
            #[ndr(name = "lpType")] value_type: Option<Box<ValueType>>,
            #[ndr(name = "lpData")] data: Option<Box<ConformantVaryingBytes<'stub>>>,
            #[ndr(name = "lpcbData")] size: Option<Box<u32>>, #[ndr(name = "lpcbLen")] length: Option<Box<u32>>,
        );
    }
}

/// A name in the room that there is for it, and `ERROR_MORE_DATA` where it does not fit.
fn name_in(room: &UnicodeString, name: &str) -> (UnicodeString, Win32Error) {
    let empty = UnicodeString::with_room(room.maximum_length);
    let bytes = 2 * (name.encode_utf16().count() + 1/* NUL */);
    if bytes <= usize::from(room.maximum_length) {
        (UnicodeString { text: Some(name.to_owned()), ..empty }, Win32Error::ERROR_SUCCESS)
    } else {
        (empty, Win32Error::ERROR_MORE_DATA)
    }
}

impl EnumerateRegistryKeyRequest {
    /// A server's answer with a name: `ERROR_MORE_DATA` where it does not fit. A class is never there; one is asked for
    /// nevertheless, and answered with an empty text.
    #[must_use]
    pub fn answer(&self, name: &str) -> EnumerateRegistryKeyReply {
        let (name, status) = name_in(&self.name, name);
        let class = self.class.as_deref();
        let class = class.map(|class| Box::new(UnicodeString::with_room(class.maximum_length)));
        EnumerateRegistryKeyReply { name, class, last_write_time: None, status }
    }
}

impl EnumerateRegistryValueRequest<'_> {
    /// A server's answer with a value: `ERROR_MORE_DATA` and its size where there is no room for its name or its bytes.
    #[must_use]
    pub fn answer(
        &self,
        name: &str,
        value_type: ValueType,
        bytes: Vec<u8>,
    ) -> EnumerateRegistryValueReply<'static> {
        let (name, named) = name_in(&self.name, name);
        let request = QueryRegistryValueRequest {
            key: self.key,
            name: UnicodeString::NULL,
            value_type: self.value_type.clone(),
            data: self.data.clone(),
            size: self.size.clone(),
            length: self.length.clone(),
        };
        let QueryRegistryValueReply { value_type, data, size, length, status } =
            request.answer(value_type, bytes);
        let status = if named.is_success() { status } else { named };
        EnumerateRegistryValueReply { name, value_type, data, size, length, status }
    }
}

impl QueryRegistryValueRequest<'_> {
    /// A server's answer with performance data: where there is no room for it, `ERROR_MORE_DATA` and the size that was sent,
    /// because how large it is only shows when it was written.
    #[must_use]
    pub fn answer_unsized(&self, value_type: ValueType, bytes: Vec<u8>) -> QueryRegistryValueReply<'static> {
        let mut reply = self.answer(value_type, bytes);
        if self.data.is_none() || reply.status == Win32Error::ERROR_MORE_DATA {
            reply.status = Win32Error::ERROR_MORE_DATA;
            reply.size.clone_from(&self.size);
            if let (Some(data), Some(size)) = (&mut reply.data, &reply.size) {
                data.max_count = **size;
            }
        }
        reply
    }

    /// A server's answer with a value: `ERROR_MORE_DATA` and its size where there is no room for it.
    #[must_use]
    pub fn answer(&self, value_type: ValueType, bytes: Vec<u8>) -> QueryRegistryValueReply<'static> {
        let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let room = self.size.as_deref().copied().unwrap_or_default();
        let fits = self.data.is_none() || size <= room;
        let status = if fits { Win32Error::ERROR_SUCCESS } else { Win32Error::ERROR_MORE_DATA };
        let data = self.data.is_some().then(|| if fits { bytes } else { Vec::new() });
        let length = data.as_ref().map_or(0, |data| u32::try_from(data.len()).unwrap_or(u32::MAX));
        QueryRegistryValueReply {
            value_type: self.value_type.is_some().then(|| Box::new(value_type)),
            // size_is of the reply: what it says the size is.
            data: data.map(|data| Box::new(ConformantVaryingBytes { max_count: size, bytes: data.into() })),
            size: self.size.is_some().then(|| Box::new(size)),
            length: self.length.is_some().then(|| Box::new(length)),
            status,
        }
    }
}

/// Room for a value, to be kept from one reading to the next: what was enough once is asked for again at once.
///
/// Performance data does not say how large it is before there is room for it, so that room grows by doubling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueRoom {
    bytes: u32,
}

impl ValueRoom {
    /// Room for so many bytes at first.
    #[must_use]
    pub const fn new(bytes: u32) -> Self {
        Self { bytes }
    }

    /// How many bytes there is room for now.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self.bytes
    }

    /// Makes room for twice as much, and for `needed` where the server says so much; at most `limit`. False where that is no
    /// more than there was.
    pub fn grow(&mut self, needed: u32, limit: u32) -> bool {
        let before = self.bytes;
        self.bytes = before.saturating_mul(2).max(needed).clamp(1, limit);
        self.bytes > before
    }
}

/// A value, in the response that brought it.
#[derive(Clone, Debug, Default)]
pub struct RegistryValue {
    /// What its bytes are.
    pub value_type: ValueType,
    stub: Vec<u8>,
    // INVARIANT: within `stub`.
    bytes: Range<usize>,
}

impl RegistryValue {
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.stub[self.bytes.clone()]
    }
}

impl RegistryValue {
    /// Keeps a response with the data that were found in it.
    fn new(value_type: Option<ValueType>, stub: Vec<u8>, bytes: Range<usize>) -> Self {
        Self { value_type: value_type.unwrap_or(ValueType::REG_NONE), stub, bytes }
    }
}

/// Where data that borrow from a stub are in it.
fn place(stub: &[u8], data: Option<&ConformantVaryingBytes<'_>>) -> Range<usize> {
    let data = data.map_or(&[][..], |data| &data.bytes);
    // Both are of one allocation: the reply borrows from the stub.
    let start = data.as_ptr().addr().saturating_sub(stub.as_ptr().addr()).min(stub.len());
    start..(start + data.len()).min(stub.len())
}

/// Room for data, as a request offers it.
fn offered(room: ValueRoom) -> Option<Box<ConformantVaryingBytes<'static>>> {
    Some(Box::new(ConformantVaryingBytes { max_count: room.bytes(), bytes: (&[][..]).into() }))
}

impl<C: Channel> RegistryClient<C> {
    /// Opnum 10: the name of the value number `index` and the value, or `None` after the last one.
    ///
    /// # Errors
    /// [`Error::LimitExceeded`] when it is larger than [`crate::rrp::winreg::Limits::value_bytes_max`].
    pub async fn enum_value(
        &mut self,
        key: &Key,
        index: u32,
        room: &mut ValueRoom,
    ) -> Result<Option<(String, RegistryValue)>, Error<C::Error>> {
        let limit = self.limits().value_bytes_max;
        let method = EnumerateRegistryValueRequest::METHOD;
        let mut rooms = Rooms::default();
        loop {
            let request = EnumerateRegistryValueRequest {
                key: key.handle(),
                index,
                name: UnicodeString::with_room(rooms.name),
                value_type: Some(Box::new(ValueType::REG_NONE)),
                data: offered(*room),
                size: Some(Box::new(room.bytes())),
                length: Some(Box::new(0)),
            };
            let stub = self.client().stub(&request).await?;
            let reply = self.client().decode(&request, &stub)?;
            match reply.status {
                Win32Error::ERROR_SUCCESS => {
                    let bytes = place(&stub, reply.data.as_deref());
                    let value_type = reply.value_type.map(|value_type| *value_type);
                    let name = reply.name.text.unwrap_or_default();
                    drop(reply.data);
                    return Ok(Some((name, RegistryValue::new(value_type, stub, bytes))));
                }
                Win32Error::ERROR_NO_MORE_ITEMS => return Ok(None),
                status @ (Win32Error::ERROR_MORE_DATA | Win32Error::ERROR_INSUFFICIENT_BUFFER) => {
                    // Which of both was too small is not said.
                    let needed = reply.size.map_or(0, |size| *size);
                    let (named, valued) = (rooms.grow(status), room.grow(needed, limit));
                    if !named && !valued {
                        return Err(Error::LimitExceeded { method, unit: "bytes of a value", limit });
                    }
                }
                status => return Err(rpc::Error::Status { method, status }.into()),
            }
        }
    }

    /// Opnum 17: reads a value of a key; the one of an empty name is the key's own.
    ///
    /// # Errors
    /// `ERROR_FILE_NOT_FOUND` when it is not there; [`Error::LimitExceeded`] when it is larger than
    /// [`crate::rrp::winreg::Limits::value_bytes_max`].
    pub async fn query_value(
        &mut self,
        key: &Key,
        name: &str,
        room: &mut ValueRoom,
    ) -> Result<RegistryValue, Error<C::Error>> {
        let limit = self.limits().value_bytes_max;
        let method = QueryRegistryValueRequest::METHOD;
        loop {
            let request = QueryRegistryValueRequest {
                key: key.handle(),
                name: UnicodeString::new(name),
                value_type: Some(Box::new(ValueType::REG_NONE)),
                data: offered(*room),
                size: Some(Box::new(room.bytes())),
                length: Some(Box::new(0)),
            };
            let stub = self.client().stub(&request).await?;
            let reply = self.client().decode(&request, &stub)?;
            match reply.status {
                Win32Error::ERROR_SUCCESS => {
                    let bytes = place(&stub, reply.data.as_deref());
                    let value_type = reply.value_type.map(|value_type| *value_type);
                    drop(reply.data);
                    return Ok(RegistryValue::new(value_type, stub, bytes));
                }
                Win32Error::ERROR_MORE_DATA | Win32Error::ERROR_INSUFFICIENT_BUFFER => {
                    let needed = reply.size.map_or(0, |size| *size);
                    if !room.grow(needed, limit) {
                        return Err(Error::LimitExceeded { method, unit: "bytes of a value", limit });
                    }
                }
                status => return Err(rpc::Error::Status { method, status }.into()),
            }
        }
    }
}
