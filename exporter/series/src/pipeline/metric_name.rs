//! The name of a family's samples before it is registered.

use std::sync::Arc;

use plugin_abi::{CollectionId, Completion, DataSink, DropReason, FamilyDef, Outcome, SeriesDef, Verdict};

use super::catalog::Catalog;
use super::normalize::Normalize;
use super::observer::NoObserver;
use super::scope::Scope;
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
