use std::sync::Arc;

use crate::crypto::{NtlmV2Response, is_response_genuine};
use crate::message::{AuthenticateMessage, ChallengeMessage, message_type};
use crate::package::{Answer, Package, SIGNATURE_LEN};
use crate::spnego::{NegState, NegTokenInit, NegTokenResp};
use crate::{
    Account, Accounts, Credentials, Error, Mechanism, Message, Outcome, Peer, SecurityContext, SessionKey,
    Step, Usage,
};

/// How a server authenticates its clients.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerOptions {
    /// NTLM as it is, or within SPNEGO.
    pub mechanism: Mechanism,
    /// SMB or RPC.
    pub usage: Usage,
}

impl ServerOptions {
    /// Puts the two together.
    #[must_use]
    pub const fn new(mechanism: Mechanism, usage: Usage) -> Self {
        Self { mechanism, usage }
    }
}

/// Begins an authentication as a server.
///
/// # Errors
/// When the package cannot be set up.
pub fn server(
    accounts: Arc<dyn Accounts>,
    options: ServerOptions,
) -> Result<Box<dyn SecurityContext>, Error> {
    let package = match options.mechanism {
        Mechanism::Ntlm => Package::ntlm(),
        Mechanism::Negotiate => Package::negotiate_server()?,
    };
    Ok(Box::new(Server {
        package,
        accounts,
        options,
        progress: Progress::Running,
        server_challenge: None,
        account: None,
    }))
}

struct Server {
    package: Package,
    accounts: Arc<dyn Accounts>,
    options: ServerOptions,
    progress: Progress,
    server_challenge: Option<[u8; 8]>,
    account: Option<Account>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Running,
    Done,
    Failed,
}

impl SecurityContext for Server {
    fn step(&mut self, token: &[u8]) -> Result<Step, Error> {
        if core::mem::replace(&mut self.progress, Progress::Failed) != Progress::Running {
            return Err(Error::Finished);
        }
        let answer = match self.options.mechanism {
            Mechanism::Ntlm if message_type(token) == Some(AuthenticateMessage::MESSAGE_TYPE) => {
                return self.authenticate(token, None);
            }
            Mechanism::Ntlm => self.package.accept(None, self.options.usage, token)?,
            Mechanism::Negotiate if NegTokenResp::is(token) => {
                let wrapper = NegTokenResp::decode(token)?;
                let message = wrapper.response_token.unwrap_or_default();
                if message_type(message) == Some(AuthenticateMessage::MESSAGE_TYPE) {
                    return self.authenticate(message, Some(wrapper));
                }
                self.accept_wrapped(None, NegTokenResp { response_token: Some(message), ..wrapper })?
            }
            Mechanism::Negotiate => {
                self.package.accept(None, self.options.usage, &NegTokenInit::decode(token)?.encode())?
            }
        };
        if answer.is_done {
            return Err(Error::UnexpectedToken { reason: "the client ends before it says who it is" });
        }
        self.note_challenge(&answer.token)?;
        self.progress = Progress::Running;
        Ok(Step::Continue(answer.token))
    }

    fn session_key(&self) -> Result<SessionKey, Error> {
        self.require_done()?;
        self.package.session_key()
    }

    fn signature_len(&self) -> usize {
        SIGNATURE_LEN
    }

    fn wrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        self.require_done()?;
        message.check_signature_len(SIGNATURE_LEN)?;
        self.package.wrap(message)
    }

    fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        self.require_done()?;
        message.check_signature_len(SIGNATURE_LEN)?;
        let result = self.package.unwrap(message);
        if result.is_err() {
            self.progress = Progress::Failed;
        }
        result
    }

    fn peer(&self) -> Peer {
        Peer { server: None, account: self.account.clone() }
    }
}

impl Server {
    /// The client says who it is. The password is looked up now, and the attempt is told to the accounts.
    fn authenticate(&mut self, message: &[u8], wrapper: Option<NegTokenResp<'_>>) -> Result<Step, Error> {
        let decoded: AuthenticateMessage<'_> = codec::decode(message)?;
        let account = Account { domain: decoded.domain, user: decoded.user };
        if account.user.is_empty() && decoded.nt_response.is_empty() {
            return Err(Error::Anonymous);
        }
        self.account = Some(account.clone());
        let result = self
            .judge(&account, decoded.nt_response)
            .and_then(|credentials| self.complete(&credentials, message, wrapper));
        let outcome = match &result {
            Ok(_) => Outcome::Accepted,
            Err(Error::UnknownAccount { .. }) => Outcome::UnknownAccount,
            Err(Error::BadPassword { .. }) => Outcome::BadPassword,
            Err(_) => Outcome::Malformed,
        };
        self.accounts.attempted(&account.domain, &account.user, outcome);
        if result.is_ok() {
            self.progress = Progress::Done;
        }
        result
    }

    /// Checks the response against the password, and answers what the package needs to make the keys.
    fn judge(&self, account: &Account, nt_response: &[u8]) -> Result<Credentials, Error> {
        let Some(server_challenge) = &self.server_challenge else {
            return Err(Error::UnexpectedToken { reason: "the client answers before it was asked" });
        };
        let Account { domain, user } = account.clone();
        let Some(password) = self.accounts.password(&domain, &user) else {
            return Err(Error::UnknownAccount { domain, user });
        };
        let Some(response) = NtlmV2Response::new(nt_response) else {
            return Err(Error::NotNtlmV2);
        };
        if !is_response_genuine(&response, server_challenge, &password, &user, &domain) {
            return Err(Error::BadPassword { domain, user });
        }
        Ok(Credentials { domain, username: user, password })
    }

    fn complete(
        &mut self,
        credentials: &Credentials,
        message: &[u8],
        wrapper: Option<NegTokenResp<'_>>,
    ) -> Result<Step, Error> {
        let usage = self.options.usage;
        let Some(wrapper) = wrapper else {
            self.package.accept(Some(credentials), usage, message)?;
            self.package.complete()?;
            return Ok(Step::Done(None));
        };
        let neg_state = Some(NegState::ACCEPT_COMPLETED);
        let Some(_) = wrapper.mech_list_mic else {
            // Impacket and others stop at NTLM; nothing but NTLM was offered that could have been struck out.
            self.package.unwrap_ntlm()?;
            self.package.accept(Some(credentials), usage, message)?;
            self.package.complete()?;
            let token = NegTokenResp { neg_state, ..NegTokenResp::default() };
            return Ok(Step::Done(Some(token.encode())));
        };
        // First NTLM alone, which makes the keys and our signature; then the client's signature.
        let ntlm = NegTokenResp { response_token: Some(message), ..NegTokenResp::default() };
        let answer = self.accept_wrapped(Some(credentials), ntlm)?;
        let neg_incomplete = Some(NegState::ACCEPT_INCOMPLETE);
        let mech_list_mic = wrapper.mech_list_mic;
        let signed = NegTokenResp { neg_state: neg_incomplete, mech_list_mic, ..NegTokenResp::default() };
        self.package.verify_mech_list(usage, &signed.encode())?;
        let answer = NegTokenResp { neg_state, ..NegTokenResp::decode(&answer.token)? };
        Ok(Step::Done(Some(answer.encode())))
    }

    /// Gives a SPNEGO token to the package, which misreads one without a state.
    fn accept_wrapped(
        &mut self,
        credentials: Option<&Credentials>,
        wrapper: NegTokenResp<'_>,
    ) -> Result<Answer, Error> {
        let wrapper = NegTokenResp { neg_state: Some(NegState::ACCEPT_INCOMPLETE), ..wrapper };
        self.package.accept(credentials, self.options.usage, &wrapper.encode())
    }

    /// Remembers the challenge that goes out, if it does.
    fn note_challenge(&mut self, token: &[u8]) -> Result<(), Error> {
        let message = match self.options.mechanism {
            Mechanism::Ntlm => token,
            Mechanism::Negotiate => NegTokenResp::decode(token)?.response_token.unwrap_or_default(),
        };
        if !message.is_empty() {
            self.server_challenge = Some(codec::decode::<ChallengeMessage<'_>>(message)?.server_challenge);
        }
        Ok(())
    }

    fn require_done(&self) -> Result<(), Error> {
        if self.progress == Progress::Done { Ok(()) } else { Err(Error::NotEstablished) }
    }
}
