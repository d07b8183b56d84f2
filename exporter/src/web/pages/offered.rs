//! Which instances of a counterset a reader can choose, and which one is shown by default.

use std::collections::BTreeSet;

use series::model::{DisplayRule, Point};

use super::catalogue::{Counter, instance};
use crate::targets::TargetState;

/// Maximum instances in the list; the pages of the counters show all.
const OFFERED_MAX: usize = 200;
/// Maximum series of a counterset that are searched for the names of its instances.
const LOOKED_AT_MAX: usize = 20_000;
/// The instance that adds up all others.
const TOTAL: &str = "_Total";
/// The idle process never counts as the busiest.
const IDLE: &str = "Idle";

/// The instances that a reader can choose, by name.
pub(super) fn offered(all: &[Counter<'_>], entry: &TargetState) -> Vec<String> {
    let mut instances = BTreeSet::new();
    let mut left = LOOKED_AT_MAX;
    // Nearly always the first counter has them all.
    for counter in all {
        for point in counter.points().take(left) {
            left -= 1;
            let name = instance(&point, entry);
            if instances.len() < OFFERED_MAX || name == TOTAL {
                instances.insert(name);
            }
        }
    }
    instances.into_iter().collect()
}

/// The instance that is shown by default.
pub(super) struct Usual {
    pub(super) instance: String,
    /// Why it is this one, for people; empty if it is the only one.
    pub(super) reason: &'static str,
}

/// Chooses the default instance: the total if there is one, else the busiest, else the first.
pub(super) fn usual(all: &[Counter<'_>], offered: &[String], entry: &TargetState) -> Usual {
    let (instance, reason) = if offered.iter().any(|name| name == TOTAL) {
        (TOTAL.to_owned(), "total")
    } else if let Some(busiest) = busiest(all, entry) {
        // Activity since the instance began is known after one collection; current activity needs two.
        (busiest, "busiest so far")
    } else {
        (offered.first().cloned().unwrap_or_default(), "first by name")
    };
    Usual { instance, reason: if offered.len() > 1 { reason } else { "" } }
}

/// The instance with the most activity since it began, by the first counter that measures activity.
fn busiest(all: &[Counter<'_>], entry: &TargetState) -> Option<String> {
    let counts = |rule| all.iter().find(|counter| counter.rule() == rule);
    let counter = counts(DisplayRule::PercentOfTime)
        .or_else(|| counts(DisplayRule::PercentNotOfTime))
        .or_else(|| counts(DisplayRule::Rate))?;
    let is_inverse = counter.rule() == DisplayRule::PercentNotOfTime;
    let done = |point: &Point<'_>| point.value.as_f64() * if is_inverse { -1.0 } else { 1.0 };
    let points = counter.points().take(LOOKED_AT_MAX);
    let names = points.map(|point| (done(&point), instance(&point, entry)));
    names
        .filter(|(_, name)| !name.starts_with(IDLE))
        .reduce(|most, next| if next.0 > most.0 { next } else { most })
        .map(|(_, name)| name)
}
