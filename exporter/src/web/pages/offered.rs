//! Which instances of a counterset there are to choose from, and which one is shown to who has chosen none.

use std::collections::BTreeSet;

use series::model::{DisplayRule, Point};

use super::catalogue::{Counter, instance};
use crate::targets::TargetState;

/// Instances that the box offers; of more, the pages of the counters have all.
const OFFERED_MAX: usize = 200;
/// So many series of a counterset are looked through for the names of its instances.
const LOOKED_AT_MAX: usize = 20_000;
/// The instance that is all others together.
const TOTAL: &str = "_Total";
/// The process that runs when no other one does is never the busiest.
const IDLE: &str = "Idle";

/// The instances that there are to choose from, by name.
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

/// The instance that is shown to who has chosen none.
pub(super) struct Usual {
    pub(super) instance: String,
    /// Why it is this one, for people; empty where there is no other.
    pub(super) reason: &'static str,
}

/// The instance that is shown at first: all together where there is one for that, else the busiest, else the first.
pub(super) fn usual(all: &[Counter<'_>], offered: &[String], entry: &TargetState) -> Usual {
    let (instance, reason) = if offered.iter().any(|name| name == TOTAL) {
        (TOTAL.to_owned(), "total")
    } else if let Some(busiest) = busiest(all, entry) {
        // By what was done since it began, which one collection says; what is done now takes two of all instances.
        (busiest, "busiest so far")
    } else {
        (offered.first().cloned().unwrap_or_default(), "first by name")
    };
    Usual { instance, reason: if offered.len() > 1 { reason } else { "" } }
}

/// The instance that did most since it began, by the first counter that counts what is done.
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
