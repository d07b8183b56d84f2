//! The client's half of a security context, and what a host may do in the account's name.

use core::ops::Range;

use wire::{DecodeError, DecodeResult, encode_utf16};

use super::crypto::{self, Before};
use super::message::AvPairs;
use crate::established::{Context, Exchange};
use crate::message::{
    AuthenticateMessage, ChallengeMessage, NEGOTIATE_FLAGS_RANGE, NTLMSSP_NEGOTIATE_IDENTIFY, NegotiateFlags,
    SIGNATURE, message_type,
};
use crate::package::{Answer, Package};
use crate::spnego::{NegState, NegTokenResp};
use crate::{
    AccountPassword, ClientOptions, Credentials, Error, ImpersonationLevel, Mechanism, Peer, SecurityContext,
    ServerInfo, Step, Usage, kerberos,
};

/// Begins an authentication as a client. By Kerberos this may wait for a KDC, however long; no step waits then.
///
/// # Errors
/// When the credentials cannot be used, or are not for the mechanism. A principal is [`kerberos::client_without_library`]'s.
pub fn client(credentials: &Credentials, options: ClientOptions) -> Result<Box<dyn SecurityContext>, Error> {
    match credentials {
        Credentials::Password(account) => ntlm_client(account, options),
        Credentials::Tickets(tickets) => kerberos::client(tickets, &options),
        Credentials::Principal(_) => {
            let reason = "somebody has to carry questions to its KDC";
            Err(Error::InvalidCredentials { field: "principal", reason })
        }
    }
}

fn ntlm_client(account: &AccountPassword, options: ClientOptions) -> Result<Box<dyn SecurityContext>, Error> {
    if account.username.is_empty() {
        return Err(Error::InvalidCredentials { field: "username", reason: "it is empty" });
    }
    if account.password.expose().starts_with(sspi::NTLM_HASH_PREFIX) {
        let reason = "it begins like a hash, and would be taken for one";
        return Err(Error::InvalidCredentials { field: "password", reason });
    }
    let (package, is_wrapped) = match options.mechanism {
        Mechanism::Ntlm => (Package::ntlm(), false),
        Mechanism::Negotiate => (Package::negotiate_client()?, true),
        Mechanism::Kerberos => {
            let reason = "Kerberos takes tickets";
            return Err(Error::InvalidCredentials { field: "password", reason });
        }
    };
    let client = Client {
        account: account.clone(),
        options,
        is_wrapped,
        progress: Progress::Start,
        negotiate: Vec::new(),
        server: None,
    };
    Ok(Box::new(Context::new(package, client)))
}

struct Client {
    account: AccountPassword,
    options: ClientOptions,
    /// Whether tokens are in SPNEGO.
    is_wrapped: bool,
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
        let wrapper = if self.is_wrapped { Some(NegTokenResp::decode(token)?) } else { None };
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
        let prepared = prepare_challenge(challenge, &decoded, &self.options.target_name)?;
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
        package.initialize(&self.account, *usage, target_name, token)
    }

    /// Finishes the package's last message, wherever it is in the token.
    fn seal(&self, package: &Package, challenge: &[u8], token: &mut [u8]) -> Result<(), Error> {
        let session_key = package.session_key()?;
        let (start, length) = if self.is_wrapped {
            let message = NegTokenResp::decode(token)?.response_token.unwrap_or_default();
            let start = token.windows(message.len().max(1)).position(|window| window == message);
            (start.unwrap_or_default(), message.len())
        } else {
            (0, token.len())
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

// What a client says in its response beside the password's proof, and `sspi` leaves out.
//
// A client repeats the server's target information in its response and adds to it ([MS-NLMP] 3.1.5.1.2):
// `MsvAvTargetName`, so that a response cannot be passed on to another service, `MsvAvChannelBindings`, and the bit
// of `MsvAvFlags` that makes the server check the message integrity code. `sspi` repeats whatever the server claims
// and appends the flags. So it is given a challenge that has our pairs in place of the server's already.

/// Puts the pairs that are the client's to write into a challenge that [`ChallengeMessage`] could read.
fn prepare_challenge(
    challenge: &[u8],
    decoded: &ChallengeMessage<'_>,
    target_name: &str,
) -> DecodeResult<Vec<u8>> {
    let mut target_info = Vec::with_capacity(decoded.target_info.len() + 2 * target_name.len() + 32);
    for pair in AvPairs::new(decoded.target_info) {
        let pair = pair?;
        if !CLIENT_PAIRS.contains(&pair.id) {
            push_pair(&mut target_info, pair.id, pair.value)?;
        }
    }
    push_pair(&mut target_info, AvPairs::CHANNEL_BINDINGS, &NO_CHANNEL_BINDINGS)?;
    push_pair(&mut target_info, AvPairs::TARGET_NAME, &encode_utf16(target_name))?;
    push_pair(&mut target_info, AvPairs::EOL, &[])?;

    // The new target information is appended; the bytes of the old one stay, unreferenced.
    let mut changed = challenge.to_vec();
    let length = length_field(target_info.len())?;
    let offset = u32::try_from(challenge.len()).map_err(|_| too_long())?;
    let fields = &mut changed[ChallengeMessage::TARGET_INFO_FIELDS_OFFSET..][..8];
    fields[..2].copy_from_slice(&length.to_le_bytes());
    fields[2..4].copy_from_slice(&length.to_le_bytes());
    fields[4..].copy_from_slice(&offset.to_le_bytes());
    changed.extend_from_slice(&target_info);
    Ok(changed)
}

/// The pairs that a server has no say in. A `MsvAvFlags` of the server's before that of `sspi` would be taken for it,
/// and the integrity code would not be checked.
const CLIENT_PAIRS: [u16; 3] = [AvPairs::FLAGS, AvPairs::TARGET_NAME, AvPairs::CHANNEL_BINDINGS];

/// [MS-NLMP] 2.2.2.1: all zeros mean that there is no channel to bind to. Neither SMB nor RPC runs over TLS here.
const NO_CHANNEL_BINDINGS: [u8; 16] = [0; 16];

fn push_pair(target_info: &mut Vec<u8>, id: u16, value: &[u8]) -> DecodeResult<()> {
    target_info.extend_from_slice(&id.to_le_bytes());
    target_info.extend_from_slice(&length_field(value.len())?.to_le_bytes());
    target_info.extend_from_slice(value);
    Ok(())
}

fn length_field(length: usize) -> DecodeResult<u16> {
    u16::try_from(length).map_err(|_| too_long())
}

fn too_long() -> DecodeError {
    DecodeError::invalid_field("CHALLENGE_MESSAGE", "TargetInfo", 0, "no room for the target name")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::tests::CHALLENGE;

    fn pairs(challenge: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let decoded: ChallengeMessage<'_> = wire::decode(challenge).unwrap();
        AvPairs::new(decoded.target_info)
            .map(|pair| pair.map(|pair| (pair.id, pair.value.to_vec())).unwrap())
            .collect()
    }

    #[test]
    fn name_and_channel_bindings_are_added_and_everything_else_stays() {
        let decoded: ChallengeMessage<'_> = wire::decode(CHALLENGE).unwrap();
        let changed = prepare_challenge(CHALLENGE, &decoded, "cifs/web1").unwrap();
        let again: ChallengeMessage<'_> = wire::decode(&changed).unwrap();
        assert_eq!(again.server_info(), decoded.server_info());
        let pairs = pairs(&changed);
        assert_eq!(pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), [2, 1, 10, 9]);
        assert_eq!(pairs[2].1, [0; 16]);
        assert_eq!(pairs[3].1, encode_utf16("cifs/web1"));
    }

    /// A server that could choose the name, the flags or the bindings could pass the response on.
    #[test]
    fn what_the_server_claims_for_us_is_replaced() {
        let claimed = {
            let mut target_info = Vec::new();
            push_pair(&mut target_info, AvPairs::FLAGS, &[0; 4]).unwrap();
            push_pair(&mut target_info, AvPairs::TARGET_NAME, &encode_utf16("cifs/evil")).unwrap();
            push_pair(&mut target_info, AvPairs::CHANNEL_BINDINGS, &[0xee; 16]).unwrap();
            push_pair(&mut target_info, 7, &[9; 8]).unwrap();
            push_pair(&mut target_info, AvPairs::EOL, &[]).unwrap();
            let mut challenge = CHALLENGE.to_vec();
            let length = u16::try_from(target_info.len()).unwrap().to_le_bytes();
            challenge[40..44].copy_from_slice(&[length, length].concat());
            let offset = u32::try_from(CHALLENGE.len()).unwrap();
            challenge[44..48].copy_from_slice(&offset.to_le_bytes());
            [challenge, target_info].concat()
        };
        let decoded: ChallengeMessage<'_> = wire::decode(&claimed).unwrap();
        let changed = prepare_challenge(&claimed, &decoded, "cifs/web1").unwrap();
        let expected = [(7, vec![9; 8]), (10, vec![0; 16]), (9, encode_utf16("cifs/web1"))];
        assert_eq!(pairs(&changed), expected);
    }
}
