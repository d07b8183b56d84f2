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

mod object;
mod resolver;

use core::fmt;
use core::marker::PhantomData;
use std::collections::BTreeMap;
use std::error::Error as StdError;

use com::dcom::types::{Oxid, RemInterfaceRef, StdObjref};
use com::dcom::wire::Objref;
use host_session::rpc_client::{Interface as BoundInterface, TcpTransport};
use host_session::{Reason, SessionError, Stage, TcpSession};
use rpc::orpc::{ObjectInterface, Proxy};
use rpc::{Error, Status};
use tokio::time::Instant;
use tracing::warn;
use wire::{Guid, HResult};

pub use self::object::{Object, PING_PERIOD};
pub use self::resolver::{ReachedResolver, Resolver};

use self::object::references;

/// What distinguishes one call, or one client, from another. Nothing secret: a system without randomness only warns.
fn random_guid() -> Guid {
    let mut bytes = [0; 16];
    if let Err(error) = getrandom::fill(&mut bytes) {
        warn!(%error, "System has no random bytes");
    }
    Guid::from_u128(u128::from_le_bytes(bytes))
}

/// What a status of a method means for a session.
trait Outcome: Status {
    fn failure(self, session: &TcpSession, error: &dyn StdError) -> SessionError;
}

impl Outcome for HResult {
    fn failure(self, session: &TcpSession, error: &dyn StdError) -> SessionError {
        SessionError::of_hresult(session.target(), self, error)
    }
}

impl Outcome for wire::Win32Error {
    fn failure(self, session: &TcpSession, error: &dyn StdError) -> SessionError {
        SessionError::of_status(session.target(), self, error)
    }
}

/// What went wrong in a method that was called over `session`.
fn failure_of_method<S: Outcome>(
    session: &TcpSession,
    error: &Error<host_session::rpc_client::Error, S>,
) -> SessionError
where
    Error<host_session::rpc_client::Error, S>: StdError,
{
    let (stage, reason) = match error {
        Error::Call { source, method } => return session.error_of_call(method, source),
        Error::Status { status, .. } => return status.failure(session, error),
        Error::Stub { .. } => (Stage::Decode, Reason::MalformedReply),
        Error::Request { .. } => (Stage::Query, Reason::Internal),
    };
    SessionError::of_answer(session.target(), stage, reason, error)
}

/// An answer that does not mean anything.
fn failure_of_answer(session: &TcpSession, error: &dyn StdError) -> SessionError {
    SessionError::of_answer(session.target(), Stage::Decode, Reason::MalformedReply, error)
}

/// A sentence as an error.
#[derive(Debug)]
struct Sentence(pub(crate) String);

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for Sentence {}

// Objects that methods of an object return.

/// Interface `I` of another object of the host, which a method returned. It is pinged with the object that
/// returned it, and given back by [`Object::release_returned`].
#[derive(Debug)]
pub struct Returned<I> {
    std: StdObjref,
    /// What came from the method, if it was another interface.
    first: Option<StdObjref>,
    interface: PhantomData<fn() -> I>,
}

impl Object {
    /// Takes an object that a method of this one returned, and asks it for interface `I` if it came as another.
    ///
    /// # Errors
    /// If it is a copy of its own, its program cannot be reached, or it does not have the interface.
    pub async fn take_returned<I: ObjectInterface>(
        &mut self,
        objref: &Objref<'_>,
        deadline: Instant,
    ) -> Result<Returned<I>, SessionError> {
        let Some(std) = objref.std().copied() else {
            let sentence = Sentence("what was returned is no reference to an object".to_owned());
            return Err(failure_of_answer(self.program(), &sentence));
        };
        if std.wants_pings() {
            self.pings.insert(std.oid);
        }
        if objref.iid == I::IID {
            return Ok(Returned { std, first: None, interface: PhantomData });
        }
        let own = self.query_interface(&std, I::IID, deadline).await?;
        Ok(Returned { std: own, first: Some(std), interface: PhantomData })
    }

    /// The calls of an object that was returned.
    ///
    /// # Errors
    /// If the interface cannot be bound, or the connection is lost.
    pub async fn proxy_of<I: ObjectInterface>(
        &mut self,
        returned: &Returned<I>,
        deadline: Instant,
    ) -> Result<Proxy<BoundInterface<'_, TcpTransport>, I>, SessionError> {
        self.proxy_at(&returned.std, deadline).await
    }

    /// Gives an object back that was returned.
    ///
    /// # Errors
    /// If the program does not answer.
    pub async fn release_returned<I>(
        &mut self,
        returned: Returned<I>,
        deadline: Instant,
    ) -> Result<(), SessionError> {
        self.release_all_returned(vec![returned], deadline).await
    }

    /// Gives objects back that were returned, in one call to each program.
    ///
    /// # Errors
    /// If the program does not answer.
    pub async fn release_all_returned<I>(
        &mut self,
        returned: Vec<Returned<I>>,
        deadline: Instant,
    ) -> Result<(), SessionError> {
        let mut by_program: BTreeMap<Oxid, Vec<RemInterfaceRef>> = BTreeMap::new();
        for Returned { std, first, .. } in &returned {
            if !self.is(std.oid) {
                self.pings.remove(std.oid);
            }
            let all = by_program.entry(std.oxid).or_default();
            all.extend(first.iter().chain([std]).map(references));
        }
        for (oxid, references) in by_program {
            self.release_references(oxid, references, deadline).await?;
        }
        Ok(())
    }
}
