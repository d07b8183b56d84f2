//! Stages and reasons of failures at one host, with advice, which only the text of `SessionError` has: logs and pages show
//! `next_step` of `plugin-abi`, whose words these are. `classify` says which status becomes which, `error` the same of connecting.

use core::fmt;

/// The stages of an operation on a host. The words are those of the plugins' header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Finding the host's address.
    Dns,
    Tcp,
    /// Agreeing on an SMB dialect.
    Smb,
    Auth,
    /// Connecting `IPC$` and opening the pipe.
    Pipe,
    Bind,
    Query,
    /// Decoding what the calls returned.
    Decode,
}

impl Stage {
    /// All of them, in order.
    pub const ALL: [Self; 8] =
        [Self::Dns, Self::Tcp, Self::Smb, Self::Auth, Self::Pipe, Self::Bind, Self::Query, Self::Decode];

    /// The word for labels and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Tcp => "tcp",
            Self::Smb => "smb",
            Self::Auth => "auth",
            Self::Pipe => "pipe",
            Self::Bind => "bind",
            Self::Query => "query",
            Self::Decode => "decode",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why an operation on a host failed: a closed list, whose words are those of the plugins' header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    Timeout,
    /// The name has no address.
    NameNotFound,
    /// No name server answered in time.
    NameLookupTimedOut,
    /// The name servers could not resolve the name.
    NameServerFailed,
    /// Nothing listens on the port.
    ConnectionRefused,
    /// There is no route to the host.
    Unreachable,
    /// The host, or something before it, ended the connection.
    ConnectionReset,
    /// The host violates the protocol.
    ProtocolError,
    /// The host speaks SMB1 only, or nothing from SMB 2.1 on.
    Smb1Only,
    /// One side demands encryption, the other has none.
    EncryptionRequired,
    /// The host does not sign, or its messages were altered.
    SigningRequired,
    /// User name or password are wrong.
    WrongCredentials,
    /// The account is locked.
    AccountLocked,
    /// The account is disabled or has expired.
    AccountDisabled,
    /// The password has expired or must be changed first.
    PasswordExpired,
    /// The account may not log on at this host, at this time or in this way.
    LogonRestricted,
    /// A clock differs by more than Kerberos permits.
    ClockSkew,
    /// The KDC has no such account.
    UnknownPrincipal,
    /// The KDC has no service of the host's name, or several.
    UnknownService,
    /// No encryption type is permitted on all sides.
    EncryptionType,
    /// A ticket's time is over.
    TicketExpired,
    /// No KDC of the realm answers.
    KdcUnreachable,
    /// The host has another key for the service than the KDC.
    KeyVersion,
    /// This machine has no Kerberos library.
    NoKerberos,
    /// The account lacks a right.
    AccessDenied,
    /// The host's remote registry service does not run.
    RemoteRegistryStopped,
    /// The host does not have the requested object.
    NotFound,
    /// A limit of this side was exceeded.
    LimitExceeded,
    MalformedReply,
    /// The host reports that it failed.
    ServerFault,
    /// The host is overloaded.
    Busy,
    /// A bug on this side.
    Internal,
    Other,
}

impl Reason {
    pub const ALL: [Self; 33] = [
        Self::Timeout,
        Self::NameNotFound,
        Self::NameLookupTimedOut,
        Self::NameServerFailed,
        Self::ConnectionRefused,
        Self::Unreachable,
        Self::ConnectionReset,
        Self::ProtocolError,
        Self::Smb1Only,
        Self::EncryptionRequired,
        Self::SigningRequired,
        Self::WrongCredentials,
        Self::AccountLocked,
        Self::AccountDisabled,
        Self::PasswordExpired,
        Self::LogonRestricted,
        Self::ClockSkew,
        Self::UnknownPrincipal,
        Self::UnknownService,
        Self::EncryptionType,
        Self::TicketExpired,
        Self::KdcUnreachable,
        Self::KeyVersion,
        Self::NoKerberos,
        Self::AccessDenied,
        Self::RemoteRegistryStopped,
        Self::NotFound,
        Self::LimitExceeded,
        Self::MalformedReply,
        Self::ServerFault,
        Self::Busy,
        Self::Internal,
        Self::Other,
    ];

    /// The word for labels and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::NameNotFound => "name_not_found",
            Self::NameLookupTimedOut => "name_lookup_timed_out",
            Self::NameServerFailed => "name_server_failed",
            Self::ConnectionRefused => "connection_refused",
            Self::Unreachable => "unreachable",
            Self::ConnectionReset => "connection_reset",
            Self::ProtocolError => "protocol_error",
            Self::Smb1Only => "smb1_only",
            Self::EncryptionRequired => "encryption_required",
            Self::SigningRequired => "signing_required",
            Self::WrongCredentials => "wrong_credentials",
            Self::AccountLocked => "account_locked",
            Self::AccountDisabled => "account_disabled",
            Self::PasswordExpired => "password_expired",
            Self::LogonRestricted => "logon_restricted",
            Self::ClockSkew => "clock_skew",
            Self::UnknownPrincipal => "unknown_principal",
            Self::UnknownService => "unknown_service",
            Self::EncryptionType => "encryption_type",
            Self::TicketExpired => "ticket_expired",
            Self::KdcUnreachable => "kdc_unreachable",
            Self::KeyVersion => "key_version",
            Self::NoKerberos => "no_kerberos",
            Self::AccessDenied => "access_denied",
            Self::RemoteRegistryStopped => "remote_registry_stopped",
            Self::NotFound => "not_found",
            Self::LimitExceeded => "limit_exceeded",
            Self::MalformedReply => "malformed_reply",
            Self::ServerFault => "server_fault",
            Self::Busy => "busy",
            Self::Internal => "internal",
            Self::Other => "other",
        }
    }

    /// What to do next, for readers who know Windows and not this program.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Timeout => {
                "see whether the host is up, whether a firewall drops TCP port 445, and whether the deadline is long enough"
            }
            Self::NameNotFound => "check the spelling of the host's name and the resolver of this machine",
            Self::NameLookupTimedOut => {
                "see whether the name servers in /etc/resolv.conf of this machine answer for the host's name"
            }
            Self::NameServerFailed => "look at the name servers in /etc/resolv.conf of this machine",
            Self::ConnectionRefused => {
                "see whether the host's Server service runs and listens on TCP port 445"
            }
            Self::Unreachable => "check routes and firewalls between this machine and the host",
            Self::ConnectionReset => "see whether a firewall or the host itself ends the connection",
            Self::ProtocolError => "see whether the port belongs to an SMB server, and record the traffic",
            Self::Smb1Only => "enable SMB 2.1 or later on the host; older dialects are not spoken here",
            Self::EncryptionRequired => "enable SMB encryption on both sides, or do not require it",
            Self::SigningRequired => {
                "look for something between this machine and the host that changes traffic, and see that the account is not mapped to guest"
            }
            Self::WrongCredentials => "correct user name, domain or password of the identity",
            Self::AccountLocked => "unlock the account, and find out who locks it",
            Self::AccountDisabled => "enable the account, or name another one",
            Self::PasswordExpired => "set a new password for the account",
            Self::LogonRestricted => {
                "allow the account to log on to this host over the network, at this time and with NTLM, or use Kerberos"
            }
            Self::ClockSkew => "set the clocks of this machine and of the host by the domain's time",
            Self::UnknownPrincipal => "compare principal and realm with the account's name in the domain",
            Self::UnknownService => "name the host as in its domain, or set its service principal",
            Self::EncryptionType => {
                "permit AES for the account and the host, and change the account's password once"
            }
            Self::TicketExpired => "renew the credential cache",
            Self::KdcUnreachable => "see whether a KDC of the realm is known and answers on port 88",
            Self::KeyVersion => {
                "see that one account alone has the service's name, and that the host's secure channel works"
            }
            Self::NoKerberos => "install libgssapi-krb5-2 (Debian, Ubuntu) or krb5-libs (Fedora, RHEL)",
            Self::AccessDenied => "add the account to the host's group Performance Monitor Users",
            Self::RemoteRegistryStopped => {
                "start the host's service RemoteRegistry and set it to start by itself"
            }
            Self::NotFound => "see whether the host has what the configuration asks for",
            Self::LimitExceeded => "ask the host for less, or raise the limit",
            Self::MalformedReply => "record the traffic and report it",
            Self::ServerFault => "look into the host's event log",
            Self::Busy => "try again later, and see how much the host has to do",
            Self::Internal | Self::Other => "report it together with the log",
        }
    }

    /// What the reason means for the credentials, if it arose during authentication.
    #[must_use]
    pub const fn verdict(self) -> Option<Verdict> {
        match self {
            Self::WrongCredentials => Some(Verdict::Rejected),
            Self::AccountLocked => Some(Verdict::Locked),
            Self::AccountDisabled => Some(Verdict::Disabled),
            Self::PasswordExpired => Some(Verdict::PasswordExpired),
            // Tickets of another cache may be made with the host's new key.
            Self::KeyVersion => Some(Verdict::Rejected),
            Self::UnknownService | Self::KdcUnreachable | Self::NoKerberos => Some(Verdict::Unsuitable),
            _ => None,
        }
    }
}

const _: () = assert!(Stage::ALL.len() == Stage::Decode as usize + 1, "`Stage::ALL` lacks a stage");
const _: () = assert!(Reason::ALL.len() == Reason::Other as usize + 1, "`Reason::ALL` lacks a reason");

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The host's verdict on our credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    Accepted,
    /// They are wrong; other hosts would refuse them, too.
    Rejected,
    /// The account is locked.
    Locked,
    /// The account is disabled or has expired.
    Disabled,
    /// The password has expired or must be changed.
    PasswordExpired,
    /// The host cannot be logged on to with tickets; a password may do.
    Unsuitable,
    /// The host gave no verdict.
    Unknown,
}
