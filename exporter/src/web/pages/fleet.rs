//! All targets at a glance, the failing ones first.

use super::groups::{Cause, Groups};
use super::html::Url;
use super::{Entry, Query};
use crate::targets::{Down, TargetHealth, TargetStatus};

/// A sign of another shape for each state, beside the word.
pub(super) const fn sign(state: TargetHealth) -> &'static str {
    match state {
        TargetHealth::Down => "✕",
        TargetHealth::Partial => "◐",
        TargetHealth::Waiting => "○",
        TargetHealth::Up => "✓",
    }
}

/// The state above a figure.
pub(super) const fn title(state: TargetHealth) -> &'static str {
    match state {
        TargetHealth::Down => "Down",
        TargetHealth::Partial => "Partial",
        TargetHealth::Waiting => "Waiting",
        TargetHealth::Up => "Up",
    }
}

/// What a reader asked to see.
pub(super) struct Wanted {
    pub(super) text: String,
    pub(super) state: Option<TargetHealth>,
    /// Those alone that fail for this reason.
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

    /// Whether it is all targets.
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

    /// The address of those of this choice that fail in the same way as `down`.
    pub(super) fn url_of(&self, state: TargetHealth, down: &Down) -> Url {
        let url = Url::of("").with("q", &self.text).with("state", state.as_str());
        url.with("stage", down.stage.word()).with("reason", &down.reason)
    }

    /// Whether the target is in trouble as it was asked for.
    fn has_cause(&self, status: &TargetStatus) -> bool {
        let is_it = |cause: &Cause| status.trouble().is_some_and(|down| cause.is_of(down));
        self.cause.as_ref().is_none_or(is_it)
    }

    /// Whether the text is in the target's name, host, a label or the reason that it is down for.
    fn has_text(&self, needle: &str, entry: &Entry, status: &TargetStatus) -> bool {
        let has = |text: &str| contains(text, needle);
        needle.is_empty()
            || has(&entry.name)
            || has(&entry.host)
            || entry.labels.iter().any(|(name, value)| has(value) || has(name))
            || entry.modules.iter().any(|module| has(module))
            || status.down().is_some_and(|down| has(&down.reason) || has(down.stage.word()))
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

/// The whole fleet in figures, and those targets that a reader asked for.
pub(super) struct Fleet {
    /// Targets by state, in the order of [`TargetHealth::ALL`].
    pub(super) counts: [usize; TargetHealth::ALL.len()],
    pub(super) series: usize,
    pub(super) collections: u64,
    /// Indexes of the targets that are wanted: the failing ones first, else in the order of the configuration.
    pub(super) wanted: Vec<(TargetHealth, usize)>,
    /// Why those of them that fail do so.
    pub(super) groups: Groups,
}

impl Fleet {
    pub(super) fn look(entries: &[Entry], wanted: &Wanted) -> Self {
        let mut fleet = Self {
            counts: [0; TargetHealth::ALL.len()],
            series: 0,
            collections: 0,
            wanted: Vec::new(),
            groups: Groups::default(),
        };
        let needle = wanted.text.to_lowercase();
        for (index, entry) in entries.iter().enumerate() {
            entry.read(|status| {
                let state = status.health();
                fleet.counts[state as usize] += 1;
                fleet.series += status.series();
                fleet.collections +=
                    status.jobs.iter().map(crate::targets::JobStatus::collections).sum::<u64>();
                let is_wanted = wanted.state.is_none_or(|wanted| wanted == state);
                if is_wanted && wanted.has_cause(status) && wanted.has_text(&needle, entry, status) {
                    fleet.wanted.push((state, index));
                    if let Some(down) = status.trouble() {
                        fleet.groups.enter(state, down, index);
                    }
                }
            });
        }
        fleet.wanted.sort_unstable();
        fleet
    }

    pub(super) fn count(&self, state: TargetHealth) -> usize {
        self.counts[state as usize]
    }
}
