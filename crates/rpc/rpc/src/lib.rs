//! An RPC interface, declared once.
//!
//! ```
//! use wire::Win32Error;
//! use rpc::ndr::{ContextHandle, WideString};
//! use rpc::{Interface, Message, ServerResult};
//!
//! rpc::interface! {
//!     /// A shelf of books.
//!     pub interface Shelf("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd53", 1.0) -> Win32Error {
//!         /// Opens a shelf by its name.
//!         0 => ShelfOpen as open(name: WideString) -> (shelf: ContextHandle);
//!         /// Counts the books of a shelf.
//!         1 => ShelfCount as count(#[ndr(handle)] shelf: ContextHandle) -> (books: u32);
//!     }
//! }
//!
//! struct Library;
//!
//! impl ShelfServer for Library {
//!     fn is_open(&self, handle: ContextHandle) -> bool {
//!         handle.attributes == 7
//!     }
//!
//!     fn count(&mut self, _request: &CountRequest) -> ServerResult<CountReply, Win32Error> {
//!         Ok(CountReply { books: 3, status: Win32Error::ERROR_SUCCESS })
//!     }
//! }
//!
//! # fn main() {
//! let shelf = ContextHandle { attributes: 7, ..ContextHandle::NULL };
//! let call = rpc::CallInfo::default();
//! let stub = Library.dispatch(&call, 1, &CountRequest { shelf }.to_stub().unwrap()).unwrap();
//! assert_eq!(stub, [3, 0, 0, 0, 0, 0, 0, 0]);
//! assert_eq!(Shelf::method(1).unwrap().name, "ShelfCount");
//! # }
//! ```
//!
//! The declaration gives, of each method, `OpenRequest` and `OpenReply` with a field for each parameter and the reply's
//! `status`; the table [`Interface::METHODS`]; and a server's trait, `ShelfServer`, whose `dispatch` reads requests,
//! checks context handles and writes replies. A [`Client`] of the interface calls any of its requests.
//!
//! A method is `opnum => IdlName as rust_name(parameters) -> (parameters);`. The Rust name may be left out: it is the IDL's
//! in snake case then. `[in, out]` parameters are on both sides. A top-level `[ref]` pointer is what it points to.
//! Parameters have the attributes of `ndr`'s fields, and three more rules:
//!
//! - `#[ndr(handle)]`: a context handle that has to be open, else the call is answered with
//!   `nca_s_fault_context_mismatch`.
//! - `#[ndr(size_is = n)]` of a reply, where `n` is of the request: what is returned has no more elements than the
//!   request has room for.
//! - `#[ndr(returned)]` at the last parameter of a reply: the value that the method returns, where its status is an `[out]`
//!   parameter before that. The run time's own interfaces have such methods; their status is an [`ErrorStatus`].
//!
//! A parameter that borrows from the stub names the lifetime `'stub`, as `rpc::ndr::ConformantBytes<'stub>`. Its caller keeps
//! the stub: [`Client::stub`] and [`Client::decode`] in place of [`Client::call`].
//!
//! A server's method returns its reply, or a [`Failure`]: a status alone, which is answered with `[in, out]` parameters as
//! they came and otherwise empty values ([`Request::refused`]), or a fault.
//!
//! Interfaces of objects, which inherit from each other, are declared in [`orpc`].
//!
//! Padding of a stub and what follows it (such as a verification trailer) is not looked at.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

extern crate self as rpc;

mod client;
pub mod endpoints;
mod error;
mod interface;
pub mod ndr;
pub mod orpc;
mod pause;
mod server;

pub use dcerpc::{Channel, FaultStatus, SyntaxId};
pub use rpc_macros::interface;
pub use wire::Guid;

pub use self::client::Client;
pub use self::error::{Error, ErrorStatus};
pub use self::interface::{
    Direction, FromStub, Interface, Message, Method, NativeInterface, Reply, Request, Status, StatusOf,
    recode,
};
pub use self::pause::Pause;
pub use self::server::{CallInfo, Failure, ServerResult, answer, check_open};
use crate::ndr::{NdrDecode, NdrEncode};

/// C706 appendix N `rpc_if_id_t`: an interface, as a parameter of a method.
#[doc(alias = "rpc_if_id_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, NdrDecode, NdrEncode)]
pub struct RpcIfId {
    pub uuid: Guid,
    pub vers_major: u16,
    pub vers_minor: u16,
}

impl From<SyntaxId> for RpcIfId {
    fn from(id: SyntaxId) -> Self {
        Self { uuid: id.uuid, vers_major: id.version_major, vers_minor: id.version_minor }
    }
}

impl From<RpcIfId> for SyntaxId {
    fn from(id: RpcIfId) -> Self {
        Self::new(id.uuid, id.vers_major, id.vers_minor)
    }
}
