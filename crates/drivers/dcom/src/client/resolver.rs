//! A host's object resolver, at port 135.

use std::net::IpAddr;

use com::dcom::activation::{Activation, ActivationRequest, ObjectExporter};
use com::dcom::activator::{IRemoteSCMActivator, RemoteCreateInstanceRequest};
use com::dcom::client::{self, Endpoint, Ping, PingSet};
use com::dcom::remote_unknown::IRemUnknown2;
use com::dcom::resolver::{IObjectExporter, ResolveOxid2Reply, ResolveOxid2Request, ServerAlive2Request};
use com::dcom::types::{AuthenticationService, Oxid};
use com::dcom::wire::DualStringArray;
use host_session::{Options, Reason, SessionError, Target, TcpReached, TcpService, TcpSession};
use rpc::orpc::{ComVersion, OrpcThis};
use rpc::{Client, Interface, Message};
use ssp::{Credentials, ImpersonationLevel, Mechanism};
use tokio::time::Instant;
use tracing::debug;
use transport::Connector;
use wire::{Guid, Win32Error};

use super::Sentence;

const RESOLVER: TcpService = TcpService { class: "RPCSS", stopped: Reason::NotFound };
/// The context ids of a resolver's interfaces, in the order in which they are bound.
const INTERFACES: [dcerpc::SyntaxId; 2] = [IRemoteSCMActivator::SYNTAX_ID, IObjectExporter::SYNTAX_ID];
const ACTIVATOR: u16 = 0;
const EXPORTER: u16 = 1;
/// What every program has.
const REM_UNKNOWN: dcerpc::SyntaxId = IRemUnknown2::SYNTAX_ID;

/// A host whose object resolver answered without credentials.
#[must_use = "a connection that nobody logs on to is closed"]
pub struct ReachedResolver {
    target: Target,
    options: Options,
    version: ComVersion,
    reached: TcpReached,
    stages: Vec<host_session::StageReport>,
}

impl ReachedResolver {
    /// Connects to the resolver of `target`, asks for its version by the one call that has no protection, and connects once
    /// more for calls that have.
    ///
    /// # Errors
    /// From the stages dns, tcp, bind and query; if the host speaks no version of DCOM that is known.
    pub async fn connect(
        target: Target,
        options: Options,
        connector: &dyn Connector,
        deadline: Instant,
    ) -> Result<Self, SessionError> {
        let plain = TcpReached::connect(target.clone(), options.clone(), connector, deadline).await?;
        let mut plain = plain.bind(RESOLVER, None, &INTERFACES[1..], deadline).await?;
        let mut resolver = Client::<_, IObjectExporter>::new(plain.channel(0, deadline));
        let alive = resolver.call(&ServerAlive2Request {}).await;
        let alive = alive.map_err(|error| super::failure_of_method(&plain, &error))?;
        let version = ComVersion::V5_7.negotiate(alive.version).ok_or_else(|| {
            let sentence = format!("the host speaks version {} of DCOM, and not 5", alive.version);
            super::failure_of_answer(&plain, &Sentence(sentence))
        })?;
        debug!(%target, server = %alive.version, %version, "Resolver is alive");
        let options = Options { mechanism: mechanism_of(alive.bindings.as_deref(), &options), ..options };
        let mut stages = plain.stages().to_vec();
        let reached = TcpReached::connect(target.clone(), options.clone(), connector, deadline).await?;
        stages.extend(reached.stages());
        Ok(Self { target, options, version, reached, stages })
    }

    /// The stages so far; those of two connections.
    #[must_use]
    pub fn stages(&self) -> &[host_session::StageReport] {
        &self.stages
    }

    /// Logs on.
    ///
    /// # Errors
    /// From the stage auth; [`SessionError::verdict`] says what they mean for the credentials.
    pub async fn log_on(
        self,
        credentials: Credentials,
        connector: &dyn Connector,
        deadline: Instant,
    ) -> Result<Resolver, SessionError> {
        let Self { target, options, version, reached, mut stages } = self;
        let before = reached.stages().len();
        let session = reached.log_on(RESOLVER, &credentials, &INTERFACES, connector, deadline).await?;
        stages.extend(&session.stages()[before..]);
        let impersonation = ImpersonationLevel::Identify;
        Ok(Resolver { target, options, version, credentials, impersonation, session, stages })
    }
}

/// How to authenticate to what has these bindings: NTLM alone where SPNEGO is not offered, and NTLM is.
fn mechanism_of(bindings: Option<&DualStringArray>, options: &Options) -> Mechanism {
    let offers = |service| {
        bindings.is_some_and(|bindings| bindings.security.iter().any(|offered| offered.service == service))
    };
    if offers(AuthenticationService::WINNT) && !offers(AuthenticationService::GSS_NEGOTIATE) {
        Mechanism::Ntlm
    } else {
        options.mechanism
    }
}

/// A host's object resolver, which accepted the credentials.
pub struct Resolver {
    target: Target,
    options: Options,
    version: ComVersion,
    credentials: Credentials,
    /// What programs may do in the name of the account.
    impersonation: ImpersonationLevel,
    session: TcpSession,
    stages: Vec<host_session::StageReport>,
}

impl Resolver {
    /// The stages of all connections.
    #[must_use]
    pub fn stages(&self) -> &[host_session::StageReport] {
        &self.stages
    }

    /// Permits the program of the next object to act as the account, on the host itself. Without this it can tell who calls,
    /// and no more. The resolver may in any case, as by [MS-DCOM] 3.2.4.1.1.2.
    #[must_use]
    pub fn permit_impersonation(mut self) -> Self {
        self.impersonation = ImpersonationLevel::Impersonate;
        self
    }

    /// Whether another call can succeed.
    #[must_use]
    pub const fn is_usable(&self) -> bool {
        self.session.is_usable()
    }

    /// The version that both sides speak.
    pub(crate) const fn version(&self) -> ComVersion {
        self.version
    }

    /// Sends the ping that is due for a set.
    pub(crate) async fn ping(&mut self, set: &mut PingSet, deadline: Instant) -> Result<(), SessionError> {
        self.require(EXPORTER)?;
        let mut resolver = Client::<_, IObjectExporter>::new(self.session.channel(EXPORTER, deadline));
        let pinged = match set.next_ping() {
            None => return Ok(()),
            Some(Ping::Simple(request)) => resolver.reply(&request).await.map(|reply| {
                set.simple_answered(&reply);
                reply.status
            }),
            Some(Ping::Complex(request)) => resolver.reply(&request).await.map(|reply| {
                set.complex_answered(&reply);
                reply.status
            }),
        };
        match pinged.map_err(|error| super::failure_of_method(&self.session, &error))? {
            // The next ping makes the set again.
            Win32Error::ERROR_SUCCESS | Win32Error::OR_INVALID_SET | Win32Error::OR_INVALID_OID => Ok(()),
            status => {
                let sentence = Sentence(format!("the resolver refuses pings: {status}"));
                Err(SessionError::of_status(self.session.target(), status, &sentence))
            }
        }
    }

    /// Whether the host has one of the resolver's interfaces.
    fn require(&self, context: u16) -> Result<(), SessionError> {
        let bound = self.session.contexts().get(usize::from(context));
        if bound.is_some_and(|bound| bound.outcome.is_ok()) {
            return Ok(());
        }
        let name = if context == ACTIVATOR { IRemoteSCMActivator::NAME } else { IObjectExporter::NAME };
        let sentence = Sentence(format!(
            "the host's resolver does not have the interface {name}: it is no Windows, or one before Windows 2000"
        ));
        let (stage, reason) = (host_session::Stage::Query, Reason::NotFound);
        Err(SessionError::of_answer(self.session.target(), stage, reason, &sentence))
    }

    /// [MS-DCOM] 3.2.4.1.2: where the program is that the resolver calls this.
    pub(crate) async fn resolve(
        &mut self,
        oxid: Oxid,
        deadline: Instant,
    ) -> Result<ObjectExporter, SessionError> {
        self.require(EXPORTER)?;
        let mut resolver = Client::<_, IObjectExporter>::new(self.session.channel(EXPORTER, deadline));
        let resolved = resolver.call(&ResolveOxid2Request::tcp(oxid)).await;
        let resolved = resolved.map_err(|error| super::failure_of_method(&self.session, &error))?;
        let ResolveOxid2Reply { bindings, ipid_rem_unknown, authn_hint, version, .. } = resolved;
        let bindings = bindings.map(|bindings| *bindings).unwrap_or_default();
        Ok(ObjectExporter { oxid, bindings, ipid_rem_unknown, authn_hint, version })
    }

    /// Has an object made that has at least one of `interfaces`.
    pub(crate) async fn create_instance(
        &mut self,
        class: Guid,
        interfaces: &[Guid],
        deadline: Instant,
    ) -> Result<Activation, SessionError> {
        self.require(ACTIVATOR)?;
        let wanted = ActivationRequest {
            version: self.version,
            server_name: Some(self.target.host.clone()),
            context: Some(super::random_guid()),
            ..ActivationRequest::new(class, interfaces.to_vec())
        };
        let internal = |error| {
            SessionError::of_answer(&self.target, host_session::Stage::Query, Reason::Internal, &error)
        };
        let properties = wanted.to_pointer().map_err(internal)?;
        let this = OrpcThis::new(self.version, super::random_guid());
        let request =
            RemoteCreateInstanceRequest { this, outer: None, properties: Some(Box::new(properties)) };
        let mut activator = Client::<_, IRemoteSCMActivator>::new(self.session.channel(ACTIVATOR, deadline));
        let method = RemoteCreateInstanceRequest::METHOD;
        let answered = match activator.stub(&request).await {
            Ok(stub) => activator.decode(&request, &stub).and_then(|reply| match reply.status {
                status if !status.is_success() => Err(rpc::Error::Status { method, status }),
                _ => Ok(reply.activated.map(|pointer| Activation::from_pointer(&pointer))),
            }),
            Err(error) => Err(error),
        };
        let activation = answered.map_err(|error| super::failure_of_method(&self.session, &error))?;
        let missing =
            || super::failure_of_answer(&self.session, &Sentence("the activation has no properties".into()));
        activation.ok_or_else(missing)?.map_err(|error| super::failure_of_answer(&self.session, &error))
    }

    /// A sealed connection to a program, with no interface but `IRemUnknown2` bound.
    pub(crate) async fn connect_program(
        &mut self,
        exporter: &ObjectExporter,
        connector: &dyn Connector,
        deadline: Instant,
    ) -> Result<TcpSession, SessionError> {
        let addresses = connector.resolve(&self.target, deadline).await;
        let addresses: Vec<IpAddr> =
            addresses.iter().flat_map(|addresses| addresses.iter()).map(std::net::SocketAddr::ip).collect();
        let is_ours = |endpoint: &Endpoint| {
            endpoint.is_given || endpoint.host.parse().is_ok_and(|ip| addresses.contains(&ip))
        };
        let mechanism = mechanism_of(Some(&exporter.bindings), &self.options);
        let mut failed = None;
        for endpoint in client::endpoints(&exporter.bindings, &self.target.host) {
            if !is_ours(&endpoint) {
                debug!(target = %self.target, ?endpoint, "Address is none of the host's: no credentials go there");
                continue;
            }
            let host = if endpoint.is_given { self.target.host.clone() } else { endpoint.host };
            let place = Target::new(host, endpoint.port);
            match self.bind_program(place, mechanism, connector, deadline).await {
                Ok(session) => return Ok(session),
                // A second logon with what was refused would lock the account.
                Err(error) if error.verdict() != host_session::Verdict::Unknown => return Err(error),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        Err(failed.unwrap_or_else(|| {
            let sentence = "the host names no TCP port for the object's program".to_owned();
            super::failure_of_answer(&self.session, &Sentence(sentence))
        }))
    }

    async fn bind_program(
        &mut self,
        place: Target,
        mechanism: Mechanism,
        connector: &dyn Connector,
        deadline: Instant,
    ) -> Result<TcpSession, SessionError> {
        let server_name = Some(self.target.host.clone());
        let options =
            Options { impersonation: self.impersonation, mechanism, server_name, ..self.options.clone() };
        let reached = TcpReached::connect(place, options, connector, deadline).await?;
        let service = TcpService { class: "host", stopped: Reason::NotFound };
        let bound = reached.log_on(service, &self.credentials, &[REM_UNKNOWN], connector, deadline);
        let session = bound.await?;
        self.stages.extend(session.stages());
        Ok(session)
    }
}

impl core::fmt::Debug for Resolver {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Resolver")
            .field("target", &self.target)
            .field("version", &self.version)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}
