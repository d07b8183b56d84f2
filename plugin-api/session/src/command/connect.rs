use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use dcom::client::{Object, ReachedResolver};
use host_session::{Options, Reached, Session, SessionError, Target};
use plugin_sdk::{Credential, Run};
use tokio::time::{Instant, timeout_at};
use transport::{Connector as _, TcpConnector};

use super::{CommandError, HostArguments, ObjectTransportArguments, TransportArguments};
use crate::connection::{is_refusal, leased_credentials, report_verdict};
use crate::{Encryption, ObjectService, ObjectStep, Service, connector, settings};

/// The host of a command, and how to reach it.
#[derive(Debug)]
pub struct HostAccess {
    target: Target,
    identity: String,
    options: Options,
    connector: TcpConnector,
    permits_impersonation: bool,
}

/// Why there is no session.
#[derive(Debug)]
pub struct ConnectError {
    /// The message to print.
    pub error: CommandError,
    /// Whether a retry is useless: the host refuses the credentials, or the exporter withholds them.
    pub is_final: bool,
}

/// Maximum time of connecting: the service may have to be started first.
const CONNECT_MAX: Duration = Duration::from_secs(30);

impl HostAccess {
    /// The access from the options of a command.
    ///
    /// # Errors If neither the options nor the exporter, which adds that of the target, name an identity.
    pub fn new(host: HostArguments, transport: &TransportArguments) -> Result<Self, CommandError> {
        let TransportArguments { port, connect_timeout, smb_encryption } = *transport;
        Self::with_options(host, port, settings::options(connect_timeout, smb_encryption))
    }

    /// The same for a command that calls an object.
    ///
    /// # Errors As [`new`](Self::new).
    pub fn of_objects(
        host: HostArguments,
        transport: &ObjectTransportArguments,
    ) -> Result<Self, CommandError> {
        let ObjectTransportArguments { port, connect_timeout } = *transport;
        Self::with_options(host, port, settings::options(connect_timeout, Encryption::default()))
    }

    fn with_options(host: HostArguments, port: u16, options: Options) -> Result<Self, CommandError> {
        let HostArguments { target, identity } = host;
        let identity = identity.ok_or_else(|| CommandError::usage("--identity NAME is missing"))?;
        Ok(Self {
            target: Target::new(target, port),
            identity,
            options,
            connector: connector::shared(),
            permits_impersonation: false,
        })
    }

    /// Permits the program of the object to act as the account, on the host itself.
    #[must_use]
    pub fn permit_impersonation(mut self) -> Self {
        self.permits_impersonation = true;
        self
    }

    #[must_use]
    pub fn host(&self) -> &str {
        &self.target.host
    }

    /// The identity that logs on.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The addresses that the host's name stands for.
    pub async fn addresses(&self) -> Vec<IpAddr> {
        let resolved = self.connector.resolve(&self.target, Instant::now() + CONNECT_MAX).await;
        resolved.iter().flat_map(|addresses| addresses.iter()).map(SocketAddr::ip).collect()
    }

    /// Connects, logs on with credentials that the exporter leases, and opens `service`.
    ///
    /// # Errors
    /// With the stage that failed.
    pub async fn connect(&self, service: Service, run: &Run) -> Result<Session, ConnectError> {
        let deadline = Instant::now() + CONNECT_MAX;
        let (target, options) = (self.target.clone(), self.options.clone());
        let reached = Reached::connect(target, options, &self.connector, deadline).await;
        let reached = reached.map_err(|error| passing(CommandError::of_session(&error)))?;
        let credential = self.lease(run, deadline).await?;
        let logged_on = match reached.log_on(leased_credentials(&credential), deadline).await {
            Ok(logged_on) => {
                credential.accepted();
                logged_on
            }
            Err(error) => {
                let verdict = error.verdict();
                report_verdict(credential, verdict);
                let is_final = is_refusal(verdict);
                return Err(ConnectError { error: CommandError::of_session(&error), is_final });
            }
        };
        let opened = logged_on.open(service.endpoint, service.interfaces, deadline).await;
        opened.map_err(|error| passing(CommandError::of_session(&error)))
    }

    /// Connects, logs on with credentials that the exporter leases, and activates an object.
    ///
    /// # Errors
    /// With the stage that failed.
    pub async fn activate(&self, service: &ObjectService, run: &Run) -> Result<Object, ConnectError> {
        let deadline = Instant::now() + CONNECT_MAX;
        let of_step = |error: &SessionError, step| passing(CommandError::of_object(service, error, step));
        let (target, options) = (self.target.clone(), self.options.clone());
        let reached = ReachedResolver::connect(target, options, &self.connector, deadline).await;
        let reached = reached.map_err(|error| of_step(&error, ObjectStep::Connect))?;
        let credential = self.lease(run, deadline).await?;
        let resolver = match reached.log_on(leased_credentials(&credential), &self.connector, deadline).await
        {
            Ok(resolver) => {
                credential.accepted();
                resolver
            }
            Err(error) => {
                let verdict = error.verdict();
                report_verdict(credential, verdict);
                let failed = of_step(&error, ObjectStep::LogOn);
                return Err(ConnectError { is_final: is_refusal(verdict), ..failed });
            }
        };
        let resolver = if self.permits_impersonation { resolver.permit_impersonation() } else { resolver };
        let connector = Arc::new(self.connector.clone());
        let activated = resolver.activate(service.class, service.interfaces, connector, deadline).await;
        activated.map_err(|error| of_step(&error, ObjectStep::Activate))
    }

    async fn lease(&self, run: &Run, deadline: Instant) -> Result<Credential, ConnectError> {
        let leased = timeout_at(deadline, run.credential(&self.target.host, &self.identity)).await;
        let leased = leased.map_err(|_passed| {
            passing(CommandError::failed(
                "the password is being tried elsewhere, and there is no answer yet",
                "try again",
            ))
        })?;
        leased.map_err(|failure| ConnectError { error: CommandError::of_failure(&failure), is_final: true })
    }
}

const fn passing(error: CommandError) -> ConnectError {
    ConnectError { error, is_final: false }
}
