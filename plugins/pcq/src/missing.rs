//! Wanted countersets that a collection has no values of, and what is said about them.

use counter_poll::Nameless;
use counter_poll::registration::Trouble;
use ms_dtyp::Win32Error;
use plugin_sdk::{Failure, GeneralReason, Reason, Stage};

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
    Unknown { nearest: Option<String>, nameless: Option<Nameless> },
    /// The name is that of a classic object, which no host offers here: what is said of it.
    Classic(String),
    /// No counterset's name matches the pattern.
    NoMatch { nameless: Option<Nameless> },
    /// The host has more countersets than it can list, and this is why it is not known whether this is one of them.
    Unlisted(Failure),
    /// The counterset has no counter of this name; the one that was meant, perhaps.
    UnknownCounter { counter: String, nearest: Option<String> },
    /// What the host answers about it is of no use.
    Trouble(Trouble),
}

/// One failure for all countersets that are missing; its reason is that of the first.
pub(crate) fn explain(missing: &[Missing]) -> Failure {
    let (stage, reason) = match missing.first() {
        Some(missing) => missing.why.reason(),
        None => (Stage::Decode, GeneralReason::MalformedReply.into()),
    };
    let mut sentences: Vec<String> = missing.iter().map(Missing::sentence).collect();
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

impl Missing {
    fn sentence(&self) -> String {
        let Self { name, why } = self;
        let meant = |nearest: &Option<String>| {
            nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
        };
        match why {
            Why::Unknown { nearest, .. } => format!("the host has no counterset `{name}`{}", meant(nearest)),
            Why::Classic(explanation) => explanation.clone(),
            Why::NoMatch { .. } => format!("the host has no counterset whose name matches `{name}`"),
            Why::Unlisted(Failure { message, .. }) => format!(
                "the host has more countersets than it can list, so that `{name}` may be missing; its registry does \
                 not list them: {message}; let us read the registry, or set the counterset's guid"
            ),
            Why::UnknownCounter { counter, nearest } => {
                format!("counterset `{name}` has no counter `{counter}`{}", meant(nearest))
            }
            Why::Trouble(trouble) => format!("counterset `{name}`: {trouble}"),
        }
    }
}

impl Why {
    const fn nameless(&self) -> Option<&Nameless> {
        match self {
            Self::Unknown { nameless, .. } | Self::NoMatch { nameless } => nameless.as_ref(),
            Self::Classic(_) | Self::Unlisted(_) | Self::UnknownCounter { .. } | Self::Trouble(_) => None,
        }
    }

    fn reason(&self) -> (Stage, Reason) {
        let trouble = match self {
            Self::Unlisted(Failure { stage, reason, .. }) => return (*stage, *reason),
            Self::Trouble(trouble) => Some(trouble),
            other => other.nameless().map(|nameless| &nameless.trouble),
        };
        let (stage, reason) = match trouble {
            Some(Trouble::Refused(Win32Error::ERROR_ACCESS_DENIED)) => {
                (Stage::Query, GeneralReason::AccessDenied)
            }
            Some(Trouble::Failed(_)) => (Stage::Query, GeneralReason::ServerFault),
            Some(Trouble::Malformed(_)) => (Stage::Decode, GeneralReason::MalformedReply),
            Some(Trouble::Refused(_)) | None => (Stage::Query, GeneralReason::NotFound),
        };
        (stage, reason.into())
    }
}
