use std::time::Duration;

use plugin_abi::{CredentialVerdict, GeneralReason};

use super::Host;

/// Tells one secret from another without keeping it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

/// Why a secret is withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Wrong user name or password. Each such logon brings the account nearer to being locked.
    Rejected,
    /// The account is locked.
    Locked,
    /// The account is disabled or has expired.
    Disabled,
    /// The password has expired or must be changed.
    PasswordExpired,
}

impl Refusal {
    pub const ALL: [Self; 4] = [Self::Rejected, Self::Locked, Self::Disabled, Self::PasswordExpired];

    /// What a verdict says against a secret, if it does.
    #[must_use]
    pub const fn of(verdict: CredentialVerdict) -> Option<Self> {
        match verdict {
            CredentialVerdict::Rejected => Some(Self::Rejected),
            CredentialVerdict::Locked => Some(Self::Locked),
            CredentialVerdict::Disabled => Some(Self::Disabled),
            CredentialVerdict::PasswordExpired => Some(Self::PasswordExpired),
            CredentialVerdict::Accepted | CredentialVerdict::Unsuitable | CredentialVerdict::Unknown => None,
        }
    }

    /// The word for labels, logs and the state file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Locked => "locked",
            Self::Disabled => "disabled",
            Self::PasswordExpired => "password_expired",
        }
    }

    /// What a target says that does not get the secret because of it: the same as the one that was refused.
    #[must_use]
    pub const fn reason(self) -> GeneralReason {
        match self {
            Self::Rejected => GeneralReason::WrongCredentials,
            Self::Locked => GeneralReason::AccountLocked,
            Self::Disabled => GeneralReason::AccountDisabled,
            Self::PasswordExpired => GeneralReason::PasswordExpired,
        }
    }

    /// Whether it counts as a wrong password. If it does not, a later attempt costs nothing but a logon.
    pub(crate) const fn is_wrong_password(self) -> bool {
        matches!(self, Self::Rejected)
    }

    /// How long the secret is not tried again.
    pub(crate) fn pause(self, cooldown: Duration) -> Duration {
        if self.is_wrong_password() { cooldown } else { cooldown.min(ACCOUNT_PAUSE) }
    }
}

/// An account that was locked, disabled or without a valid password may be good again soon, by somebody else's hands.
const ACCOUNT_PAUSE: Duration = Duration::from_secs(300);

/// A verdict against a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub refusal: Refusal,
    /// Which host said so.
    pub host: Host,
    /// When, in Unix seconds.
    pub since_unix_s: u64,
}

/// A secret that is not tried because it was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// What a host said.
    pub refused: Refused,
    /// How long from then on, for the host that asks.
    pub pause: Duration,
    /// Whether [`Guard::retry`](super::Guard::retry) would end it now.
    pub may_be_retried: bool,
}

/// The answer to a host that asks for a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Lease,
    /// Others try it now.
    Wait,
    Withheld(Withheld),
    /// This host does not get it, others do.
    LeftOut(Withheld),
}

/// A verdict that changed something: what to log, count and keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Accepted,
    /// One host refuses what others accepted: that host is left out.
    Doubted(Refused),
    /// It was refused and is withheld from now on.
    Refused(Withheld),
}

/// What is known of an account's secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing: the next host tries it.
    Untried,
    /// One host tries it; the others wait.
    Trial,
    /// It was accepted, and is not withheld.
    Accepted,
    Refused(Refused),
}

/// What one process leaves to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// The refusal because of which the secret is withheld.
    pub withheld: Option<Refused>,
    /// The host whose acceptance counts.
    pub accepted_by: Option<Host>,
    /// Hosts whose acceptance a refusal used up.
    pub used_up: Vec<Host>,
    /// Hosts that are left out.
    pub doubted: Vec<Refused>,
}
