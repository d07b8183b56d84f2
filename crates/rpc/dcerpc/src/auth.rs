use ssp::Protection;
use wire::open_enum;

open_enum! {
    /// [MS-RPCE] 2.2.1.1.8: how much of a call is protected.
    #[doc(alias = "RPC_C_AUTHN_LEVEL")]
    pub struct AuthLevel(u8) {
        /// The server's default; never on the wire.
        DEFAULT = 0,
        NONE = 1,
        /// The client says who it is when it connects, and nothing after that.
        CONNECT = 2,
        CALL = 3,
        /// Each fragment says who sent it.
        PKT = 4,
        /// Each fragment is signed.
        PKT_INTEGRITY = 5,
        /// Each fragment is signed, its stub data encrypted.
        PKT_PRIVACY = 6,
    }
}

impl AuthLevel {
    /// What a fragment of a call goes through at this level, if anything.
    #[must_use]
    pub const fn protection(self) -> Option<Protection> {
        match self {
            Self::PKT_PRIVACY => Some(Protection::Privacy),
            Self::CALL | Self::PKT | Self::PKT_INTEGRITY => Some(Protection::Integrity),
            _ => None,
        }
    }
}

open_enum! {
    /// [MS-RPCE] 2.2.1.1.7: the security provider.
    #[doc(alias = "RPC_C_AUTHN")]
    pub struct AuthService(u8) {
        NONE = 0,
        GSS_NEGOTIATE = 9,
        WINNT = 10,
        GSS_SCHANNEL = 14,
        GSS_KERBEROS = 16,
        NETLOGON = 68,
        /// The system's default; never on the wire.
        DEFAULT = 255,
    }
}

/// What a client asks for in its bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auth {
    /// [`AuthLevel::PKT_INTEGRITY`] or [`AuthLevel::PKT_PRIVACY`]; [`AuthLevel::CONNECT`] protects no call.
    pub level: AuthLevel,
    /// Has to be that of the security context.
    pub service: AuthService,
    /// Names the security context within the association; any number.
    pub context_id: u32,
}

impl Auth {
    /// With the context id 1, for an association with one security context.
    #[must_use]
    pub const fn new(level: AuthLevel, service: AuthService) -> Self {
        Self { level, service, context_id: 1 }
    }
}
