use core::mem;

use wire::{Decode, Encode, ReadCursor};

use super::association::{OpenCall, ServerAssociation, State};
use super::{IncomingCall, IncomingFragments, SecurityIndex, SecurityState, ServerEvent};
use crate::assembly::Assembly;
use crate::pdu::{
    AlterContext, Bind, CommandKind, CommonHeader, Header2, PacketType, PfcFlags, Request,
    VerificationTrailer, Verifier,
};
use crate::protector::unprotect;
use crate::{AuthLevel, CallOutcome, Change, Error, FaultStatus, SyntaxId};

impl ServerAssociation {
    /// Takes bytes from the client, split or joined in any way.
    ///
    /// # Errors
    /// If the client is refused or violates the protocol. The association is broken then.
    pub fn handle_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.state == State::Failed {
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
                        self.send_fault(&header, &error);
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
        self.settle();
        result
    }

    fn handle_pdu(&mut self, header: &CommonHeader, pdu: &mut [u8]) -> Result<(), Error> {
        match header.packet_type {
            PacketType::REQUEST => self.handle_request(header, pdu),
            PacketType::BIND | PacketType::ALTER_CONTEXT | PacketType::AUTH3 => {
                let (body_end, verifier) = Verifier::split(header, pdu, CommonHeader::FIXED_PART_SIZE)?;
                let mut src = ReadCursor::new(&pdu[..body_end]);
                src.read_slice(CommonHeader::FIXED_PART_SIZE);
                match header.packet_type {
                    PacketType::BIND => self.handle_bind(header, &Bind::decode(&mut src)?, verifier),
                    PacketType::ALTER_CONTEXT => {
                        self.handle_alter_context(header, &AlterContext::decode(&mut src)?, verifier)
                    }
                    _ => self.handle_auth3(header, verifier),
                }
            }
            PacketType::CO_CANCEL | PacketType::ORPHANED => self.handle_abandoned(header, pdu),
            packet_type => {
                Err(Error::UnexpectedPdu { packet_type, state: "serving: it is not for a client to send" })
            }
        }
    }

    fn handle_request(&mut self, header: &CommonHeader, pdu: &mut [u8]) -> Result<(), Error> {
        let mut src = ReadCursor::new(&pdu[CommonHeader::FIXED_PART_SIZE..]);
        let request = Request::decode(&mut src, header.flags)?;
        if self.state != State::Bound {
            return Err(Error::UnexpectedPdu { packet_type: header.packet_type, state: "not bound" });
        }
        let stub_start = CommonHeader::FIXED_PART_SIZE + request.size();
        let (_, verifier) = Verifier::split(header, pdu, stub_start)?;
        let security = self.choose_security(verifier.as_ref())?;
        if security.is_some_and(|index| self.security[index].state != SecurityState::Established) {
            return if header.flags.contains(PfcFlags::LAST_FRAG) {
                self.queue_denial(header.call_id)
            } else {
                Ok(())
            };
        }
        let drep = pdu[4..8].try_into().unwrap_or_default();
        let protector = security.map(|index| &mut self.security[index].protector);
        let stub = unprotect(protector, header, pdu, stub_start)?;
        let incoming = self.incoming.get_or_insert_with(|| IncomingFragments {
            call_id: header.call_id,
            request,
            security,
            assembly: Assembly::default(),
        });
        incoming.check(header.call_id, &request, security)?;
        let whole = incoming.assembly.push(header.flags, request.alloc_hint, stub, &self.config.limits)?;
        match whole {
            Some(stub) => {
                self.incoming = None;
                self.dispatch(header, drep, &request, security, stub)
            }
            None => Ok(()),
        }
    }

    /// Hands a whole call over. `drep` is that of its last fragment.
    fn dispatch(
        &mut self,
        header: &CommonHeader,
        drep: [u8; 4],
        request: &Request,
        security: Option<SecurityIndex>,
        mut stub: Vec<u8>,
    ) -> Result<(), Error> {
        let call_id = header.call_id;
        let &Request { context_id, opnum, object, .. } = request;
        let Some(context) = self.context(context_id) else {
            return self.queue_fault_status(call_id, FaultStatus::NCA_S_INVALID_PRES_CONTEXT_ID);
        };
        let interface = context.interface;
        let header2 = Header2 { packet_type: header.packet_type, drep, call_id, context_id, opnum };
        let expected = Expected { interface, header: header2, signs_headers: self.signs_headers };
        if check_trailer(&mut stub, &expected).is_err() {
            return self.queue_denial(call_id);
        }
        if self.open_calls.iter().any(|open| open.call_id == call_id) {
            return Err(Error::FragmentOrder { reason: "the call is open already" });
        }
        if self.open_calls.len() >= self.config.limits.calls_max {
            return self.queue_fault_status(call_id, FaultStatus::NCA_S_SERVER_TOO_BUSY);
        }
        let silent = header.flags.contains(PfcFlags::MAYBE);
        self.open_calls.push(OpenCall {
            call_id,
            context_id,
            security,
            silent,
            orphaned: false,
            cancel_count: 0,
        });
        let started =
            Change::CallStarted { call_id, context_id, interface: &interface, opnum, object, stub: &stub };
        self.observe(started);
        let entry = security.map(|index| &self.security[index]);
        let auth_level = entry.map_or(AuthLevel::NONE, |entry| entry.protector.auth.level);
        let peer = entry.and_then(|entry| entry.peer.clone());
        self.events.push_back(ServerEvent::Request(IncomingCall {
            call_id,
            context_id,
            interface,
            opnum,
            object,
            stub,
            auth_level,
            peer,
        }));
        Ok(())
    }

    /// A client cancels or orphans a call. Where the call has ended meanwhile, that is nothing.
    fn handle_abandoned(&mut self, header: &CommonHeader, pdu: &mut [u8]) -> Result<(), Error> {
        let call_id = header.call_id;
        let (_, verifier) = Verifier::split(header, pdu, CommonHeader::FIXED_PART_SIZE)?;
        if let Some(verifier) = verifier {
            let index = self.find_security(&verifier.trailer).ok_or(Error::WrongSecurityContext)?;
            let protector = Some(&mut self.security[index].protector);
            unprotect(protector, header, pdu, CommonHeader::FIXED_PART_SIZE)?;
        }
        let orphaned = header.packet_type == PacketType::ORPHANED;
        if orphaned && self.incoming.as_ref().is_some_and(|incoming| incoming.call_id == call_id) {
            self.incoming = None;
        }
        let Some(open) = self.open_calls.iter_mut().find(|open| open.call_id == call_id) else {
            return Ok(());
        };
        if orphaned {
            open.orphaned = true;
            self.events.push_back(ServerEvent::Orphaned(call_id));
            self.observe(Change::CallEnded { call_id, outcome: CallOutcome::Orphaned });
        } else {
            open.cancel_count = open.cancel_count.saturating_add(1);
            self.events.push_back(ServerEvent::Cancelled(call_id));
        }
        Ok(())
    }

    /// Sends the client a fault that says why the association ends, if there is a status for the error.
    fn send_fault(&mut self, header: &CommonHeader, error: &Error) {
        let status = match error {
            Error::Security { .. } if header.packet_type == PacketType::REQUEST => {
                FaultStatus::RPC_S_SEC_PKG_ERROR
            }
            Error::LevelDowngrade { .. } | Error::WrongSecurityContext => {
                FaultStatus::NCA_S_FAULT_ACCESS_DENIED
            }
            Error::LimitExceeded { .. } => FaultStatus::NCA_S_FAULT_REMOTE_NO_MEMORY,
            Error::UnexpectedPdu { .. }
            | Error::FragmentOrder { .. }
            | Error::WrongCallId { .. }
            | Error::WrongContext { .. }
            | Error::AuthenticationIncomplete { .. }
            | Error::Decode(_) => FaultStatus::NCA_S_PROTO_ERROR,
            _ => return,
        };
        // A fault has a fixed length, so that writing it cannot fail.
        let _ = self.queue_fault_status(header.call_id, status);
    }
}

/// What a request is, by the security context and the association that it came on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// As the client bound it.
    pub(super) interface: SyntaxId,
    pub(super) header: Header2,
    /// Whether the client said before that headers can be signed.
    pub(super) signs_headers: bool,
}

/// A trailer that contradicts its request, or cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contradiction;

/// Checks the verification trailer of a whole request, if there is one, and cuts it off the stub data.
///
/// [MS-RPCE] 2.2.2.13
fn check_trailer(stub: &mut Vec<u8>, expected: &Expected) -> Result<(), Contradiction> {
    let Some(start) = VerificationTrailer::find(stub) else {
        return Ok(());
    };
    let trailer =
        VerificationTrailer::decode(&mut ReadCursor::new(&stub[start..])).map_err(|_| Contradiction)?;
    let agrees = trailer.commands.iter().all(|command| match &command.kind {
        CommandKind::Bitmask1(bits) => {
            bits & VerificationTrailer::CLIENT_SUPPORT_HEADER_SIGNING == 0 || expected.signs_headers
        }
        CommandKind::PresentationContext { interface, transfer_syntax } => {
            *interface == expected.interface && *transfer_syntax == SyntaxId::NDR
        }
        CommandKind::Header2(header) => *header == expected.header,
        CommandKind::Unknown { .. } => !command.must_process,
    });
    if agrees {
        stub.truncate(start);
        Ok(())
    } else {
        Err(Contradiction)
    }
}
