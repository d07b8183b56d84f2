use tracing::debug;
use wire::{Decode as _, NtStatus, ReadCursor};

use super::connection::ClientConnection;
use super::{Encryption, Event, Kind, Phase, RequestId, Session};
use crate::Error;
use crate::crypto::{KeyMaterial, Side};
use crate::packet::Keys;
use crate::wire::{
    EmptyBody, Flags, Header, SecurityMode, SessionFlags, SessionSetupRequest, SessionSetupResponse,
};

impl ClientConnection {
    /// Sends a token. The first one begins an authentication, or, where a session is there, repeats it after
    /// [`Event::SessionExpired`].
    ///
    /// # Errors
    /// Out of order, or where the token is too long.
    pub fn session_setup(&mut self, token: &[u8]) -> Result<(), Error> {
        self.alive()?;
        let limit = self.config.limits.token_bytes_max.min(u16::MAX.into());
        if token.len() > limit {
            return Err(Error::Limit { what: "bytes of a security token", limit });
        }
        let busy = self.requests.iter().any(|pending| matches!(pending.kind, Kind::SessionSetup));
        match self.phase {
            Phase::Negotiated => self.session = Session { preauth: self.preauth.clone(), ..Session::none() },
            Phase::Authenticating if !busy => {}
            Phase::Ready => {}
            _ => return Err(self.out_of_order("session setup")),
        }
        self.phase = Phase::Authenticating;
        let body = SessionSetupRequest {
            binding: false,
            security_mode: SecurityMode::SIGNING_REQUIRED,
            previous_session_id: 0,
            security_buffer: token,
        };
        self.request(Kind::SessionSetup, None, &body, 0)?;
        Ok(())
    }

    pub(super) fn handle_session_setup(&mut self, header: &Header, message: &[u8]) -> Result<(), Error> {
        let repeated = self.session.keys.is_some();
        let more = match header.status {
            NtStatus::STATUS_MORE_PROCESSING_REQUIRED => true,
            NtStatus::STATUS_SUCCESS => false,
            status => {
                debug!(%status, "Session refused");
                self.phase = Phase::Negotiated;
                self.session = Session::none();
                self.trees.clear();
                self.events.push_back(Event::SessionRefused { status });
                return Ok(());
            }
        };
        let mut src = ReadCursor::new(message);
        src.skip("SMB2 SESSION_SETUP Response", "header", Header::FIXED_PART_SIZE)?;
        let response = SessionSetupResponse::decode(&mut src)?;
        self.take_session_id(header.session_id)?;
        let token = response.security_buffer.to_vec();
        if more {
            self.session.preauth.update(message);
        } else {
            let flags = response.session_flags;
            if flags.contains(SessionFlags::IS_GUEST) || flags.contains(SessionFlags::IS_NULL) {
                return Err(Error::Guest);
            }
            // Keys outlive an authentication that is repeated, and its answer was verified with them already.
            let reply = if repeated { None } else { Some(message.to_vec()) };
            self.phase = Phase::Admitted { reply, session_flags: flags };
        }
        self.events.push_back(Event::SessionSetup { token, more });
        Ok(())
    }

    /// The server names the session in its first answer and keeps to it.
    fn take_session_id(&mut self, session_id: u64) -> Result<(), Error> {
        if session_id == 0 || (self.session.id != 0 && self.session.id != session_id) {
            return Err(Error::WrongSession { session_id });
        }
        self.session.id = session_id;
        Ok(())
    }

    /// Takes the key of the security context, verifies the server's last answer with it, and turns encryption on
    /// where the server or the configuration says so.
    ///
    /// # Errors
    /// Terminal, except out of order: the answer is not signed, or by somebody else; or the server demands
    /// encryption, and it is disabled.
    pub fn complete_session(&mut self, session_key: &[u8]) -> Result<(), Error> {
        self.alive()?;
        match core::mem::replace(&mut self.phase, Phase::Ready) {
            Phase::Admitted { reply: Some(reply), session_flags } => {
                self.make_keys(session_key, reply, session_flags).map_err(|error| self.fail(error))
            }
            Phase::Admitted { reply: None, .. } => Ok(()),
            phase => {
                self.phase = phase;
                Err(self.out_of_order("session completion"))
            }
        }
    }

    fn make_keys(
        &mut self,
        session_key: &[u8],
        mut reply: Vec<u8>,
        flags: SessionFlags,
    ) -> Result<(), Error> {
        let Some(agreement) = self.agreement else { return Err(self.out_of_order("session completion")) };
        let material = KeyMaterial {
            side: Side::Client,
            dialect: agreement.dialect,
            signing: agreement.signing,
            cipher: agreement.cipher,
            preauth: &self.session.preauth,
            session_key,
        };
        let keys = Keys { signer: material.signer(), ciphers: material.ciphers() };
        let header = Header::decode(&mut ReadCursor::new(&reply))?;
        if !header.flags.contains(Flags::SIGNED) {
            return Err(Error::SignatureMissing);
        }
        if !keys.signer.verify(&mut reply) {
            return Err(Error::SignatureInvalid);
        }
        let demanded = flags.contains(SessionFlags::ENCRYPT_DATA);
        if demanded && keys.ciphers.is_none() {
            return Err(Error::EncryptionDisabled);
        }
        // [MS-SMB2] 3.3.5.2.1.1: a server decrypts what has the session's keys, whether it asked for it or not.
        let wanted = matches!(self.config.encryption, Encryption::Preferred | Encryption::Required);
        self.session.encrypts = demanded || wanted && keys.ciphers.is_some();
        self.session.keys = Some(keys);
        debug!(session = self.session.id, encrypted = self.session.encrypts, "Session established");
        Ok(())
    }

    /// Ends the session.
    ///
    /// # Errors
    /// Without a session.
    pub fn logoff(&mut self) -> Result<RequestId, Error> {
        self.ready("logoff")?;
        self.request(Kind::Logoff, None, &EmptyBody, 0)
    }

    pub(super) fn ready(&self, operation: &'static str) -> Result<(), Error> {
        self.alive()?;
        match self.phase {
            Phase::Ready => Ok(()),
            _ => Err(Error::InvalidState { operation, state: self.phase.name() }),
        }
    }

    pub(super) const fn out_of_order(&self, operation: &'static str) -> Error {
        Error::InvalidState { operation, state: self.phase.name() }
    }
}
