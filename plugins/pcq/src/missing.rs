//! Wanted countersets that a collection has no values of, and what is said about them.

use ms_dtyp::Win32Error;
use plugin_sdk::{Failure, GeneralReason, Stage};

use crate::config::Wanted;

/// A counterset that the host does not have now.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    /// Which of the wanted ones.
    pub(crate) wanted: usize,
    /// Why.
    pub(crate) why: Why,
}

#[derive(Clone, Debug)]
pub(crate) enum Why {
    /// No counterset has this name.
    Unknown,
    /// The host answered with this status.
    Refused(Win32Error),
    /// What the host sent of it cannot be believed.
    Malformed(String),
}

/// One failure for all countersets that are missing; its reason is that of the first.
pub(crate) fn explain(missing: &[Missing], wanted: &[Wanted]) -> Failure {
    let sentence = |missing: &Missing| {
        let name = wanted.get(missing.wanted).map_or("", |wanted| wanted.name.as_str());
        match &missing.why {
            Why::Unknown => format!("the host has no counterset `{name}`"),
            Why::Refused(status) => format!("counterset `{name}`: {status}"),
            Why::Malformed(reason) => format!("counterset `{name}`: {reason}"),
        }
    };
    let (stage, reason) = match missing.first().map(|missing| &missing.why) {
        Some(Why::Refused(Win32Error::ERROR_ACCESS_DENIED)) => (Stage::Query, GeneralReason::AccessDenied),
        Some(Why::Unknown | Why::Refused(_)) => (Stage::Query, GeneralReason::NotFound),
        Some(Why::Malformed(_)) | None => (Stage::Decode, GeneralReason::MalformedReply),
    };
    let sentences: Vec<String> = missing.iter().map(sentence).collect();
    if sentences.is_empty() {
        Failure::new(stage, reason, "the reply lacks countersets that were asked for")
    } else {
        Failure::new(stage, reason, sentences.join("; "))
    }
}
