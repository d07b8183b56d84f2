//! Leases of identities of Kerberos: tickets; or, without the library of the system, the key that a KDC is asked with; or, where
//! the identity permits it, its password for NTLM.

use std::sync::Arc;
use std::time::{Duration, Instant};

use config::{Identity, Kerberos};
use gssapi::{EncryptionType, Key};
use plugin_abi::{
    CredentialAnswer, CredentialKind, CredentialRequest, CredentialVerdict, GeneralReason, Lease, Secret,
    Waiter,
};
use support::input::secret::SecretBytes;
use tracing::{info, warn};

use super::source::reason_of;
use super::vault::{Lent, OpenLease, Trial};
use super::{Broker, Identities};

/// After this time Kerberos is tried again where NTLM was used.
const FALLBACK: Duration = Duration::from_secs(3600);
/// Fall-backs that are remembered.
const FALLBACKS_MAX: usize = 65_536;

/// Where identities use NTLM because Kerberos was not possible, and until when.
pub(super) type Fallbacks = std::collections::HashMap<(String, Fallback), Instant>;

/// Of what NTLM is used where Kerberos would be asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fallback {
    /// All hosts: there is no ticket-granting ticket.
    Identity,
    /// Hosts that are given by address.
    Addresses,
    Target(String),
}

impl Fallback {
    /// Which targets it is about, and what to do about it.
    fn targets(&self) -> (&str, &'static str) {
        match self {
            Self::Identity => ("all", "see that a KDC answers; Kerberos is tried again by itself"),
            Self::Addresses => {
                ("all that are addresses", "name hosts as in their domain, or set their service_principal")
            }
            Self::Target(target) => (
                target,
                "name the host as in its domain, or set its service_principal; Kerberos is tried again after an hour",
            ),
        }
    }
}

/// A request of an identity with tickets.
pub(super) struct ByKerberos<'a> {
    pub(super) request: &'a CredentialRequest<'a>,
    pub(super) identity: &'a Identity,
    pub(super) kerberos: &'a Kerberos,
    pub(super) target: &'a str,
}

impl Broker {
    /// Nothing where a password is to be lent instead.
    pub(super) fn lend_tickets(
        &self,
        by: &ByKerberos<'_>,
        identities: &Arc<Identities>,
        waiter: &Waiter,
    ) -> Option<CredentialAnswer> {
        let ByKerberos { request, identity, kerberos, target } = *by;
        let service = request.configured.and_then(|target| target.service_principal.clone());
        let host = request.configured.map_or(request.host, |target| &target.host);
        if let Some((message, hint)) = identity.refusal_of_address(host, service.as_deref()) {
            let message = format!("{message}; {hint}");
            return Some(CredentialAnswer::Denied { reason: GeneralReason::UnknownService, message });
        }
        if kerberos.ntlm_fallback && service.is_none() && config::address(host).is_some() {
            let because = "a KDC knows hosts by their names alone";
            self.fall_back(request.identity, &Fallback::Addresses, because);
            return None;
        }
        if kerberos.ntlm_fallback && self.falls_back(request.identity, target) {
            return None;
        }
        let tickets = match self.tickets.find(request.identity, identities, waiter) {
            Ok(tickets) => tickets,
            Err(CredentialAnswer::Denied { reason: GeneralReason::NoKerberos, .. })
                if !matches!(identity.secret, config::Secret::Cache(_)) =>
            {
                return Some(self.lend_key(by, service, identities, waiter));
            }
            Err(CredentialAnswer::Denied { reason, message }) => {
                let is_kerberos_gone =
                    matches!(reason, GeneralReason::KdcUnreachable | GeneralReason::NoKerberos);
                if kerberos.ntlm_fallback && is_kerberos_gone {
                    self.fall_back(request.identity, &Fallback::Identity, &message);
                    return None;
                }
                return Some(CredentialAnswer::Denied { reason, message });
            }
            Err(answer) => return Some(answer),
        };
        self.end_fallback(request.identity, &Fallback::Identity);
        let (principal, name) = (tickets.principal, tickets.cache.name().as_bytes().to_vec());
        let (username, domain) = principal.rsplit_once('@').unwrap_or((&principal, ""));
        let (username, domain) = (username.to_owned(), domain.to_owned());
        let id = self.vault.lend_proven(request.identity, identity, target, Lent::Tickets(tickets.cache));
        Some(CredentialAnswer::Lease(Lease {
            id,
            kind: CredentialKind::Kerberos,
            domain,
            username,
            service,
            allows_rc4: kerberos.allow_rc4,
            secret: Secret::new(name),
        }))
    }

    /// What a KDC is asked with at each logon, where the library of the system is absent.
    fn lend_key(
        &self,
        by: &ByKerberos<'_>,
        service: Option<String>,
        identities: &Identities,
        waiter: &Waiter,
    ) -> CredentialAnswer {
        let ByKerberos { request, identity, target, .. } = *by;
        let secret = match identity.read_secret(identities) {
            Ok(secret) => secret,
            Err(message) => {
                return CredentialAnswer::Denied { reason: GeneralReason::CredentialsWithheld, message };
            }
        };
        let (kind, lent) = match &identity.secret {
            config::Secret::Keytab(path) => {
                let types = &EncryptionType::WITHOUT_LIBRARY;
                match Key::of_keytab(&secret, &identity.account_name(), types) {
                    Ok(key) => (CredentialKind::KerberosKey, key.to_text().as_bytes().to_vec()),
                    Err(error) => {
                        let message = format!("keytab {}: {}", path.display(), error.message);
                        return CredentialAnswer::Denied { reason: reason_of(error.reason), message };
                    }
                }
            }
            _ => (CredentialKind::KerberosPassword, secret.to_vec()),
        };
        let lent = Secret::new(lent);
        let fingerprint = self.vault.salt.fingerprint(&secret);
        let is_proven = self.proven.lock().get(&identity.account_name()) == Some(&fingerprint);
        let id = if is_proven {
            Ok(self.vault.lend_proven(request.identity, identity, target, Lent::ProvenKey(secret)))
        } else {
            self.vault.lend(Trial::of_kdc(request.identity, identity, secret, target), waiter)
        };
        match id {
            Ok(id) => CredentialAnswer::Lease(Lease {
                id,
                kind,
                domain: identity.domain.clone(),
                username: identity.username.clone(),
                service,
                allows_rc4: false,
                secret: lent,
            }),
            Err(answer) => answer,
        }
    }

    /// What the end of a lease says of the identity it was of.
    pub(super) fn settle(&self, open: OpenLease, verdict: CredentialVerdict) {
        let OpenLease { identity, account, target, lent } = open;
        match (verdict, lent) {
            (CredentialVerdict::Unsuitable, _) => {
                self.fall_back(&identity, &Fallback::Target(target), "no KDC gave a ticket for it");
            }
            (CredentialVerdict::Accepted, lent) => {
                self.end_fallback(&identity, &Fallback::Target(target));
                if let Lent::Key(key) = lent {
                    self.proven.lock().insert(account, self.vault.salt.fingerprint(&key));
                }
            }
            // A host with a new key: tickets of a new cache are made with it.
            (CredentialVerdict::Rejected, Lent::Tickets(_)) => self.tickets.renew(&identity),
            (verdict, Lent::ProvenKey(key)) if verdict != CredentialVerdict::Unknown => {
                self.proven.lock().remove(&account);
                self.withhold(&identity, &account, key, &target, verdict);
            }
            _ => {}
        }
    }

    /// Tells the guard what a KDC said of a key that needed no trial.
    fn withhold(
        &self,
        name: &str,
        account: &str,
        key: SecretBytes,
        target: &str,
        verdict: CredentialVerdict,
    ) {
        let identities = self.identities();
        let Some(identity) = identities.get(name).filter(|identity| identity.account_name() == account)
        else {
            return;
        };
        // Where there is a trial already, it says the same.
        if let Ok(lease) = self.vault.lend(Trial::of_kdc(name, identity, key, target), &Waiter::new(|| {})) {
            self.vault.result(lease, verdict);
        }
    }

    fn falls_back(&self, identity: &str, target: &str) -> bool {
        let key = (identity.to_owned(), Fallback::Target(target.to_owned()));
        self.fallbacks.lock().get(&key).is_some_and(|until| self.vault.now().mono < *until)
    }

    pub(super) fn end_fallback(&self, identity: &str, what: &Fallback) {
        if self.fallbacks.lock().remove(&(identity.to_owned(), what.clone())).is_some() {
            info!(identity, target = what.targets().0, "Kerberos is used again");
        }
    }

    /// Notes, and says once, that NTLM is used, if the identity permits that.
    pub(super) fn fall_back(&self, identity: &str, what: &Fallback, because: &str) {
        let identities = self.identities();
        let kerberos = identities.get(identity).and_then(Identity::kerberos);
        if !kerberos.is_some_and(|kerberos| kerberos.ntlm_fallback) {
            return;
        }
        let (target, next_step) = what.targets();
        let key = (identity.to_owned(), what.clone());
        let now = self.vault.now().mono;
        let mut fallbacks = self.fallbacks.lock();
        if fallbacks.len() >= FALLBACKS_MAX {
            fallbacks.retain(|_, until| now < *until);
        }
        if fallbacks.len() < FALLBACKS_MAX && fallbacks.insert(key, now + FALLBACK).is_none() {
            warn!(identity, target, because, next_step, "NTLM is used instead of Kerberos");
        }
    }

    /// Targets at which an identity uses NTLM because no KDC gave a ticket.
    pub(in crate::credentials) fn fallback_targets(&self, identity: &str) -> usize {
        let (fallbacks, now) = (self.fallbacks.lock(), self.vault.now().mono);
        let of_targets = fallbacks.iter().filter(|((name, what), until)| {
            name == identity && matches!(what, Fallback::Target(_)) && now < **until
        });
        of_targets.count()
    }
}
