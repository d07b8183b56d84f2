use std::time::Duration;

use host_session::{Options, Reached, Session, Target};
use plugin_sdk::Run;
use tokio::time::{Instant, timeout_at};
use transport::TcpConnector;

use super::CommandError;
use crate::lease::{credentials, is_refusal, report_verdict};
use crate::{Encryption, Service, connector, settings};

/// Which host a command asks, and how.
#[derive(Debug)]
pub struct HostAccess {
    target: Target,
    identity: String,
    options: Options,
    connector: TcpConnector,
}

/// Why there is no session.
#[derive(Debug)]
pub struct ConnectError {
    /// What is printed.
    pub error: CommandError,
    /// Whether trying again is of no use: the host refuses the credentials, or the exporter withholds them.
    pub is_final: bool,
}

/// How long connecting may take in all: the service may have to be started first.
const CONNECT_MAX: Duration = Duration::from_secs(30);

impl HostAccess {
    /// Access to `target` with the credentials of `identity`. `connect_timeout` is for each of the stages dns and tcp.
    #[must_use]
    pub fn new(target: Target, identity: String, connect_timeout: Duration, encryption: Encryption) -> Self {
        let options = settings::options(connect_timeout, encryption);
        Self { target, identity, options, connector: connector::shared() }
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.target.host
    }

    /// Connects, logs on with credentials that the exporter lends for it, and opens `service`.
    ///
    /// # Errors
    /// With the stage that failed.
    pub async fn connect(&self, service: Service, run: &Run) -> Result<Session, ConnectError> {
        let deadline = Instant::now() + CONNECT_MAX;
        let (target, options) = (self.target.clone(), self.options.clone());
        let reached = Reached::connect(target, options, &self.connector, deadline).await;
        let reached = reached.map_err(|error| passing(CommandError::of_session(&error)))?;
        let leased = timeout_at(deadline, run.credential(&self.target.host, &self.identity)).await;
        let leased = leased.map_err(|_passed| {
            passing(CommandError::failed(
                "the password is being tried elsewhere, and there is no answer yet",
                "try again",
            ))
        })?;
        let credential = leased
            .map_err(|failure| ConnectError { error: CommandError::of_failure(&failure), is_final: true })?;
        let logged_on = match reached.log_on(credentials(&credential), deadline).await {
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
}

const fn passing(error: CommandError) -> ConnectError {
    ConnectError { error, is_final: false }
}
