use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ms_smb2::crypto::PreauthHash;
use ms_smb2::packet::{Deframer, split_compound};
use ms_smb2::wire::{
    Capabilities, Command, EmptyBody, Flags, Header, Owner, SecurityMode, Smb1Negotiate, TransformHeader,
};
use ms_smb2::{Cipher, Dialect, DialectRevision, Error, SigningAlgorithm};
use tracing::{debug, trace};
use wire::{Decode as _, Guid, NtStatus, ReadCursor};

use super::{File, FileId, Request, RequestId, ServerConfig, ServerEvent, Session};

/// A server's connection to one client, with any number of sessions.
///
/// The order of calls: bytes that were read go to [`handle_bytes`](Self::handle_bytes); then
/// [`poll_event`](Self::poll_event) until it is empty, each answered now or later; then what
/// [`poll_transmit`](Self::poll_transmit) answers goes to the stream. What has no answer when `poll_transmit` runs dry
/// is answered with `STATUS_PENDING` there, so poll the events first.
///
/// An error of `handle_bytes` is terminal: write what `poll_transmit` still has, and close the stream.
#[derive(Debug)]
pub struct ServerConnection {
    pub(super) config: ServerConfig,
    pub(super) agreement: Option<Agreement>,
    /// An SMB1 negotiation was answered with "SMB 2.???".
    pub(super) began_in_smb1: bool,
    pub(super) preauth: PreauthHash,
    pub(super) window: Window,
    pub(super) sessions: BTreeMap<u64, Session>,
    pub(super) sessions_made: u64,
    pub(super) trees_made: u32,
    pub(super) files: BTreeMap<FileId, File>,
    pub(super) files_made: u64,
    /// Pipes that the application has not opened yet.
    pub(super) opening: BTreeMap<RequestId, Request>,
    pub(super) requests_made: u64,
    pub(super) async_ids_made: u64,
    /// Whether there may be requests that need an interim answer.
    pub(super) has_unanswered: bool,
    deframer: Deframer,
    pub(super) transmit: VecDeque<Vec<u8>>,
    pub(super) events: VecDeque<ServerEvent>,
    pub(super) failure: Option<Error>,
}

/// What the negotiation came to.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    pub(super) dialect: Dialect,
    pub(super) cipher: Option<Cipher>,
    pub(super) signing: SigningAlgorithm,
    pub(super) capabilities: Capabilities,
    pub(super) security_mode: SecurityMode,
    pub(super) client_guid: Guid,
    pub(super) client_capabilities: Capabilities,
    pub(super) client_security_mode: SecurityMode,
    pub(super) client_dialects: Vec<DialectRevision>,
}

impl ServerConnection {
    /// A new connection, which waits for the client's NEGOTIATE.
    #[must_use]
    pub fn new(mut config: ServerConfig) -> Self {
        /// Room for the headers of a request.
        const HEADERS: usize = 1024;
        config.dialects.sort_unstable();
        let io_bytes_max = usize::try_from(config.limits.io_bytes_max).unwrap_or(usize::MAX);
        let frame_bytes_max = io_bytes_max.max(config.limits.token_bytes_max).saturating_add(HEADERS);
        Self {
            agreement: None,
            began_in_smb1: false,
            preauth: PreauthHash::default(),
            window: Window::new(config.limits.credits_max),
            sessions: BTreeMap::new(),
            sessions_made: 0,
            trees_made: 0,
            files: BTreeMap::new(),
            files_made: 0,
            opening: BTreeMap::new(),
            requests_made: 0,
            async_ids_made: 0,
            has_unanswered: false,
            deframer: Deframer::new(frame_bytes_max),
            transmit: VecDeque::new(),
            events: VecDeque::new(),
            failure: None,
            config,
        }
    }

    /// Takes bytes of the stream, in any split.
    ///
    /// # Errors
    /// Terminal: the client broke a rule, or this side's limits.
    pub fn handle_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        // Taken out while frames borrow it.
        let mut deframer = core::mem::take(&mut self.deframer);
        deframer.push(bytes);
        let result = self.handle_frames(&mut deframer);
        deframer.settle();
        self.deframer = deframer;
        result.inspect_err(|error| {
            debug!(%error, "Connection failed");
            self.failure = Some(error.clone());
        })
    }

    /// What the client wants.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// The next frame to write, whole, with its length in front.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        if self.transmit.is_empty() && core::mem::take(&mut self.has_unanswered) {
            self.send_interim_answers();
        }
        self.transmit.pop_front()
    }

    /// Ends the connection, as the end of the stream does: pipes and sessions close, each with its event.
    pub fn disconnect(&mut self) {
        let sessions: Vec<_> = self.sessions.keys().copied().collect();
        for session_id in sessions {
            self.end_session(session_id);
        }
        self.failure.get_or_insert(Error::Closed);
    }

    fn handle_frames(&mut self, deframer: &mut Deframer) -> Result<(), Error> {
        while let Some(frame) = deframer.next_frame()? {
            if frame.starts_with(&Header::PROTOCOL_ID) {
                self.handle_messages(frame, None)?;
            } else if frame.starts_with(&TransformHeader::PROTOCOL_ID) {
                let session_id = TransformHeader::decode(&mut ReadCursor::new(frame))?.session_id;
                let session = self.sessions.get(&session_id).ok_or(Error::WrongSession { session_id })?;
                let message = session.opener().ok_or(Error::DecryptionFailed)?.open(frame)?;
                self.handle_messages(message, Some(session_id))?;
            } else if frame.starts_with(&Smb1Negotiate::PROTOCOL_ID) && self.agreement.is_none() {
                self.handle_smb1(frame)?;
            } else {
                return Err(Error::protocol("SMB2_HEADER", "ProtocolId", "is not SMB 2"));
            }
        }
        Ok(())
    }

    fn handle_messages(&mut self, frame: &mut [u8], encrypted_by: Option<u64>) -> Result<(), Error> {
        let mut rest = frame;
        loop {
            let header = Header::decode(&mut ReadCursor::new(rest))?;
            let (message, next) = split_compound(rest, &header)?;
            self.handle_message(&header, message, encrypted_by)?;
            if next.is_empty() {
                return Ok(());
            }
            rest = next;
        }
    }

    fn handle_message(
        &mut self,
        header: &Header,
        message: &mut [u8],
        encrypted_by: Option<u64>,
    ) -> Result<(), Error> {
        trace!(%header, encrypted = encrypted_by.is_some(), "Received");
        if header.flags.contains(Flags::SERVER_TO_REDIR) {
            return Err(Error::protocol("SMB2_HEADER", "Flags", "is that of a response"));
        }
        if encrypted_by.is_some_and(|session_id| session_id != header.session_id) {
            return Err(Error::WrongSession { session_id: header.session_id });
        }
        let request = Request {
            command: header.command,
            message_id: header.message_id,
            credit_charge: header.credit_charge.max(1),
            credits_wanted: header.credits,
            session_id: header.session_id,
            tree_id: if let Owner::Tree(tree_id) = header.owner { tree_id } else { 0 },
            encrypted: encrypted_by.is_some(),
            signed: header.flags.contains(Flags::SIGNED),
            async_id: None,
        };
        if self.agreement.is_none() && header.command != Command::NEGOTIATE {
            return Err(Error::protocol("SMB2_HEADER", "Command", "is not NEGOTIATE, which comes first"));
        }
        if header.command == Command::CANCEL {
            self.handle_cancel(header, &request, message);
            return Ok(());
        }
        if self.began_in_smb1 && self.agreement.is_none() && header.message_id <= 1 {
            self.window.restart_at(header.message_id);
        }
        if !self.window.take(header.message_id, request.credit_charge) {
            return Err(Error::UnknownMessageId { message_id: header.message_id });
        }
        if header.flags.contains(Flags::RELATED_OPERATIONS) {
            // Nothing that a pipe needs is compounded with what it depends on.
            return self.refuse(&request, NtStatus::STATUS_INVALID_PARAMETER);
        }
        self.dispatch(&request, message)
    }

    fn dispatch(&mut self, request: &Request, message: &mut [u8]) -> Result<(), Error> {
        match request.command {
            Command::NEGOTIATE => return self.handle_negotiate(request, message),
            Command::SESSION_SETUP => return self.handle_session_setup(request, message),
            Command::ECHO if request.session_id == 0 => return self.answer(request, &EmptyBody),
            _ => {}
        }
        if let Err(status) = self.check_session(request, message) {
            return self.refuse(request, status);
        }
        match request.command {
            Command::ECHO => self.answer(request, &EmptyBody),
            Command::LOGOFF => self.handle_logoff(request),
            Command::TREE_CONNECT => self.handle_tree_connect(request, message),
            _ if !self
                .sessions
                .get(&request.session_id)
                .is_some_and(|s| s.trees.contains(&request.tree_id)) =>
            {
                self.refuse(request, NtStatus::STATUS_NETWORK_NAME_DELETED)
            }
            Command::TREE_DISCONNECT => self.handle_tree_disconnect(request),
            Command::CREATE => self.handle_create(request, message),
            Command::CLOSE => self.handle_close(request, message),
            Command::READ => self.handle_read(request, message),
            Command::WRITE => self.handle_write(request, message),
            Command::IOCTL => self.handle_ioctl(request, message),
            Command::QUERY_INFO => self.handle_query_info(request, message),
            Command::FLUSH => self.answer(request, &EmptyBody),
            _ => self.refuse(request, NtStatus::STATUS_NOT_SUPPORTED),
        }
    }

    pub(super) fn agreement(&self) -> Result<&Agreement, Error> {
        const RULE: Error = Error::protocol("SMB2_HEADER", "Command", "is not NEGOTIATE, which comes first");
        self.agreement.as_ref().ok_or(RULE)
    }
}

/// Which message ids a client may use, [MS-SMB2] 3.3.1.1: each one once.
#[derive(Debug)]
pub(super) struct Window {
    // INVARIANT: all ids below `low` were used; `low` itself was not; no id from `high` on was granted.
    low: u64,
    high: u64,
    /// Those between `low` and `high` that were used out of order.
    used: BTreeSet<u64>,
    credits_max: u16,
}

impl Window {
    /// A client begins with message id 0.
    pub(super) const fn new(credits_max: u16) -> Self {
        Self { low: 0, high: 1, used: BTreeSet::new(), credits_max }
    }

    /// After a negotiation in SMB1, which counts as message 0, clients go on with 1; some begin with 0 again.
    pub(super) fn restart_at(&mut self, message_id: u64) {
        self.low = message_id;
        self.high = message_id + 1;
        self.used.clear();
    }

    /// Takes the ids of a request, where all of them may be used.
    pub(super) fn take(&mut self, message_id: u64, charge: u16) -> bool {
        let Some(end) = message_id.checked_add(charge.into()) else { return false };
        let granted = message_id >= self.low && end <= self.high;
        if !granted || (message_id..end).any(|id| self.used.contains(&id)) {
            return false;
        }
        self.used.extend(message_id..end);
        while self.used.remove(&self.low) {
            self.low += 1;
        }
        true
    }

    /// Grants credits: what is asked for as far as the limits go, and one at least where the client has none.
    pub(super) fn grant(&mut self, wanted: u16) -> u16 {
        let width = self.high - self.low;
        let unused = width - u64::try_from(self.used.len()).unwrap_or(width);
        let limit = u64::from(self.credits_max);
        // A client that leaves one id unused for ever does not make the window grow for ever.
        let room = limit.saturating_sub(unused).min((2 * limit).saturating_sub(width));
        let granted = u64::from(wanted.max(1)).min(room).max(u64::from(unused == 0));
        self.high += granted;
        u16::try_from(granted).unwrap_or(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_once_and_only_where_it_was_granted() {
        let mut window = Window::new(4);
        assert!(!window.take(1, 1));
        assert!(window.take(0, 1));
        assert!(!window.take(0, 1));
        assert_eq!(window.grant(9), 4);
        assert!(window.take(3, 1));
        assert!(!window.take(2, 2));
        assert!(window.take(1, 2));
        assert!(!window.take(u64::MAX, 1));
    }

    #[test]
    fn a_client_without_credits_gets_one_and_a_rich_one_none() {
        let mut window = Window::new(2);
        assert!(window.take(0, 1));
        assert_eq!(window.grant(0), 1);
        assert_eq!(window.grant(100), 1);
        assert_eq!(window.grant(100), 0);
    }

    #[test]
    fn an_id_left_out_does_not_make_the_window_grow() {
        let mut window = Window::new(4);
        window.grant(100);
        let mut id = 1;
        while window.take(id, 1) {
            window.grant(100);
            id += 1;
        }
        assert!(window.used.len() < 8 && window.low == 0);
    }
}
