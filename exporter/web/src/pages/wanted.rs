//! Which targets a reader asked to see.

use super::html::Url;
use super::{Entry, Query};
use targets::{Down, TargetHealth, TargetStatus};

/// What a reader asked to see.
pub(super) struct Wanted {
    pub(super) text: String,
    pub(super) state: Option<TargetHealth>,
    /// Only targets that fail for this reason.
    pub(super) cause: Option<Cause>,
}

impl Wanted {
    pub(super) fn of(query: &Query<'_>) -> Self {
        let word = query.get("state");
        let state = TargetHealth::ALL.into_iter().find(|state| state.as_str() == word);
        let cause = Cause { stage: query.get("stage"), reason: query.get("reason") };
        let cause = (!cause.reason.is_empty()).then_some(cause);
        Self { text: query.get("q").trim().to_owned(), state, cause }
    }

    /// Whether it selects all targets.
    pub(super) fn is_all(&self) -> bool {
        self.text.is_empty() && self.state.is_none() && self.cause.is_none()
    }

    /// The address of this choice, with another state.
    pub(super) fn url(&self, state: Option<TargetHealth>) -> Url {
        let url = Url::of("").with("q", &self.text).with("state", state.map_or("", TargetHealth::as_str));
        match &self.cause {
            Some(Cause { stage, reason }) => url.with("stage", stage).with("reason", reason),
            None => url,
        }
    }

    /// The address of the targets of this choice that fail in the same way as `down`.
    pub(super) fn url_of(&self, state: TargetHealth, down: &Down) -> Url {
        let url = Url::of("").with("q", &self.text).with("state", state.as_str());
        url.with("stage", down.stage.as_str()).with("reason", &down.reason)
    }

    /// Whether the target fails for the requested reason.
    pub(super) fn has_cause(&self, status: &TargetStatus) -> bool {
        let is_it = |cause: &Cause| status.trouble().is_some_and(|down| cause.is_of(down));
        self.cause.as_ref().is_none_or(is_it)
    }

    /// Whether the target's name, host, labels or failure contain the text.
    pub(super) fn has_text(&self, needle: &str, entry: &Entry, status: &TargetStatus) -> bool {
        let has = |text: &str| contains(text, needle);
        needle.is_empty()
            || has(&entry.name)
            || has(&entry.host)
            || entry.labels.iter().any(|(name, value)| has(value) || has(name))
            || entry.modules.iter().any(|module| has(module))
            || status.down().is_some_and(|down| has(&down.reason) || has(down.stage.as_str()))
    }
}

/// Whether `needle`, which is in lower case, is in `text` in any case.
pub(super) fn contains(text: &str, needle: &str) -> bool {
    let is_ascii = text.is_ascii() && needle.is_ascii();
    if is_ascii {
        let (text, needle) = (text.as_bytes(), needle.as_bytes());
        needle.is_empty() || text.windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle))
    } else {
        text.to_lowercase().contains(needle)
    }
}

/// The stage and reason that a reader asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cause {
    pub(super) stage: String,
    pub(super) reason: String,
}

impl Cause {
    pub(super) fn is_of(&self, down: &Down) -> bool {
        self.stage == down.stage.as_str() && self.reason == down.reason
    }
}
