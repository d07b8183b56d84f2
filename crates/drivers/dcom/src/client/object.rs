//! An object, the interfaces that are known of it, and the references to them.

use core::fmt;
use std::sync::Arc;
use std::time::Duration;

use com::dcom::activation::{Activation, ObjectExporter};
use com::dcom::client::PingSet;
use com::dcom::remote_unknown::{
    IRemUnknown2, RemAddRefRequest, RemQueryInterfaceRequest, RemReleaseRequest,
};
use com::dcom::types::{Oid, Oxid, RemInterfaceRef, StdObjref};
use com::dcom::wire::{DualStringArray, Objref};
use dcerpc::ContextId;
use host_session::rpc_client::{Interface as BoundInterface, TcpTransport};
use host_session::{SessionError, Stage, StageReport, StageTimer, TcpSession};
use rpc::orpc::{ComVersion, ObjectInterface, Proxy};
use tokio::time::Instant;
use tracing::debug;
use transport::Connector;
use wire::{Guid, HResult};

use super::Sentence;
use crate::client::resolver::Resolver;

/// [MS-DCOM] 3.1.1.1: how often an object is pinged. After three periods without a ping it may be gone.
pub const PING_PERIOD: Duration = Duration::from_secs(120);

/// References that are asked for with each interface.
const REFERENCES: u32 = 5;

/// Where [`Resolver::connect_program`] binds it.
const REM_UNKNOWN_CONTEXT: ContextId = 0;

/// Other programs of the host that are connected to for objects which methods return: each takes a logon.
const PROGRAMS_MAX: usize = 8;

/// A program with objects.
#[derive(Debug)]
struct Program {
    oxid: Oxid,
    ipid_rem_unknown: Guid,
    version: ComVersion,
    session: TcpSession,
    /// Interfaces that are bound, whichever object they are called of.
    bound: Vec<(Guid, ContextId)>,
}

/// An interface of the object that is known.
#[derive(Debug)]
struct Known {
    iid: Guid,
    std: StdObjref,
}

/// An object of a host, in the program that has it. Dropped without [`release`](Self::release), it lives on until three
/// pings are missing.
pub struct Object {
    resolver: Resolver,
    connector: Arc<dyn Connector>,
    program: Program,
    others: Vec<Program>,
    /// Where its resolver is, as the host says.
    resolver_bindings: DualStringArray,
    interfaces: Vec<Known>,
    pub(crate) pings: PingSet,
    pinged: Instant,
}

impl Resolver {
    /// Has an object of `class` made, and connects to the program that it is in, with one more logon. The object has at
    /// least one of `interfaces`.
    ///
    /// A host names the addresses of that program, and credentials go only to those that the user's name of the host stands
    /// for: others are passed over, and the user's host is tried with the port.
    ///
    /// # Errors
    /// If the host refuses, or the program cannot be reached.
    pub async fn activate(
        mut self,
        class: Guid,
        interfaces: &[Guid],
        connector: Arc<dyn Connector>,
        deadline: Instant,
    ) -> Result<Object, SessionError> {
        let activation = self.create_instance(class, interfaces, deadline).await?;
        let program = self.reach(&activation.exporter, &*connector, deadline).await?;
        Object::new(self, connector, program, &activation)
    }

    async fn reach(
        &mut self,
        exporter: &ObjectExporter,
        connector: &dyn Connector,
        deadline: Instant,
    ) -> Result<Program, SessionError> {
        let session = self.connect_program(exporter, connector, deadline).await?;
        let version = self.version().negotiate(exporter.version).unwrap_or(self.version());
        let ObjectExporter { oxid, ipid_rem_unknown, .. } = *exporter;
        Ok(Program { oxid, ipid_rem_unknown, version, session, bound: Vec::new() })
    }
}

impl Object {
    fn new(
        resolver: Resolver,
        connector: Arc<dyn Connector>,
        program: Program,
        activation: &Activation,
    ) -> Result<Self, SessionError> {
        let mut object = Self {
            resolver,
            connector,
            program,
            others: Vec::new(),
            resolver_bindings: DualStringArray::default(),
            interfaces: Vec::new(),
            pings: PingSet::default(),
            pinged: Instant::now(),
        };
        let mut refused = HResult::E_NOINTERFACE;
        for (iid, result) in &activation.results {
            match result.as_ref().map(|objref| (objref.std(), objref.resolver())) {
                Ok((Some(std), Some(resolver))) => {
                    object.resolver_bindings.clone_from(resolver);
                    object.learn(*iid, *std);
                }
                // An object that comes as a copy: none of the classes that this project uses does.
                Ok(_) => {}
                Err(status) => refused = *status,
            }
        }
        if object.interfaces.is_empty() {
            let sentence = Sentence(format!("the object has none of the interfaces: {refused}"));
            return Err(SessionError::of_hresult(object.program().target(), refused, &sentence));
        }
        Ok(object)
    }

    /// The calls of interface `I`. An interface that was not asked for at the activation costs a `RemQueryInterface`, and each
    /// one is bound once.
    ///
    /// # Errors
    /// If the object does not have it, or the connection is lost.
    pub async fn proxy<I: ObjectInterface>(
        &mut self,
        deadline: Instant,
    ) -> Result<Proxy<BoundInterface<'_, TcpTransport>, I>, SessionError> {
        let known = self.known(I::IID, deadline).await?;
        let std = self.interfaces[known].std;
        self.proxy_at(&std, deadline).await
    }

    /// Where an interface is among the known ones. The object is asked for one that is not there.
    async fn known(&mut self, iid: Guid, deadline: Instant) -> Result<usize, SessionError> {
        if let Some(known) = self.interfaces.iter().position(|known| known.iid == iid) {
            return Ok(known);
        }
        let first = self.interfaces[0].std;
        let std = self.query_interface(&first, iid, deadline).await?;
        self.learn(iid, std);
        Ok(self.interfaces.len() - 1)
    }

    /// Calls of an interface of any object that the host has.
    pub(crate) async fn proxy_at<I: ObjectInterface>(
        &mut self,
        std: &StdObjref,
        deadline: Instant,
    ) -> Result<Proxy<BoundInterface<'_, TcpTransport>, I>, SessionError> {
        let Program { version, session, bound, .. } = self.program_of(std.oxid, deadline).await?;
        let found = bound.iter().find(|(iid, _)| *iid == I::IID);
        let context = match found {
            Some((_, context)) => *context,
            None => {
                let context = session.add_interface(I::SYNTAX_ID, deadline).await?;
                bound.push((I::IID, context));
                context
            }
        };
        Ok(Proxy::new(session.channel(context, deadline), std.ipid, *version, super::random_guid()))
    }

    /// The program that the host's resolver calls this. One that is not known is asked for and connected to, with a logon.
    async fn program_of(&mut self, oxid: Oxid, deadline: Instant) -> Result<&mut Program, SessionError> {
        if oxid == self.program.oxid {
            return Ok(&mut self.program);
        }
        self.others.retain(|other| other.session.is_usable());
        if let Some(known) = self.others.iter().position(|other| other.oxid == oxid) {
            return Ok(&mut self.others[known]);
        }
        if self.others.len() >= PROGRAMS_MAX {
            let sentence =
                Sentence(format!("objects that were returned are in more than {PROGRAMS_MAX} programs"));
            return Err(super::failure_of_answer(self.program(), &sentence));
        }
        let exporter = self.resolver.resolve(oxid, deadline).await?;
        let program = self.resolver.reach(&exporter, &*self.connector, deadline).await?;
        self.others.push(program);
        let last = self.others.len() - 1;
        Ok(&mut self.others[last])
    }

    /// [MS-DCOM] 3.2.4.3: a reference to interface `I`, to be a parameter of a call of another object of the host, with one of
    /// the references that this client has. The host is asked for more where it gave one alone.
    ///
    /// # Errors
    /// If the object does not have the interface, or the host gives no more references to it.
    pub async fn objref<I: ObjectInterface>(
        &mut self,
        deadline: Instant,
    ) -> Result<Objref<'static>, SessionError> {
        let known = self.known(I::IID, deadline).await?;
        let std = self.interfaces[known].std;
        if std.public_refs < 2 {
            self.add_references(&std, deadline).await?;
            self.interfaces[known].std.public_refs += REFERENCES;
        }
        self.interfaces[known].std.public_refs -= 1;
        let std = StdObjref { public_refs: 1, ..std };
        Ok(Objref::standard(I::IID, std, self.resolver_bindings.clone()))
    }

    /// See section 3.2.4.4.1 of [MS-DCOM].
    async fn add_references(&mut self, std: &StdObjref, deadline: Instant) -> Result<(), SessionError> {
        let Some(request) = RemAddRefRequest::new(vec![RemInterfaceRef::public(std.ipid, REFERENCES)]) else {
            unreachable!("one interface can be counted")
        };
        let reply = self.rem_unknown(std.oxid, deadline).await?.call(&request).await;
        let reply = reply.map_err(|error| super::failure_of_method(self.program(), &error))?;
        match reply.results.0.first() {
            Some(status) if status.is_success() => Ok(()),
            refused => {
                let status = refused.copied().unwrap_or(HResult::E_UNEXPECTED);
                let sentence = Sentence(format!("the host gives no more references to the object: {status}"));
                Err(SessionError::of_hresult(self.program().target(), status, &sentence))
            }
        }
    }

    /// Pings the object if that is due. One that is refused is tried again the next time: until then the object lives.
    ///
    /// # Errors
    /// If the resolver does not answer, or has refused pings until the object may be gone.
    pub async fn keep_alive(&mut self, deadline: Instant) -> Result<(), SessionError> {
        if !self.pings.has_changes() && self.pinged.elapsed() < PING_PERIOD {
            return Ok(());
        }
        match self.resolver.ping(&mut self.pings, deadline).await {
            Ok(()) => self.pinged = Instant::now(),
            Err(error) if self.is_usable() && !self.may_be_gone() => {
                debug!(target = %self.program().target(), %error, "Ping refused");
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Whether the host may have dropped the object, because it was not pinged for long.
    #[must_use]
    pub fn may_be_gone(&self) -> bool {
        self.pinged.elapsed() >= PING_PERIOD * 3
    }

    /// Gives all references back, which ends the object unless others have some.
    ///
    /// # Errors
    /// If the program does not answer.
    pub async fn release(mut self, deadline: Instant) -> Result<(), SessionError> {
        let references = self.interfaces.iter().map(|known| &known.std).map(references).collect();
        self.release_references(self.program.oxid, references, deadline).await
    }

    pub(crate) async fn release_references(
        &mut self,
        oxid: Oxid,
        references: Vec<RemInterfaceRef>,
        deadline: Instant,
    ) -> Result<(), SessionError> {
        let Some(request) = RemReleaseRequest::new(references) else { return Ok(()) };
        let released = self.rem_unknown(oxid, deadline).await?.call(&request).await.map(drop);
        released.map_err(|error| super::failure_of_method(self.program(), &error))
    }

    /// What went wrong in a method of the object.
    #[must_use]
    pub fn error_of(&self, error: &rpc::Error<host_session::rpc_client::Error, HResult>) -> SessionError {
        super::failure_of_method(self.program(), error)
    }

    /// Whether another call can succeed.
    #[must_use]
    pub const fn is_usable(&self) -> bool {
        self.program.session.is_usable() && self.resolver.is_usable()
    }

    /// The session with the object's program: it names what goes wrong in calls.
    #[must_use]
    pub const fn program(&self) -> &TcpSession {
        &self.program.session
    }

    /// The stages of all connections that led here.
    #[must_use]
    pub fn stages(&self) -> &[StageReport] {
        self.resolver.stages()
    }

    /// Starts to measure the following calls of the object.
    #[must_use]
    pub fn start_stage(&self, stage: Stage) -> StageTimer {
        self.program().start_stage(stage)
    }

    #[must_use]
    pub fn stop_stage(&self, timer: StageTimer) -> StageReport {
        self.program().stop_stage(timer)
    }

    /// Whether this is the object's own identifier: a method may return the object that it is called of.
    pub(crate) fn is(&self, oid: Oid) -> bool {
        self.interfaces.iter().any(|known| known.std.oid == oid)
    }

    fn learn(&mut self, iid: Guid, std: StdObjref) {
        if std.wants_pings() {
            self.pings.insert(std.oid);
        }
        self.interfaces.push(Known { iid, std });
    }

    async fn rem_unknown(
        &mut self,
        oxid: Oxid,
        deadline: Instant,
    ) -> Result<Proxy<BoundInterface<'_, TcpTransport>, IRemUnknown2>, SessionError> {
        let Program { session, ipid_rem_unknown, version, .. } = self.program_of(oxid, deadline).await?;
        let channel = session.channel(REM_UNKNOWN_CONTEXT, deadline);
        Ok(Proxy::new(channel, *ipid_rem_unknown, *version, super::random_guid()))
    }

    /// Asks the object that has the interface `known` for another.
    pub(crate) async fn query_interface(
        &mut self,
        known: &StdObjref,
        iid: Guid,
        deadline: Instant,
    ) -> Result<StdObjref, SessionError> {
        let Some(request) = RemQueryInterfaceRequest::new(known.ipid, REFERENCES, vec![iid]) else {
            unreachable!("one interface can be counted")
        };
        let reply = self.rem_unknown(known.oxid, deadline).await?.reply(&request).await;
        let reply = reply.map_err(|error| super::failure_of_method(self.program(), &error))?;
        let results =
            request.results(&reply).map_err(|error| super::failure_of_answer(self.program(), &error))?;
        match results.first() {
            Some(Ok(std)) => Ok(*std),
            refused => {
                let status = refused.and_then(|result| result.err()).unwrap_or(reply.status);
                let sentence = Sentence(format!("the object does not have the interface {iid}: {status}"));
                Err(SessionError::of_hresult(self.program().target(), status, &sentence))
            }
        }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object")
            .field("program", &self.program)
            .field("others", &self.others)
            .field("interfaces", &self.interfaces)
            .finish_non_exhaustive()
    }
}

/// The references to an interface that came with it.
pub(crate) const fn references(std: &StdObjref) -> RemInterfaceRef {
    RemInterfaceRef::public(std.ipid, std.public_refs)
}
