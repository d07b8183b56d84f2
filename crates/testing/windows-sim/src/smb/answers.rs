//! What goes back to the client: answers, refusals, and the interim ones of what takes its time.

use ms_smb2::Error;
use ms_smb2::packet::{Packet, Stamp};
use ms_smb2::wire::{ErrorResponse, Flags, Header, Owner};
use tracing::debug;
use wire::{Encode, NtStatus};

use super::connection::ServerConnection;
use super::{Request, Waiting};

impl ServerConnection {
    pub(super) fn answer(&mut self, request: &Request, body: &impl Encode) -> Result<(), Error> {
        self.respond(request, NtStatus::STATUS_SUCCESS, body)
    }

    pub(super) fn refuse(&mut self, request: &Request, status: NtStatus) -> Result<(), Error> {
        debug!(command = %request.command, %status, "Refused");
        self.respond(request, status, &ErrorResponse)
    }

    pub(super) fn respond(
        &mut self,
        request: &Request,
        status: NtStatus,
        body: &impl Encode,
    ) -> Result<(), Error> {
        let packet = self.packet(request, status, body)?;
        let protects = request.encrypted || request.signed || self.config.signing_required;
        let keys = self.sessions.get_mut(&request.session_id).and_then(|session| session.keys.as_mut());
        let frame = packet.protect(keys.filter(|_| protects), request.session_id)?;
        self.transmit.push_back(frame);
        Ok(())
    }

    /// A response with its credits, not protected yet.
    pub(super) fn packet(
        &mut self,
        request: &Request,
        status: NtStatus,
        body: &impl Encode,
    ) -> Result<Packet, Error> {
        let (flags, owner) = match request.async_id {
            Some(async_id) => (Flags::SERVER_TO_REDIR.with(Flags::ASYNC_COMMAND), Owner::Async(async_id)),
            None => (Flags::SERVER_TO_REDIR, Owner::Tree(request.tree_id)),
        };
        // The interim answer has granted already.
        let is_final_of_two = request.async_id.is_some() && status != NtStatus::STATUS_PENDING;
        let credits = if is_final_of_two { 0 } else { self.window.grant(request.credits_wanted) };
        let header = Header {
            credit_charge: 0,
            status,
            command: request.command,
            credits,
            flags,
            next_command: 0,
            message_id: request.message_id,
            owner,
            session_id: request.session_id,
            signature: [0; 16],
        };
        let has_ciphers = self.sessions.get(&request.session_id).is_some_and(|s| s.opener().is_some());
        let mut packet = Packet::new(&header, body, request.encrypted && has_ciphers)?;
        packet.stamp(Stamp { message_id: request.message_id, credit_charge: request.credit_charge, credits });
        Ok(packet)
    }

    pub(super) fn send_frame(&mut self, frame: Vec<u8>) {
        self.transmit.push_back(frame);
    }

    /// Answers every request that has no answer yet with `STATUS_PENDING`.
    pub(super) fn send_interim_answers(&mut self) {
        let mut unanswered: Vec<Request> = Vec::new();
        let reads = self
            .files
            .values_mut()
            .flat_map(|file| &mut file.reads)
            .map(|read: &mut Waiting| &mut read.request);
        for request in reads.chain(self.opening.values_mut()).filter(|request| request.async_id.is_none()) {
            self.async_ids_made += 1;
            request.async_id = Some(self.async_ids_made);
            unanswered.push(*request);
        }
        for request in unanswered {
            if let Err(error) = self.respond_interim(&request) {
                self.failure = Some(error);
            }
        }
    }

    /// An interim answer is encrypted like others, but not signed: it would share a nonce with the final one.
    fn respond_interim(&mut self, request: &Request) -> Result<(), Error> {
        let packet = self.packet(request, NtStatus::STATUS_PENDING, &ErrorResponse)?;
        let keys = self.sessions.get_mut(&request.session_id).and_then(|session| session.keys.as_mut());
        let frame = packet.protect(keys.filter(|_| request.encrypted), request.session_id)?;
        self.transmit.push_back(frame);
        Ok(())
    }
}
