//! How a target's health looks, beside the word for it.

use crate::targets::TargetHealth;

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
