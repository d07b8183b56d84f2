//! Where ticket-granting tickets come from: [`TicketSource`], and the library of the system as one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gssapi::{Cache, EncryptionType, Kerberos, Origin};
use plugin_abi::GeneralReason;

use super::vault::TicketCache;

impl TicketCache for Cache {
    fn name(&self) -> &str {
        Self::name(self)
    }
}

/// What a ticket-granting ticket is obtained with.
pub enum Proof<'a> {
    Password {
        principal: &'a str,
        password: &'a str,
    },
    Keytab {
        principal: &'a str,
        file: &'a Path,
    },
    /// Another cache, as krb5.conf names it.
    Cache {
        name: &'a str,
    },
}

/// A ticket-granting ticket, and the cache that has it.
pub struct Granted {
    pub cache: Arc<dyn TicketCache>,
    pub principal: String,
    /// Zero where it has expired.
    pub lifetime: Duration,
    /// How far the KDC's clock is ahead of ours, where it told.
    pub skew_seconds: Option<i32>,
}

/// Why there is no ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotGranted {
    pub reason: GeneralReason,
    pub message: String,
}

/// Obtains ticket-granting tickets. A call may take as long as it likes.
pub trait TicketSource: Send + Sync {
    /// `name` is unique in the process.
    ///
    /// # Errors
    /// What the KDC or the library says.
    fn obtain(&self, name: &str, proof: Proof<'_>, allows_rc4: bool) -> Result<Granted, NotGranted>;
}

/// The Kerberos library of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemKerberos;

impl TicketSource for SystemKerberos {
    fn obtain(&self, name: &str, proof: Proof<'_>, allows_rc4: bool) -> Result<Granted, NotGranted> {
        let library = Kerberos::of_the_system()
            .map_err(|error| NotGranted { reason: GeneralReason::NoKerberos, message: error.to_string() })?;
        let origin = match proof {
            Proof::Password { principal, password } => Origin::Password { principal, password },
            Proof::Keytab { principal, file } => Origin::Keytab { principal, file },
            Proof::Cache { name } => Origin::Cache { name },
        };
        let obtained = Cache::obtain(library, name, origin, &EncryptionType::permitted(allows_rc4));
        let (cache, ticket) = obtained.map_err(|error| {
            let message = match error.reason {
                gssapi::Reason::Configuration => {
                    format!("/etc/krb5.conf, or a `krb5_conf` of an identity, is wrong: {}", error.message)
                }
                _ => error.message,
            };
            NotGranted { reason: reason_of(error.reason), message }
        })?;
        Ok(Granted {
            cache: Arc::new(cache),
            principal: ticket.principal,
            lifetime: ticket.lifetime,
            skew_seconds: ticket.skew_seconds,
        })
    }
}

pub(super) const fn reason_of(reason: gssapi::Reason) -> GeneralReason {
    use gssapi::Reason;
    match reason {
        Reason::ClockSkew => GeneralReason::ClockSkew,
        Reason::UnknownPrincipal | Reason::Name => GeneralReason::UnknownPrincipal,
        Reason::UnknownService => GeneralReason::UnknownService,
        Reason::EncryptionType => GeneralReason::EncryptionType,
        Reason::WrongPassword => GeneralReason::WrongCredentials,
        Reason::PasswordExpired => GeneralReason::PasswordExpired,
        Reason::AccountRevoked => GeneralReason::AccountDisabled,
        Reason::TicketExpired => GeneralReason::TicketExpired,
        Reason::KdcUnreachable => GeneralReason::KdcUnreachable,
        Reason::NoKeytabEntry => GeneralReason::NoKeytabEntry,
        Reason::KeyVersion => GeneralReason::KeyVersion,
        Reason::File | Reason::Configuration => GeneralReason::CredentialsWithheld,
        Reason::Other => GeneralReason::Other,
    }
}
