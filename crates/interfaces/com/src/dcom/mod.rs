//! The DCOM Remote Protocol [MS-DCOM], client and server, without I/O.
//!
//! How an object on another host is reached, and what here does it:
//!
//! 1. Its host's object resolver, at port [`RESOLVER_PORT`], creates it:
//!    [`RemoteCreateInstanceRequest`](activator::RemoteCreateInstanceRequest) with an
//!    [`ActivationRequest`](activation::ActivationRequest). What comes back is an [`Activation`](activation::Activation):
//!    where the program is that has the object, and an [`Objref`](wire::Objref) for each interface asked for. An OBJREF that
//!    came another way leads there by [`ResolveOxid2Request`](resolver::ResolveOxid2Request).
//! 2. [`client::endpoints`] says in which order addresses of that program are tried.
//! 3. Calls of the object name its IPID: [`rpc::orpc::Proxy`], which interfaces of objects are declared for.
//!    [`remote_unknown`] asks for further interfaces and gives references back.
//! 4. The object lives as long as it is pinged: [`client::PingSet`].
//!
//! ```
//! use com::dcom::activation::ActivationRequest;
//! use com::dcom::client;
//! use wire::Guid;
//!
//! let class: Guid = "ecabafb9-7f19-11d2-978e-0000f8757e2a".parse().unwrap();
//! let interface: Guid = "b60040e0-bcf3-11d1-861d-0080c729264d".parse().unwrap();
//! let request = ActivationRequest::new(class, vec![interface]);
//! let pointer = request.to_pointer().unwrap();
//! assert_eq!(ActivationRequest::from_pointer(&pointer).unwrap(), request);
//!
//! # fn activated(activation: &com::dcom::activation::Activation) -> Option<()> {
//! for endpoint in client::endpoints(&activation.exporter.bindings, "web1.example") {
//!     println!("{}:{}", endpoint.host, endpoint.port);
//! }
//! # Some(()) }
//! ```
//!
//! Where to look: [`types`] for the protocol's words, [`wire`] for bytes that are no NDR, [`activation`] for the properties
//! of an activation, a module for each interface. Requirements that are not met are in `gaps.toml`.

pub mod activation;
pub mod activator;
pub mod client;
pub mod remote_unknown;
pub mod resolver;
pub mod types;
pub mod wire;

/// [MS-DCOM] 1.9: the port of the object resolver, which is that of the endpoint mapper.
pub const RESOLVER_PORT: u16 = 135;
