use std::path::Path;

use gssapi::{Acceptor, Kerberos, Leg};

use super::session::{Established, State};
use crate::spnego::{NegState, NegTokenInit, NegTokenResp};
use crate::{Account, Error, Message, Peer, Protection, SecurityContext, SessionKey, Side, Step, Usage};

/// Begins an authentication as a server, which is every principal of a keytab. Kerberos is taken as it is or in SPNEGO.
///
/// # Errors
/// If there is no library, or the keytab is absent or holds no key.
pub fn server(keytab: &Path, usage: Usage) -> Result<Box<dyn SecurityContext>, Error> {
    let acceptor = Acceptor::new(Kerberos::of_the_system()?, keytab)?;
    Ok(Box::new(Server {
        usage,
        signs_headers: true,
        mech_list: None,
        account: None,
        state: State::Running(acceptor),
    }))
}

/// A server that takes Kerberos where the client begins with it, and leaves all other clients to `other`.
///
/// # Errors
/// Those of [`server`].
pub fn server_beside(
    keytab: &Path,
    usage: Usage,
    other: Option<Box<dyn SecurityContext>>,
) -> Result<Box<dyn SecurityContext>, Error> {
    Ok(Box::new(Choice { kerberos: Some(server(keytab, usage)?), chosen: other, has_begun: false }))
}

/// Which of two contexts it is, the client's first token decides.
struct Choice {
    kerberos: Option<Box<dyn SecurityContext>>,
    chosen: Option<Box<dyn SecurityContext>>,
    has_begun: bool,
}

impl Choice {
    fn context(&self) -> Result<&dyn SecurityContext, Error> {
        self.chosen.as_deref().ok_or(Error::NotEstablished)
    }
}

impl SecurityContext for Choice {
    fn step(&mut self, token: &[u8]) -> Result<Step, Error> {
        if !core::mem::replace(&mut self.has_begun, true) && is_kerberos(token) {
            self.chosen = self.kerberos.take();
        }
        let none = Error::NoCommonMechanism { wanted: "Kerberos", offered: "other mechanisms" };
        self.chosen.as_mut().ok_or(none)?.step(token)
    }

    fn session_key(&self) -> Result<SessionKey, Error> {
        self.context()?.session_key()
    }

    fn signature_len(&self, protection: Protection) -> usize {
        self.context().map_or(0, |context| context.signature_len(protection))
    }

    fn wrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        self.chosen.as_mut().ok_or(Error::NotEstablished)?.wrap(message)
    }

    fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        self.chosen.as_mut().ok_or(Error::NotEstablished)?.unwrap(message)
    }

    fn set_header_signing(&mut self, signs_headers: bool) {
        for context in [&mut self.kerberos, &mut self.chosen].into_iter().flatten() {
            context.set_header_signing(signs_headers);
        }
    }

    fn peer(&self) -> Peer {
        self.chosen.as_ref().map(|context| context.peer()).unwrap_or_default()
    }
}

/// Whether a client's first token is Kerberos', as it is or in SPNEGO.
fn is_kerberos(token: &[u8]) -> bool {
    // `AP-REQ` of RFC 4120 5.5.1, which is sent without a frame in DCE style.
    const AP_REQ: u8 = 0x6E;
    match NegTokenInit::decode(token) {
        Ok(first) => first.preferred_kerberos().is_some(),
        Err(_) => token.first() == Some(&AP_REQ) || NegTokenInit::unframed_kerberos(token).is_some(),
    }
}

struct Server {
    usage: Usage,
    signs_headers: bool,
    /// Where the client speaks SPNEGO, the mechanism that it prefers, and all of them as it wrote them.
    mech_list: Option<(&'static [u8], Vec<u8>)>,
    account: Option<Account>,
    state: State<Acceptor>,
}

impl Server {
    /// Kerberos' token within the client's.
    fn unwrapped<'a>(&mut self, token: &'a [u8]) -> Result<&'a [u8], Error> {
        if self.mech_list.is_some() {
            return Ok(NegTokenResp::decode(token)?.response_token.unwrap_or_default());
        }
        let Ok(first) = NegTokenInit::decode(token) else { return Ok(token) };
        let Some(mechanism) = first.preferred_kerberos() else {
            return Err(Error::UnexpectedToken {
                reason: "the client prefers another mechanism than Kerberos",
            });
        };
        self.mech_list = Some((mechanism, first.mech_list()));
        Ok(first.mech_token.unwrap_or_default())
    }

    fn wrapped(
        &self,
        token: Option<Vec<u8>>,
        neg_state: NegState,
        signature: Option<&[u8]>,
    ) -> Option<Vec<u8>> {
        match &self.mech_list {
            None => token,
            Some((mechanism, _)) => Some(
                NegTokenResp {
                    neg_state: Some(neg_state),
                    supported_mech: Some(mechanism),
                    response_token: token.as_deref(),
                    mech_list_mic: signature,
                }
                .encode(),
            ),
        }
    }
}

impl SecurityContext for Server {
    fn step(&mut self, token: &[u8]) -> Result<Step, Error> {
        // If the step returns early, the context has failed.
        let State::Running(mut acceptor) = core::mem::replace(&mut self.state, State::Failed) else {
            return Err(Error::Finished);
        };
        let mut token = self.unwrapped(token)?;
        // The library wants no frame in DCE style; impacket makes one, and Windows takes both.
        if self.usage == Usage::Rpc
            && let Some(content) = NegTokenInit::unframed_kerberos(token)
        {
            token = content;
        }
        match acceptor.step(token)? {
            Leg::Continue(token) => {
                let token = self.wrapped(Some(token), NegState::ACCEPT_INCOMPLETE, None);
                self.state = State::Running(acceptor);
                Ok(Step::Continue(token.unwrap_or_default()))
            }
            Leg::Done(token) => {
                self.account = acceptor.client().map(account);
                let mut established = Established::new(acceptor.into_protection()?, Side::Server)?;
                let list = self.mech_list.as_ref().map(|(_, list)| list);
                let signature = list.map(|list| established.sign_mech_list(list)).transpose()?;
                self.state = State::Done(Box::new(established));
                Ok(Step::Done(self.wrapped(token, NegState::ACCEPT_COMPLETED, signature.as_deref())))
            }
        }
    }

    fn session_key(&self) -> Result<SessionKey, Error> {
        self.state.session_key()
    }

    fn signature_len(&self, protection: Protection) -> usize {
        self.state.signature_len(protection)
    }

    fn wrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        self.state.wrap(message, self.signs_headers)
    }

    fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        self.state.unwrap(message, self.signs_headers)
    }

    fn set_header_signing(&mut self, signs_headers: bool) {
        self.signs_headers = signs_headers;
    }

    fn peer(&self) -> Peer {
        Peer { server: None, account: self.account.clone() }
    }
}

/// `user@REALM` in its parts.
fn account(principal: &str) -> Account {
    let (user, realm) = principal.rsplit_once('@').unwrap_or((principal, ""));
    Account { domain: realm.to_owned(), user: user.to_owned(), ..Account::default() }
}
