//! A target whose series go through rules.

use std::sync::Arc;

use plugin_abi::{
    Batch, CollectionId, Column, Completion, DataSink, Display, FamilyDef, Kind, Outcome, SeriesDef,
    ValueKind, Verdict,
};
use series::model::Target;
use series::pipeline::{Catalog, Limits, NoObserver, Normalize, Rules, Scope, Store};

/// A store of the target `web1` in the environment `prod`.
pub(crate) fn store(normalize: Normalize) -> Arc<Store> {
    let target = Target::new("web1").with_label("env", "prod");
    let scope = Scope::with_profile(Catalog::new(), target, normalize.limits, normalize.profile.clone());
    scope.ruled_store(Arc::new(NoObserver), normalize)
}

/// The same with nothing but these rules.
pub(crate) fn plain_store(rules: Rules) -> Arc<Store> {
    store(Normalize { rules, limits: Limits::default(), ..Normalize::default() })
}

/// A family of doubles.
pub(crate) fn family<'a>(object: &'a str, item: &'a str, kind: Kind) -> FamilyDef<'a> {
    FamilyDef {
        namespace: "",
        object,
        item,
        part: "",
        kind,
        unit: "",
        help: "",
        origin: "",
        value: ValueKind::F64,
        bounds: &[],
        display: Display::NONE,
    }
}

/// Registers a family; its id, where it is taken.
pub(crate) fn add_family(store: &Store, def: &FamilyDef<'_>) -> Option<u32> {
    let mut verdicts = Vec::new();
    store.register_families(&[*def], &mut verdicts);
    one(&verdicts)
}

/// Registers a series and sends a value for it, where it is taken.
pub(crate) fn add_series(store: &Store, family: u32, labels: &[(&str, &str)]) -> Option<u32> {
    let mut verdicts = Vec::new();
    store.register_series(&[SeriesDef::new(family, labels, None)], &mut verdicts);
    let id = one(&verdicts)?;
    store.batch(&Batch { ids: &[id], values: Column::F64(&[1.0]), timestamps: None, start_times: None });
    Some(id)
}

pub(crate) fn complete(store: &Store) {
    store.complete(CollectionId(0), Completion { outcome: Outcome::Full, stages: &[] });
}

/// Whether a series with these labels is taken.
pub(crate) fn accepts(store: &Store, labels: &[(&str, &str)]) -> bool {
    let family = add_family(store, &family("X", "A", Kind::Gauge));
    family.is_some_and(|family| add_series(store, family, labels).is_some())
}

fn one(verdicts: &[Verdict]) -> Option<u32> {
    match verdicts {
        [Verdict::Accepted(id)] => Some(*id),
        [Verdict::Dropped(_)] => None,
        other => panic!("one verdict for one definition, not {other:?}"),
    }
}
