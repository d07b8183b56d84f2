use std::sync::Arc;

use ssp::Step;

use super::ServerEvent;
use super::association::{Context, ServerAssociation, State};
use crate::client::FRAG_BYTES_MIN;
use crate::pdu::{
    AlterContext, Bind, BindAck, BindNak, BindNakReason, CommonHeader, ContextElement, ContextResult, Fault,
    PacketType, PfcFlags, ResultList, SecTrailer, Verifier, encode_pdu,
};
use crate::protector::Protector;
use crate::{Auth, AuthLevel, CallId, Change, Error, FaultStatus, RejectionReason, SyntaxId};

impl ServerAssociation {
    /// A client opens the association.
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
        self.frag_bytes_max = self.config.max_xmit_frag.min(bind.max_recv_frag);
        let token = match verifier {
            None => {
                self.set_state(State::Bound);
                None
            }
            Some(verifier) => {
                if let Err((reason, source)) = self.begin_authentication(&verifier) {
                    return self.refuse(header.call_id, reason, source);
                }
                match self.step(verifier.token, 1) {
                    Ok(token) => token,
                    Err(error) => {
                        return self.refuse(header.call_id, BindNakReason::INVALID_CHECKSUM, Some(error));
                    }
                }
            }
        };
        let ack = BindAck {
            max_xmit_frag: self.frag_bytes_max,
            max_recv_frag: self.config.max_recv_frag.min(bind.max_xmit_frag.max(FRAG_BYTES_MIN)),
            assoc_group_id: match bind.assoc_group_id {
                0 => self.config.assoc_group_id,
                named => named,
            },
            sec_addr: self.config.sec_addr.clone().into_bytes(),
            results: self.answer_contexts(&bind.contexts.0),
        };
        self.queue_ack(PacketType::BIND_ACK, header, &ack, token.as_deref())
    }

    /// A client adds contexts, or goes on authenticating.
    pub(super) fn handle_alter_context(
        &mut self,
        header: &CommonHeader,
        alter: &AlterContext,
        verifier: Option<Verifier<'_>>,
    ) -> Result<(), Error> {
        let token = match (self.state, verifier) {
            (State::Bound, None) => None,
            (State::Authenticating { legs }, Some(Verifier { trailer, token })) => {
                self.check_trailer(&trailer)?;
                match self.step(token, legs + 1) {
                    Ok(token) => token,
                    Err(error) => {
                        self.deny(error);
                        return self.queue_denial(header.call_id);
                    }
                }
            }
            (State::Denied, _) => return self.queue_denial(header.call_id),
            (State::Bound, Some(_)) => return Err(Error::WrongSecurityContext),
            (State::Authenticating { .. }, None) => {
                return Err(Error::AuthenticationIncomplete { reason: "the client sends no token" });
            }
            (State::Unbound | State::Failed, _) => {
                return Err(Error::UnexpectedPdu { packet_type: header.packet_type, state: "not bound" });
            }
        };
        let response = BindAck {
            max_xmit_frag: self.frag_bytes_max,
            max_recv_frag: self.config.max_recv_frag,
            assoc_group_id: self.config.assoc_group_id,
            sec_addr: Vec::new(),
            results: self.answer_contexts(&alter.contexts.0),
        };
        self.queue_ack(PacketType::ALTER_CONTEXT_RESP, header, &response, token.as_deref())
    }

    /// The last leg of an authentication, which has no answer.
    pub(super) fn handle_auth3(
        &mut self,
        header: &CommonHeader,
        verifier: Option<Verifier<'_>>,
    ) -> Result<(), Error> {
        match (self.state, verifier) {
            (State::Authenticating { legs }, Some(Verifier { trailer, token })) => {
                self.check_trailer(&trailer)?;
                match self.step(token, legs + 1) {
                    Ok(_) if self.state == State::Bound => Ok(()),
                    Ok(_) => Err(Error::AuthenticationIncomplete { reason: "the client ends it too early" }),
                    Err(error) => {
                        self.deny(error);
                        Ok(())
                    }
                }
            }
            (State::Authenticating { .. }, None) => {
                Err(Error::AuthenticationIncomplete { reason: "the client sends no token" })
            }
            // The denial is told with the first call.
            (State::Denied, _) => Ok(()),
            _ => Err(Error::UnexpectedPdu { packet_type: header.packet_type, state: "not authenticating" }),
        }
    }

    /// Answers a call of a client that did not prove who it is.
    pub(super) fn queue_denial(&mut self, call_id: CallId) -> Result<(), Error> {
        self.queue_fault_status(call_id, FaultStatus::NCA_S_FAULT_ACCESS_DENIED)
    }

    /// A fault for a call that was not executed.
    pub(super) fn queue_fault_status(&mut self, call_id: CallId, status: FaultStatus) -> Result<(), Error> {
        let fault = Fault { alloc_hint: 0, context_id: 0, cancel_count: 0, status };
        self.queue_fault(call_id, PfcFlags::DID_NOT_EXECUTE, fault)
    }

    fn begin_authentication(
        &mut self,
        verifier: &Verifier<'_>,
    ) -> Result<(), (BindNakReason, Option<ssp::Error>)> {
        let SecTrailer { auth_type: service, auth_level: level, auth_context_id: context_id, .. } =
            verifier.trailer;
        let unknown = (BindNakReason::AUTHENTICATION_TYPE_NOT_RECOGNIZED, None);
        if !(AuthLevel::CONNECT..=AuthLevel::PKT_PRIVACY).contains(&level) {
            return Err(unknown);
        }
        let context = (self.acceptor)(service).ok_or(unknown)?;
        self.protector = Some(Protector { context, auth: Auth { level, service, context_id } });
        Ok(())
    }

    /// Gives a leg to the security context and answers the next.
    fn step(&mut self, token: &[u8], legs: usize) -> Result<Option<Vec<u8>>, ssp::Error> {
        let Some(protector) = &mut self.protector else {
            return Err(ssp::Error::NotEstablished);
        };
        if legs > self.config.limits.auth_legs_max {
            return Err(ssp::Error::Finished);
        }
        match protector.context.step(token)? {
            Step::Continue(token) => {
                self.set_state(State::Authenticating { legs });
                Ok(Some(token))
            }
            Step::Done(token) => {
                self.peer = protector.context.peer().account.map(Arc::new);
                self.set_state(State::Bound);
                Ok(token)
            }
            _ => Err(ssp::Error::NotEstablished),
        }
    }

    fn check_trailer(&self, trailer: &SecTrailer) -> Result<(), Error> {
        self.protector.as_ref().map_or(Err(Error::WrongSecurityContext), |protector| protector.check(trailer))
    }

    fn deny(&mut self, error: ssp::Error) {
        self.set_state(State::Denied);
        self.events.push_back(ServerEvent::AuthenticationFailed(error));
    }

    /// Refuses the association; the error closes it after the bind_nak.
    fn refuse(
        &mut self,
        call_id: CallId,
        reason: BindNakReason,
        source: Option<ssp::Error>,
    ) -> Result<(), Error> {
        let nak = BindNak::new(reason);
        let bytes = encode_pdu(PacketType::BIND_NAK, PfcFlags::WHOLE, call_id, Some(&nak), None)?;
        self.transmits.push_back(bytes);
        Err(match source {
            Some(source) => Error::Security { doing: "begin the authentication", source },
            None => Error::BindRefused { reason },
        })
    }

    /// Decides on each offered context; a name that is known already is taken over by its new interface.
    fn answer_contexts(&mut self, offered: &[ContextElement]) -> ResultList {
        ResultList(offered.iter().map(|element| self.answer_context(element)).collect())
    }

    fn answer_context(&mut self, element: &ContextElement) -> ContextResult {
        let &ContextElement { context_id, abstract_syntax, ref transfer_syntaxes } = element;
        if transfer_syntaxes.iter().any(|syntax| syntax.bind_time_features().is_some()) {
            return ContextResult::no_features();
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
        token: Option<&[u8]>,
    ) -> Result<(), Error> {
        let header_sign = PfcFlags(header.flags.0 & PfcFlags::SUPPORT_HEADER_SIGN.0);
        let verifier = self
            .protector
            .as_ref()
            .zip(token)
            .map(|(protector, token)| Verifier { trailer: protector.trailer(), token });
        let flags = PfcFlags::WHOLE | header_sign;
        let bytes = encode_pdu(packet_type, flags, header.call_id, Some(ack), verifier)?;
        self.transmits.push_back(bytes);
        Ok(())
    }
}
