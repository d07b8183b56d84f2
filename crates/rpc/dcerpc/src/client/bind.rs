use ssp::Step;
use wire::DecodeError;

use super::association::ClientAssociation;
use super::{Event, FRAG_BYTES_MIN, PresentationContext, Transmit};
use super::{Offer, State};
use crate::pdu::{
    AlterContext, AlterContextResponse, Auth3, Bind, BindAck, ContextElement, ContextList, ContextResult,
    PacketType, PfcFlags, ResultList, Verifier, encode_pdu,
};
use crate::{CallId, Change, ContextId, Error, Rejection, RejectionReason, SyntaxId};

impl ClientAssociation {
    /// Asks the server for an association to call `interfaces` on; their contexts are named 0, 1, and so on.
    ///
    /// # Errors
    /// When the association was bound before, the interfaces are too many, or the authentication cannot begin.
    pub fn bind(&mut self, interfaces: &[SyntaxId]) -> Result<(), Error> {
        const COMMAND: &str = "bind";
        match self.state {
            State::Unbound => {}
            State::Failed => return Err(Error::Failed),
            _ => return Err(Error::Command { command: COMMAND, reason: "the association is bound" }),
        }
        if interfaces.is_empty() {
            return Err(Error::Command { command: COMMAND, reason: "no interface is named" });
        }
        let limit = self.config.limits.contexts_max.min(usize::from(u8::MAX));
        if interfaces.len() > limit {
            return Err(Error::LimitExceeded { what: "presentation contexts", limit });
        }
        self.contexts =
            (0..).zip(interfaces).map(|(context_id, &interface)| unanswered(context_id, interface)).collect();
        let (token, legs) = match &mut self.protector {
            None => (None, 0),
            Some(protector) => match protector.context.step(&[]) {
                Ok(Step::Continue(token)) => (Some(token), 1),
                Ok(_) => return Err(Error::AuthenticationIncomplete { reason: "there is nothing to send" }),
                Err(source) => return Err(Error::Security { doing: "begin the authentication", source }),
            },
        };
        let call_id = self.next_call_id();
        self.queue_offer(PacketType::BIND, call_id, 0, token.as_deref())?;
        self.set_state(State::Binding(Offer { call_id, first_context: 0, legs, acknowledged: false }));
        Ok(())
    }

    /// Asks the server for a further interface on this association; answers the name of its context.
    ///
    /// # Errors
    /// When the association is not bound, a call is open, or the contexts are too many.
    pub fn alter_context(&mut self, interface: SyntaxId) -> Result<ContextId, Error> {
        self.require_bound("alter the context")?;
        let first_context = self.contexts.len();
        let limit = self.config.limits.contexts_max;
        let context_id = ContextId::try_from(first_context)
            .ok()
            .filter(|_| first_context < limit)
            .ok_or(Error::LimitExceeded { what: "presentation contexts", limit })?;
        self.contexts.push(unanswered(context_id, interface));
        let call_id = self.next_call_id();
        self.queue_offer(PacketType::ALTER_CONTEXT, call_id, first_context, None)?;
        self.set_state(State::Altering(Offer { call_id, first_context, legs: 0, acknowledged: false }));
        Ok(context_id)
    }

    /// The server accepted the association.
    pub(super) fn handle_bind_ack(
        &mut self,
        mut offer: Offer,
        ack: &BindAck,
        verifier: Option<Verifier<'_>>,
    ) -> Result<(), Error> {
        if ack.max_recv_frag < FRAG_BYTES_MIN {
            return Err(invalid("max_recv_frag", "below the 1432 bytes that everybody takes"));
        }
        self.frag_bytes_max = self.config.max_xmit_frag.min(ack.max_recv_frag);
        self.assoc_group_id = ack.assoc_group_id;
        self.take_results(&offer, &ack.results)?;
        let refusals =
            self.contexts.iter().filter_map(|context| Some((context.interface, context.outcome.err()?)));
        if let Some((interface, (result, reason))) = refusals.clone().next()
            && refusals.count() == self.contexts.len()
        {
            return Err(Error::ContextRefused { interface, result, reason });
        }
        offer.acknowledged = true;
        self.authenticate(offer, verifier)
    }

    /// The server answered to a further interface, or to a further leg.
    pub(super) fn handle_alter_context_resp(
        &mut self,
        offer: Offer,
        response: &AlterContextResponse,
        verifier: Option<Verifier<'_>>,
    ) -> Result<(), Error> {
        if offer.acknowledged {
            return self.authenticate(offer, verifier);
        }
        self.take_results(&offer, &response.results)?;
        self.set_state(State::Bound);
        let answered = &self.contexts[offer.first_context..];
        self.events.extend(answered.iter().map(|&context| Event::Altered { context }));
        Ok(())
    }

    /// Takes a leg of the server and sends the next, until there is none.
    fn authenticate(&mut self, mut offer: Offer, verifier: Option<Verifier<'_>>) -> Result<(), Error> {
        let Some(protector) = &mut self.protector else {
            return self.bound();
        };
        let Some(Verifier { trailer, token }) = verifier else {
            return Err(Error::AuthenticationIncomplete { reason: "the server sends no token" });
        };
        protector.check(&trailer)?;
        offer.legs += 1;
        if offer.legs > self.config.limits.auth_legs_max {
            return Err(Error::AuthenticationIncomplete { reason: "it has too many legs" });
        }
        let step = protector
            .context
            .step(token)
            .map_err(|source| Error::Security { doing: "authenticate", source })?;
        match step {
            Step::Continue(token) => {
                offer.call_id = self.next_call_id();
                self.queue_offer(PacketType::ALTER_CONTEXT, offer.call_id, 0, Some(&token))?;
                self.set_state(State::Binding(offer));
                Ok(())
            }
            Step::Done(None) => self.bound(),
            Step::Done(Some(token)) => {
                self.queue_auth3(offer.call_id, &token)?;
                self.bound()
            }
            _ => Err(Error::AuthenticationIncomplete { reason: "the package wants what is not supported" }),
        }
    }

    fn bound(&mut self) -> Result<(), Error> {
        if let Some(protector) = &self.protector {
            self.observe(Change::Authenticated { auth: protector.auth });
        }
        self.set_state(State::Bound);
        self.events.push_back(Event::Bound { contexts: self.contexts.clone() });
        Ok(())
    }

    /// Notes the server's answers to what was offered.
    fn take_results(&mut self, offer: &Offer, results: &ResultList) -> Result<(), Error> {
        let offered = &mut self.contexts[offer.first_context..];
        if results.0.len() != offered.len() {
            return Err(invalid("n_results", "not one result for each context that was offered"));
        }
        for (context, result) in offered.iter_mut().zip(&results.0) {
            context.outcome = outcome(result);
        }
        for PresentationContext { context_id, interface, outcome } in &self.contexts[offer.first_context..] {
            if outcome.is_ok() {
                self.observe(Change::ContextAdded { context_id: *context_id, interface });
            }
        }
        Ok(())
    }

    fn queue_offer(
        &mut self,
        packet_type: PacketType,
        call_id: CallId,
        first_context: usize,
        token: Option<&[u8]>,
    ) -> Result<(), Error> {
        let elements = self.contexts[first_context..].iter().map(|context| ContextElement {
            context_id: context.context_id,
            abstract_syntax: context.interface,
            transfer_syntaxes: vec![SyntaxId::NDR],
        });
        let body = AlterContext {
            max_xmit_frag: self.config.max_xmit_frag,
            max_recv_frag: self.config.max_recv_frag,
            assoc_group_id: self.assoc_group_id,
            contexts: ContextList(elements.collect()),
        };
        // [MS-RPCE] 2.2.2.3: it is negotiated with the security context, so a PDU without a token says nothing of it.
        let flags = match token {
            Some(_) => PfcFlags::WHOLE | PfcFlags::SUPPORT_HEADER_SIGN,
            None => PfcFlags::WHOLE,
        };
        let bytes = encode_pdu(packet_type, flags, call_id, Some(&body as &Bind), self.verifier(token))?;
        self.transmits.push_back(Transmit { bytes, reply: true });
        Ok(())
    }

    fn queue_auth3(&mut self, call_id: CallId, token: &[u8]) -> Result<(), Error> {
        let verifier = self.verifier(Some(token));
        let bytes = encode_pdu(PacketType::AUTH3, PfcFlags::WHOLE, call_id, Some(&Auth3), verifier)?;
        self.transmits.push_back(Transmit { bytes, reply: false });
        Ok(())
    }

    fn verifier<'t>(&self, token: Option<&'t [u8]>) -> Option<Verifier<'t>> {
        let trailer = self.protector.as_ref()?.trailer();
        token.map(|token| Verifier { trailer, token })
    }
}

/// A context that the server has not answered to.
const fn unanswered(context_id: ContextId, interface: SyntaxId) -> PresentationContext {
    let outcome = Err((Rejection::PROVIDER_REJECTION, RejectionReason::REASON_NOT_SPECIFIED));
    PresentationContext { context_id, interface, outcome }
}

/// What a server's answer means to a client that speaks NDR 2.0 only.
fn outcome(result: &ContextResult) -> Result<(), (Rejection, RejectionReason)> {
    if result.result != Rejection::ACCEPTANCE {
        Err((result.result, result.reason))
    } else if result.transfer_syntax == SyntaxId::NDR {
        Ok(())
    } else {
        Err((Rejection::PROVIDER_REJECTION, RejectionReason::PROPOSED_TRANSFER_SYNTAXES_NOT_SUPPORTED))
    }
}

fn invalid(field: &'static str, reason: &'static str) -> Error {
    DecodeError::invalid_field("rpcconn_bind_ack_hdr_t", field, 0, reason).into()
}
