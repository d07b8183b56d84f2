//! Converts a session's errors to failures of the plugin. Both have the same closed lists of words.

use std::time::Duration;

use host_session::{SessionError, StageReport};
use plugin_sdk::{Collection, DeclaredReason, Failure, GeneralReason, Reason, Stage};
use transport::resolver::LookupErrorKind;

/// Reasons of sessions beyond the general ones. [`plugin_sdk::Source::REASONS`] of a plugin begins with these.
pub const DECLARED_REASONS: [DeclaredReason; 2] =
    [declared(LookupErrorKind::TimedOut), declared(LookupErrorKind::ServerFailed)];

const LOOKUP_TIMED_OUT: Reason = Reason::Declared(0);
const LOOKUP_SERVER_FAILED: Reason = Reason::Declared(1);

const fn declared(kind: LookupErrorKind) -> DeclaredReason {
    DeclaredReason { word: kind.as_str(), sentence: kind.sentence(), next_step: kind.next_step() }
}

/// The failure of a collection that `error` ended.
#[must_use]
pub fn failure_of(error: &SessionError) -> Failure {
    let failure = Failure::new(stage_of(error.stage), reason_of(error.reason), error.detail());
    match error.reason {
        host_session::Reason::RemoteRegistryStopped => failure.with_retry_after(STOPPED_RETRY),
        _ => failure,
    }
}

/// The earliest retry for a service that does not run: somebody has to start it.
const STOPPED_RETRY: Duration = Duration::from_secs(300);

/// Adds what the session measured to the collection's stages.
pub(crate) fn add_stages(collection: &Collection, reports: &[StageReport]) {
    for report in reports {
        let StageReport { stage, duration, calls, received_bytes, sent_bytes, .. } = *report;
        collection.stages().account(stage_of(stage), duration, calls, received_bytes, sent_bytes);
    }
}

const fn stage_of(stage: host_session::Stage) -> Stage {
    use host_session::Stage as Session;
    match stage {
        Session::Dns => Stage::Dns,
        Session::Tcp => Stage::Tcp,
        Session::Smb => Stage::Smb,
        Session::Auth => Stage::Auth,
        Session::Pipe => Stage::Pipe,
        Session::Bind => Stage::Bind,
        Session::Query => Stage::Query,
        Session::Decode => Stage::Decode,
    }
}

const fn reason_of(reason: host_session::Reason) -> Reason {
    use host_session::Reason as Session;
    Reason::General(match reason {
        Session::NameLookupTimedOut => return LOOKUP_TIMED_OUT,
        Session::NameServerFailed => return LOOKUP_SERVER_FAILED,
        Session::Timeout => GeneralReason::Timeout,
        Session::NameNotFound => GeneralReason::NameNotFound,
        Session::ConnectionRefused => GeneralReason::ConnectionRefused,
        Session::Unreachable => GeneralReason::Unreachable,
        Session::ConnectionReset => GeneralReason::ConnectionReset,
        Session::ProtocolError => GeneralReason::ProtocolError,
        Session::Smb1Only => GeneralReason::Smb1Only,
        Session::EncryptionRequired => GeneralReason::EncryptionRequired,
        Session::SigningRequired => GeneralReason::SigningRequired,
        Session::WrongCredentials => GeneralReason::WrongCredentials,
        Session::AccountLocked => GeneralReason::AccountLocked,
        Session::AccountDisabled => GeneralReason::AccountDisabled,
        Session::PasswordExpired => GeneralReason::PasswordExpired,
        Session::LogonRestricted => GeneralReason::LogonRestricted,
        Session::ClockSkew => GeneralReason::ClockSkew,
        Session::UnknownPrincipal => GeneralReason::UnknownPrincipal,
        Session::UnknownService => GeneralReason::UnknownService,
        Session::EncryptionType => GeneralReason::EncryptionType,
        Session::TicketExpired => GeneralReason::TicketExpired,
        Session::KdcUnreachable => GeneralReason::KdcUnreachable,
        Session::KeyVersion => GeneralReason::KeyVersion,
        Session::NoKerberos => GeneralReason::NoKerberos,
        Session::AccessDenied => GeneralReason::AccessDenied,
        Session::RemoteRegistryStopped => GeneralReason::RemoteRegistryStopped,
        Session::NotFound => GeneralReason::NotFound,
        Session::LimitExceeded => GeneralReason::LimitExceeded,
        Session::MalformedReply => GeneralReason::MalformedReply,
        Session::ServerFault => GeneralReason::ServerFault,
        Session::Busy => GeneralReason::Busy,
        Session::Internal => GeneralReason::Internal,
        Session::Other => GeneralReason::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_of_a_session_has_the_same_word_on_the_plugins_side() {
        for reason in host_session::Reason::ALL {
            let word = match reason_of(reason) {
                Reason::General(general) => general.as_str(),
                Reason::Declared(index) => DECLARED_REASONS[index as usize].word,
            };
            assert_eq!(word, reason.as_str());
        }
    }

    #[test]
    fn a_stage_of_a_session_has_the_same_word_and_place_on_the_plugins_side() {
        let sessions = host_session::Stage::ALL.map(|stage| (stage.as_str(), stage_of(stage)));
        // The plugin's own stage is after those of a session.
        let plugins: Vec<_> = Stage::ALL.into_iter().take_while(|stage| *stage != Stage::Plugin).collect();
        assert_eq!(
            sessions.to_vec(),
            plugins.into_iter().map(|stage| (stage.as_str(), stage)).collect::<Vec<_>>()
        );
    }
}
