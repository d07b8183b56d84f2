//! Secrets for one run of the program: the broker of a server, for what the command line allows.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::{AllowHosts, BadEntry, Config, Credentials, Identity, Position};
use parking_lot::Mutex;
use plugin_abi::{CredentialAnswer, CredentialBroker, CredentialRequest, CredentialVerdict, LeaseId, Waiter};
use support::errln;
use support::input::secret::{self, SecretSource};
use tokio::runtime::Handle;

use crate::credentials::{Broker, SystemClock, VerdictFile};
use crate::process::{Lookups, SystemResolver};

/// Leases the secrets of the [`Broker`], and prints why a request was denied, because a plugin gets only the
/// reason.
pub(in crate::process) struct Lender {
    broker: Broker,
    reported: Mutex<Vec<String>>,
    /// What is odd about secrets that are being tried.
    leased: Mutex<BTreeMap<LeaseId, String>>,
}

impl Lender {
    /// A lender of the configuration's identities, guarded by the verdicts that a server keeps.
    ///
    /// # Errors
    /// When the kernel gives no random bytes.
    pub(in crate::process) fn of_config(config: &Config, runtime: &Handle) -> Result<Self, String> {
        let folder = config.credentials.state_dir.as_deref().filter(|folder| folder.exists());
        let file = folder.and_then(|folder| {
            VerdictFile::open(folder)
                .inspect_err(|error| {
                    errln!("note: {error}; a refused password may be tried once more");
                })
                .ok()
        });
        Self::new(config.identities.clone(), &config.credentials, file, runtime)
    }

    /// A lender of one account, for one host.
    ///
    /// # Errors
    /// When the host is none.
    pub(super) fn of_account(
        username: &str,
        secret: &SecretSource,
        host: &str,
        runtime: &Handle,
    ) -> Result<Self, String> {
        let mut allow_hosts = AllowHosts::default();
        allow_hosts.add(host).map_err(|BadEntry| format!("`{host}` is not a valid host"))?;
        if let Some(hint) = config::account_hint(username) {
            return Err(format!("--username: `{username}` is not a valid account; {hint}"));
        }
        let (domain, user) = username.split_once('\\').unwrap_or(("", username));
        let identity = Identity {
            domain: domain.to_owned(),
            username: user.to_owned(),
            secret: secret.clone(),
            allow_hosts,
            position: Position { line: 0, column: 0 },
        };
        let identities = BTreeMap::from([(username.to_owned(), identity)]);
        Self::new(identities, &Credentials::default(), None, runtime)
    }

    fn new(
        identities: BTreeMap<String, Identity>,
        credentials: &Credentials,
        file: Option<VerdictFile>,
        runtime: &Handle,
    ) -> Result<Self, String> {
        let resolver = Arc::new(SystemResolver::new(runtime.clone(), Lookups::default()));
        let broker = Broker::new(identities, credentials.cooldown, file, Arc::new(SystemClock), resolver);
        let broker = broker.map_err(|error| format!("draw random bytes: {error}"))?;
        Ok(Self { broker, reported: Mutex::default(), leased: Mutex::default() })
    }

    /// Waits until what was learnt of secrets is on the disk, for the next run and for servers.
    pub(in crate::process) fn finish(&self) {
        self.broker.finish_writes();
    }

    /// Each sentence once: fifty targets have one reason.
    fn report_once(&self, message: &str) {
        let mut reported = self.reported.lock();
        if !reported.iter().any(|earlier| earlier == message) {
            errln!("{message}");
            reported.push(message.to_owned());
        }
    }
}

impl CredentialBroker for Lender {
    fn acquire(&self, request: &CredentialRequest<'_>, waiter: &Waiter) -> CredentialAnswer {
        let answer = self.broker.acquire(request, waiter);
        match &answer {
            CredentialAnswer::Denied { message, .. } => {
                self.report_once(&format!("identity `{}` is withheld: {message}", request.identity));
            }
            CredentialAnswer::Lease(lease) => {
                if let Some(odd) = secret::oddity(lease.secret.expose()) {
                    let odd = format!("the password of identity `{}` {odd}", request.identity);
                    self.leased.lock().insert(lease.id, odd);
                }
            }
            CredentialAnswer::Wait { .. } => {}
        }
        answer
    }

    fn result(&self, lease: LeaseId, verdict: CredentialVerdict) {
        let leased = self.leased.lock().remove(&lease);
        if let (Some(odd), CredentialVerdict::Rejected) = (leased, verdict) {
            self.report_once(&format!("note: {odd}"));
        }
        self.broker.result(lease, verdict);
    }
}
