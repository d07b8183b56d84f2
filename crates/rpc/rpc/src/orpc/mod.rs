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

mod header;
mod interface;
mod proxy;

pub use self::header::{EXTENTS_MAX, OrpcExtent, OrpcExtentArray, OrpcThat, OrpcThis};
pub use self::interface::{
    IUnknown, IUnknownServer, Inherits, ObjectInterface, answer, read_reply, read_request, recode_reply,
    recode_request, reply_stub, request_stub,
};
pub use self::proxy::Proxy;
use core::fmt;

use crate::ndr::{NdrDecode, NdrEncode};

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
