use core::mem;

use wire::{Decode, ReadCursor};

use super::Event;
use super::State;
use super::association::ClientAssociation;
use crate::pdu::{BindAck, BindNak, CommonHeader, Fault, PacketType, PfcFlags, Response, Verifier};
use crate::protector::unprotect;
use crate::{CallId, CallOutcome, Change, Error};

impl ClientAssociation {
    /// Takes bytes from the server, split or joined in any way.
    ///
    /// # Errors
    /// If the server refuses the association or violates the protocol. The association is broken then; events that
    /// came before is still there.
    pub fn handle_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if matches!(self.state, State::Failed) {
            return Err(Error::Failed);
        }
        // Taken out so that a PDU can be decrypted where it lies.
        let mut stream = mem::take(&mut self.stream);
        stream.push(bytes);
        let result = loop {
            match stream.next_pdu(self.config.max_recv_frag) {
                Ok(Some((header, pdu))) => {
                    self.received_pdus += 1;
                    self.observe(Change::FragmentReceived { bytes: pdu.len() });
                    if let Err(error) = self.handle_pdu(&header, pdu) {
                        break Err(error);
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error.into()),
            }
        };
        stream.settle();
        self.stream = stream;
        if result.is_err() {
            self.fail();
        }
        result
    }

    fn handle_pdu(&mut self, header: &CommonHeader, pdu: &mut [u8]) -> Result<(), Error> {
        match header.packet_type {
            PacketType::RESPONSE => self.handle_response(header, pdu),
            PacketType::FAULT => self.handle_fault(header, pdu),
            PacketType::BIND_ACK | PacketType::BIND_NAK | PacketType::ALTER_CONTEXT_RESP => {
                self.handle_answer(header, pdu)
            }
            PacketType::SHUTDOWN => {
                self.events.push_back(Event::Shutdown);
                Ok(())
            }
            packet_type => Err(self.unexpected(packet_type)),
        }
    }

    /// The answer to a bind or alter_context.
    fn handle_answer(&mut self, header: &CommonHeader, pdu: &[u8]) -> Result<(), Error> {
        let (body_end, verifier) = Verifier::split(header, pdu, CommonHeader::FIXED_PART_SIZE)?;
        let mut src = ReadCursor::new(&pdu[..body_end]);
        src.read_slice(CommonHeader::FIXED_PART_SIZE);
        let packet_type = header.packet_type;
        match (mem::replace(&mut self.state, State::Failed), packet_type) {
            (State::Binding(offer), PacketType::BIND_ACK) if !offer.acknowledged => {
                expect_call(offer.call_id, header.call_id)?;
                if let Some(protector) = &mut self.protector {
                    let signs_headers = header.flags.contains(PfcFlags::SUPPORT_HEADER_SIGN);
                    protector.context.set_header_signing(signs_headers);
                }
                self.handle_bind_ack(offer, &BindAck::decode(&mut src)?, verifier)
            }
            (State::Binding(_), PacketType::BIND_NAK) => {
                Err(Error::BindRefused { reason: BindNak::decode(&mut src)?.reason })
            }
            (State::Binding(offer), PacketType::ALTER_CONTEXT_RESP) if offer.acknowledged => {
                expect_call(offer.call_id, header.call_id)?;
                self.handle_alter_context_resp(offer, &BindAck::decode(&mut src)?, verifier)
            }
            (State::Altering(offer), PacketType::ALTER_CONTEXT_RESP) => {
                expect_call(offer.call_id, header.call_id)?;
                self.handle_alter_context_resp(offer, &BindAck::decode(&mut src)?, verifier)
            }
            (state, _) => {
                self.state = state;
                Err(self.unexpected(packet_type))
            }
        }
    }

    fn handle_response(&mut self, header: &CommonHeader, pdu: &mut [u8]) -> Result<(), Error> {
        let response = Response::decode(&mut ReadCursor::new(&pdu[CommonHeader::FIXED_PART_SIZE..]))?;
        let stub = unprotect(self.protector.as_mut(), header, pdu, RESPONSE_STUB_START)?;
        let open = match &mut self.open_call {
            Some(open) if open.call_id == header.call_id => open,
            open => {
                let expected = open.as_ref().map(|open| open.call_id);
                return self.handle_orphan(header, expected);
            }
        };
        if response.context_id != open.context_id {
            return Err(Error::WrongContext { expected: open.context_id, actual: response.context_id });
        }
        let whole = open.response.push(header.flags, response.alloc_hint, stub, &self.config.limits)?;
        if let Some(stub) = whole {
            let call_id = header.call_id;
            self.open_call = None;
            let outcome = CallOutcome::Response { stub_bytes: stub.len() };
            self.observe(Change::CallEnded { call_id, outcome });
            self.events.push_back(Event::Response { call_id, stub });
        }
        Ok(())
    }

    fn handle_fault(&mut self, header: &CommonHeader, pdu: &mut [u8]) -> Result<(), Error> {
        let fault = Fault::decode(&mut ReadCursor::new(&pdu[CommonHeader::FIXED_PART_SIZE..]))?;
        let call_id = header.call_id;
        match (&self.state, &self.open_call) {
            (State::Binding(offer), _) => {
                expect_call(offer.call_id, call_id)?;
                return Err(Error::BindFault { doing: "bind", status: fault.status });
            }
            (State::Altering(offer), _) => {
                expect_call(offer.call_id, call_id)?;
                return Err(Error::BindFault { doing: "alter the context", status: fault.status });
            }
            (_, Some(open)) if open.call_id == call_id => {}
            (_, open) => {
                let expected = open.as_ref().map(|open| open.call_id);
                self.check_fault(header, pdu)?;
                return self.handle_orphan(header, expected);
            }
        }
        self.open_call = None;
        self.observe(Change::CallEnded { call_id, outcome: CallOutcome::Fault(fault.status) });
        self.events.push_back(Event::Fault { call_id, status: fault.status });
        // After the event: the server's status is reported even if its signature is wrong.
        self.check_fault(header, pdu)
    }

    /// Checks the verifier of a fault, where there is one. Samba never sends one, so that none is no downgrade.
    fn check_fault(&mut self, header: &CommonHeader, pdu: &mut [u8]) -> Result<(), Error> {
        if header.auth_length == 0 {
            return Ok(());
        }
        unprotect(self.protector.as_mut(), header, pdu, FAULT_STUB_START).map(|_| ())
    }

    /// A fragment of a call that is not open: that of an orphan is thrown away.
    fn handle_orphan(&mut self, header: &CommonHeader, expected: Option<CallId>) -> Result<(), Error> {
        let Some(index) = self.orphans.iter().position(|&orphan| orphan == header.call_id) else {
            return Err(match expected {
                Some(expected) => Error::WrongCallId { expected, actual: header.call_id },
                None => self.unexpected(header.packet_type),
            });
        };
        if header.flags.contains(PfcFlags::LAST_FRAG) {
            self.orphans.remove(index);
        }
        Ok(())
    }

    fn unexpected(&self, packet_type: PacketType) -> Error {
        let state = match self.state {
            State::Unbound => "nothing was sent",
            State::Binding(_) => "binding",
            State::Bound if self.open_call.is_some() => "a call is open",
            State::Bound => "no call is open",
            State::Altering(_) => "altering the context",
            State::Failed => "broken",
        };
        Error::UnexpectedPdu { packet_type, state }
    }
}

const RESPONSE_STUB_START: usize = CommonHeader::FIXED_PART_SIZE
    + 8 /* alloc_hint to reserved */;
const FAULT_STUB_START: usize = RESPONSE_STUB_START + 4 /* status */ + 4 /* reserved2 */;

fn expect_call(expected: CallId, actual: CallId) -> Result<(), Error> {
    if actual == expected { Ok(()) } else { Err(Error::WrongCallId { expected, actual }) }
}
