use core::fmt;
use std::io;
use std::net::IpAddr;

use crate::Endpoint;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[error("connect to {}: {stage}: {}", self.place(), self.what())]
pub struct ConnectError {
    pub endpoint: Endpoint,
    /// The addresses that were tried; none before the name is resolved.
    pub addresses: Vec<IpAddr>,
    /// The stage that failed.
    pub stage: ConnectStage,
    pub kind: ConnectErrorKind,
    /// The error of the operating system or the resolver.
    #[source]
    pub source: Option<io::Error>,
}

impl ConnectError {
    /// The endpoint as it was named, followed by the addresses that were tried.
    #[must_use]
    pub fn place(&self) -> String {
        self.endpoint.with_addresses(&self.addresses)
    }

    /// What went wrong, with the error of the operating system or the resolver if that adds details.
    #[must_use]
    pub fn what(&self) -> String {
        let says_all = matches!(
            self.kind,
            ConnectErrorKind::ConnectionRefused
                | ConnectErrorKind::ConnectionReset
                | ConnectErrorKind::Timeout
        );
        match &self.source {
            Some(source) if !says_all => format!("{} ({source})", self.kind),
            _ => self.kind.to_string(),
        }
    }
}

/// The two stages of connecting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectStage {
    /// Finding addresses for the name.
    Dns,
    /// Opening a connection to one of them.
    Tcp,
}

/// A closed list of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConnectErrorKind {
    /// No address is known for the name.
    NameNotFound,
    /// No name server answered in time.
    NameLookupTimedOut,
    /// The name servers could not resolve the name.
    NameServerFailed,
    /// The host is up, and nothing listens on the port.
    ConnectionRefused,
    /// There is no route to the host.
    Unreachable,
    /// Nothing answered in time.
    Timeout,
    /// The connection was opened and reset at once.
    ConnectionReset,
    /// Something else; see the source.
    Other,
}

impl ConnectErrorKind {
    /// The word for labels and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NameNotFound => "name_not_found",
            Self::NameLookupTimedOut => "name_lookup_timed_out",
            Self::NameServerFailed => "name_server_failed",
            Self::ConnectionRefused => "connection_refused",
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
            Self::ConnectionReset => "connection_reset",
            Self::Other => "other",
        }
    }

    pub(crate) fn of(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::ConnectionRefused,
            io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown
            | io::ErrorKind::AddrNotAvailable => Self::Unreachable,
            io::ErrorKind::TimedOut => Self::Timeout,
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => Self::ConnectionReset,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for ConnectErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NameNotFound => "the name has no address",
            Self::NameLookupTimedOut => "no name server answered in time",
            Self::NameServerFailed => "the name servers could not look the name up",
            Self::ConnectionRefused => "connection refused",
            Self::Unreachable => "host unreachable",
            Self::Timeout => "no answer in time",
            Self::ConnectionReset => "connection reset",
            Self::Other => "failed",
        })
    }
}

impl fmt::Display for ConnectStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dns => "dns",
            Self::Tcp => "tcp",
        })
    }
}
