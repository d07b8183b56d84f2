use std::sync::Arc;

use dcerpc::pdu::{BindNak, Body, Fault, PacketType, Pdu, PfcFlags, encode_pdu};

use super::{Reply, Then};
use crate::behaviour::Behaviour;
use crate::service::{BindRefusal, BindRequest, Service};

/// The answer to a message that binds a service which refuses it. `None` for other messages: the association answers
/// those.
pub(super) fn refuse(services: &[Arc<dyn Service>], behaviour: &Behaviour, message: &[u8]) -> Option<Reply> {
    let pdu = Pdu::decode(message).ok()?;
    let request = match pdu.header.packet_type {
        PacketType::BIND => BindRequest::Bind,
        // One with a verifier is a leg of an authentication, which names the interface of its bind once more.
        PacketType::ALTER_CONTEXT if pdu.verifier.is_none() => BindRequest::AlterContext,
        _ => return None,
    };
    let Body::Bind(bind) = &pdu.body else { return None };
    let is_asked_for = |service: &&Arc<dyn Service>| {
        bind.contexts.0.iter().any(|context| context.abstract_syntax.uuid == service.syntax_id().uuid)
    };
    let mut asked_for = services.iter().filter(is_asked_for);
    let refusal = asked_for.find_map(|service| service.refuse_bind(behaviour, request))?;
    let call_id = pdu.header.call_id;
    // Both messages have a fixed length, so that writing them cannot fail.
    let (message, then) = match refusal {
        BindRefusal::Nak(reason) => {
            let nak = BindNak::new(reason);
            (encode_pdu(PacketType::BIND_NAK, PfcFlags::WHOLE, call_id, Some(&nak), None).ok(), Then::GoOn)
        }
        BindRefusal::Fault(status) => {
            let fault = Fault { alloc_hint: 0, context_id: 0, cancel_count: 0, status };
            (encode_pdu(PacketType::FAULT, PfcFlags::WHOLE, call_id, Some(&fault), None).ok(), Then::GoOn)
        }
        BindRefusal::Drop => (None, Then::Drop),
        BindRefusal::Silence => (None, Then::GoOn),
    };
    Some(Reply { messages: message.into_iter().collect(), then, ..Reply::default() })
}
