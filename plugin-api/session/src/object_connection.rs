//! An object of a host: activated, kept alive, and activated again with as few logons as possible.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use dcom::client::{Object, ReachedResolver};
use host_session::{PinnedConnector, Recovery, SessionError, Target};
use plugin_sdk::{Collection, DeclaredReason, Failure, Reason, Stage};
use rpc_recorder::InterfaceNames;
use tokio::time::Instant;
use transport::Connector as _;
use wire::Guid;

use super::lease::{lease, leased_credentials, report_verdict};
use crate::failure::{add_stages, failure_of};
use crate::{AttemptError, KeptConnection, Retry, TransportSettings, connector};

/// The object of a host that a plugin uses.
#[derive(Clone, Copy, Debug)]
pub struct ObjectService {
    pub class: Guid,
    /// The interfaces that are asked for with the activation.
    pub interfaces: &'static [Guid],
    /// All interfaces that the plugin calls, of all its services, with the names that the state of its calls has.
    pub names: &'static [InterfaceNames],
    /// What [`plugin_sdk::Source::REASONS`] of the plugin's source is: it begins with
    /// [`DECLARED_REASONS`](crate::DECLARED_REASONS).
    pub reasons: &'static [DeclaredReason],
    /// The reason for an error where the plugin knows more than the general reasons say, and what to add to the message.
    pub explain: fn(&SessionError, ObjectStep) -> Option<Explanation>,
}

/// What a plugin knows of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Instead of the general reason.
    pub reason: Option<Reason>,
    /// Appended to the message.
    pub hint: &'static str,
}

/// How far it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectStep {
    /// Reaching the resolver of the host's objects.
    Connect,
    /// Logging on to it.
    LogOn,
    /// Having the object made, and reaching the program that it is in.
    Activate,
    /// Calls of the object.
    Call,
}

impl ObjectService {
    /// The failure of a collection that `error` ended.
    #[must_use]
    pub fn failure_of(&self, error: &SessionError, step: ObjectStep) -> Failure {
        let mut failure = failure_of(error);
        if let Some(Explanation { reason, hint }) = (self.explain)(error, step) {
            failure.reason = reason.unwrap_or(failure.reason);
            if !hint.is_empty() {
                failure.message = format!("{}; {hint}", failure.message);
            }
        }
        failure
    }
}

/// The connection to an object of one host, if there is one.
#[derive(Debug)]
pub struct ObjectConnection {
    target: Target,
    service: ObjectService,
    connector: PinnedConnector,
    transport: TransportSettings,
    permits_impersonation: bool,
    /// Whether the operating system was reported.
    is_os_reported: bool,
    kept: Option<Object>,
    /// Whether the host could not be reached since this was last asked.
    was_away: bool,
}

impl ObjectConnection {
    /// A host without a connection.
    #[must_use]
    pub fn new(target: Target, service: ObjectService, transport: TransportSettings) -> Self {
        let connector = connector::pinned(&transport);
        Self {
            target,
            service,
            connector,
            transport,
            permits_impersonation: false,
            is_os_reported: false,
            kept: None,
            was_away: false,
        }
    }

    /// Permits the program of the object to act as the account, on the host itself.
    #[must_use]
    pub fn permit_impersonation(mut self) -> Self {
        self.permits_impersonation = true;
        self
    }

    /// Takes other settings, which give up the object.
    pub fn reconfigure(&mut self, transport: TransportSettings) {
        if transport != self.transport {
            self.connector = connector::pinned(&transport);
            self.transport = transport;
            self.kept = None;
        }
    }

    /// Takes the object, which is pinged if that is due, or activates one. An object that is taken and not put back is given
    /// up: the host drops it when it is not pinged.
    ///
    /// # Errors If there is none.
    pub async fn take(&mut self, collection: &Collection, deadline: Instant) -> Result<Object, AttemptError> {
        let mut object = match self.kept.take() {
            Some(object) if is_alive(&object) => object,
            _ => self.activate(collection, deadline).await?,
        };
        collection.enter(Stage::Query);
        match object.keep_alive(deadline).await {
            Ok(()) => Ok(object),
            // Its connection may have been cut while nothing was sent.
            Err(error) => Err(self.lost(&error)),
        }
    }

    /// Puts back an object that was taken.
    pub fn put_back(&mut self, object: Object) {
        self.kept = Some(object);
    }

    /// Puts back the object if it is usable after `error`, and converts the error of a call.
    pub fn fail(&mut self, object: Object, error: &SessionError) -> AttemptError {
        if error.recovery > Recovery::Nothing {
            return self.lost(error);
        }
        self.put_back(object);
        self.service.failure_of(error, ObjectStep::Call).into()
    }

    /// Takes the object if it is there and can be called, and activates none.
    pub fn take_kept(&mut self) -> Option<Object> {
        self.kept.take().filter(is_alive)
    }

    /// The addresses of the host: those that its name stands for, and the one that was reached last.
    pub async fn addresses(&mut self, deadline: Instant) -> Vec<IpAddr> {
        let resolved = self.connector.resolve(&self.target, deadline).await;
        let resolved = resolved.iter().flat_map(|addresses| addresses.iter()).map(SocketAddr::ip);
        let mut addresses: Vec<IpAddr> = resolved.chain(self.connector.reached()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }

    /// The address that was reached last.
    #[must_use]
    pub fn reached(&self) -> Option<IpAddr> {
        self.connector.reached()
    }

    /// Gives the object back to the host.
    pub async fn release(&mut self, deadline: Instant) {
        if let Some(object) = self.kept.take()
            && object.is_usable()
            && let Err(error) = object.release(deadline).await
        {
            tracing::debug!(target = %self.target, %error, "Object not given back");
        }
    }

    fn lost(&self, error: &SessionError) -> AttemptError {
        let failure = self.service.failure_of(error, ObjectStep::Call);
        AttemptError { failure, retry: Retry::after(error.recovery) }
    }

    async fn activate(&mut self, collection: &Collection, deadline: Instant) -> Result<Object, AttemptError> {
        collection.enter(Stage::Dns);
        collection.leave();
        let service = self.service;
        let not_made = |collection: &Collection, error: &SessionError, step| -> AttemptError {
            add_stages(collection, &error.stages);
            service.failure_of(error, step).into()
        };
        let (target, options) = (self.target.clone(), self.transport.options(self.service.names));
        let reached = ReachedResolver::connect(target, options, &self.connector, deadline).await;
        self.was_away |= reached.is_err();
        let reached = reached.map_err(|error| not_made(collection, &error, ObjectStep::Connect))?;
        // Not before: a host that does not answer must not delay others that wait for the verdict.
        let address = self.connector.reached();
        let credential = lease(collection, address, deadline).await.inspect_err(|_withheld| {
            add_stages(collection, reached.stages());
        })?;
        let connector = Arc::new(connector::pinned_to(address, &self.transport));
        let resolver = match reached.log_on(leased_credentials(&credential), &*connector, deadline).await {
            Ok(resolver) => {
                credential.accepted();
                resolver
            }
            Err(error) => {
                let verdict = error.verdict();
                report_verdict(credential, verdict);
                let failed = not_made(collection, &error, ObjectStep::LogOn);
                return Err(AttemptError::of_logon(failed.failure, verdict));
            }
        };
        let stages = resolver.stages().to_vec();
        let resolver = if self.permits_impersonation { resolver.permit_impersonation() } else { resolver };
        collection.enter(Stage::Query);
        collection.leave();
        let activated = resolver.activate(service.class, service.interfaces, connector, deadline).await;
        match activated {
            Ok(object) => {
                add_stages(collection, object.stages());
                if !std::mem::replace(&mut self.is_os_reported, true) {
                    collection.handle().fact("os.type", "windows");
                }
                Ok(object)
            }
            Err(error) => {
                add_stages(collection, &stages);
                Err(not_made(collection, &error, ObjectStep::Activate))
            }
        }
    }
}

impl KeptConnection for ObjectConnection {
    fn missing(&self) -> Recovery {
        if self.kept.as_ref().is_some_and(is_alive) { Recovery::Nothing } else { Recovery::Connection }
    }

    /// An object has nothing that is reopened by itself.
    fn close(&mut self, recovery: Recovery) {
        if recovery > Recovery::Nothing {
            self.kept = None;
        }
    }

    fn take_was_away(&mut self) -> bool {
        std::mem::take(&mut self.was_away)
    }
}

fn is_alive(object: &Object) -> bool {
    object.is_usable() && !object.may_be_gone()
}
