//! Failures of collections because of countersets without values.

use std::fmt;

use counter_poll::registration::Trouble;
use counter_poll::{Missing, Nameless, Why};
use plugin_sdk::{Failure, GeneralReason, Reason, Stage};
use wire::Win32Error;

/// Why the host may have countersets that it does not list, or classic objects that cannot be read.
#[derive(Clone, Debug)]
pub(crate) struct Unlisted(pub(crate) Failure);

impl fmt::Display for Unlisted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

/// One failure for all missing countersets, with the reason of the first one.
pub(crate) fn explain_missing(missing: &[Missing<Unlisted>]) -> Failure {
    let (stage, reason) = match missing.first() {
        Some(missing) => reason_of(&missing.why),
        None => (Stage::Decode, GeneralReason::MalformedReply.into()),
    };
    let mut sentences = counter_poll::sentences(missing);
    let nameless = missing.iter().find_map(|missing| missing.why.nameless());
    sentences.extend(nameless.map(|Nameless { count, guid, trouble }| {
        format!("the host has {count} more whose names it does not tell (counterset {guid}: {trouble})")
    }));
    if sentences.is_empty() {
        Failure::new(stage, reason, "the reply lacks countersets that were asked for")
    } else {
        Failure::new(stage, reason, sentences.join("; "))
    }
}

fn reason_of(why: &Why<Unlisted>) -> (Stage, Reason) {
    if let Why::Unlisted(Unlisted(Failure { stage, reason, .. }))
    | Why::NoClassic(Unlisted(Failure { stage, reason, .. })) = why
    {
        return (*stage, *reason);
    }
    let (stage, reason) = match why.trouble() {
        Some(Trouble::Refused(Win32Error::ERROR_ACCESS_DENIED)) => {
            (Stage::Query, GeneralReason::AccessDenied)
        }
        Some(Trouble::Failed(_)) => (Stage::Query, GeneralReason::ServerFault),
        Some(Trouble::Malformed(_)) => (Stage::Decode, GeneralReason::MalformedReply),
        Some(Trouble::Refused(_)) | None => (Stage::Query, GeneralReason::NotFound),
    };
    (stage, reason.into())
}
