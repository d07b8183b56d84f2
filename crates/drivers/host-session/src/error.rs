use core::fmt;
use std::error::Error as StdError;

use dcerpc::pdu::BindNakReason;
use ssp::Credentials;
use transport::{ConnectError, ConnectErrorKind, ConnectStage};
use wire::{HResult, Win32Error};

use crate::classify::{
    is_of_kdc, reason_of, reason_of_hresult, reason_of_win32, recovery_of, recovery_of_hresult,
    recovery_of_win32,
};
use crate::{Endpoint, Reason, Recovery, Stage, StageReport, Target, Verdict};

/// Why a host did not answer: a stage and a reason from closed lists, and a sentence for people.
///
/// The text names the host, the stage, all causes and the next step. It contains no secrets.
#[derive(Clone, Debug)]
pub struct SessionError {
    /// The stage that failed.
    pub stage: Stage,
    pub reason: Reason,
    /// What to rebuild before the next attempt.
    pub recovery: Recovery,
    /// The stages until then; the last one failed.
    pub stages: Vec<StageReport>,
    /// What a method of an object, or an activation, returned.
    pub hresult: Option<HResult>,
    /// Why the server refused to be bound.
    nak: Option<BindNakReason>,
    /// What it means for the credentials, where the reason alone does not say.
    verdict: Option<Verdict>,
    target: Target,
    detail: String,
}

impl SessionError {
    pub(crate) fn new(
        target: &Target,
        stage: Stage,
        reason: Reason,
        recovery: Recovery,
        detail: impl Into<String>,
    ) -> Self {
        let detail = detail.into();
        let (stages, target) = (Vec::new(), target.clone());
        Self { stage, reason, recovery, stages, hresult: None, nak: None, verdict: None, target, detail }
    }

    pub(crate) fn of_connect(error: &ConnectError) -> Self {
        let stage = match error.stage {
            ConnectStage::Dns => Stage::Dns,
            ConnectStage::Tcp => Stage::Tcp,
        };
        let reason = match error.kind {
            ConnectErrorKind::NameNotFound => Reason::NameNotFound,
            ConnectErrorKind::NameLookupTimedOut => Reason::NameLookupTimedOut,
            ConnectErrorKind::NameServerFailed => Reason::NameServerFailed,
            ConnectErrorKind::ConnectionRefused => Reason::ConnectionRefused,
            ConnectErrorKind::Unreachable => Reason::Unreachable,
            ConnectErrorKind::Timeout => Reason::Timeout,
            ConnectErrorKind::ConnectionReset => Reason::ConnectionReset,
            _ => Reason::Other,
        };
        let detail = format!("{}: {}", error.place(), error.what());
        Self::new(&error.endpoint, stage, reason, Recovery::Connection, detail)
    }

    /// `stopped` is the reason if the service does not run.
    pub(crate) fn of_rpc(target: &Target, stopped: Reason, error: &crate::rpc_client::Error) -> Self {
        let stage = match error.stage() {
            crate::rpc_client::Stage::Smb => Stage::Smb,
            crate::rpc_client::Stage::Auth => Stage::Auth,
            crate::rpc_client::Stage::Pipe => Stage::Pipe,
            crate::rpc_client::Stage::Bind => Stage::Bind,
            crate::rpc_client::Stage::Query => Stage::Query,
        };
        let reason = reason_of(error, stopped);
        let nak = match error {
            crate::rpc_client::Error::Rpc { source: dcerpc::Error::BindRefused { reason }, .. } => {
                Some(*reason)
            }
            _ => None,
        };
        let verdict = is_of_kdc(error).then(|| reason.verdict().unwrap_or(Verdict::Unknown));
        Self { nak, verdict, ..Self::new(target, stage, reason, recovery_of(error), chain(error)) }
    }

    /// The error of a call without an answer, or with a fault. `endpoint` is where the call was sent; the message
    /// begins with `method`, such as "query counter data".
    #[must_use]
    pub fn of_call(
        target: &Target,
        endpoint: Endpoint,
        method: &dyn fmt::Display,
        error: &crate::rpc_client::Error,
    ) -> Self {
        Self::of_call_to(target, endpoint.stopped(), method, error)
    }

    pub(crate) fn of_call_to(
        target: &Target,
        stopped: Reason,
        method: &dyn fmt::Display,
        error: &crate::rpc_client::Error,
    ) -> Self {
        let mut failure = Self::of_rpc(target, stopped, error);
        failure.detail = format!("{method}: {}", failure.detail);
        failure
    }

    /// The error of a bind over TCP, of which the logon is a part where `stage` is auth.
    pub(crate) fn of_bind(
        target: &Target,
        stage: Stage,
        stopped: Reason,
        error: &crate::rpc_client::Error,
    ) -> Self {
        let failure = Self::of_rpc(target, stopped, error);
        let reason = match failure.reason {
            // How a server of RPC says that it did not accept the password.
            Reason::AccessDenied if stage == Stage::Auth => Reason::WrongCredentials,
            reason => reason,
        };
        Self { stage, reason, recovery: Recovery::Connection, ..failure }
    }

    /// A host that refuses a ticket says what it says to a wrong password, and the password was not asked for.
    pub(crate) fn of_credentials(mut self, credentials: &Credentials) -> Self {
        if self.verdict.is_some() {
            // A KDC said it.
            return self;
        }
        let is_by_key = matches!(credentials, Credentials::Principal(_));
        let is_by_ticket = is_by_key || matches!(credentials, Credentials::Tickets(_));
        if is_by_ticket && self.reason == Reason::WrongCredentials {
            self.reason = Reason::KeyVersion;
        }
        // The KDC took the account's key; whatever a host says of the account withholds it from no other.
        if is_by_key && !matches!(self.reason.verdict(), None | Some(Verdict::Unsuitable)) {
            self.verdict = Some(Verdict::Accepted);
        }
        self
    }

    /// The same for a pipe, which has a logon of its own: what no KDC said of a key says nothing of it.
    pub(crate) fn of_pipe(mut self, credentials: &Credentials) -> Self {
        if matches!(credentials, Credentials::Principal(_)) {
            self.verdict.get_or_insert(Verdict::Unknown);
        }
        self
    }

    /// The error of a method that returned `status`; the message is that of `error`.
    #[must_use]
    pub fn of_status(target: &Target, status: Win32Error, error: &dyn StdError) -> Self {
        let (reason, recovery) = (reason_of_win32(status), recovery_of_win32(status));
        Self::new(target, Stage::Query, reason, recovery, chain(error))
    }

    /// The same for a method of an object.
    #[must_use]
    pub fn of_hresult(target: &Target, status: HResult, error: &dyn StdError) -> Self {
        let (reason, recovery) = (reason_of_hresult(status), recovery_of_hresult(status));
        let failure = Self::new(target, Stage::Query, reason, recovery, chain(error));
        Self { hresult: Some(status), ..failure }
    }

    /// The error of a response that cannot be used; the message is that of `error`.
    #[must_use]
    pub fn of_answer(target: &Target, stage: Stage, reason: Reason, error: &dyn StdError) -> Self {
        Self::new(target, stage, reason, Recovery::Nothing, chain(error))
    }

    /// Adds the address that accepted the connection but did not answer: it may belong to another host.
    pub(crate) fn at(mut self, place: &str) -> Self {
        if matches!(self.reason, Reason::Timeout | Reason::ConnectionReset) {
            self.detail = format!("{place}: {}", self.detail);
        }
        self
    }

    pub(crate) fn with_stages(mut self, stages: Vec<StageReport>) -> Self {
        self.stages = stages;
        self
    }

    /// Whether the server answered that it does not know how this side authenticates.
    #[must_use]
    pub fn is_security_unknown(&self) -> bool {
        self.nak == Some(BindNakReason::AUTHENTICATION_TYPE_NOT_RECOGNIZED)
    }

    /// Whether [`Session::connect`](crate::Session::connect) is needed before anything else can succeed.
    #[must_use]
    pub fn is_connection_lost(&self) -> bool {
        self.recovery == Recovery::Connection
    }

    /// Whether context handles, such as a query's, are invalid while calls still work.
    #[must_use]
    pub fn is_handle_lost(&self) -> bool {
        self.recovery == Recovery::Handle
    }

    /// What the failure means for the credentials.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self.verdict.or_else(|| self.reason.verdict()) {
            Some(verdict) => verdict,
            None if self.stage > Stage::Auth => Verdict::Accepted,
            None => Verdict::Unknown,
        }
    }

    /// The host, the stage and the causes, without advice.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, stage, reason, detail, .. } = self;
        // The detail may begin with the host and its addresses, because it is also shown alone.
        let named = detail.strip_prefix(&target.to_string()).and_then(|rest| rest.split_once(": "));
        let (addresses, detail) = named.unwrap_or(("", detail));
        write!(f, "{target}{addresses}: {stage}: {detail}; {}", reason.advice())
    }
}

impl StdError for SessionError {}

/// An error and its causes in one line. A cause that its parent printed already is not printed again.
fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    text
}
