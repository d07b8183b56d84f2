use ms_smb2::Error;
use ms_smb2::crypto::{KeyMaterial, Side};
use ms_smb2::packet::Keys;
use ms_smb2::wire::{Command, EmptyBody, Header, SessionFlags, SessionSetupRequest, SessionSetupResponse};
use tracing::debug;
use wire::{Decode as _, NtStatus, ReadCursor};
use zeroize::Zeroizing;

use super::connection::ServerConnection;
use super::{AuthReply, Encryption, Request, ServerEvent, Session, SessionId, State};

impl ServerConnection {
    pub(super) fn handle_session_setup(
        &mut self,
        request: &Request,
        message: &mut [u8],
    ) -> Result<(), Error> {
        if let Some(status) = self.setup_is_refused(request, message)? {
            return self.refuse(request, status);
        }
        let mut src = ReadCursor::new(message);
        src.skip("SMB2 SESSION_SETUP Request", "header", Header::FIXED_PART_SIZE)?;
        let setup = SessionSetupRequest::decode(&mut src)?;
        if setup.binding {
            return self.refuse(request, NtStatus::STATUS_REQUEST_NOT_ACCEPTED);
        }
        if setup.security_buffer.len() > self.config.limits.token_bytes_max {
            return self.refuse(request, NtStatus::STATUS_INVALID_PARAMETER);
        }
        let token = setup.security_buffer.to_vec();
        let session_id = if request.session_id == 0 { self.new_session() } else { request.session_id };
        let Some(session) = self.sessions.get_mut(&session_id) else {
            return self.refuse(request, NtStatus::STATUS_USER_SESSION_DELETED);
        };
        let begins = request.session_id == 0 || session.state != State::InProgress;
        session.state = State::InProgress;
        session.setup = Some(Request { session_id, ..*request });
        if session.keys.is_none() {
            session.preauth.update(message);
        }
        self.events.push_back(ServerEvent::Authenticate { session: SessionId(session_id), token, begins });
        Ok(())
    }

    /// Whether the request is refused before its token is looked at.
    fn setup_is_refused(&mut self, request: &Request, message: &mut [u8]) -> Result<Option<NtStatus>, Error> {
        let agreement = self.agreement()?;
        if self.config.encryption == Encryption::Required && agreement.cipher.is_none() {
            return Ok(Some(NtStatus::STATUS_ACCESS_DENIED));
        }
        if request.session_id == 0 {
            let full = self.sessions.len() >= self.config.limits.sessions_max;
            return Ok(full.then_some(NtStatus::STATUS_INSUFFICIENT_RESOURCES));
        }
        let Some(session) = self.sessions.get(&request.session_id) else {
            return Ok(Some(NtStatus::STATUS_USER_SESSION_DELETED));
        };
        if session.setup.is_some() {
            return Ok(Some(NtStatus::STATUS_REQUEST_NOT_ACCEPTED));
        }
        Ok(self.check_protection(request, message).err())
    }

    fn new_session(&mut self) -> u64 {
        /// Not too small, so that a session id cannot be mistaken for a tree's or a file's.
        const FIRST: u64 = 0x1000_0000_0001;
        let session_id = FIRST + 4 * self.sessions_made;
        self.sessions_made += 1;
        let session = Session {
            state: State::InProgress,
            setup: None,
            preauth: self.preauth.clone(),
            keys: None,
            encrypts: false,
            trees: Vec::new(),
        };
        self.sessions.insert(session_id, session);
        session_id
    }

    /// Answers [`ServerEvent::Authenticate`].
    ///
    /// # Errors
    /// If no request waits for it.
    pub fn authenticate(&mut self, session: SessionId, reply: AuthReply) -> Result<(), Error> {
        let SessionId(session_id) = session;
        let request = self.sessions.get_mut(&session_id).and_then(|session| session.setup.take());
        let Some(request) = request else {
            return Err(Error::InvalidState {
                operation: "authentication",
                state: "no token waits for an answer",
            });
        };
        match reply {
            AuthReply::Continue(token) => self.continue_session(&request, &token),
            AuthReply::Done { token, session_key } => {
                self.admit(&request, &token, &Zeroizing::new(session_key))
            }
            AuthReply::Failed(status) => {
                debug!(%status, "Authentication failed");
                self.refuse(&request, status)?;
                self.end_session(session_id);
                Ok(())
            }
        }
    }

    fn continue_session(&mut self, request: &Request, token: &[u8]) -> Result<(), Error> {
        const STATUS: NtStatus = NtStatus::STATUS_MORE_PROCESSING_REQUIRED;
        let body = SessionSetupResponse { session_flags: SessionFlags::default(), security_buffer: token };
        let packet = self.packet(request, STATUS, &body)?;
        let Some(session) = self.sessions.get_mut(&request.session_id) else { return Ok(()) };
        if session.keys.is_none() {
            session.preauth.update(packet.message());
        }
        let frame = packet.protect(session.keys.as_mut(), request.session_id)?;
        self.send_frame(frame);
        Ok(())
    }

    fn admit(&mut self, request: &Request, token: &[u8], session_key: &[u8]) -> Result<(), Error> {
        let agreement = self.agreement()?.clone();
        let encrypts = self.config.encryption == Encryption::Required;
        let session_flags = if encrypts { SessionFlags::ENCRYPT_DATA } else { SessionFlags::default() };
        let body = SessionSetupResponse { session_flags, security_buffer: token };
        // Made before there are keys: the answer that brings them is signed and not encrypted.
        let packet = self.packet(request, NtStatus::STATUS_SUCCESS, &body)?;
        let Some(session) = self.sessions.get_mut(&request.session_id) else { return Ok(()) };
        session.state = State::Valid;
        if session.keys.is_none() {
            let material = KeyMaterial {
                side: Side::Server,
                dialect: agreement.dialect,
                signing: agreement.signing,
                cipher: agreement.cipher,
                preauth: &session.preauth,
                session_key,
            };
            session.keys = Some(Keys { signer: material.signer(), ciphers: material.ciphers() });
            session.encrypts = encrypts;
        }
        debug!(session = request.session_id, encrypts, "Session admitted");
        let frame = packet.protect(session.keys.as_mut(), request.session_id)?;
        self.send_frame(frame);
        Ok(())
    }

    /// From now on the session's requests answer `STATUS_NETWORK_SESSION_EXPIRED`, until it authenticates again.
    pub fn expire_session(&mut self, session: SessionId) {
        if let Some(session) =
            self.sessions.get_mut(&session.0).filter(|session| session.state == State::Valid)
        {
            session.state = State::Expired;
        }
    }

    /// [MS-SMB2] 3.3.5.2.4, 3.3.5.2.9 and 3.3.5.2.11: the session is there, the message is protected as it has to
    /// be, and the authentication has not expired.
    pub(super) fn check_session(&self, request: &Request, message: &mut [u8]) -> Result<(), NtStatus> {
        let session = self.sessions.get(&request.session_id);
        let session = session.ok_or(NtStatus::STATUS_USER_SESSION_DELETED)?;
        if session.keys.is_none() {
            return Err(NtStatus::STATUS_ACCESS_DENIED);
        }
        self.check_protection(request, message)?;
        // Requests that end something are always allowed.
        let ends = matches!(request.command, Command::LOGOFF | Command::CLOSE | Command::TREE_DISCONNECT);
        if session.state == State::Valid || ends {
            Ok(())
        } else {
            Err(NtStatus::STATUS_NETWORK_SESSION_EXPIRED)
        }
    }

    /// Whether the message is encrypted or signed as its session demands; right where it has no keys yet.
    fn check_protection(&self, request: &Request, message: &mut [u8]) -> Result<(), NtStatus> {
        let Some(session) = self.sessions.get(&request.session_id) else { return Ok(()) };
        let Some(keys) = &session.keys else { return Ok(()) };
        let is_protected = if request.encrypted {
            true
        } else if session.encrypts {
            false
        } else if request.signed {
            keys.signer.verify(message)
        } else {
            !self.config.signing_required
        };
        if is_protected { Ok(()) } else { Err(NtStatus::STATUS_ACCESS_DENIED) }
    }

    /// Whether a CANCEL is carried out. A CANCEL itself is never answered.
    pub(super) fn cancel_is_allowed(&self, request: &Request, message: &mut [u8]) -> bool {
        self.sessions.contains_key(&request.session_id) && self.check_protection(request, message).is_ok()
    }

    pub(super) fn handle_logoff(&mut self, request: &Request) -> Result<(), Error> {
        self.answer(request, &EmptyBody)?;
        self.end_session(request.session_id);
        Ok(())
    }

    /// Drops a session with all that it has.
    pub(super) fn end_session(&mut self, session_id: u64) {
        if self.sessions.remove(&session_id).is_some() {
            self.close_files(|file| file.session_id == session_id);
            self.opening.retain(|_, request| request.session_id != session_id);
            self.events.push_back(ServerEvent::SessionClosed { session: SessionId(session_id) });
        }
    }
}
