//! The server's half of a security context, also for callers whom nobody can check.

use std::sync::Arc;

use crate::crypto::{self, Before, NtlmV2Response, is_response_genuine};
use crate::established::{Context, Exchange};
use crate::message::{AuthenticateMessage, ChallengeMessage, NEGOTIATE_MESSAGE_TYPE, message_type};
use crate::package::{Answer, Package};
use crate::session::{Session, Side};
use crate::spnego::{NegState, NegTokenInit, NegTokenResp};
use crate::{Account, AccountPassword, Error, Mechanism, Peer, Secret, SecurityContext, Step, Usage};

/// The account database of a server.
pub trait Accounts: Send + Sync {
    /// The password of an account, or `None` where there is no such account.
    ///
    /// Names are given as the client wrote them; whether case matters, and which domains are ours, is decided here.
    fn password(&self, domain: &str, user: &str) -> Option<Secret>;

    /// Called once for every logon that names an account, to count attempts and lock accounts.
    fn attempted(&self, domain: &str, user: &str, outcome: Outcome);
}

/// How a logon ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The password is right.
    Accepted,
    /// There is no such account.
    UnknownAccount,
    /// The password is wrong.
    BadPassword,
    /// The client names an account, and the rest of its message is unusable.
    Malformed,
}

/// How a server authenticates its clients.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ServerOptions {
    /// NTLM as it is, or within SPNEGO.
    pub mechanism: Mechanism,
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
    begin(Some(accounts), options)
}

/// Begins an authentication as a server that takes everybody, and has no accounts. Nothing is proven by it.
///
/// The keys of an anonymous client are known. Those of an account are not: [`SecurityContext::session_key`] then is an
/// error, and so is each message.
///
/// # Errors
/// When the package cannot be set up.
pub fn server_of_anybody(options: ServerOptions) -> Result<Box<dyn SecurityContext>, Error> {
    begin(None, options)
}

fn begin(
    accounts: Option<Arc<dyn Accounts>>,
    options: ServerOptions,
) -> Result<Box<dyn SecurityContext>, Error> {
    let (package, is_wrapped) = match options.mechanism {
        Mechanism::Ntlm => (Package::ntlm_server(), false),
        Mechanism::Negotiate => (Package::negotiate_server()?, true),
        Mechanism::Kerberos => {
            return Err(Error::InvalidCredentials { field: "mechanism", reason: "Kerberos takes a keytab" });
        }
    };
    let (negotiate, mech_list) = (Vec::new(), Vec::new());
    let usage = options.usage;
    let server = Server { accounts, usage, is_wrapped, mech_list, negotiate, challenge: None, account: None };
    Ok(Box::new(Context::new(package, server)))
}

struct Server {
    /// With `None`, everybody is taken.
    accounts: Option<Arc<dyn Accounts>>,
    usage: Usage,
    /// Whether tokens are in SPNEGO.
    is_wrapped: bool,
    /// The mechanisms that the client offers, as it wrote them.
    mech_list: Vec<u8>,
    /// The client's first message, which the message integrity code covers.
    negotiate: Vec<u8>,
    challenge: Option<Challenge>,
    account: Option<Account>,
}

/// Our message, which the message integrity code covers, and the number in it that the client has to answer.
struct Challenge {
    message: Vec<u8>,
    server_challenge: [u8; 8],
}

impl Exchange for Server {
    fn advance(&mut self, package: &mut Package, token: &[u8]) -> Result<Step, Error> {
        let answer = match self.is_wrapped {
            false if message_type(token) == Some(AuthenticateMessage::MESSAGE_TYPE) => {
                return self.authenticate(package, token, None);
            }
            false => {
                self.note_negotiate(token);
                package.accept(None, self.usage, token)?
            }
            true if NegTokenResp::is(token) => {
                let wrapper = NegTokenResp::decode(token)?;
                let message = wrapper.response_token.unwrap_or_default();
                if message_type(message) == Some(AuthenticateMessage::MESSAGE_TYPE) {
                    return self.authenticate(package, message, Some(wrapper));
                }
                self.note_negotiate(message);
                self.accept_wrapped(package, None, NegTokenResp { response_token: Some(message), ..wrapper })?
            }
            true => {
                let init = NegTokenInit::decode(token)?;
                if let Some(offered) = init.offers_instead_of_ntlm() {
                    return Err(Error::NoCommonMechanism { wanted: "NTLM", offered });
                }
                self.mech_list = init.mech_list();
                self.note_negotiate(init.mech_token.unwrap_or_default());
                package.accept(None, self.usage, &init.encode())?
            }
        };
        if answer.is_done {
            return Err(Error::UnexpectedToken { reason: "the client ends before it says who it is" });
        }
        self.note_challenge(&answer.token)?;
        Ok(Step::Continue(answer.token))
    }

    fn peer(&self) -> Peer {
        Peer { server: None, account: self.account.clone() }
    }
}

impl Server {
    /// The client names its account. Its password is looked up now, and the attempt is reported to the accounts.
    fn authenticate(
        &mut self,
        package: &mut Package,
        message: &[u8],
        wrapper: Option<NegTokenResp<'_>>,
    ) -> Result<Step, Error> {
        let decoded: AuthenticateMessage<'_> = wire::decode(message)?;
        let is_anonymous = decoded.user.is_empty() && decoded.nt_response.is_empty();
        let session_of = decoded.encrypted_session_key;
        let account =
            Account { domain: decoded.domain, user: decoded.user, impersonation: decoded.impersonation };
        let Some(accounts) = self.accounts.clone() else {
            if self.challenge.is_none() {
                return Err(Error::UnexpectedToken { reason: "the client answers before it was asked" });
            }
            if is_anonymous {
                let session = Session::anonymous(session_of, decoded.flags, Side::Server)?;
                return self.take_anonymous(package, session, wrapper);
            }
            self.account = Some(account.clone());
            package.become_keyless(account);
            return Ok(Step::Done(wrapper.map(|_| completed(None))));
        };
        if is_anonymous {
            return Err(Error::Anonymous);
        }
        self.account = Some(account.clone());
        let result = self.admit(package, &*accounts, &account, decoded.nt_response, message, wrapper);
        let outcome = match &result {
            Ok(_) => Outcome::Accepted,
            Err(Error::UnknownAccount { .. }) => Outcome::UnknownAccount,
            Err(Error::BadPassword { .. }) => Outcome::BadPassword,
            Err(_) => Outcome::Malformed,
        };
        accounts.attempted(&account.domain, &account.user, outcome);
        result
    }

    /// Takes a client without a name, and the signatures of the list of mechanisms if it makes them.
    fn take_anonymous(
        &self,
        package: &mut Package,
        mut session: Session,
        wrapper: Option<NegTokenResp<'_>>,
    ) -> Result<Step, Error> {
        let mut signature = None;
        if let Some(theirs) = wrapper.and_then(|wrapper| wrapper.mech_list_mic) {
            session.check_mech_list(&self.mech_list, theirs)?;
            signature = Some(session.sign_mech_list(&self.mech_list));
        }
        package.become_anonymous(session);
        Ok(Step::Done(wrapper.map(|_| completed(signature.as_ref()))))
    }

    /// Checks the password, SPNEGO's list of mechanisms, and that the messages were not changed on the way.
    fn admit(
        &self,
        package: &mut Package,
        accounts: &dyn Accounts,
        account: &Account,
        nt_response: &[u8],
        message: &[u8],
        wrapper: Option<NegTokenResp<'_>>,
    ) -> Result<Step, Error> {
        let Some(challenge) = &self.challenge else {
            return Err(Error::UnexpectedToken { reason: "the client answers before it was asked" });
        };
        let Some(response) = NtlmV2Response::new(nt_response) else {
            return Err(Error::NotNtlmV2);
        };
        let credentials = judge(accounts, account, &response, &challenge.server_challenge)?;
        let for_package = crypto::without_target_info_flag(message);
        let step = self.complete(package, &credentials, &for_package, wrapper)?;
        let before = Before { negotiate: &self.negotiate, challenge: &challenge.message };
        crypto::check_integrity(before, message, &response, &package.session_key()?)?;
        Ok(step)
    }

    fn complete(
        &self,
        package: &mut Package,
        credentials: &AccountPassword,
        message: &[u8],
        wrapper: Option<NegTokenResp<'_>>,
    ) -> Result<Step, Error> {
        let usage = self.usage;
        let Some(wrapper) = wrapper else {
            package.accept(Some(credentials), usage, message)?;
            package.complete()?;
            return Ok(Step::Done(None));
        };
        let Some(_) = wrapper.mech_list_mic else {
            // Impacket and others stop at NTLM; nothing but NTLM was offered that could have been struck out.
            package.unwrap_ntlm()?;
            package.accept(Some(credentials), usage, message)?;
            package.complete()?;
            return Ok(Step::Done(Some(completed(None))));
        };
        // First NTLM alone, which makes the keys and our signature; then the client's signature.
        let ntlm = NegTokenResp { response_token: Some(message), ..NegTokenResp::default() };
        let answer = self.accept_wrapped(package, Some(credentials), ntlm)?;
        let neg_incomplete = Some(NegState::ACCEPT_INCOMPLETE);
        let mech_list_mic = wrapper.mech_list_mic;
        let signed = NegTokenResp { neg_state: neg_incomplete, mech_list_mic, ..NegTokenResp::default() };
        package.verify_mech_list(usage, &signed.encode())?;
        let neg_state = Some(NegState::ACCEPT_COMPLETED);
        let answer = NegTokenResp { neg_state, ..NegTokenResp::decode(&answer.token)? };
        Ok(Step::Done(Some(answer.encode())))
    }

    /// Gives a SPNEGO token to the package, which misreads one without a state.
    fn accept_wrapped(
        &self,
        package: &mut Package,
        credentials: Option<&AccountPassword>,
        wrapper: NegTokenResp<'_>,
    ) -> Result<Answer, Error> {
        let wrapper = NegTokenResp { neg_state: Some(NegState::ACCEPT_INCOMPLETE), ..wrapper };
        package.accept(credentials, self.usage, &wrapper.encode())
    }

    /// Remembers a client's first message, wherever in SPNEGO it comes.
    fn note_negotiate(&mut self, message: &[u8]) {
        if message_type(message) == Some(NEGOTIATE_MESSAGE_TYPE) {
            self.negotiate = message.to_vec();
        }
    }

    /// Remembers the challenge that goes out, if it does.
    fn note_challenge(&mut self, token: &[u8]) -> Result<(), Error> {
        let message = if self.is_wrapped {
            NegTokenResp::decode(token)?.response_token.unwrap_or_default()
        } else {
            token
        };
        if !message.is_empty() {
            let server_challenge = wire::decode::<ChallengeMessage<'_>>(message)?.server_challenge;
            self.challenge = Some(Challenge { message: message.to_vec(), server_challenge });
        }
        Ok(())
    }
}

/// Checks the response against the password, and answers what the package needs to make the keys.
fn judge(
    accounts: &dyn Accounts,
    account: &Account,
    response: &NtlmV2Response<'_>,
    server_challenge: &[u8; 8],
) -> Result<AccountPassword, Error> {
    let Account { domain, user, .. } = account.clone();
    let Some(password) = accounts.password(&domain, &user) else {
        return Err(Error::UnknownAccount { domain, user });
    };
    if !is_response_genuine(response, server_challenge, &password, &user, &domain) {
        return Err(Error::BadPassword { domain, user });
    }
    Ok(AccountPassword { domain, username: user, password })
}

/// SPNEGO's last token of a server.
fn completed(mech_list_mic: Option<&[u8; 16]>) -> Vec<u8> {
    let mech_list_mic = mech_list_mic.map(<[u8; 16]>::as_slice);
    NegTokenResp { neg_state: Some(NegState::ACCEPT_COMPLETED), mech_list_mic, ..NegTokenResp::default() }
        .encode()
}
