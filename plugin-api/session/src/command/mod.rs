//! For commands of plugins that read one host: connecting, and error messages.

mod user;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use dcom::client::{Object, ReachedResolver};
use host_session::{Options, Reached, Session, SessionError, Target, Verdict};
use plugin_sdk::{Credential, DeclaredReason, Exit, Failure, Reason, Run};
use tokio::time::{Instant, timeout_at};
use transport::{Connector as _, TcpConnector};

pub use self::user::user;

use super::lease::{is_refusal, leased_credentials, report_verdict};
use super::{
    DECLARED_REASONS, Encryption, ObjectService, ObjectStep, Service, connector, failure_of, settings,
};

/// What a record says of an attempt to change something on a host.
pub trait AuditRecord {
    /// Records that the configuration allows it, and that the host is asked next.
    fn requested(&self);

    /// Records how it ended, in one line.
    fn ended(&self, outcome: &str);
}

/// An attempt to change something on a host: it is recorded before the host hears of it, and when it ends, however it ends.
#[derive(Debug)]
pub struct AuditedAttempt<R: AuditRecord> {
    record: R,
    is_ended: bool,
}

impl<R: AuditRecord> AuditedAttempt<R> {
    /// An attempt that is recorded as `record` says.
    pub const fn new(record: R) -> Self {
        Self { record, is_ended: false }
    }

    /// The configuration allows it, and the host is asked next.
    pub fn requested(&self) {
        self.record.requested();
    }

    /// How it ended, in one line: `done`, `refused: …`, `failed: …`.
    pub fn end(mut self, outcome: &str) {
        self.is_ended = true;
        self.record.ended(outcome);
    }
}

impl<R: AuditRecord> Drop for AuditedAttempt<R> {
    fn drop(&mut self) {
        if !self.is_ended {
            self.record.ended("cancelled: the host may do it nevertheless");
        }
    }
}

/// An argument as a record has it, which nobody can make long.
#[must_use]
pub fn audit_field(text: &str) -> String {
    text.chars().take(FIELD_CHARS_MAX).collect()
}

const FIELD_CHARS_MAX: usize = 320;

/// Why a command ends early: the stage, the reason, and the next step.
#[derive(Debug)]
pub struct CommandError {
    exit: Exit,
    /// Stage and reason, if there is a stage.
    stage: Option<(&'static str, &'static str)>,
    message: String,
    next_step: String,
}

impl CommandError {
    /// The command line is wrong.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, stage: None, message: message.into(), next_step: String::new() }
    }

    /// It cannot be done; `next_step` is what to do about it.
    #[must_use]
    pub fn failed(message: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { exit: Exit::Failure, stage: None, message: message.into(), next_step: next_step.into() }
    }

    /// The host failed to answer correctly.
    #[must_use]
    pub fn of_session(error: &SessionError) -> Self {
        Self::of_failure(&failure_of(error))
    }

    /// The object, or the way to it, failed.
    #[must_use]
    pub fn of_object(service: &ObjectService, error: &SessionError, step: ObjectStep) -> Self {
        Self::with_reasons(&service.failure_of(error, step), service.reasons)
    }

    /// The failure of a collection.
    #[must_use]
    pub fn of_failure(failure: &Failure) -> Self {
        Self::with_reasons(failure, &DECLARED_REASONS)
    }

    fn with_reasons(failure: &Failure, reasons: &[DeclaredReason]) -> Self {
        let (word, next_step) = match failure.reason {
            Reason::General(reason) => (reason.as_str(), reason.next_step()),
            Reason::Declared(index) => {
                let declared = reasons.get(index as usize);
                declared.map_or(("other", ""), |declared| (declared.word, declared.next_step))
            }
        };
        Self {
            exit: Exit::Failure,
            stage: Some((failure.stage.as_str(), word)),
            message: failure.message.clone(),
            next_step: next_step.to_owned(),
        }
    }

    /// The message alone, in one line.
    #[must_use]
    pub fn line(&self) -> String {
        match self.stage {
            Some((stage, reason)) => format!("{stage}: {reason}: {}", self.message),
            None => self.message.clone(),
        }
    }

    /// Prints it with the next step. Returns how the command ends.
    pub fn print(&self, run: &Run) -> Exit {
        run.progress("");
        run.err(&format!("{}\n", self.line()));
        if !self.next_step.is_empty() {
            run.err(&format!("next: {}\n", self.next_step));
        }
        self.exit
    }
}

/// Options for the host and the identity.
#[derive(Args, Clone, Debug)]
pub struct HostArguments {
    /// The host, or the name of a target in the configuration
    #[arg(long, value_name = "HOST")]
    target: String,
    /// The identity that logs on, from the configuration [default: the target's, or the only one allowed]
    #[arg(long, value_name = "NAME")]
    identity: Option<String>,
}

impl HostArguments {
    /// Those of a command that can do without a host, and has declared both as optional.
    #[must_use]
    pub const fn new(target: String, identity: Option<String>) -> Self {
        Self { target, identity }
    }
}

/// Options for the transport. The exporter adds those of its configuration.
#[derive(Args, Clone, Debug)]
pub struct TransportArguments {
    /// The port of SMB
    #[arg(long, value_name = "N", default_value_t = 445)]
    port: u16,
    /// Time limit of the name lookup, and of the TCP connection
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = parse_duration)]
    connect_timeout: Duration,
    #[arg(long, value_name = "MODE", default_value = "preferred")]
    smb_encryption: Encryption,
}

/// Options for the transport of objects. The exporter adds those of its configuration.
#[derive(Args, Clone, Debug)]
pub struct ObjectTransportArguments {
    /// The port of the host's object resolver
    #[arg(long, value_name = "N", default_value_t = 135)]
    port: u16,
    /// Time limit of the name lookup, and of each TCP connection
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = parse_duration)]
    connect_timeout: Duration,
}

impl ObjectTransportArguments {
    /// Those of a command whose plugin reaches hosts by SMB, too, so that its option for the port is `dcom-port`.
    #[must_use]
    pub const fn new(port: u16, connect_timeout: Duration) -> Self {
        Self { port, connect_timeout }
    }
}

/// A time such as `500ms`, `1s`, `1m` or `1m 30s`, at most a day: the value parser of options.
///
/// # Errors If the text is not a time, or zero.
pub fn parse_duration(text: &str) -> Result<Duration, &'static str> {
    // The exporter writes some durations as `1m 30s`.
    let parts: Option<Vec<Duration>> = text.split_whitespace().map(duration).collect();
    let sum = parts.map(|parts| parts.iter().sum()).filter(|sum: &Duration| !sum.is_zero());
    sum.ok_or("write a time such as `500ms`, `1s` or `1m`")
}

fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = match &text[digits..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * unit).ok().filter(|time| *time <= DURATION_MAX)
}

/// Longer than anybody waits.
const DURATION_MAX: Duration = Duration::from_secs(24 * 3600);

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
    /// The exporter may lend another kind of credentials now.
    is_unsuitable: bool,
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
        match self.connect_once(service, run).await {
            Err(ConnectError { is_unsuitable: true, .. }) => self.connect_once(service, run).await,
            outcome => outcome,
        }
    }

    async fn connect_once(&self, service: Service, run: &Run) -> Result<Session, ConnectError> {
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
                return Err(ConnectError::of_logon(CommandError::of_session(&error), verdict));
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
        match self.activate_once(service, run).await {
            Err(ConnectError { is_unsuitable: true, .. }) => self.activate_once(service, run).await,
            outcome => outcome,
        }
    }

    async fn activate_once(&self, service: &ObjectService, run: &Run) -> Result<Object, ConnectError> {
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
                return Err(ConnectError::of_logon(failed.error, verdict));
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
                "the exporter waits for what another host, or a KDC, says of the identity",
                "try again; see whether a KDC answers, if the identity is one of Kerberos",
            ))
        })?;
        leased.map_err(|failure| ConnectError {
            error: CommandError::of_failure(&failure),
            is_final: true,
            is_unsuitable: false,
        })
    }
}

const fn passing(error: CommandError) -> ConnectError {
    ConnectError { error, is_final: false, is_unsuitable: false }
}

impl ConnectError {
    fn of_logon(error: CommandError, verdict: Verdict) -> Self {
        Self { error, is_final: is_refusal(verdict), is_unsuitable: verdict == Verdict::Unsuitable }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("2"), Ok(Duration::from_secs(2)));
        for text in ["0s", "-1s", "soon", "1e99s", "99999h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
