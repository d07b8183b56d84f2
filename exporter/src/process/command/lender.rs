//! Secrets for one run of the program: the broker of a server, for what the command line allows.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::{AllowHosts, BadEntry, Config, Credentials, Identity, Position};
use parking_lot::Mutex;
use plugin_abi::{
    CredentialAnswer, CredentialBroker, CredentialRequest, CredentialVerdict, LeaseId, TargetInfo, Waiter,
};
use support::errln;
use support::input::secret;
use tokio::runtime::Handle;

use super::own::Account;
use crate::credentials::{Broker, SystemClock, SystemKerberos, VerdictFile};
use crate::process::{Lookups, SystemResolver};

/// Leases the secrets of the [`Broker`], and prints why a request was denied, because a plugin gets only the
/// reason.
pub(in crate::process) struct Lender {
    broker: Broker,
    reported: Mutex<Vec<String>>,
    /// What is odd about secrets that are being tried.
    leased: Mutex<BTreeMap<LeaseId, String>>,
    /// What a KDC calls hosts that have another name there; by host, in lower case.
    services: BTreeMap<String, String>,
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
        let of_targets = config.targets.iter();
        let services = of_targets
            .filter_map(|target| Some((target.host.to_lowercase(), target.service_principal.clone()?)));
        Self::new(config.identities.clone(), services.collect(), &config.credentials, file, runtime)
    }

    /// A lender of one account, for one host.
    ///
    /// # Errors
    /// When the host is none.
    pub(super) fn of_account(
        account: Account,
        host: &str,
        service_principal: Option<&str>,
        runtime: &Handle,
    ) -> Result<Self, String> {
        let mut allow_hosts = AllowHosts::default();
        allow_hosts.add(host).map_err(|BadEntry| format!("`{host}` is not a valid host"))?;
        let Account { shown, logon, domain, username, secret } = account;
        let position = Position { line: 0, column: 0 };
        let identity = Identity { logon, domain, username, secret, allow_hosts, position };
        let identities = BTreeMap::from([(shown, identity)]);
        let service = service_principal.map(|service| (host.to_lowercase(), service.to_owned()));
        Self::new(identities, service.into_iter().collect(), &Credentials::default(), None, runtime)
    }

    fn new(
        identities: BTreeMap<String, Identity>,
        services: BTreeMap<String, String>,
        credentials: &Credentials,
        file: Option<VerdictFile>,
        runtime: &Handle,
    ) -> Result<Self, String> {
        let resolver = Arc::new(SystemResolver::new(runtime.clone(), Lookups::default()));
        let broker = Broker::new(
            identities,
            credentials.cooldown,
            file,
            Arc::new(SystemClock),
            resolver,
            Arc::new(SystemKerberos),
        );
        let broker = broker.map_err(|error| format!("draw random bytes: {error}"))?;
        Ok(Self { broker, reported: Mutex::default(), leased: Mutex::default(), services })
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
        let service = self.services.get(&request.host.to_lowercase()).cloned();
        let named = request.configured.is_none().then_some(service).flatten().map(|service| TargetInfo {
            name: request.host.to_owned(),
            host: request.host.to_owned(),
            port: None,
            identity: request.identity.to_owned(),
            service_principal: Some(service),
        });
        let request = &CredentialRequest { configured: request.configured.or(named.as_ref()), ..*request };
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
