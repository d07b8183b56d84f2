//! What becomes of a family of a plugin.

use std::sync::Arc;

use super::naming::MappedMetric;
use super::rules::Plan;
use crate::model::{Bounds, Kind, ValueKind};

/// What becomes of a family of a plugin under a profile and its rules: alike in all stores that have them, and shared
/// by them.
#[derive(Debug, PartialEq)]
pub(super) struct FamilyPlan {
    /// A store has one plan for each key.
    pub(super) key: String,
    /// What it is on the page.
    pub(super) kind: Kind,
    /// What the plugin says that it is.
    pub(super) source_kind: Kind,
    /// What the profile makes of it beside its name.
    pub(super) metric: Option<Arc<MappedMetric>>,
    pub(super) value: ValueKind,
    pub(super) bounds: Bounds,
    /// What the plugin called it, so that registering it again is seen for what it is.
    pub(super) identity: String,
    /// One for each of its names, as rules leave it: a profile may give the same values several names.
    pub(super) names: Vec<Plan>,
}

impl FamilyPlan {
    /// Whether it is the base of a counter of this object.
    pub(super) fn is_base_of(&self, namespace: &str, object: &str) -> bool {
        let mut parts = self.identity.split('\0');
        parts.next() == Some(namespace) && parts.next() == Some(object) && parts.nth(1) == Some("base")
    }
}
