//! Wanted countersets that a collection has no values of, and what is said about them.

use ms_dtyp::Win32Error;
use plugin_sdk::{Failure, GeneralReason, Stage};

/// A counterset that the host does not have now.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    /// Its name, or what the settings say of it.
    pub(crate) name: String,
    /// Why.
    pub(crate) why: Why,
}

#[derive(Clone, Debug)]
pub(crate) enum Why {
    /// No counterset has this name; the one that was meant, perhaps.
    Unknown { nearest: Option<String> },
    /// No counterset's name matches the pattern.
    NoMatch,
    /// The host has more countersets than it can list, and this is why it is not known whether this is one of them.
    Unlisted(Failure),
    /// The counterset has no counter of this name; the one that was meant, perhaps.
    UnknownCounter { counter: String, nearest: Option<String> },
    /// The host answered with this status.
    Refused(Win32Error),
    /// What the host sent of it cannot be believed.
    Malformed(String),
}

/// One failure for all countersets that are missing; its reason is that of the first.
pub(crate) fn explain(missing: &[Missing]) -> Failure {
    let sentence = |Missing { name, why }: &Missing| match why {
        Why::Unknown { nearest: Some(nearest) } => {
            format!("the host has no counterset `{name}`; did you mean `{nearest}`?")
        }
        Why::Unknown { nearest: None } => format!("the host has no counterset `{name}`"),
        Why::NoMatch => format!("the host has no counterset whose name matches `{name}`"),
        Why::Unlisted(Failure { message, .. }) => format!(
            "the host has more countersets than it can list, so that `{name}` may be missing; its registry does not \
             list them: {message}; let us read the registry, or set the counterset's guid"
        ),
        Why::UnknownCounter { counter, nearest: Some(nearest) } => {
            format!("counterset `{name}` has no counter `{counter}`; did you mean `{nearest}`?")
        }
        Why::UnknownCounter { counter, nearest: None } => {
            format!("counterset `{name}` has no counter `{counter}`")
        }
        Why::Refused(status) => format!("counterset `{name}`: {status}"),
        Why::Malformed(reason) => format!("counterset `{name}`: {reason}"),
    };
    let (stage, reason) = match missing.first().map(|missing| &missing.why) {
        Some(Why::Unlisted(Failure { stage, reason, .. })) => (*stage, *reason),
        Some(Why::Refused(Win32Error::ERROR_ACCESS_DENIED)) => {
            (Stage::Query, GeneralReason::AccessDenied.into())
        }
        Some(Why::Unknown { .. } | Why::UnknownCounter { .. } | Why::NoMatch | Why::Refused(_)) => {
            (Stage::Query, GeneralReason::NotFound.into())
        }
        Some(Why::Malformed(_)) | None => (Stage::Decode, GeneralReason::MalformedReply.into()),
    };
    let sentences: Vec<String> = missing.iter().map(sentence).collect();
    if sentences.is_empty() {
        Failure::new(stage, reason, "the reply lacks countersets that were asked for")
    } else {
        Failure::new(stage, reason, sentences.join("; "))
    }
}
