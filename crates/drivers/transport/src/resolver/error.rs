/// Why a name has no address: a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LookupErrorKind {
    /// No name server answered in time.
    TimedOut,
    /// A name server said that there is no such name, or that it has no address.
    NotFound,
    /// The name servers failed or could not be reached.
    ServerFailed,
}

/// Why a name has no address, with details for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// No name server answered in time.
    #[error("no name server answered in time")]
    TimedOut,
    /// A name server said that there is no such name, or that it has no address.
    #[error("{0}")]
    NotFound(String),
    /// The name servers failed or could not be reached.
    #[error("{0}")]
    ServerFailed(String),
}

impl LookupError {
    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> LookupErrorKind {
        match self {
            Self::TimedOut => LookupErrorKind::TimedOut,
            Self::NotFound(_) => LookupErrorKind::NotFound,
            Self::ServerFailed(_) => LookupErrorKind::ServerFailed,
        }
    }
}

impl LookupErrorKind {
    /// The word for labels and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TimedOut => "name_lookup_timed_out",
            Self::NotFound => "name_not_found",
            Self::ServerFailed => "name_server_failed",
        }
    }

    /// What happened, as a sentence.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::TimedOut => "No name server answered in time.",
            Self::NotFound => "The target's name does not resolve.",
            Self::ServerFailed => "The name servers could not resolve the name.",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::TimedOut => {
                "Check whether the name servers of /etc/resolv.conf answer for this name; the exporter \
                 retries automatically."
            }
            Self::NotFound => {
                "Check the spelling of the host, and the search domains in /etc/resolv.conf of this machine."
            }
            Self::ServerFailed => {
                "Check the name servers of /etc/resolv.conf and their logs; the exporter retries \
                 automatically."
            }
        }
    }
}
