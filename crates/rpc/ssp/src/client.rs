//! The client's half of a security context, and what a host may do in the account's name.

use core::ops::Range;

use super::crypto::{self, Before};
use crate::established::{Context, Exchange};
use crate::message::{
    AuthenticateMessage, ChallengeMessage, NEGOTIATE_FLAGS_RANGE, NTLMSSP_NEGOTIATE_IDENTIFY, NegotiateFlags,
    SIGNATURE, message_type,
};
use crate::package::{Answer, Package};
use crate::spnego::{NegState, NegTokenResp};
use crate::{
    Credentials, Error, ImpersonationLevel, Mechanism, Peer, SecurityContext, ServerInfo, Step, Usage,
    target_info,
};

/// How a client authenticates.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// NTLM as it is, or within SPNEGO.
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

/// Begins an authentication as a client.
///
/// # Errors
/// When the credentials cannot be used.
pub fn client(credentials: &Credentials, options: ClientOptions) -> Result<Box<dyn SecurityContext>, Error> {
    if credentials.username.is_empty() {
        return Err(Error::InvalidCredentials { field: "username", reason: "it is empty" });
    }
    if credentials.password.expose().starts_with(sspi::NTLM_HASH_PREFIX) {
        let reason = "it begins like a hash, and would be taken for one";
        return Err(Error::InvalidCredentials { field: "password", reason });
    }
    let package = match options.mechanism {
        Mechanism::Ntlm => Package::ntlm(),
        Mechanism::Negotiate => Package::negotiate_client()?,
    };
    let client = Client {
        credentials: credentials.clone(),
        options,
        progress: Progress::Start,
        negotiate: Vec::new(),
        server: None,
    };
    Ok(Box::new(Context::new(package, client)))
}

struct Client {
    credentials: Credentials,
    options: ClientOptions,
    progress: Progress,
    /// Our first message, which the message integrity code covers.
    negotiate: Vec<u8>,
    server: Option<ServerInfo>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Start,
    /// The server's challenge is due.
    Negotiated,
    /// NTLM is over; SPNEGO wants the server's signature of the mechanism list.
    Authenticated,
}

impl Exchange for Client {
    fn advance(&mut self, package: &mut Package, token: &[u8]) -> Result<Step, Error> {
        match self.progress {
            Progress::Start => self.begin(package),
            Progress::Negotiated => self.answer(package, token),
            Progress::Authenticated => self.finish(package, token),
        }
    }

    fn peer(&self) -> Peer {
        Peer { server: self.server.clone(), account: None }
    }
}

impl Client {
    fn begin(&mut self, package: &mut Package) -> Result<Step, Error> {
        let mut answer = self.initialize(package, &[])?;
        // In SPNEGO's first token NTLM's message is the last element.
        let start = answer.token.windows(SIGNATURE.len()).position(|window| window == SIGNATURE);
        let start = start.unwrap_or(answer.token.len());
        let negotiate = &mut answer.token[start..];
        self.limit_impersonation(negotiate, NEGOTIATE_FLAGS_RANGE);
        self.negotiate = negotiate.to_vec();
        self.progress = Progress::Negotiated;
        Ok(Step::Continue(answer.token))
    }

    /// Answers the server's challenge, or the SPNEGO message before it.
    fn answer(&mut self, package: &mut Package, token: &[u8]) -> Result<Step, Error> {
        let wrapper = match self.options.mechanism {
            Mechanism::Ntlm => None,
            Mechanism::Negotiate => Some(NegTokenResp::decode(token)?),
        };
        let challenge = match &wrapper {
            None => token,
            Some(wrapper) => wrapper.response_token.unwrap_or_default(),
        };
        if message_type(challenge) != Some(ChallengeMessage::MESSAGE_TYPE) {
            return Err(Error::UnexpectedToken { reason: "the server sends no NTLM challenge" });
        }
        let decoded: ChallengeMessage<'_> = wire::decode(challenge)?;
        if let Some(missing) = missing_of(decoded.flags, self.options.usage) {
            return Err(Error::WeakSession { missing });
        }
        self.server = Some(decoded.server_info()?);
        let prepared = target_info::prepare_challenge(challenge, &decoded, &self.options.target_name)?;
        let mut answer = match wrapper {
            None => self.initialize(package, &prepared)?,
            Some(wrapper) => {
                // The package misreads a token without a state.
                let neg_state = wrapper.neg_state.or(Some(NegState::ACCEPT_INCOMPLETE));
                let wrapper = NegTokenResp { neg_state, response_token: Some(&prepared), ..wrapper };
                self.initialize(package, &wrapper.encode())?
            }
        };
        self.seal(package, challenge, &mut answer.token)?;
        if answer.is_done {
            return Ok(Step::Done(Some(answer.token)));
        }
        self.progress = Progress::Authenticated;
        Ok(Step::Continue(answer.token))
    }

    /// Takes SPNEGO's last token.
    fn finish(&self, package: &mut Package, token: &[u8]) -> Result<Step, Error> {
        let wrapper = if token.is_empty() { NegTokenResp::default() } else { NegTokenResp::decode(token)? };
        let is_signed = wrapper.mech_list_mic.is_some();
        if !is_signed && self.options.usage == Usage::Smb {
            // Only NTLM was offered, so that there is no list to protect; SMB signs its own last message.
            return Ok(Step::Done(None));
        }
        if !is_signed {
            return Err(Error::UnexpectedToken { reason: "the server does not sign the mechanism list" });
        }
        let neg_state = wrapper.neg_state.or(Some(NegState::ACCEPT_COMPLETED));
        let answer = self.initialize(package, &NegTokenResp { neg_state, ..wrapper }.encode())?;
        match answer {
            Answer { is_done: true, token } if token.is_empty() => Ok(Step::Done(None)),
            Answer { is_done: true, token } => Ok(Step::Done(Some(token))),
            Answer { is_done: false, .. } => {
                Err(Error::UnexpectedToken { reason: "the server does not complete the negotiation" })
            }
        }
    }

    fn initialize(&self, package: &mut Package, token: &[u8]) -> Result<Answer, Error> {
        let ClientOptions { usage, target_name, .. } = &self.options;
        package.initialize(&self.credentials, *usage, target_name, token)
    }

    /// Finishes the package's last message, wherever it is in the token.
    fn seal(&self, package: &Package, challenge: &[u8], token: &mut [u8]) -> Result<(), Error> {
        let session_key = package.session_key()?;
        let (start, length) = match self.options.mechanism {
            Mechanism::Ntlm => (0, token.len()),
            Mechanism::Negotiate => {
                let message = NegTokenResp::decode(token)?.response_token.unwrap_or_default();
                let start = token.windows(message.len().max(1)).position(|window| window == message);
                (start.unwrap_or_default(), message.len())
            }
        };
        let message = &mut token[start..start + length];
        self.limit_impersonation(message, AuthenticateMessage::NEGOTIATE_FLAGS_RANGE);
        let before = Before { negotiate: &self.negotiate, challenge };
        crypto::add_integrity(before, message, &session_key)
    }

    /// [MS-NLMP] 3.1.1.1: tells the server that it may not impersonate the client, which the package has no option for.
    fn limit_impersonation(&self, message: &mut [u8], flags: Range<usize>) {
        if self.options.impersonation == ImpersonationLevel::Identify
            && let Some(flags) = message.get_mut(flags)
        {
            for (byte, set) in flags.iter_mut().zip(NTLMSSP_NEGOTIATE_IDENTIFY.to_le_bytes()) {
                *byte |= set;
            }
        }
    }
}

/// What was asked for, is not given, and would be used all the same: the package does not look at it.
fn missing_of(given: NegotiateFlags, usage: Usage) -> Option<&'static str> {
    let needed: &[(u32, &str)] = match usage {
        Usage::Smb => &[(NegotiateFlags::EXTENDED_SESSION_SECURITY, "extended session security")],
        Usage::Rpc => &[
            (NegotiateFlags::EXTENDED_SESSION_SECURITY, "extended session security"),
            (NegotiateFlags::SIGN, "signatures"),
            (NegotiateFlags::SEAL, "encryption"),
            (NegotiateFlags::KEY_128, "keys of 128 bits"),
        ],
    };
    needed.iter().find(|(flag, _)| !given.has(*flag)).map(|(_, word)| *word)
}
