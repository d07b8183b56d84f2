use super::association::{Context, ServerAssociation, State};
use super::security::Leg;
use super::{SecurityIndex, SecurityState};
use crate::client::FRAG_BYTES_MIN;
use crate::pdu::{
    AlterContext, Bind, BindAck, BindNak, BindNakReason, CommonHeader, ContextElement, ContextResult, Fault,
    PacketType, PfcFlags, ResultList, Verifier, encode_pdu,
};
use crate::{AssociationState, CallId, Change, Error, FaultStatus, RejectionReason, SyntaxId};

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
