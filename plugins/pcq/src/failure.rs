//! What a session's errors are called on the plugin's side: the words are the same, the lists are closed on both.

use host_session::{SessionError, StageReport, Verdict};
use plugin_sdk::{Collection, Credential, DeclaredReason, Failure, GeneralReason, Reason, Stage};
use resolver::LookupErrorKind;

/// Reasons that are not among the general ones.
pub(crate) const DECLARED: [DeclaredReason; 2] =
    [declared(LookupErrorKind::TimedOut), declared(LookupErrorKind::ServerFailed)];

const fn declared(kind: LookupErrorKind) -> DeclaredReason {
    DeclaredReason { word: kind.as_str(), sentence: kind.sentence(), next_step: kind.next_step() }
}

/// The failure of a collection that `error` ended.
pub(crate) fn of_session(error: &SessionError) -> Failure {
    Failure::new(stage_of(error.stage), reason_of(error.reason), error.detail())
}

/// Tells the exporter what became of the secret that it lent.
pub(crate) fn judge(credential: Credential, verdict: Verdict) {
    match verdict {
        Verdict::Accepted => credential.accepted(),
        Verdict::Rejected => credential.rejected(),
        Verdict::Locked => credential.locked(),
        Verdict::Unknown => drop(credential),
    }
}

/// Puts what the session measured on the collection's accounts.
pub(crate) fn account(collection: &Collection, reports: &[StageReport]) {
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

fn reason_of(reason: host_session::Reason) -> Reason {
    let general = GeneralReason::ALL.iter().find(|general| general.word() == reason.as_str());
    let declared = || DECLARED.iter().zip(0..).find(|(declared, _)| declared.word == reason.as_str());
    match general {
        Some(general) => (*general).into(),
        None => declared().map_or(GeneralReason::Other.into(), |(_, index)| Reason::Declared(index)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_of_a_session_has_a_general_or_declared_one_of_the_same_word() {
        for reason in host_session::Reason::ALL {
            let word = match reason_of(reason) {
                Reason::General(general) => general.word(),
                Reason::Declared(index) => DECLARED[index as usize].word,
            };
            assert_eq!(word, reason.as_str());
        }
    }
}
