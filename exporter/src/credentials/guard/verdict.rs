use super::Host;

/// Tells one secret from another without keeping it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

/// Why a secret is withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Wrong user name or password.
    Rejected,
    /// The account is locked, disabled or expired.
    Locked,
}

impl Refusal {
    /// The word for labels, logs and the state file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Locked => "locked",
        }
    }
}

/// A verdict against a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub refusal: Refusal,
    /// Which host said so.
    pub host: Host,
    /// When, in Unix seconds.
    pub since_unix_s: u64,
}

/// The answer to a host that asks for a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Hand it out.
    Lease,
    /// Others try it now.
    Wait,
    /// It is withheld.
    Withheld(Refused),
    /// This host does not get it, others do.
    LeftOut(Refused),
}

/// A verdict that changed something: what to log, count and keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is good.
    Accepted,
    /// One host refuses what others accepted: that host is left out.
    Doubted(Refused),
    /// It was refused and is withheld from now on.
    Refused(Refused),
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
    /// It is withheld.
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
