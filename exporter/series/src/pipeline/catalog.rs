//! One name, one family, in the whole process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::FamilyPlan;
use super::reserved_prefix;
use crate::model::{Escaping, Family, Kind, is_legacy_name};

/// All families that live, by every name that they take up.
///
/// The first that comes has the name. Who comes later with the same kind shares it (its help is that of the
/// first), and has a copy of it where it is shown to people in another way or comes from another counter; who comes
/// with another kind is refused. A name is free again when the last store and the last snapshot of its family are gone.
#[derive(Debug, Default)]
pub struct Catalog {
    names: Mutex<HashMap<String, Vec<Weak<Family>>>>,
    /// All plans that live, by [`FamilyPlan::key`].
    plans: Mutex<HashMap<String, Vec<Weak<FamilyPlan>>>>,
    /// How many snapshots were published.
    snapshots: AtomicU64,
}

impl Catalog {
    /// A catalog without families.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// An id for a snapshot; never given again.
    pub(super) fn next_snapshot_id(&self) -> u64 {
        self.snapshots.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The same plan as some other store has, where one has it: a thousand hosts of a kind keep it once.
    pub(super) fn share_plan(&self, plan: FamilyPlan) -> Arc<FamilyPlan> {
        let mut plans = self.plans.lock();
        let known = plans.get(&plan.key).into_iter().flatten().filter_map(Weak::upgrade);
        if let Some(equal) = known.into_iter().find(|other| **other == plan) {
            return equal;
        }
        if plans.len() >= plans.capacity() {
            plans.retain(|_, plans| plans.iter().any(|plan| plan.strong_count() > 0));
        }
        let plan = Arc::new(plan);
        let alike = plans.entry(plan.key.clone()).or_default();
        alike.retain(|plan| plan.strong_count() > 0);
        alike.push(Arc::downgrade(&plan));
        plan
    }

    /// The family of that name, or nothing if the name means something else.
    pub(super) fn share(&self, family: Family) -> Option<Arc<Family>> {
        let claims = claims(&family);
        if claims.iter().any(|name| reserved_prefix(name).is_some()) {
            return None;
        }
        let mut names = self.names.lock();
        let existing = claims.iter().filter_map(|name| names.get(name)).flatten().find_map(Weak::upgrade);
        let family = match existing {
            Some(existing) if !is_same(&existing, &family) => return None,
            Some(existing) => {
                let copy = Family { help: existing.help.clone(), unit: existing.unit.clone(), ..family };
                let copy = Family { help_sentence_bytes: existing.help_sentence_bytes, ..copy };
                let copies = names.get(&copy.name).into_iter().flatten().filter_map(Weak::upgrade);
                if let Some(equal) = copies.into_iter().find(|other| **other == copy) {
                    return Some(equal);
                }
                copy
            }
            None => family,
        };
        if names.len() >= names.capacity() {
            names.retain(|_, families| families.iter().any(|family| family.strong_count() > 0));
        }
        let family = Arc::new(family);
        for name in claims {
            let families = names.entry(name).or_default();
            families.retain(|family| family.strong_count() > 0);
            families.push(Arc::downgrade(&family));
        }
        Some(family)
    }
}

/// Whether two families may stand under one HELP and one TYPE. Their helps may differ; where only one has a unit, the
/// name ends with it anyhow.
fn is_same(existing: &Family, family: &Family) -> bool {
    let same_unit = existing.unit == family.unit || existing.unit.is_empty() || family.unit.is_empty();
    existing.name == family.name && existing.kind == family.kind && same_unit
}

/// The family's name and those that its samples may have, in all the ways in which a reader may get them. The name
/// itself comes first.
fn claims(family: &Family) -> Vec<String> {
    let suffixes: &[&str] = match family.kind {
        Kind::Gauge | Kind::Unknown => &[""],
        Kind::Counter => &["", "_total", "_created"],
        Kind::Info => &["", "_info"],
        Kind::Histogram => &["", "_bucket", "_sum", "_count", "_created"],
    };
    let mut claims: Vec<String> = Vec::with_capacity(suffixes.len());
    for suffix in suffixes {
        let name = format!("{}{suffix}", family.name);
        if family.kind == Kind::Histogram {
            // Its name is escaped first, and the suffix comes after that.
            let shown =
                Escaping::ALL.map(|escaping| format!("{}{suffix}", escaping.metric_name(&family.name)));
            claims.extend(shown.into_iter().filter(|name| !suffix.is_empty() && !is_legacy_name(name)));
        }
        for escaped in Escaping::ALL.map(|escaping| escaping.metric_name(&name)) {
            // OpenMetrics' name of the family is that of its samples without the suffix.
            let stem = escaped.strip_suffix(suffix).unwrap_or(&escaped);
            for claim in [&*escaped, stem] {
                if !claims.iter().any(|known| known == claim) {
                    claims.push(claim.to_owned());
                }
            }
        }
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Bounds, DisplayRule, ValueKind};
    use crate::pipeline::rules::{Plan, Rules};

    fn family(name: &str, kind: Kind) -> Family {
        Family { name: name.into(), kind, ..Family::default() }
    }

    #[test]
    fn the_same_name_and_kind_is_one_family() {
        let catalog = Catalog::new();
        let first = catalog.share(Family { help: "first".into(), ..family("a", Kind::Gauge) }).unwrap();
        let second = catalog.share(Family { help: "second".into(), ..family("a", Kind::Gauge) }).unwrap();
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(second.help, "first");
    }

    #[test]
    fn a_family_that_is_shown_in_another_way_has_the_same_name_and_help() {
        let catalog = Catalog::new();
        let shown = |display| Family { display, ..family("a", Kind::Gauge) };
        let first = catalog.share(Family { help: "first".into(), ..shown(DisplayRule::Value) }).unwrap();
        let second = catalog.share(shown(DisplayRule::Percent)).unwrap();
        assert_eq!((second.display, &*second.help), (DisplayRule::Percent, "first"));
        assert!(Arc::ptr_eq(&second, &catalog.share(shown(DisplayRule::Percent)).unwrap()));
        assert!(Arc::ptr_eq(&first, &catalog.share(shown(DisplayRule::Value)).unwrap()));
        // The name is taken as long as any of them lives.
        drop(first);
        assert!(catalog.share(family("a", Kind::Counter)).is_none());
        drop(second);
        assert!(catalog.share(family("a", Kind::Counter)).is_some());
    }

    #[test]
    fn a_name_that_any_sample_of_another_family_has_is_refused() {
        let catalog = Catalog::new();
        let _requests = catalog.share(family("requests", Kind::Counter)).unwrap();
        for name in ["requests", "requests_total", "requests_created"] {
            assert!(catalog.share(family(name, Kind::Gauge)).is_none(), "{name}");
        }
        let _version = catalog.share(family("version_info", Kind::Gauge)).unwrap();
        assert!(catalog.share(family("version", Kind::Info)).is_none());
    }

    #[test]
    fn names_that_some_reader_gets_alike_are_one_name() {
        let catalog = Catalog::new();
        let _dotted = catalog.share(family("a.b", Kind::Gauge)).unwrap();
        for name in ["a_b", "a_dot_b", "U__a_2e_b", "a b"] {
            assert!(catalog.share(family(name, Kind::Gauge)).is_none(), "{name}");
        }
        assert!(catalog.share(family("a.b", Kind::Gauge)).is_some());
    }

    #[test]
    fn a_family_has_one_unit_and_the_exporters_names_are_its_own() {
        let catalog = Catalog::new();
        let with = |unit: &str| Family { unit: unit.into(), ..family("a_b_seconds", Kind::Gauge) };
        let _first = catalog.share(with("seconds")).unwrap();
        assert!(catalog.share(with("")).is_some());
        assert!(catalog.share(with("b_seconds")).is_none());
        for name in ["perfmon_exporter_target_up", "perfmon.exporter.x", "process_threads"] {
            assert!(catalog.share(family(name, Kind::Gauge)).is_none(), "{name}");
        }
    }

    #[test]
    fn a_name_is_free_again_when_nobody_uses_it() {
        let catalog = Catalog::new();
        drop(catalog.share(family("a", Kind::Gauge)).unwrap());
        assert!(catalog.share(family("a", Kind::Counter)).is_some());
    }

    #[test]
    fn stores_share_a_plan_if_they_do_the_same_with_the_family() {
        let catalog = Catalog::new();
        let plan = |name: &str| {
            let names = Plan::new(&Rules::default(), name, Kind::Gauge, false).unwrap();
            let names = Vec::from_iter(names);
            let (kind, value, bounds) = (Kind::Gauge, ValueKind::F64, Bounds::default());
            let (key, identity) = ("a".to_owned(), "a".to_owned());
            FamilyPlan { key, kind, source_kind: kind, metric: None, value, bounds, identity, names }
        };
        let first = catalog.share_plan(plan("a"));
        assert!(Arc::ptr_eq(&first, &catalog.share_plan(plan("a"))));
        assert_eq!(catalog.share_plan(plan("renamed")).names[0].name, "renamed");
    }
}
