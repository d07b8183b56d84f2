use wire::FileTime;

use crate::{Error, SessionKey};

/// One authentication, and the protection of messages that follows from it.
///
/// Call [`step`](Self::step) until it answers [`Step::Done`], everything else only after that.
pub trait SecurityContext: Send {
    /// Takes the peer's token and answers with ours. A client's first call takes an empty token.
    ///
    /// # Errors
    /// If the peer's token is malformed or authentication fails. The context is unusable then.
    fn step(&mut self, token: &[u8]) -> Result<Step, Error>;

    /// The key that both sides share.
    ///
    /// # Errors
    /// Before [`Step::Done`].
    fn session_key(&self) -> Result<SessionKey, Error>;

    /// Bytes of a signature, for building a header that contains this length. Known after [`Step::Done`].
    fn signature_len(&self, protection: Protection) -> usize;

    /// Protects an outgoing message: fills the signature and, for privacy, encrypts the body in place.
    ///
    /// # Errors
    /// Before [`Step::Done`], or when the signature buffer has the wrong length.
    fn wrap(&mut self, message: Message<'_>) -> Result<(), Error>;

    /// Checks an incoming message and, for privacy, decrypts the body in place.
    ///
    /// # Errors
    /// When the message was altered, repeated or left out. Any error is terminal for the context.
    fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error>;

    /// [MS-RPCE] 2.2.2.3 `PFC_SUPPORT_HEADER_SIGN`: whether both sides sign header and trailer of messages. NTLM signs them
    /// in any case.
    fn set_header_signing(&mut self, _signs_headers: bool) {}

    /// What the peer has said about itself so far.
    fn peer(&self) -> Peer;
}

/// What [`SecurityContext::step`] asks for next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Send the token; the peer's answer goes into the next step.
    Continue(Vec<u8>),
    /// The context is established; a last token may have to be sent.
    Done(Option<Vec<u8>>),
}

/// How a message is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    Integrity,
    /// Signed, and the body encrypted.
    Privacy,
}

/// The parts of one message, in the order in which they are signed: header, body, trailer.
#[derive(Debug)]
pub struct Message<'a> {
    /// Whether the body is encrypted.
    pub protection: Protection,
    /// Signed and sent in the clear.
    pub header: &'a [u8],
    /// Signed, and encrypted for privacy.
    pub body: &'a mut [u8],
    /// Signed and sent in the clear.
    pub trailer: &'a [u8],
    pub signature: &'a mut [u8],
}

impl Message<'_> {
    pub(crate) const fn check_signature_len(&self, expected: usize) -> Result<(), Error> {
        let actual = self.signature.len();
        if actual == expected { Ok(()) } else { Err(Error::SignatureLength { expected, actual }) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mechanism {
    /// NTLM without a wrapper.
    Ntlm,
    /// SPNEGO, which selects what the credentials are for.
    Negotiate,
    /// Kerberos without a wrapper.
    Kerberos,
}

/// What the context is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// An SMB session: only the session key is used.
    Smb,
    /// RPC, which asks for DCE style: every leg has an answer.
    Rpc,
}

/// [MS-RPCE] 2.2.1.1.9: what a server may do in the name of its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ImpersonationLevel {
    /// `RPC_C_IMPL_LEVEL_IDENTIFY`: learn who the client is, and check what it may do.
    Identify,
    /// `RPC_C_IMPL_LEVEL_IMPERSONATE`: act as the client on the server itself. NTLM permits this unless the client says
    /// otherwise.
    #[default]
    Impersonate,
}

/// How a client authenticates.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// One that the credentials are for.
    pub mechanism: Mechanism,
    /// The service that is asked for, as `cifs/host`; the server can refuse a response meant for another.
    pub target_name: String,
    pub usage: Usage,
    /// What the server may do in the name of the account.
    pub impersonation: ImpersonationLevel,
}

impl ClientOptions {
    /// Puts the three together. The server may impersonate the account.
    #[must_use]
    pub fn new(mechanism: Mechanism, target_name: impl Into<String>, usage: Usage) -> Self {
        Self {
            mechanism,
            target_name: target_name.into(),
            usage,
            impersonation: ImpersonationLevel::default(),
        }
    }
}

/// What one side knows of the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// On a client, names and version that the server sent.
    pub server: Option<ServerInfo>,
    /// On a server, whom the client says it is. Proven after [`Step::Done`] only.
    pub account: Option<Account>,
}

/// Names and version that a server sends before authentication ([MS-NLMP] 2.2.1.2). They are not authenticated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerInfo {
    /// The realm of the account database: a domain, or the server itself.
    pub target_name: Option<String>,
    /// What documents call `MsvAvNbComputerName`.
    pub netbios_computer: Option<String>,
    /// What documents call `MsvAvNbDomainName`.
    pub netbios_domain: Option<String>,
    /// What documents call `MsvAvDnsComputerName`.
    pub dns_computer: Option<String>,
    /// What documents call `MsvAvDnsDomainName`.
    pub dns_domain: Option<String>,
    /// What documents call `MsvAvDnsTreeName`.
    pub dns_tree: Option<String>,
    /// The operating system, for diagnosis only.
    pub os_version: Option<OsVersion>,
    pub timestamp: Option<FileTime>,
}

/// `VERSION` of [MS-NLMP] 2.2.2.10.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OsVersion {
    /// 10 for every Windows since 2015.
    pub major: u8,
    pub minor: u8,
    /// Build number, which identifies the release.
    pub build: u16,
}

impl core::fmt::Display for OsVersion {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.build)
    }
}

/// A domain and a user in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// As the client wrote it; empty where it named none.
    pub domain: String,
    /// As the client wrote it.
    pub user: String,
    /// What the client permits.
    pub impersonation: ImpersonationLevel,
}
