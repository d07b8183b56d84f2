use wire::DecodeError;

/// Why an authentication or a message was refused. No variant holds a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The client names an account that the server does not have.
    #[error("unknown account `{domain}\\{user}`")]
    UnknownAccount {
        /// As the client wrote it.
        domain: String,
        /// As the client wrote it.
        user: String,
    },
    /// The client's response was not made with the account's password.
    #[error("bad password for account `{domain}\\{user}`")]
    BadPassword {
        /// As the client wrote it.
        domain: String,
        /// As the client wrote it.
        user: String,
    },
    /// The client wants to come in without a name.
    #[error("anonymous logon refused")]
    Anonymous,
    /// The client proves an account whose password, and so whose keys, the server does not have.
    #[error(
        "the keys of account `{domain}\\{user}` are not known here: it can be taken at the level connect alone"
    )]
    UnknownKeys {
        /// As the client wrote it.
        domain: String,
        /// As the client wrote it.
        user: String,
    },
    /// The client offers no mechanism that the server has.
    #[error("the client offers no {wanted}, but {offered}")]
    NoCommonMechanism { wanted: &'static str, offered: &'static str },
    /// The other side does not give what was asked for to protect messages.
    #[error("the other side does not agree to {missing}")]
    WeakSession {
        /// What it leaves out.
        missing: &'static str,
    },
    /// The client answers with NTLMv1, which is not accepted.
    #[error("the client's response is not NTLMv2")]
    NotNtlmV2,
    /// The client's messages, or ours, were changed on their way.
    #[error("the message integrity code does not fit the messages")]
    WrongIntegrityCode,
    /// A token that breaks its layout.
    #[error("malformed token")]
    MalformedToken(#[source] DecodeError),
    /// A token that is well formed and does not belong here.
    #[error("unexpected token: {reason}")]
    UnexpectedToken {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The authentication package refuses.
    #[error("{doing}")]
    Package {
        /// What was being done.
        doing: &'static str,
        /// What the package says.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A message does not carry the signature that its content needs, or is not the one that comes next.
    #[error("message altered, repeated or left out")]
    MessageAltered {
        /// What the package says.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Something was asked of a context that is not established yet.
    #[error("security context is not established")]
    NotEstablished,
    /// A step after the last, or after a failure.
    #[error("security context takes no more tokens")]
    Finished,
    /// A signature buffer of the wrong length.
    #[error("a signature has {expected} bytes, not {actual}")]
    SignatureLength { expected: usize, actual: usize },
    /// Kerberos of the system cannot be had.
    #[error(transparent)]
    NoKerberos(#[from] gssapi::LoadError),
    /// What a KDC or the library of the system says.
    #[error(transparent)]
    Kerberos(#[from] gssapi::Error),
    /// A KDC, or the network before it, refuses the account's own key or gives no ticket with it.
    #[error(transparent)]
    Kdc(gssapi::Error),
    /// A session whose key is of a type that is not spoken here.
    #[error("the session's key is of type {name}, which is not spoken here")]
    EncryptionType {
        /// As krb5.conf calls it.
        name: String,
    },
    /// Credentials that no package takes.
    #[error("invalid `{field}` in credentials: {reason}")]
    InvalidCredentials {
        field: &'static str,
        /// The rule that it breaks.
        reason: &'static str,
    },
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Self::MalformedToken(error)
    }
}
