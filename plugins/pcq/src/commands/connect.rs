use std::time::Duration;

use host_session::{Options, Reached, Session, Target, Verdict};
use ms_smb2::client::Encryption;
use plugin_sdk::Run;
use ssp::{Credentials, Secret};
use tokio::time::{Instant, timeout_at};
use transport::TcpConnector;

use super::arguments::Arguments;
use super::stop::Stop;
use crate::connector;
use crate::failure;
use crate::session::{INTERFACES, WINREG};

/// Which host a command asks, and how.
#[derive(Debug)]
pub(super) struct Access {
    target: Target,
    identity: String,
    options: Options,
    connector: TcpConnector,
}

/// A session, or why there is none.
#[derive(Debug)]
pub(super) struct NoSession {
    /// What is printed.
    pub(super) stop: Stop,
    /// Whether trying again is of no use: nobody will let us in with this secret.
    pub(super) is_final: bool,
}

/// How long connecting may take in all: the service may have to be started first.
const CONNECT_MAX: Duration = Duration::from_secs(30);
const SMB_PORT: u16 = 445;

impl Access {
    /// Reads `--target`, `--identity` and how to get there.
    ///
    /// # Errors
    /// When they make no sense.
    pub(super) fn new(arguments: &Arguments) -> Result<Self, String> {
        let host = arguments.text("target").unwrap_or_default();
        let identity = arguments.text("identity").ok_or("--identity NAME is missing")?;
        let port = arguments.number("port")?.unwrap_or(SMB_PORT);
        let mut options = Options::default();
        if let Some(timeout) = arguments.duration("connect-timeout")? {
            options.connect_timeout = timeout;
        }
        let modes = [
            ("disabled", Encryption::Disabled),
            ("preferred", Encryption::Preferred),
            ("required", Encryption::Required),
        ];
        options.smb.encryption = arguments.choice("smb-encryption", &modes)?.unwrap_or(Encryption::Preferred);
        let target = Target::new(host, port);
        Ok(Self { target, identity: identity.to_owned(), options, connector: connector::shared() })
    }

    /// The host.
    pub(super) fn host(&self) -> &str {
        &self.target.host
    }

    /// Connects and logs on with a secret that the exporter lends for it.
    ///
    /// # Errors
    /// With the stage that failed.
    pub(super) async fn connect(&self, run: &Run) -> Result<Session, NoSession> {
        let deadline = Instant::now() + CONNECT_MAX;
        let (target, options) = (self.target.clone(), self.options.clone());
        let reached = Reached::connect(target, options, &self.connector, deadline).await;
        let reached = reached.map_err(|error| again(Stop::of_session(&error)))?;
        let leased = timeout_at(deadline, run.credential(&self.target.host, &self.identity)).await;
        let leased = leased.map_err(|_passed| {
            again(Stop::failed(
                "the password is being tried elsewhere, and there is no answer yet",
                "try again",
            ))
        })?;
        let credential =
            leased.map_err(|failure| NoSession { stop: Stop::of_failure(&failure), is_final: true })?;
        let secret = Secret::new(credential.password());
        let credentials = Credentials::new(credential.domain(), credential.username(), secret);
        let logged_on = match reached.log_on(credentials, deadline).await {
            Ok(logged_on) => {
                credential.accepted();
                logged_on
            }
            Err(error) => {
                failure::judge(credential, error.verdict());
                let is_final = matches!(error.verdict(), Verdict::Rejected | Verdict::Locked);
                return Err(NoSession { stop: Stop::of_session(&error), is_final });
            }
        };
        let opened = logged_on.open(WINREG, INTERFACES, deadline).await;
        opened.map_err(|error| again(Stop::of_session(&error)))
    }
}

const fn again(stop: Stop) -> NoSession {
    NoSession { stop, is_final: false }
}
