use core::ops::Range;

use dcerpc::Channel;
use rpc::Message;
use rpc::ndr::ConformantVaryingBytes;
use wire::Win32Error;

use crate::rrp::Error;
use crate::rrp::types::{UnicodeString, ValueType};
use crate::rrp::winreg::client::Rooms;
use crate::rrp::winreg::{EnumerateRegistryValueRequest, Key, QueryRegistryValueRequest, RegistryClient};

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
    fn grow(&mut self, needed: u32, limit: u32) -> bool {
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
