use std::sync::Arc;

use ssp::Step;

use super::ServerEvent;
use super::association::ServerAssociation;
use super::{SecurityEntry, SecurityIndex, SecurityState};
use crate::pdu::{SecTrailer, Verifier};
use crate::protector::Protector;
use crate::{AssociationState, Auth, AuthLevel, Change, Error, FaultStatus};

/// What became of a leg of the client's.
#[derive(Debug)]
pub(super) enum Leg {
    /// The security context took it, and may have one to send.
    Taken(SecurityIndex, Option<Vec<u8>>),
    /// It is answered with a fault, and the association goes on.
    Refused(FaultStatus),
}

impl ServerAssociation {
    /// Whether a security context waits for the client.
    pub(super) fn is_authenticating(&self) -> bool {
        self.security.iter().any(|entry| matches!(entry.state, SecurityState::Authenticating { .. }))
    }

    /// Whether authentication failed in every security context, so that every call is denied.
    pub(super) fn is_denied(&self) -> bool {
        !self.allows_unauthenticated && self.security.iter().all(|entry| entry.state == SecurityState::Denied)
    }

    /// The security context that a verifier names.
    pub(super) fn find_security(&self, trailer: &SecTrailer) -> Option<SecurityIndex> {
        self.security.iter().position(|entry| entry.protector.auth.context_id == trailer.auth_context_id)
    }

    /// The security context that a request is to be checked by, or none for a call in the clear.
    pub(super) fn choose_security(
        &self,
        verifier: Option<&Verifier<'_>>,
    ) -> Result<Option<SecurityIndex>, Error> {
        match (verifier, self.security.as_slice()) {
            (Some(verifier), _) => match self.find_security(&verifier.trailer) {
                Some(index) => Ok(Some(index)),
                None => Err(Error::WrongSecurityContext),
            },
            (None, _) if self.allows_unauthenticated => Ok(None),
            // At the level CONNECT the only context needs no verifier; at the others the protector wants one.
            (None, [_]) => Ok(Some(0)),
            (None, entries) => {
                let expected = entries.first().map_or(AuthLevel::NONE, |entry| entry.protector.auth.level);
                Err(Error::LevelDowngrade { expected, actual: AuthLevel::NONE })
            }
        }
    }

    /// Takes a leg after the bind: of a security context that the client began, or the first of a further one.
    pub(super) fn take_leg(&mut self, verifier: &Verifier<'_>) -> Result<Leg, Error> {
        let Verifier { trailer, token } = verifier;
        let index = match self.find_security(trailer) {
            Some(index) => index,
            None if self.security.len() >= self.config.limits.security_contexts_max => {
                return Ok(Leg::Refused(FaultStatus::RPC_S_PROTOCOL_ERROR));
            }
            None => match self.begin_security(trailer) {
                Ok(index) => index,
                Err(_unknown) => return Ok(Leg::Refused(FaultStatus::NCA_S_FAULT_ACCESS_DENIED)),
            },
        };
        match self.security[index].state {
            SecurityState::Authenticating { .. } => self.security[index].protector.check(trailer)?,
            SecurityState::Established => return Err(Error::WrongSecurityContext),
            SecurityState::Denied => return Ok(Leg::Refused(FaultStatus::NCA_S_FAULT_ACCESS_DENIED)),
        }
        match self.step(index, token) {
            Ok(token) => Ok(Leg::Taken(index, token)),
            Err(error) => {
                self.deny(index, error);
                Ok(Leg::Refused(FaultStatus::NCA_S_FAULT_ACCESS_DENIED))
            }
        }
    }

    /// Begins a security context as the client's first leg asks for it.
    pub(super) fn begin_security(&mut self, trailer: &SecTrailer) -> Result<SecurityIndex, Error> {
        let &SecTrailer { auth_type: service, auth_level: level, auth_context_id: context_id, .. } = trailer;
        let is_known = (AuthLevel::CONNECT..=AuthLevel::PKT_PRIVACY).contains(&level);
        let context = if is_known { (self.acceptor)(service) } else { None };
        let context = context.ok_or(Error::SecurityNotTaken { service, level })?;
        let protector = Protector { context, auth: Auth { level, service, context_id } };
        let state = SecurityState::Authenticating { legs: 0 };
        self.security.push(SecurityEntry { protector, state, peer: None });
        Ok(self.security.len() - 1)
    }

    /// Gives a leg of the client to the security context and answers the next.
    pub(super) fn step(&mut self, index: SecurityIndex, token: &[u8]) -> Result<Option<Vec<u8>>, ssp::Error> {
        let legs_max = self.config.limits.auth_legs_max;
        let entry = &mut self.security[index];
        let SecurityState::Authenticating { legs } = entry.state else {
            return Err(ssp::Error::Finished);
        };
        if legs >= legs_max {
            return Err(ssp::Error::Finished);
        }
        let (state, token) = match entry.protector.context.step(token)? {
            Step::Continue(token) => (SecurityState::Authenticating { legs: legs + 1 }, Some(token)),
            Step::Done(token) => {
                if entry.protector.auth.level.protection().is_some() {
                    // Without a key no call could be answered.
                    entry.protector.context.session_key()?;
                }
                entry.peer = entry.protector.context.peer().account.map(Arc::new);
                (SecurityState::Established, token)
            }
            _ => return Err(ssp::Error::NotEstablished),
        };
        if state == SecurityState::Established {
            self.observe(Change::Authenticated { auth: self.security[index].protector.auth });
        }
        self.set_security_state(index, state);
        Ok(token)
    }

    /// Authentication failed: calls under this context are denied.
    fn deny(&mut self, index: SecurityIndex, error: ssp::Error) {
        self.set_security_state(index, SecurityState::Denied);
        self.events.push_back(ServerEvent::AuthenticationFailed(error));
    }

    /// The first context decides what becomes of the association; further ones do not matter to it.
    fn set_security_state(&mut self, index: SecurityIndex, state: SecurityState) {
        self.security[index].state = state;
        if index == 0 && !self.allows_unauthenticated {
            self.observe_state(match state {
                SecurityState::Authenticating { .. } => AssociationState::Binding,
                SecurityState::Established => AssociationState::Bound,
                SecurityState::Denied => AssociationState::Failed,
            });
        }
    }
}
