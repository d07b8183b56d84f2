//! Signs and titles of a target's health.

use crate::targets::TargetHealth;

/// A sign that is shown before the state's name. Each state has another shape.
pub(super) const fn sign(state: TargetHealth) -> &'static str {
    match state {
        TargetHealth::Down => "✕",
        TargetHealth::Partial => "◐",
        TargetHealth::Waiting => "○",
        TargetHealth::Up => "✓",
    }
}

/// The title of a state's count.
pub(super) const fn title(state: TargetHealth) -> &'static str {
    match state {
        TargetHealth::Down => "Down",
        TargetHealth::Partial => "Partial",
        TargetHealth::Waiting => "Waiting",
        TargetHealth::Up => "Up",
    }
}
