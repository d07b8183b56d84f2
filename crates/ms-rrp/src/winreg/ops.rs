//! The parameters of the methods, as NDR. Padding of the stub and what follows it (such as a verification
//! trailer) is not looked at.

use codec::EncodeResult;
use ms_dtyp::Win32Error;
use ndr::{ContextHandle, Reader, Writer};

use crate::Method;
use crate::types::{AccessMask, KeyHandle, LastWriteTime, Room, UnicodeString};

/// The `[in]` parameters of a method.
pub trait Request: Sized {
    /// The method.
    const METHOD: Method;

    /// Writes the parameters.
    ///
    /// # Errors
    /// When the wire has no room for a value.
    fn encode(&self, dst: &mut Writer) -> EncodeResult<()>;

    /// Reads the parameters.
    ///
    /// # Errors
    /// When the stub is not of this method.
    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self>;

    /// Writes the whole stub.
    ///
    /// # Errors
    /// Those of [`Request::encode`].
    fn to_stub(&self) -> EncodeResult<Vec<u8>> {
        let mut dst = Writer::with_capacity(64);
        self.encode(&mut dst)?;
        Ok(dst.into_stub())
    }

    /// Reads the whole stub.
    ///
    /// # Errors
    /// Those of [`Request::decode`].
    fn from_stub(stub: &[u8]) -> ndr::Result<Self> {
        Self::decode(&mut Reader::new(stub, Self::METHOD.name()))
    }
}

/// Opnum 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenLocalMachineRequest {
    /// What for.
    pub sam_desired: AccessMask,
}

impl Request for OpenLocalMachineRequest {
    const METHOD: Method = Method::OpenLocalMachine;

    fn encode(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.u32(0 /* ServerName: no pointer */);
        dst.u32(self.sam_desired.0);
        Ok(())
    }

    /// The name is one character at most, and means nothing.
    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self> {
        let _name: Option<Box<u16>> = src.read("ServerName")?;
        Ok(Self { sam_desired: AccessMask(src.u32("samDesired")?) })
    }
}

/// Opnum 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseKeyRequest {
    /// The key.
    pub key: KeyHandle,
}

impl Request for CloseKeyRequest {
    const METHOD: Method = Method::BaseRegCloseKey;

    fn encode(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.write(&self.key)
    }

    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self> {
        Ok(Self { key: src.read("hKey")? })
    }
}

/// Opnum 9.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumKeyRequest {
    /// The key.
    pub key: KeyHandle,
    /// Which of its subkeys, from 0.
    pub index: u32,
    /// Room for the name.
    pub name_room: u16,
    /// Room for the class, in bytes: that of a NUL at least.
    pub class_room: u16,
}

impl Request for EnumKeyRequest {
    const METHOD: Method = Method::BaseRegEnumKey;

    fn encode(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.write(&self.key)?;
        dst.u32(self.index);
        dst.write(&UnicodeString::with_room(self.name_room))?;
        dst.write(&Some(Box::new(UnicodeString::with_room(self.class_room))))?;
        dst.u32(0 /* lpftLastWriteTime: no pointer */);
        Ok(())
    }

    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self> {
        let (key, index) = (src.read("hKey")?, src.u32("dwIndex")?);
        let name: UnicodeString = src.read("lpNameIn")?;
        let class: Option<Box<UnicodeString>> = src.read("lpClassIn")?;
        let _time: Option<Box<LastWriteTime>> = src.read("lpftLastWriteTime")?;
        let class_room = class.map_or(0, |class| class.maximum_length);
        Ok(Self { key, index, name_room: name.maximum_length, class_room })
    }
}

/// Opnum 15.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenKeyRequest {
    /// The key.
    pub key: KeyHandle,
    /// The path from there, its parts divided by backslashes.
    pub sub_key: String,
    /// What for.
    pub sam_desired: AccessMask,
}

impl Request for OpenKeyRequest {
    const METHOD: Method = Method::BaseRegOpenKey;

    fn encode(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.write(&self.key)?;
        dst.write(&UnicodeString::new(self.sub_key.as_str()))?;
        dst.u32(0 /* dwOptions */);
        dst.u32(self.sam_desired.0);
        Ok(())
    }

    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self> {
        let key = src.read("hKey")?;
        let sub_key: UnicodeString = src.read("lpSubKey")?;
        let _options = src.u32("dwOptions")?;
        let sam_desired = AccessMask(src.u32("samDesired")?);
        Ok(Self { key, sub_key: sub_key.text.unwrap_or_default(), sam_desired })
    }
}

/// Opnum 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryInfoKeyRequest {
    /// The key.
    pub key: KeyHandle,
    /// Room for the class, in bytes: that of a NUL at least.
    pub class_room: u16,
}

impl Request for QueryInfoKeyRequest {
    const METHOD: Method = Method::BaseRegQueryInfoKey;

    fn encode(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.write(&self.key)?;
        dst.write(&Room(self.class_room))
    }

    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self> {
        let key = src.read("hKey")?;
        let class: UnicodeString = src.read("lpClassIn")?;
        Ok(Self { key, class_room: Room(class.maximum_length).bytes() })
    }
}

/// Opnums 2, 5 and 15: the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleReply {
    /// The key that was opened; NULL after one was closed.
    pub key: KeyHandle,
    /// How it went.
    pub status: Win32Error,
}

impl HandleReply {
    /// Writes the stub.
    ///
    /// # Errors
    /// None that could happen.
    pub fn to_stub(&self) -> EncodeResult<Vec<u8>> {
        let mut dst = Writer::with_capacity(ContextHandle::FIXED_PART_SIZE + 4);
        dst.write(&self.key)?;
        dst.u32(self.status.0);
        Ok(dst.into_stub())
    }

    /// Reads the stub of `method`'s answer.
    ///
    /// # Errors
    /// When it is no such answer.
    pub fn from_stub(stub: &[u8], method: Method) -> ndr::Result<Self> {
        let src = &mut Reader::new(stub, method.name());
        Ok(Self { key: src.read("phKey")?, status: Win32Error(src.u32("return value")?) })
    }
}

/// Opnum 9: the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumKeyReply {
    /// The subkey's name, in a buffer of the client's size.
    pub name: UnicodeString,
    /// The subkey's class.
    pub class: Option<UnicodeString>,
    /// When the subkey was written last, where the client asked for it and the server tells.
    pub last_write_time: Option<LastWriteTime>,
    /// How it went.
    pub status: Win32Error,
}

impl EnumKeyReply {
    /// Writes the stub.
    ///
    /// # Errors
    /// When a name is longer than 16 bits can count.
    pub fn to_stub(&self) -> EncodeResult<Vec<u8>> {
        let mut dst = Writer::with_capacity(128);
        dst.write(&self.name)?;
        dst.write(&self.class.clone().map(Box::new))?;
        dst.write(&self.last_write_time.map(Box::new))?;
        dst.u32(self.status.0);
        Ok(dst.into_stub())
    }

    /// Reads the stub.
    ///
    /// # Errors
    /// When it is no such answer.
    pub fn from_stub(stub: &[u8]) -> ndr::Result<Self> {
        let src = &mut Reader::new(stub, Method::BaseRegEnumKey.name());
        let name = src.read("lpNameOut")?;
        let class: Option<Box<UnicodeString>> = src.read("lplpClassOut")?;
        let last_write_time: Option<Box<LastWriteTime>> = src.read("lpftLastWriteTime")?;
        let status = Win32Error(src.u32("return value")?);
        Ok(Self {
            name,
            class: class.map(|class| *class),
            last_write_time: last_write_time.map(|time| *time),
            status,
        })
    }
}

/// Opnum 16: the answer.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct QueryInfoKeyReply {
    /// The key's class.
    pub class: UnicodeString,
    /// How many subkeys there are.
    pub sub_keys: u32,
    /// The longest name of a subkey, in bytes.
    pub sub_key_bytes_max: u32,
    /// How it went.
    pub status: Win32Error,
}

impl QueryInfoKeyReply {
    /// lpcbMaxClassLen, lpcValues, lpcbMaxValueNameLen, lpcbMaxValueLen, lpcbSecurityDescriptor.
    const NOT_KEPT: usize = 5;

    /// Writes the stub; what is not here is zero.
    ///
    /// # Errors
    /// When the class is longer than 16 bits can count.
    pub fn to_stub(&self) -> EncodeResult<Vec<u8>> {
        let mut dst = Writer::with_capacity(64);
        dst.write(&self.class)?;
        dst.u32(self.sub_keys);
        dst.u32(self.sub_key_bytes_max);
        (0..Self::NOT_KEPT).for_each(|_| dst.u32(0));
        dst.write(&LastWriteTime::default())?;
        dst.u32(self.status.0);
        Ok(dst.into_stub())
    }

    /// Reads the stub.
    ///
    /// # Errors
    /// When it is no such answer.
    pub fn from_stub(stub: &[u8]) -> ndr::Result<Self> {
        let src = &mut Reader::new(stub, Method::BaseRegQueryInfoKey.name());
        let class = src.read("lpClassOut")?;
        let (sub_keys, sub_key_bytes_max) = (src.u32("lpcSubKeys")?, src.u32("lpcbMaxSubKeyLen")?);
        for _ in 0..Self::NOT_KEPT {
            src.u32("lpcbMaxClassLen")?;
        }
        let _time: LastWriteTime = src.read("lpftLastWriteTime")?;
        Ok(Self { class, sub_keys, sub_key_bytes_max, status: Win32Error(src.u32("return value")?) })
    }
}
