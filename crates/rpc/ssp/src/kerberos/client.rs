use std::sync::Arc;

use gssapi::{Initiator, Kerberos, Leg};

use super::kdc::{KdcClient, SspiInitiator};
use super::session::{ContextInitiator, Established, State};
use crate::spnego::{NegState, NegTokenInit, NegTokenResp};
use crate::{
    ClientOptions, Error, ImpersonationLevel, Mechanism, Message, Peer, Principal, Protection,
    SecurityContext, SessionKey, Side, Step, Tickets, Usage,
};

/// A client's side, after its first leg: that one may wait for a KDC, and no other does.
pub(crate) fn client(tickets: &Tickets, options: &ClientOptions) -> Result<Box<dyn SecurityContext>, Error> {
    let in_spnego = is_in_spnego(options.mechanism, "tickets")?;
    let wanted = gssapi::Options {
        dce_style: options.usage == Usage::Rpc,
        identify: options.impersonation == ImpersonationLevel::Identify,
    };
    let library = Kerberos::of_the_system()?;
    let types = &tickets.encryption_types;
    let service = tickets.service.as_ref().unwrap_or(&options.target_name);
    begin(Initiator::new(library, &tickets.cache, service, types, wanted)?, in_spnego)
}

/// Begins an authentication as a client without the library of the system: a KDC is asked, and no step asks one again.
///
/// # Errors
/// What the KDC says, or that it cannot be reached.
pub fn client_without_library(
    principal: &Principal,
    options: &ClientOptions,
    network: Arc<dyn KdcClient>,
) -> Result<Box<dyn SecurityContext>, Error> {
    let in_spnego = is_in_spnego(options.mechanism, "principal")?;
    begin(SspiInitiator::new(principal, options, network)?, in_spnego)
}

fn is_in_spnego(mechanism: Mechanism, field: &'static str) -> Result<bool, Error> {
    match mechanism {
        Mechanism::Kerberos => Ok(false),
        Mechanism::Negotiate => Ok(true),
        Mechanism::Ntlm => Err(Error::InvalidCredentials { field, reason: "NTLM takes a password" }),
    }
}

impl ContextInitiator for Initiator {
    fn step(&mut self, token: &[u8]) -> Result<Leg, Error> {
        Ok(self.step(token)?)
    }

    fn into_protection(self) -> Result<gssapi::Protection, Error> {
        Ok(self.into_protection()?)
    }
}

fn begin<I: ContextInitiator + 'static>(
    mut initiator: I,
    in_spnego: bool,
) -> Result<Box<dyn SecurityContext>, Error> {
    let Leg::Continue(first) = initiator.step(&[])? else {
        return Err(Error::UnexpectedToken { reason: "the context is established without its server" });
    };
    Ok(Box::new(Client {
        in_spnego,
        signs_headers: true,
        first: Some(first),
        state: State::Running(initiator),
    }))
}

struct Client<I> {
    in_spnego: bool,
    signs_headers: bool,
    /// The token that is sent first.
    first: Option<Vec<u8>>,
    state: State<I>,
}

impl<I> Client<I> {
    /// The token of Kerberos within SPNEGO's, and the server's signature of the list.
    fn unwrapped<'a>(&self, token: &'a [u8]) -> Result<(&'a [u8], Option<&'a [u8]>), Error> {
        if !self.in_spnego {
            return Ok((token, None));
        }
        let response = NegTokenResp::decode(token)?;
        match (response.neg_state, response.response_token) {
            // A server that refuses says why in its token, which the library reads.
            (_, Some(token)) => Ok((token, response.mech_list_mic)),
            (None | Some(NegState::ACCEPT_COMPLETED | NegState::ACCEPT_INCOMPLETE), None) => {
                Ok((&[], response.mech_list_mic))
            }
            (Some(NegState::REJECT), None) => {
                Err(Error::UnexpectedToken { reason: "the server refuses, and does not say why" })
            }
            (Some(_), None) => {
                Err(Error::UnexpectedToken { reason: "the server wants another mechanism than Kerberos" })
            }
        }
    }

    fn wrapped(&self, token: Vec<u8>) -> Vec<u8> {
        if self.in_spnego {
            NegTokenResp { response_token: Some(&token), ..NegTokenResp::default() }.encode()
        } else {
            token
        }
    }
}

impl<I: ContextInitiator> SecurityContext for Client<I> {
    fn step(&mut self, token: &[u8]) -> Result<Step, Error> {
        // If the step returns early, the context has failed.
        let State::Running(mut initiator) = core::mem::replace(&mut self.state, State::Failed) else {
            return Err(Error::Finished);
        };
        if let Some(first) = self.first.take() {
            self.state = State::Running(initiator);
            let token = if self.in_spnego { NegTokenInit::of_kerberos(&first).encode() } else { first };
            return Ok(Step::Continue(token));
        }
        let (token, signature) = self.unwrapped(token)?;
        match initiator.step(token)? {
            Leg::Continue(token) => {
                let token = self.wrapped(token);
                self.state = State::Running(initiator);
                Ok(Step::Continue(token))
            }
            Leg::Done(token) => {
                let mut established = Established::new(initiator.into_protection()?, Side::Client)?;
                if let Some(signature) = signature {
                    established.check_mech_list(&NegTokenInit::of_kerberos(&[]).mech_list(), signature)?;
                }
                self.state = State::Done(Box::new(established));
                Ok(Step::Done(token.map(|token| self.wrapped(token))))
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
        Peer::default()
    }
}
