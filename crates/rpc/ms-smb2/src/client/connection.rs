use std::collections::VecDeque;

use tracing::debug;
use wire::{Encode, NtStatus};

use super::{
    Agreement, ClientConfig, Encryption, Event, FileId, Kind, Pending, Phase, RequestId, Session, Tree,
    TreeId,
};
use crate::Error;
use crate::crypto::PreauthHash;
use crate::packet::{Deframer, Packet, Stamp, credit_charge};
use crate::wire::{Command, EmptyBody, Flags, Header, Owner};

/// A client's connection to one server, with one session.
///
/// The order of calls: [`new`](Self::new) has queued the NEGOTIATE. Whatever
/// [`poll_transmit`](Self::poll_transmit) answers goes to the stream, each frame as one write; whatever the stream
/// brings goes to [`handle_bytes`](Self::handle_bytes); then [`poll_event`](Self::poll_event) until it is empty.
///
/// 1. [`Event::Negotiated`]: [`session_setup`](Self::session_setup) with the first token.
/// 2. [`Event::SessionSetup`] with `more`: the next token. Without: give the token to the security context, then its
///    session key to [`complete_session`](Self::complete_session).
/// 3. [`tree_connect`](Self::tree_connect), [`create_pipe`](Self::create_pipe),
///    [`transceive`](Self::transceive) … each answers a [`RequestId`], which [`Event::Completed`] names again.
///
/// An error of `handle_bytes` or `complete_session` is terminal: close the stream.
#[derive(Debug)]
pub struct ClientConnection {
    pub(super) config: ClientConfig,
    pub(super) phase: Phase,
    pub(super) agreement: Option<Agreement>,
    pub(super) session: Session,
    pub(super) trees: Vec<Tree>,
    pub(super) negotiation_is_validated: bool,
    pub(super) preauth: PreauthHash,
    pub(super) credits: Credits,
    /// INVARIANT: at most `limits.requests_max`, together with `waiting`.
    pub(super) requests: Vec<Pending>,
    /// Requests without credits, in their order.
    waiting: VecDeque<(Packet, Pending)>,
    requests_made: u64,
    deframer: Deframer,
    transmit: VecDeque<Vec<u8>>,
    pub(super) events: VecDeque<Event>,
    failure: Option<Error>,
}

impl ClientConnection {
    /// A new connection, with its NEGOTIATE queued.
    ///
    /// # Errors
    /// Where the configuration offers no dialect, or none that can do what it requires.
    pub fn new(mut config: ClientConfig) -> Result<Self, Error> {
        if config.encryption == Encryption::Required {
            config.dialects.retain(|dialect| dialect.is_smb3());
        }
        config.dialects.sort_unstable();
        config.dialects.dedup();
        let mut connection = Self {
            phase: Phase::Negotiating,
            agreement: None,
            session: Session::none(),
            trees: Vec::new(),
            negotiation_is_validated: false,
            preauth: PreauthHash::default(),
            credits: Credits::new(config.limits.credits_max),
            requests: Vec::new(),
            waiting: VecDeque::new(),
            requests_made: 0,
            deframer: Deframer::new(config.limits.frame_bytes_max),
            transmit: VecDeque::new(),
            events: VecDeque::new(),
            failure: None,
            config,
        };
        connection.negotiate()?;
        Ok(connection)
    }

    /// Takes bytes of the stream, in any split.
    ///
    /// # Errors
    /// Terminal: the server broke a rule, or this side's limits.
    pub fn handle_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.alive()?;
        // Taken out while frames borrow it.
        let mut deframer = core::mem::take(&mut self.deframer);
        deframer.push(bytes);
        let result = self.handle_frames(&mut deframer);
        self.deframer = deframer;
        result.map_err(|error| self.fail(error))
    }

    fn handle_frames(&mut self, deframer: &mut Deframer) -> Result<(), Error> {
        while let Some(frame) = deframer.next_frame()? {
            self.handle_frame(frame)?;
        }
        deframer.settle();
        Ok(())
    }

    /// Takes the end of the stream, and says what it means.
    pub fn handle_eof(&mut self) -> Error {
        let error = match self.phase {
            // A server of SMB1 only does not know the protocol id, and hangs up.
            Phase::Negotiating => {
                Error::Smb1Only { evidence: "it closed the connection when SMB 2 was offered" }
            }
            _ => Error::Closed,
        };
        self.failure.clone().unwrap_or_else(|| self.fail(error))
    }

    /// The next frame to write, whole, with its length in front.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.transmit.pop_front()
    }

    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Asks the server to give a request up. Its answer still comes, mostly `STATUS_CANCELLED`; a request that was
    /// answered already is none of the server's business. Once is enough: a CANCEL has the message id of its request,
    /// so that under AES-GMAC a second one would be signed with the nonce of the first.
    ///
    /// # Errors
    /// Where the connection has failed.
    pub fn cancel(&mut self, request: RequestId) -> Result<(), Error> {
        self.alive()?;
        if let Some(position) = self.waiting.iter().position(|(_, pending)| pending.request == request) {
            self.waiting.remove(position);
            self.events.push_back(Event::Completed { request, result: Err(NtStatus::STATUS_CANCELLED) });
            return Ok(());
        }
        let mut sent = self.requests.iter_mut();
        let Some(pending) = sent.find(|pending| pending.request == request && !pending.is_cancelled) else {
            return Ok(());
        };
        pending.is_cancelled = true;
        let pending = *pending;
        let (flags, owner) = match pending.async_id {
            Some(async_id) => (Flags::ASYNC_COMMAND, Owner::Async(async_id)),
            None => (Flags::default(), Owner::Tree(0)),
        };
        let header = Header { flags, owner, ..self.header(Command::CANCEL) };
        let mut packet = Packet::new(&header, &EmptyBody, pending.encrypted)?;
        packet.stamp(Stamp { message_id: pending.message_id, credit_charge: 0, credits: 0 });
        let frame = packet.protect(self.session.keys.as_mut(), self.session.id)?;
        self.transmit.push_back(frame);
        Ok(())
    }

    /// How many requests of one credit could be sent at once, with a credit and some room left for a more urgent one.
    #[must_use]
    pub fn spare_requests(&self) -> usize {
        if !self.waiting.is_empty() {
            return 0;
        }
        let by_credits = usize::try_from(self.credits.available()).unwrap_or(usize::MAX);
        let by_limit = self.config.limits.requests_max.saturating_sub(self.requests.len());
        by_credits.min(by_limit).saturating_sub(1)
    }

    /// Whether all messages are encrypted from now on.
    #[must_use]
    pub const fn is_encrypted(&self) -> bool {
        self.session.encrypts
    }

    /// Whether messages to this pipe are encrypted: its tree may demand what the session does not.
    #[must_use]
    pub fn encrypts(&self, file: FileId) -> bool {
        self.tree_encrypts(Some(file.tree))
    }

    pub(super) fn header(&self, command: Command) -> Header {
        Header {
            credit_charge: 0,
            status: NtStatus::STATUS_SUCCESS,
            command,
            credits: 0,
            flags: Flags::default(),
            next_command: 0,
            message_id: 0,
            owner: Owner::Tree(0),
            session_id: self.session.id,
            signature: [0; 16],
        }
    }

    fn tree_encrypts(&self, tree: Option<TreeId>) -> bool {
        let demanded = tree.and_then(|id| self.trees.iter().find(|tree| tree.id == id));
        self.session.encrypts || demanded.is_some_and(|tree| tree.encrypts)
    }

    /// Sends a request, or queues it until the server grants credits. `payload_bytes` is the larger of what it
    /// brings and what it asks for.
    pub(super) fn request(
        &mut self,
        kind: Kind,
        tree: Option<TreeId>,
        body: &impl Encode,
        payload_bytes: u32,
    ) -> Result<RequestId, Error> {
        self.alive()?;
        let limit = self.config.limits.requests_max;
        if self.requests.len() + self.waiting.len() >= limit {
            return Err(Error::Limit { what: "requests under way", limit });
        }
        let encrypted = self.tree_encrypts(tree);
        let header =
            Header { owner: Owner::Tree(tree.map_or(0, |tree| tree.0)), ..self.header(kind.command()) };
        let packet = Packet::new(&header, body, encrypted)?;
        let request = RequestId(self.requests_made);
        self.requests_made += 1;
        let credit_charge = credit_charge(payload_bytes);
        let pending = Pending {
            request,
            kind,
            message_id: 0,
            credit_charge,
            async_id: None,
            encrypted,
            is_cancelled: false,
        };
        self.waiting.push_back((packet, pending));
        self.flush().map_err(|error| self.fail(error))?;
        Ok(request)
    }

    /// Sends what waits, as far as the credits go.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        while let Some((_, pending)) = self.waiting.front() {
            let Some(message_id) = self.credits.take(pending.credit_charge) else {
                // Credits come with answers only.
                return if self.requests.is_empty() { Err(Error::CreditsExhausted) } else { Ok(()) };
            };
            if let Some((packet, pending)) = self.waiting.pop_front() {
                self.send(packet, Pending { message_id, ..pending })?;
            }
        }
        Ok(())
    }

    /// Lets a request of ours answer under the id of the caller's.
    pub(super) fn rename(&mut self, from: RequestId, to: RequestId) {
        let sent = self.requests.iter_mut();
        let all = sent.chain(self.waiting.iter_mut().map(|(_, pending)| pending));
        for pending in all.filter(|pending| pending.request == from) {
            pending.request = to;
        }
    }

    fn send(&mut self, mut packet: Packet, pending: Pending) -> Result<(), Error> {
        let charge = pending.credit_charge;
        let is_multi_credit = self.agreement.is_some_and(|agreement| agreement.is_multi_credit());
        packet.stamp(Stamp {
            message_id: pending.message_id,
            credit_charge: if is_multi_credit { charge } else { 0 },
            credits: self.credits.request(charge),
        });
        match pending.kind {
            Kind::Negotiate => self.preauth.update(packet.message()),
            Kind::SessionSetup => self.session.preauth.update(packet.message()),
            _ => {}
        }
        let frame = packet.protect(self.session.keys.as_mut(), self.session.id)?;
        self.transmit.push_back(frame);
        self.requests.push(pending);
        Ok(())
    }

    pub(super) fn alive(&self) -> Result<(), Error> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Makes an error terminal.
    pub(super) fn fail(&mut self, error: Error) -> Error {
        debug!(%error, phase = self.phase.name(), "Connection failed");
        self.failure = Some(error.clone());
        error
    }
}

/// What the server lets us send, [MS-SMB2] 3.2.4.1.5.
///
/// Message ids are taken in their order, so that the window is a number of credits and the next id.
#[derive(Debug)]
pub(super) struct Credits {
    available: u32,
    next_message_id: u64,
    wanted: u16,
}

impl Credits {
    /// A server that grants without end is not believed beyond this.
    const AVAILABLE_MAX: u32 = 8192;

    pub(super) const fn new(wanted: u16) -> Self {
        Self { available: 1, next_message_id: 0, wanted }
    }

    /// Pays for a request and answers its message id, where there are credits enough.
    pub(super) fn take(&mut self, charge: u16) -> Option<u64> {
        self.available = self.available.checked_sub(charge.into())?;
        let message_id = self.next_message_id;
        self.next_message_id += u64::from(charge);
        Some(message_id)
    }

    /// Takes what a response grants.
    pub(super) fn grant(&mut self, credits: u16) {
        self.available = (self.available + u32::from(credits)).min(Self::AVAILABLE_MAX);
    }

    /// How many to ask for with a request that costs `charge`: what it costs, and what is missing.
    pub(super) fn request(&self, charge: u16) -> u16 {
        let missing = u32::from(self.wanted).saturating_sub(self.available);
        u16::try_from(missing).unwrap_or(u16::MAX).max(charge)
    }

    /// How many requests of one credit could be sent now.
    pub(super) const fn available(&self) -> u32 {
        self.available
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_was_granted_is_never_taken() {
        let mut credits = Credits::new(10);
        assert_eq!(credits.take(1), Some(0));
        assert_eq!(credits.take(1), None);
        credits.grant(3);
        assert_eq!(credits.take(2), Some(1));
        assert_eq!(credits.take(2), None);
        assert_eq!(credits.take(1), Some(3));
    }

    #[test]
    fn generosity_without_end_is_not_believed() {
        let mut credits = Credits::new(10);
        for _ in 0..100_000 {
            credits.grant(u16::MAX);
        }
        assert_eq!(credits.available(), Credits::AVAILABLE_MAX);
        assert_eq!(credits.request(1), 1);
    }
}
