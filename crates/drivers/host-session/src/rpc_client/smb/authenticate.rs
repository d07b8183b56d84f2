use ms_smb2::client::Event;
use ssp::{ClientOptions, Credentials, Mechanism, SecurityContext, Step, Usage};
use tokio::time::{Instant, timeout_at};
use wire::NtStatus;

use crate::rpc_client::smb::connection::{SmbConnection, State, unexpected};
use crate::rpc_client::{Error, Operation};

const OPERATION: Operation = Operation::Authenticate;

impl SmbConnection {
    /// Authenticates to the server by SPNEGO. One attempt: a wrong password is sent once.
    ///
    /// The credentials stay with the connection, because a server may request them again at any time
    /// (`STATUS_NETWORK_SESSION_EXPIRED`).
    ///
    /// # Errors [`Error::Status`] with the server's reason if it refuses; the connection is then unusable.
    pub async fn authenticate(&mut self, credentials: Credentials, deadline: Instant) -> Result<(), Error> {
        if self.state != State::Negotiated {
            return Err(self.unusable(OPERATION));
        }
        self.credentials = Some(credentials);
        match timeout_at(deadline, self.exchange_tokens()).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.timed_out(OPERATION)),
        }
    }

    /// One authentication, the first one or a later one. If it is dropped, the connection becomes unusable.
    pub(super) async fn exchange_tokens(&mut self) -> Result<(), Error> {
        self.state = State::Authenticating;
        let outcome = self.run_context().await;
        self.state = match &outcome {
            Ok(()) => State::Ready,
            Err(error) => State::Broken(error.kind()),
        };
        outcome
    }

    /// The deadline has passed, which ends a connection that is authenticating.
    pub(super) fn timed_out(&mut self, operation: Operation) -> Error {
        let error = Error::Timeout { operation };
        if self.state == State::Authenticating {
            self.state = State::Broken(error.kind());
        }
        error
    }

    async fn run_context(&mut self) -> Result<(), Error> {
        let security_failed = |source| Error::Security { operation: OPERATION, source };
        let smb_failed = |source| Error::Smb { operation: OPERATION, source };
        let mut context = self.new_context()?;
        let mut token = Vec::new();
        for _leg in 0..self.options.auth_legs_max {
            let (Step::Continue(ours) | Step::Done(Some(ours))) =
                context.step(&token).map_err(security_failed)?
            else {
                return Err(protocol("the server waits for a token, and there is none to send"));
            };
            self.peer = context.peer();
            self.smb.session_setup(&ours).map_err(smb_failed)?;
            self.count_request();
            let (theirs, more) = self.answer().await?;
            if more {
                token = theirs;
                continue;
            }
            finish(&mut *context, &theirs)?;
            let key = context.session_key().map_err(security_failed)?;
            return self.smb.complete_session(key.as_bytes()).map_err(smb_failed);
        }
        Err(protocol("the exchange of tokens does not end"))
    }

    fn new_context(&self) -> Result<Box<dyn SecurityContext>, Error> {
        let credentials = self.credentials.as_ref().ok_or(protocol("there are no credentials"))?;
        let options = ClientOptions::new(Mechanism::Negotiate, self.target_name.as_str(), Usage::Smb);
        ssp::client(credentials, options).map_err(|source| Error::Security { operation: OPERATION, source })
    }

    /// The server's token, and whether it expects another one from us.
    async fn answer(&mut self) -> Result<(Vec<u8>, bool), Error> {
        loop {
            match self.event(OPERATION).await? {
                Event::SessionSetup { token, more } => return Ok((token, more)),
                Event::SessionRefused { status } => return Err(self.refused(status)),
                // Answers to requests that were in flight when the session expired.
                Event::Pending { .. } | Event::Completed { .. } | Event::SessionExpired { .. } => {}
                _ => return Err(unexpected(OPERATION)),
            }
        }
    }

    /// [MS-SMB2] 3.3.5.5: a server that requires encryption denies access to clients without it, before it knows
    /// the user.
    fn refused(&self, status: NtStatus) -> Error {
        let has_encryption = self.negotiated().is_some_and(|negotiated| negotiated.cipher.is_some());
        if status == NtStatus::STATUS_ACCESS_DENIED && !has_encryption {
            Error::Smb { operation: OPERATION, source: ms_smb2::Error::EncryptionDisabled }
        } else {
            Error::Status { operation: OPERATION, status }
        }
    }
}

/// The server has accepted us. If the context expects another token, it must accept the server's last one, too.
fn finish(context: &mut dyn SecurityContext, token: &[u8]) -> Result<(), Error> {
    if context.session_key().is_ok() {
        return Ok(());
    }
    match context.step(token) {
        Ok(Step::Done(None)) => Ok(()),
        Ok(_) => Err(protocol("the server admitted us before the exchange of tokens was over")),
        Err(source) => Err(Error::Security { operation: OPERATION, source }),
    }
}

const fn protocol(reason: &'static str) -> Error {
    Error::Protocol { operation: OPERATION, reason }
}
