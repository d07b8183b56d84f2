//! The name of a family's samples before it is registered.

use std::sync::Arc;

use plugin_abi::{CollectionId, Completion, DataSink, DropReason, FamilyDef, Outcome, SeriesDef, Verdict};

use super::catalog::Catalog;
use super::scope::Scope;
use super::{FailureStreak, Limits, Profile, Rules};
use crate::model::Target;

/// The name of a family's samples on a page, by names and rules alone: where another family of the process has the name,
/// the family would be refused. Rules that look at labels see those of a series without any.
///
/// # Errors
/// When a rule drops the family, or its only series.
pub fn metric_name(
    normalize: Normalize,
    target: Target,
    family: &FamilyDef<'_>,
) -> Result<String, DropReason> {
    let scope = Scope::with_profile(Catalog::new(), target, normalize.limits, normalize.profile.clone());
    let store = scope.ruled_store(Arc::new(NoObserver), normalize);
    let mut verdicts = Vec::new();
    store.register_families(std::slice::from_ref(family), &mut verdicts);
    let id = accepted(verdicts.pop())?;
    store.register_series(&[SeriesDef::new(id, &[], None)], &mut verdicts);
    accepted(verdicts.pop())?;
    store.complete(CollectionId(1), Completion { outcome: Outcome::Full, stages: &[] });
    let snapshot = store.snapshot();
    let named = snapshot.families().next().map(|points| points.family().sample_name());
    named.ok_or(DropReason::Rule)
}

fn accepted(verdict: Option<Verdict>) -> Result<u32, DropReason> {
    match verdict {
        Some(Verdict::Accepted(id)) => Ok(id),
        Some(Verdict::Dropped(reason)) => Err(reason),
        None => Err(DropReason::Invalid),
    }
}

/// How the families and series of one store get their names and labels, and which of them are taken.
#[derive(Clone, Debug, Default)]
pub struct Normalize {
    /// How names are made.
    pub profile: Profile,
    /// What happens to them then.
    pub rules: Rules,
    /// How much is taken; [`Limits::series_max`] is that of the scope.
    pub limits: Limits,
}

/// Observes one instance's collections, for the schedule and metrics. It must not block.
pub trait StoreObserver: Send + Sync {
    /// The time for the published snapshot, in Unix nanoseconds, because the store has no clock.
    fn now_unix_nanos(&self) -> u64 {
        0
    }

    /// A collection ended; the store's snapshot is already the new one and has so many series.
    fn completed(&self, collection: CollectionId, completion: &Completion<'_>, series: usize) {
        let _ = (collection, completion, series);
    }

    /// A collection failed, the first one in a row, and series outlive it: [`super::Store::expire`] ends them.
    fn stale(&self, streak: FailureStreak) {
        let _ = streak;
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl StoreObserver for NoObserver {}

#[cfg(test)]
mod tests {
    use plugin_abi::{Display, Kind, ValueKind};

    use super::*;
    use crate::pipeline::{Rule, Rules};

    #[test]
    fn the_name_is_that_of_the_samples_and_a_family_that_is_dropped_has_none() {
        let family = FamilyDef {
            namespace: "",
            object: "Memory",
            item: "Page Faults",
            part: "",
            kind: Kind::Counter,
            unit: "",
            help: "",
            origin: "",
            value: ValueKind::U64,
            bounds: &[],
            display: Display::NONE,
        };
        let named = |rules| {
            let normalize = Normalize { rules: Rules::from_iter(rules), ..Normalize::default() };
            metric_name(normalize, Target::new("web1"), &family)
        };
        assert_eq!(named(vec![]).unwrap(), "perfmon_memory_page_faults_total");
        let dropped = Rule::drop_series("perfmon_memory_.*", &[]).unwrap();
        assert_eq!(named(vec![dropped]), Err(DropReason::Rule));
    }
}
