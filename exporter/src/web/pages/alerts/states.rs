//! The states of alerts, as series tell them.

/// A state, and how it is shown.
#[derive(Debug)]
pub(super) struct State {
    /// The value of the label; empty for those that this page does not know.
    pub(super) word: &'static str,
    /// The title of its count.
    pub(super) title: &'static str,
    /// What it means for a reader.
    pub(super) class: &'static str,
    /// Each has another shape.
    pub(super) sign: &'static str,
}

pub(super) static STATES: [State; 8] = [
    State { word: "firing", title: "Firing", class: "down", sign: "✕" },
    State { word: "pending", title: "Pending", class: "partial", sign: "◐" },
    State { word: "no_data", title: "No data", class: "partial", sign: "∅" },
    State { word: "unresolved", title: "Unresolved", class: "partial", sign: "?" },
    State { word: "unsupported", title: "Unsupported", class: "partial", sign: "≠" },
    State { word: "", title: "Other", class: "waiting", sign: "·" },
    State { word: "waiting", title: "Waiting", class: "waiting", sign: "○" },
    State { word: "ok", title: "OK", class: "up", sign: "✓" },
];
const OTHER: usize = 5;

/// The place of a state in [`STATES`].
pub(super) fn place_of(word: &str) -> usize {
    STATES.iter().position(|state| state.word == word).unwrap_or(OTHER)
}
