use dcerpc::FaultStatus;
use dcerpc::pdu::{BindNak, BindNakReason, Body, Fault, PacketType, Pdu, PfcFlags, encode_pdu};

use super::pipe::{Reply, Then};
use crate::behaviour::RegistryMode;

/// What a host answers to a client that wants its registry, where that is not what a healthy one answers.
///
/// Other PDUs than those that name the registry's interface go on to the association.
pub(super) fn refuse(mode: RegistryMode, message: &[u8]) -> Option<Reply> {
    let (is_first, pdu) = match Pdu::decode(message) {
        Ok(pdu) if pdu.header.packet_type == PacketType::BIND => (true, pdu),
        // One with a verifier is a leg of an authentication, which names the interface of its bind once more.
        Ok(pdu) if pdu.header.packet_type == PacketType::ALTER_CONTEXT && pdu.verifier.is_none() => {
            (false, pdu)
        }
        _ => return None,
    };
    let Body::Bind(bind) = &pdu.body else { return None };
    if bind.contexts.0.iter().all(|context| context.abstract_syntax.uuid != ms_rrp::SYNTAX_ID.uuid) {
        return None;
    }
    let call_id = pdu.header.call_id;
    let message = match (mode, is_first) {
        (RegistryMode::AlterFault, false) => {
            let status = FaultStatus::NCA_S_FAULT_ACCESS_DENIED;
            let fault = Fault { alloc_hint: 0, context_id: 0, cancel_count: 0, status };
            encode_pdu(PacketType::FAULT, PfcFlags::WHOLE, call_id, Some(&fault), None)
        }
        (RegistryMode::BindRefused, true) => {
            let nak = BindNak::new(BindNakReason::LOCAL_LIMIT_EXCEEDED);
            encode_pdu(PacketType::BIND_NAK, PfcFlags::WHOLE, call_id, Some(&nak), None)
        }
        (RegistryMode::AlterDrop, false) | (RegistryMode::BindDrop, true) => {
            return Some(Reply { then: Then::Drop, ..Reply::default() });
        }
        (RegistryMode::BindSilent, true) => return Some(Reply::default()),
        _ => return None,
    };
    // Both have a fixed length, so that writing them cannot fail.
    Some(Reply { messages: message.into_iter().collect(), ..Reply::default() })
}
