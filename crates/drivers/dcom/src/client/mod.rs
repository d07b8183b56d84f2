//! Objects of a Windows host, over DCOM: what a client does between two calls.
//!
//! ```no_run
//! # use host_session::{Options, SessionError, Target};
//! # use tokio::time::Instant;
//! # async fn ask<I: rpc::orpc::ObjectInterface>(
//! #     class: wire::Guid, credentials: ssp::Credentials, deadline: Instant,
//! # ) -> Result<(), SessionError> {
//! use dcom::client::ReachedResolver;
//! use std::sync::Arc;
//!
//! let connector = transport::TcpConnector::default();
//! let target = Target::new("web1.corp.example.com", com::dcom::RESOLVER_PORT);
//! let reached = ReachedResolver::connect(target, Options::default(), &connector, deadline).await?;
//! // A good place to ask for credentials: the host is there, and speaks DCOM.
//! let resolver = reached.log_on(credentials, &connector, deadline).await?;
//! let mut object = resolver.activate(class, &[I::IID], Arc::new(connector), deadline).await?;
//! let proxy = object.proxy::<I>(deadline).await?;
//! // … proxy.call(&request).await
//! # drop(proxy);
//! object.release(deadline).await?;
//! # Ok(()) }
//! ```
//!
//! | step | connection | calls |
//! | --- | --- | --- |
//! | [`ReachedResolver::connect`] | port 135, without credentials | `ServerAlive2`: which version of DCOM |
//! | [`ReachedResolver::log_on`], [`Resolver::activate`] | port 135, sealed | `RemoteCreateInstance` |
//! | the same | the port of the object's program, sealed | |
//! | [`Object::proxy`] | the same | those of the object's interfaces; `IRemUnknown` for more of them |
//! | [`Object::take_returned`], [`Object::proxy_of`] | the same | those of objects that methods return |
//! | [`Object::keep_alive`] | port 135, sealed | `ComplexPing`, then `SimplePing` |
//! | [`Object::release`] | the program's | `RemRelease` |
//!
//! Credentials go to addresses of the host that the user named, and to no other that the host names: see
//! [`Resolver::activate`]. There are no background tasks: who keeps an object calls [`Object::keep_alive`].
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod failure;
mod object;
mod random;
mod resolver;
mod returned;

pub use self::object::{Object, PING_PERIOD};
pub use self::resolver::{ReachedResolver, Resolver};
pub use self::returned::Returned;
