use std::sync::Arc;

use ssp::Step;

use super::association::{Context, ServerAssociation, State};
use super::{SecurityEntry, SecurityIndex, SecurityState, ServerEvent};
use crate::client::FRAG_BYTES_MIN;
use crate::pdu::{
    AlterContext, Bind, BindAck, BindNak, BindNakReason, CommonHeader, ContextElement, ContextResult, Fault,
    PacketType, PfcFlags, ResultList, SecTrailer, Verifier, encode_pdu,
};
use crate::protector::Protector;
use crate::{
    AssociationState, Auth, AuthLevel, CallId, Change, Error, FaultStatus, RejectionReason, SyntaxId,
};

/// [MS-RPCE] 2.2.2.14: several security contexts on one connection, and connections that outlive an orphaned call.
const FEATURES: u8 = 0x01 | 0x02;

impl ServerAssociation {
    /// Handles the bind that opens the association.
    pub(super) fn handle_bind(
        &mut self,
        header: &CommonHeader,
        bind: &Bind,
        verifier: Option<Verifier<'_>>,
    ) -> Result<(), Error> {
        if self.state != State::Unbound {
            return Err(Error::UnexpectedPdu { packet_type: header.packet_type, state: "bound" });
        }
        if bind.max_recv_frag < FRAG_BYTES_MIN {
            return self.refuse(header.call_id, BindNakReason::LOCAL_LIMIT_EXCEEDED, None);
        }
        let Some(group) = self.config.groups.enter(bind.assoc_group_id, &self.config.client_machine) else {
            return self.refuse(header.call_id, BindNakReason::REASON_NOT_SPECIFIED, None);
        };
        self.frag_bytes_max = self.config.max_xmit_frag.min(bind.max_recv_frag);
        self.signs_headers = header.flags.contains(PfcFlags::SUPPORT_HEADER_SIGN);
        let verifier = match verifier {
            None => {
                self.allows_unauthenticated = true;
                self.observe_state(AssociationState::Bound);
                None
            }
            Some(Verifier { trailer, token }) => {
                let index = match self.begin_security(&trailer) {
                    Ok(index) => index,
                    Err(error) => {
                        let reason = BindNakReason::AUTHENTICATION_TYPE_NOT_RECOGNIZED;
                        return self.refuse(header.call_id, reason, Some(error));
                    }
                };
                match self.step(index, token) {
                    Ok(token) => token.map(|token| (index, token)),
                    Err(source) => {
                        let error = Error::Security { doing: "begin the authentication", source };
                        return self.refuse(header.call_id, BindNakReason::INVALID_CHECKSUM, Some(error));
                    }
                }
            }
        };
        self.state = State::Bound;
        let ack = BindAck {
            max_xmit_frag: self.frag_bytes_max,
            max_recv_frag: self.config.max_recv_frag.min(bind.max_xmit_frag.max(FRAG_BYTES_MIN)),
            assoc_group_id: group.id(),
            sec_addr: self.config.sec_addr.clone().into_bytes(),
            results: self.answer_contexts(&bind.contexts.0),
        };
        self.group = Some(group);
        self.queue_ack(PacketType::BIND_ACK, header, &ack, verifier.as_ref())
    }

    /// A client adds presentation contexts, goes on authenticating, or begins a further security context.
    pub(super) fn handle_alter_context(
        &mut self,
        header: &CommonHeader,
        alter: &AlterContext,
        verifier: Option<Verifier<'_>>,
    ) -> Result<(), Error> {
        if self.state != State::Bound {
            return Err(Error::UnexpectedPdu { packet_type: header.packet_type, state: "not bound" });
        }
        if self.security.is_empty() {
            // [MS-RPCE] 3.3.1.5.2.2: the first PDU with an authentication says it.
            self.signs_headers = header.flags.contains(PfcFlags::SUPPORT_HEADER_SIGN);
        }
        let verifier = match verifier {
            None if self.is_authenticating() => {
                return Err(Error::AuthenticationIncomplete { reason: "the client sends no token" });
            }
            None if self.is_denied() => return self.queue_denial(header.call_id),
            None => None,
            Some(verifier) => match self.take_leg(&verifier)? {
                Leg::Taken(index, token) => token.map(|token| (index, token)),
                Leg::Refused(status) => return self.queue_fault_status(header.call_id, status),
            },
        };
        let response = BindAck {
            max_xmit_frag: self.frag_bytes_max,
            max_recv_frag: self.config.max_recv_frag,
            assoc_group_id: self.assoc_group_id().unwrap_or_default(),
            sec_addr: Vec::new(),
            results: self.answer_contexts(&alter.contexts.0),
        };
        self.queue_ack(PacketType::ALTER_CONTEXT_RESP, header, &response, verifier.as_ref())
    }

    /// Handles the last leg of an authentication, which has no answer.
    pub(super) fn handle_auth3(
        &mut self,
        header: &CommonHeader,
        verifier: Option<Verifier<'_>>,
    ) -> Result<(), Error> {
        let unexpected =
            Error::UnexpectedPdu { packet_type: header.packet_type, state: "not authenticating" };
        match verifier {
            _ if self.state != State::Bound => Err(unexpected),
            // The first call is answered with the denial.
            _ if self.is_denied() => Ok(()),
            _ if !self.is_authenticating() => Err(unexpected),
            None => Err(Error::AuthenticationIncomplete { reason: "the client sends no token" }),
            Some(verifier) if self.find_security(&verifier.trailer).is_none() => {
                Err(Error::WrongSecurityContext)
            }
            Some(verifier) => match self.take_leg(&verifier)? {
                Leg::Taken(index, _) if self.security[index].state == SecurityState::Established => Ok(()),
                Leg::Taken(..) => {
                    Err(Error::AuthenticationIncomplete { reason: "the client ends it too early" })
                }
                Leg::Refused(_) => Ok(()),
            },
        }
    }

    /// Denies a call of a client whose authentication failed.
    pub(super) fn queue_denial(&mut self, call_id: CallId) -> Result<(), Error> {
        self.queue_fault_status(call_id, FaultStatus::NCA_S_FAULT_ACCESS_DENIED)
    }

    /// A fault for a call that was not executed.
    pub(super) fn queue_fault_status(&mut self, call_id: CallId, status: FaultStatus) -> Result<(), Error> {
        let fault = Fault { alloc_hint: 0, context_id: 0, cancel_count: 0, status };
        self.queue_fault(call_id, PfcFlags::DID_NOT_EXECUTE, fault)
    }

    /// Refuses the association; the error closes it after the bind_nak.
    fn refuse(&mut self, call_id: CallId, reason: BindNakReason, error: Option<Error>) -> Result<(), Error> {
        let nak = BindNak::new(reason);
        let bytes = encode_pdu(PacketType::BIND_NAK, PfcFlags::WHOLE, call_id, Some(&nak), None)?;
        self.transmits.push_back(bytes);
        Err(error.unwrap_or(Error::BindRefused { reason }))
    }

    /// Decides on each offered context; a name that is known already is taken over by its new interface.
    fn answer_contexts(&mut self, offered: &[ContextElement]) -> ResultList {
        ResultList(offered.iter().map(|element| self.answer_context(element)).collect())
    }

    fn answer_context(&mut self, element: &ContextElement) -> ContextResult {
        let &ContextElement { context_id, abstract_syntax, ref transfer_syntaxes } = element;
        if let Some(asked) = transfer_syntaxes.iter().find_map(SyntaxId::bind_time_features) {
            return ContextResult::features(asked & FEATURES);
        }
        if !self.config.interfaces.iter().any(|interface| interface.serves(&abstract_syntax)) {
            return ContextResult::refused(RejectionReason::ABSTRACT_SYNTAX_NOT_SUPPORTED);
        }
        if !transfer_syntaxes.contains(&SyntaxId::NDR) {
            return ContextResult::refused(RejectionReason::PROPOSED_TRANSFER_SYNTAXES_NOT_SUPPORTED);
        }
        let is_full = self.contexts.len() >= self.config.limits.contexts_max;
        match self.contexts.iter_mut().find(|context| context.context_id == context_id) {
            Some(context) => context.interface = abstract_syntax,
            None if is_full => return ContextResult::refused(RejectionReason::LOCAL_LIMIT_EXCEEDED),
            None => {
                self.contexts.push(Context { context_id, interface: abstract_syntax });
                self.observe(Change::ContextAdded { context_id, interface: &abstract_syntax });
            }
        }
        ContextResult::accepted()
    }

    fn queue_ack(
        &mut self,
        packet_type: PacketType,
        header: &CommonHeader,
        ack: &BindAck,
        leg: Option<&(SecurityIndex, Vec<u8>)>,
    ) -> Result<(), Error> {
        let header_sign = PfcFlags(header.flags.0 & PfcFlags::SUPPORT_HEADER_SIGN.0);
        let verifier = leg
            .as_ref()
            .map(|(index, token)| Verifier { trailer: self.security[*index].protector.trailer(), token });
        let flags = PfcFlags::WHOLE | header_sign;
        let bytes = encode_pdu(packet_type, flags, header.call_id, Some(ack), verifier)?;
        self.transmits.push_back(bytes);
        Ok(())
    }
}

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
        let mut context = context.ok_or(Error::SecurityNotTaken { service, level })?;
        context.set_header_signing(self.signs_headers);
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
