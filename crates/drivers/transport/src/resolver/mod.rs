//! Addresses of host names, found without blocking a thread.
//!
//! A [`Resolver`] reads what the C library reads: `/etc/hosts` and `/etc/resolv.conf` with its name servers, search
//! domains, `ndots`, `timeout` and `attempts`. Both files are read again when they change. It asks DNS only: other
//! services of `nsswitch.conf` (mDNS, NIS, LDAP) are not asked.
//!
//! Slow names do not hold up other names:
//!
//! - Addresses and names of the hosts file are answered at once, without any query.
//! - Callers of the same name share one look-up. A look-up is cancelled when its last caller drops it.
//! - The number of look-ups in flight is limited. When the limit is reached, the oldest one ends with
//!   [`LookupError::TimedOut`] and makes room.
//! - When a name server is silent for a second, the next server is asked as well.
//! - When the name servers are silent or fail, the last good addresses of a name are used for up to an hour.
//!
//! Hickory asks one server one question. Its own hosts file, search list and cache are not used: its hosts file ends at the first
//! line that is not UTF-8; its search list asks a silent server once for each domain; its cache forgets an address when its time
//! is over, and that is when the last good ones are needed.
//!
//! | module | job |
//! | --- | --- |
//! | `lookup` | one call from name to addresses |
//! | `flights` | look-ups in flight: shared, limited, ended |
//! | `answers` | addresses that were found earlier |
//! | `system` | the two files of the machine |
//! | `servers` | queries to the name servers |
//! | `order` | which address to try first |
//! | `literal` | addresses that are written as a name |

mod answers;
mod flights;
mod literal;
mod lookup;
mod order;
mod servers;
mod system;

pub use self::literal::literal;
pub use self::lookup::{Limits, Resolver};
pub use self::system::Files;

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
