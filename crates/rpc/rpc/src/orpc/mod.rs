//! Interfaces of objects: ORPC, [MS-DCOM].
//!
//! ```
//! use wire::{Guid, HResult};
//! use rpc::orpc::{ComVersion, IUnknown, IUnknownServer, ObjectInterface, OrpcThis};
//! use rpc::{CallInfo, Interface, ServerResult};
//!
//! rpc::interface! {
//!     /// A lamp.
//!     pub orpc interface ILamp: IUnknown("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd54") -> HResult {
//!         /// Says how bright it is.
//!         3 => GetBrightness() -> (brightness: u32);
//!     }
//! }
//! rpc::interface! {
//!     /// A lamp that can be dimmed.
//!     pub orpc interface IDimmer: ILamp("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd55") -> HResult {
//!         /// Makes it as bright as that.
//!         4 => Dim(brightness: u32);
//!     }
//! }
//!
//! struct Lamp(u32);
//!
//! impl IUnknownServer for Lamp {}
//!
//! impl ILampServer for Lamp {
//!     fn get_brightness(&mut self, _: &GetBrightnessRequest) -> ServerResult<GetBrightnessReply, HResult> {
//!         Ok(GetBrightnessReply { brightness: self.0, status: HResult::S_OK })
//!     }
//! }
//!
//! impl IDimmerServer for Lamp {}
//!
//! # fn main() {
//! assert_eq!(IDimmer::method(3).unwrap().name, "GetBrightness");
//! let this = OrpcThis::new(ComVersion::V5_7, Guid::from_u128(7));
//! let stub = rpc::orpc::request_stub(&this, &GetBrightnessRequest {}).unwrap();
//! let stub = IDimmer::dispatch(&mut Lamp(3), &CallInfo::default(), 3, &stub).unwrap();
//! let (_that, reply) = rpc::orpc::read_reply::<GetBrightnessReply>(&stub).unwrap();
//! assert_eq!(reply.brightness, 3);
//! # }
//! ```
//!
//! A declaration differs from that of a plain interface in its first line: `orpc interface`, and the interface that it
//! inherits from, which is in scope together with its server's trait, at the least [`IUnknown`], whose opnums 0 to 2 are never declared. The version is 0.0. It gives the
//! same messages, without [`OrpcThis`] and [`OrpcThat`], which all requests and responses begin with: the functions here
//! write and read them. Inherited methods are declared once:
//!
//! - A client is a [`Proxy`], whose calls name the object by its IPID. It also calls inherited methods.
//! - A server implements a trait for each interface, `IDimmerServer: ILampServer: IUnknownServer`. `IDimmer::dispatch`
//!   answers calls of all of them, and refuses those of other versions. [`IUnknownServer::authorize`] sees each call
//!   before it is executed.
//!
//! A parameter that is an object is an `Option<Box<rpc::ndr::InterfacePointer<'stub>>>`.

mod interface;

use core::fmt;
use core::marker::PhantomData;
use std::borrow::Cow;

use dcerpc::Channel;
use wire::{DecodeError, EncodeError, Guid};

pub use self::interface::{
    IUnknown, IUnknownServer, Inherits, ObjectInterface, answer, read_reply, read_request, recode_reply,
    recode_request, reply_stub, request_stub,
};

use self::interface::stub;
use super::{Error, FromStub, Reply, Request, Status, StatusOf};
use crate::ndr::{Conformant, EnumForm, Limits, NdrDecode, NdrEncode, Reader, Reserved};

/// [MS-DCOM] 2.2.11 `COMVERSION`: a version of DCOM.
#[doc(alias = "COMVERSION")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, NdrEncode, NdrDecode)]
pub struct ComVersion {
    /// 5 in all versions there are.
    #[doc(alias = "MajorVersion")]
    pub major: u16,
    /// 1, 2, 4, 6 or 7.
    #[doc(alias = "MinorVersion")]
    pub minor: u16,
}

impl ComVersion {
    /// The first version: activation by `IActivation` alone, and no `ServerAlive2`. What a server has that does not say.
    pub const V5_1: Self = Self { major: 5, minor: 1 };
    /// The version with `IRemoteSCMActivator`, `IRemUnknown2` and `ServerAlive2`.
    pub const V5_6: Self = Self { major: 5, minor: 6 };
    /// What all supported versions of Windows speak.
    pub const V5_7: Self = Self { major: 5, minor: 7 };

    /// [MS-DCOM] 1.7: what a client of this version says to a server of that one: the lower minor version. `None` if the
    /// major versions differ, and the server cannot be called.
    #[must_use]
    pub fn negotiate(self, server: Self) -> Option<Self> {
        (self.major == server.major).then(|| {
            let minor = match self.minor.min(server.minor) {
                // These two are not used in a negotiation.
                unused @ (3 | 5) => unused - 1,
                minor => minor,
            };
            Self { major: self.major, minor }
        })
    }

    /// [MS-DCOM] 1.7: whether a server of this version answers a client of that one.
    #[must_use]
    pub const fn accepts(self, client: Self) -> bool {
        self.major == client.major && client.minor <= self.minor
    }
}

impl fmt::Display for ComVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Calls of the methods of interface `I` of one object, on a channel that is bound to
/// [`SYNTAX_ID`](crate::Interface::SYNTAX_ID) of `I`.
#[derive(Debug)]
pub struct Proxy<C, I> {
    channel: C,
    ipid: Guid,
    version: ComVersion,
    cid: Guid,
    limits: Limits,
    enums: EnumForm,
    interface: PhantomData<fn() -> I>,
}

/// What a call on a channel answers.
type CallResult<T, C, R> = core::result::Result<T, Error<<C as Channel>::Error, StatusOf<R>>>;

impl<C: Channel, I: ObjectInterface> Proxy<C, I> {
    /// A proxy of the interface that the server calls `ipid`, which is called in `version`, what both sides agreed on.
    ///
    /// `cid` is the causality of the first call, and must be random; each call counts it up.
    pub fn new(channel: C, ipid: Guid, version: ComVersion, cid: Guid) -> Self {
        let (limits, enums) = (Limits::default(), EnumForm::default());
        Self { channel, ipid, version, cid, limits, enums, interface: PhantomData }
    }

    /// The same proxy with other limits of what is decoded.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same proxy, for a server that is known to have one form of enums.
    #[must_use]
    pub fn with_enums(mut self, enums: EnumForm) -> Self {
        self.enums = enums;
        self
    }

    /// What the server calls this interface of the object.
    pub const fn ipid(&self) -> Guid {
        self.ipid
    }

    pub const fn channel(&mut self) -> &mut C {
        &mut self.channel
    }

    /// Gives the channel back.
    pub fn into_channel(self) -> C {
        self.channel
    }

    /// Calls a method and returns its reply.
    ///
    /// # Errors
    /// [`Error::Status`] when the method failed. What the object says beside its reply, such as a text about the failure,
    /// is lost: [`Proxy::stub`] and [`Proxy::decode`] keep it.
    pub async fn call<R, T>(&mut self, request: &R) -> CallResult<T, C, R>
    where
        I: Inherits<R::Interface>,
        R: for<'reply> Request<Reply<'reply> = T> + Sync,
        T: for<'reply> FromStub<'reply> + Reply<Status = StatusOf<R>>,
    {
        let reply = self.reply(request).await?;
        let status = reply.status();
        if status.is_success() { Ok(reply) } else { Err(Error::Status { method: R::METHOD, status }) }
    }

    /// Calls a method and returns its reply, also if the method failed.
    ///
    /// # Errors
    /// When there is no reply, or none to this request.
    pub async fn reply<R, T>(&mut self, request: &R) -> CallResult<T, C, R>
    where
        I: Inherits<R::Interface>,
        R: for<'reply> Request<Reply<'reply> = T> + Sync,
        T: for<'reply> FromStub<'reply> + Reply<Status = StatusOf<R>>,
    {
        let stub = self.stub(request).await?;
        self.decode(request, &stub).map(|(_, reply)| reply)
    }

    /// Calls a method and returns the stub of its response, for a reply that borrows from it: [`Proxy::decode`].
    ///
    /// # Errors
    /// When there is no response.
    pub async fn stub<R: Request + Sync>(&mut self, request: &R) -> CallResult<Vec<u8>, C, R>
    where
        I: Inherits<R::Interface>,
    {
        let method = R::METHOD;
        let this = OrpcThis::new(self.version, self.cid);
        self.cid = Guid::from_u128(self.cid.to_u128().wrapping_add(1));
        let stub = stub(&this, request, self.enums).map_err(|source| Error::Request { method, source })?;
        let response = self.channel.call(method.opnum, Some(self.ipid), &stub).await;
        response.map_err(|source| Error::Call { method, source })
    }

    /// Reads the reply to a request from the stub of its response, and what comes before it.
    ///
    /// # Errors
    /// When it is none.
    pub fn decode<'stub, R: Request>(
        &self,
        request: &R,
        stub: &'stub [u8],
    ) -> CallResult<(OrpcThat<'stub>, R::Reply<'stub>), C, R> {
        let method = R::METHOD;
        let src = &mut Reader::new(stub, method.name).with_limits(self.limits).with_enums(self.enums);
        let that = src.read("ORPCTHAT").map_err(|source| Error::Stub { method, source })?;
        let reply = R::Reply::decode(src).map_err(|source| Error::Stub { method, source })?;
        match request.broken_rule(&reply) {
            None => Ok((that, reply)),
            Some((field, reason)) => {
                let source = DecodeError::invalid_field(method.name, field, src.pos(), reason);
                Err(Error::Stub { method, source: source.into() })
            }
        }
    }
}

/// Extents of one call: far above the two that Windows sends (error information, and the properties of a context).
pub const EXTENTS_MAX: u32 = 64;

/// [MS-DCOM] 2.2.13.3 `ORPCTHIS`: what comes before the parameters of each request to an object.
#[doc(alias = "ORPCTHIS")]
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
pub struct OrpcThis<'stub> {
    /// The version that client and server agreed on.
    pub version: ComVersion,
    /// Zero in calls of objects.
    pub flags: u32,
    pub reserved1: Reserved<u32>,
    /// The causality: one for all calls that are made while one is executed.
    pub cid: Guid,
    /// Data beside the parameters.
    pub extensions: Option<Box<OrpcExtentArray<'stub>>>,
}

/// [MS-DCOM] 2.2.13.4 `ORPCTHAT`: what comes before the parameters of each response of an object.
#[doc(alias = "ORPCTHAT")]
#[derive(Clone, Debug, PartialEq, Eq, Default, NdrEncode, NdrDecode)]
pub struct OrpcThat<'stub> {
    pub flags: u32,
    /// Data beside the parameters, such as error information.
    pub extensions: Option<Box<OrpcExtentArray<'stub>>>,
}

/// `ORPC_EXTENT_ARRAY` of [MS-DCOM] 2.2.13.2.
#[doc(alias = "ORPC_EXTENT_ARRAY")]
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
pub struct OrpcExtentArray<'stub> {
    /// How many extents there are.
    #[ndr(range = 0..=EXTENTS_MAX)]
    pub size: u32,
    pub reserved: Reserved<u32>,
    /// The extents, and a NULL pointer where their number is odd.
    #[ndr(size_is = even(size))]
    pub extent: Option<Box<Conformant<Option<Box<OrpcExtent<'stub>>>>>>,
}

/// [MS-DCOM] 2.2.13.1 `ORPC_EXTENT`: data of a format that has a GUID.
///
/// What is decoded borrows the bytes from the stub.
#[doc(alias = "ORPC_EXTENT")]
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
pub struct OrpcExtent<'stub> {
    pub id: Guid,
    /// Bytes of `data` without padding.
    pub size: u32,
    /// The data, and padding up to a multiple of 8 bytes: [`OrpcExtent::payload`].
    #[ndr(conformant, size_is = padded(size))]
    pub data: Cow<'stub, [u8]>,
}

impl OrpcThis<'_> {
    /// A header without extents.
    #[must_use]
    pub const fn new(version: ComVersion, cid: Guid) -> Self {
        Self { version, flags: 0, reserved1: Reserved::NEW, cid, extensions: None }
    }
}

impl<'stub> OrpcThis<'stub> {
    /// The data of the extent with this id.
    #[must_use]
    pub fn extent(&self, id: Guid) -> Option<&[u8]> {
        find(self.extensions.as_deref()?, id)
    }
}

impl<'stub> OrpcThat<'stub> {
    /// A header with these extents.
    ///
    /// # Errors
    /// When there are more than [`EXTENTS_MAX`].
    pub fn with_extents(extents: Vec<OrpcExtent<'stub>>) -> Result<Self, EncodeError> {
        Ok(Self { flags: 0, extensions: Some(Box::new(OrpcExtentArray::new(extents)?)) })
    }

    /// The data of the extent with this id.
    #[must_use]
    pub fn extent(&self, id: Guid) -> Option<&[u8]> {
        find(self.extensions.as_deref()?, id)
    }
}

impl<'stub> OrpcExtentArray<'stub> {
    /// An array of extents.
    ///
    /// # Errors
    /// When there are more than [`EXTENTS_MAX`].
    pub fn new(extents: Vec<OrpcExtent<'stub>>) -> Result<Self, EncodeError> {
        let size = u32::try_from(extents.len()).ok().filter(|&size| size <= EXTENTS_MAX);
        let size = size
            .ok_or_else(|| EncodeError::new("ORPC_EXTENT_ARRAY", "size", "is above the limit of extents"))?;
        let mut pointers: Vec<_> = extents.into_iter().map(|extent| Some(Box::new(extent))).collect();
        if pointers.len() % 2 == 1 {
            pointers.push(None);
        }
        Ok(Self { size, reserved: Reserved::NEW, extent: Some(Box::new(Conformant(pointers))) })
    }

    /// The extents that are there.
    pub fn iter(&self) -> impl Iterator<Item = &OrpcExtent<'stub>> {
        self.extent.iter().flat_map(|array| array.0.iter().flatten().map(Box::as_ref))
    }
}

impl<'stub> OrpcExtent<'stub> {
    /// An extent with these data.
    ///
    /// # Errors
    /// When they are longer than 32 bits can count.
    pub fn new(id: Guid, data: &[u8]) -> Result<Self, EncodeError> {
        let size = u32::try_from(data.len())
            .map_err(|_| EncodeError::new("ORPC_EXTENT", "size", "is above 32 bits"))?;
        let mut data = data.to_vec();
        data.resize(data.len().next_multiple_of(8), 0);
        Ok(Self { id, size, data: Cow::Owned(data) })
    }

    /// The data without padding.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        self.data.get(..size).unwrap_or(&self.data)
    }
}

fn find<'a>(extensions: &'a OrpcExtentArray<'_>, id: Guid) -> Option<&'a [u8]> {
    extensions.iter().find(|extent| extent.id == id).map(OrpcExtent::payload)
}

/// `(size + 1) & ~1`
const fn even(size: u32) -> u64 {
    (size as u64).next_multiple_of(2)
}

/// `(size + 7) & ~7`
const fn padded(size: u32) -> u64 {
    (size as u64).next_multiple_of(8)
}
