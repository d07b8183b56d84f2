//! Stages and general reasons of failures: two closed lists.
//!
//! A new one goes also into the header, `raw/constants.rs` and `docs/troubleshooting.md`; if sessions have it, into `reason.rs` of
//! `host-session` and `failure.rs` of `plugin-session`.

use core::fmt;

/// A stage of a collection. Time, calls, bytes and failures are assigned to stages.
///
/// The declaration order is the order in which a collection passes them.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Resolving the target's name.
    Dns = 1,
    Tcp = 2,
    /// SMB negotiation, tree and file operations.
    Smb = 3,
    Auth = 4,
    /// Opening the named pipe.
    Pipe = 5,
    /// Binding the RPC association.
    Bind = 6,
    /// Calling the target's methods.
    Query = 7,
    Decode = 8,
    /// The plugin itself, or its interface to the exporter.
    Plugin = 9,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Self; 9] = [
        Self::Dns,
        Self::Tcp,
        Self::Smb,
        Self::Auth,
        Self::Pipe,
        Self::Bind,
        Self::Query,
        Self::Decode,
        Self::Plugin,
    ];

    /// The number on the ABI.
    #[must_use]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The stage with this number, if this version knows it.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.code() == code)
    }

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
            Self::Plugin => "plugin",
        }
    }

    /// What happens in it, as a sentence for people.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Dns => "The host's name is looked up.",
            Self::Tcp => "A connection to the host's port is opened.",
            Self::Smb => "SMB is negotiated: dialect, signing, encryption.",
            Self::Auth => "The identity logs on.",
            Self::Pipe => "The service's named pipe is opened.",
            Self::Bind => "The RPC interface is bound on the pipe, with sealed calls.",
            Self::Query => "Counters are queried.",
            Self::Decode => "The reply is decoded.",
            Self::Plugin => "The plugin itself works, without the host.",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! general_reasons {
    ($($variant:ident = $code:literal, $word:literal, $sentence:literal, $next_step:literal;)*) => {
        /// General reasons for failures of collections.
        ///
        /// A source can declare up to [`crate::raw::DECLARED_REASONS_MAX`] more.
        #[repr(u32)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum GeneralReason {
            $(#[doc = $sentence] $variant = $code,)*
        }

        impl GeneralReason {
            /// All general reasons in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word for labels and logs.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// What happened, as a sentence for people.
            #[must_use]
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)* }
            }

            /// What to do about it.
            #[must_use]
            pub const fn next_step(self) -> &'static str {
                match self { $(Self::$variant => $next_step,)* }
            }
        }
    };
}

general_reasons! {
    Timeout = 1, "timeout",
        "The deadline passed before the answer came.",
        "Check that the host is up and that no firewall drops packets (SMB: TCP 445, rule `File and Printer Sharing (SMB-In)`); raise the deadline if the host is only slow.";
    Cancelled = 2, "cancelled",
        "The collection was cancelled before it ended.",
        "Nothing: the exporter was reloaded or is stopping.";
    NameNotFound = 3, "name_not_found",
        "The target's name does not resolve.",
        "Check the spelling of the host and the resolver of this machine.";
    ConnectionRefused = 4, "connection_refused",
        "The host refused the connection: nothing listens on the port.",
        "Check that the service is started and that the host's firewall allows its port (SMB: TCP 445, rule `File and Printer Sharing (SMB-In)`).";
    Unreachable = 5, "unreachable",
        "There is no network route to the host.",
        "Check the network and the firewall between this machine and the host.";
    ConnectionReset = 6, "connection_reset",
        "The peer closed the connection.",
        "Check the host's event log for the reason; the exporter retries automatically.";
    ProtocolError = 7, "protocol_error",
        "The peer violated the protocol.",
        "Check that the port belongs to the expected service; otherwise report it with a network capture.";
    Smb1Only = 8, "smb1_only",
        "The server supports only SMB 1.",
        "Enable SMB 2.1 or later on the host; SMB 1 is refused because it is insecure.";
    EncryptionRequired = 9, "encryption_required",
        "One side requires SMB encryption and the other does not offer it.",
        "Enable SMB 3 encryption on the host, or set the transport's encryption to preferred.";
    SigningRequired = 10, "signing_required",
        "Messages arrived unsigned or the security negotiation was tampered with.",
        "Enable signing on the host; if it is enabled, a device in between changes the traffic.";
    WrongCredentials = 11, "wrong_credentials",
        "The user name or the password was refused.",
        "Correct the identity's user name and secret; until they change, they are rarely tried again.";
    AccountLocked = 12, "account_locked",
        "The account is locked.",
        "Unlock the account and find the source of the wrong passwords.";
    AccountDisabled = 13, "account_disabled",
        "The account is disabled or has expired.",
        "Enable the account or use another identity.";
    PasswordExpired = 14, "password_expired",
        "The password has expired or must be changed.",
        "Set a new password and put it into the identity's secret.";
    LogonRestricted = 15, "logon_restricted",
        "The account may not log on from here, at this time, or over the network.",
        "Grant the account the right to access the computer from the network.";
    CredentialsWithheld = 16, "credentials_withheld",
        "The exporter may not give the credentials to this target, or cannot read them.",
        "Add the host to the identity's allow_hosts, or make the file of the password, keys or tickets readable.";
    AccessDenied = 17, "access_denied",
        "The account logged on but lacks the required right.",
        "Add the account to the group Performance Monitor Users on the host.";
    RemoteRegistryStopped = 18, "remote_registry_stopped",
        "The Remote Registry service, which serves the counters, is not running.",
        "Start the service RemoteRegistry on the host and set it to start by trigger or automatically.";
    NotFound = 19, "not_found",
        "The requested object does not exist on the target.",
        "Compare the names in the module with what the target offers.";
    LimitExceeded = 20, "limit_exceeded",
        "A reply or its series exceeded a limit.",
        "Select less, or raise the limit that the message names.";
    MalformedReply = 21, "malformed_reply",
        "A reply could not be decoded.",
        "Report it with the message; the rest of the target is still collected.";
    ServerFault = 22, "server_fault",
        "The server failed while it executed the call.",
        "Check the host's event log; the message has the status.";
    Busy = 23, "busy",
        "The server has no capacity for the call now.",
        "Wait at first: the exporter retries; reduce the number of clients if it continues.";
    Internal = 24, "internal",
        "The plugin, or the exporter, failed because of a bug of its own.",
        "Report it with the log.";
    Other = 25, "other",
        "None of the other reasons applies.",
        "Read the message.";
    Panicked = 26, "panicked",
        "The plugin panicked; the panic was contained.",
        "Report it with the log; the instance is restarted after a pause.";
    Quarantined = 27, "quarantined",
        "The plugin violated its contract on this target and is paused.",
        "Read in the log what it did; it is retried automatically.";
    ClockSkew = 28, "clock_skew",
        "A clock differs by more than Kerberos permits, which is 5 minutes by default.",
        "Set this machine's clock and the host's by the domain's time (chronyc tracking; w32tm /query /status).";
    UnknownPrincipal = 29, "unknown_principal",
        "The KDC has no account of the identity's name.",
        "Compare the identity's principal and realm with the account's name in the domain; a realm is written in capitals.";
    UnknownService = 30, "unknown_service",
        "The KDC has no service of the host's name, or more than one.",
        "Name the host as in its domain, or set the target's service_principal; `setspn -Q` shows which account has the name.";
    EncryptionType = 31, "encryption_type",
        "No encryption type is permitted on all sides.",
        "Permit AES for the account and the host (msDS-SupportedEncryptionTypes), and change the account's password once so that it gets AES keys.";
    TicketExpired = 32, "ticket_expired",
        "The time of a Kerberos ticket is over.",
        "Renew the credential cache, if the identity has one; otherwise the exporter gets a new ticket by itself.";
    KdcUnreachable = 33, "kdc_unreachable",
        "No KDC of the realm answers, or none is known.",
        "Check the DNS records _kerberos._udp and _kerberos._tcp of the realm or the identity's kdc, and that port 88 is open to it.";
    NoKeytabEntry = 34, "no_keytab_entry",
        "The keytab has no key of the principal.",
        "Compare the identity's principal with what `klist -kt FILE` shows, and make the keytab again.";
    KeyVersion = 35, "key_version",
        "A ticket was made with another key of the service than the host has.",
        "Check that one account alone has the service's name (`setspn -X`), and that the host's secure channel works (Test-ComputerSecureChannel).";
    NoKerberos = 36, "no_kerberos",
        "This machine has no Kerberos library.",
        "Install libgssapi-krb5-2 (Debian, Ubuntu) or krb5-libs (Fedora, RHEL), and start the exporter again.";
}

impl GeneralReason {
    /// The number on the ABI.
    #[must_use]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The reason with this number, if this version knows it.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.code() == code)
    }
}

impl fmt::Display for GeneralReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
