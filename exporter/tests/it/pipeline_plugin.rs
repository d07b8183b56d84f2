//! A plugin's side of the boundary, in few words.

use std::sync::Arc;

use perfmon_exporter::expose::{self, Format};
use perfmon_exporter::model::Target;
use perfmon_exporter::pipeline::{Catalog, Limits, NoObserver, Scope, Store};
use plugin_contract::{
    Batch, BatchOutcome, CollectionId, Column, Completion, Display, DropReason, Failure, FamilyDef, Kind,
    Outcome, SeriesDef, ValueKind, Verdict,
};
use plugin_contract::{GeneralReason, InstanceSink, Stage};

/// A store of a target of its own.
pub(crate) fn store(target: &str) -> Arc<Store> {
    store_with(&Catalog::new(), target, Limits::default())
}

pub(crate) fn store_with(catalog: &Arc<Catalog>, target: &str, limits: Limits) -> Arc<Store> {
    Scope::new(Arc::clone(catalog), Target::new(target), limits).store(Arc::new(NoObserver))
}

/// A gauge of the object `X`.
pub(crate) fn gauge(item: &str) -> FamilyDef<'_> {
    FamilyDef {
        namespace: "",
        object: "X",
        item,
        part: "",
        kind: Kind::Gauge,
        unit: "",
        help: "",
        origin: "",
        value: ValueKind::F64,
        display: Display::NONE,
    }
}

pub(crate) fn counter(item: &str) -> FamilyDef<'_> {
    FamilyDef { kind: Kind::Counter, ..gauge(item) }
}

pub(crate) fn family(store: &Store, def: &FamilyDef<'_>) -> Result<u32, DropReason> {
    let mut verdicts = Vec::new();
    store.register_families(&[*def], &mut verdicts);
    verdict(&verdicts)
}

pub(crate) fn series(store: &Store, family: u32, labels: &[(&str, &str)]) -> Result<u32, DropReason> {
    let mut verdicts = Vec::new();
    store.register_series(&[SeriesDef::new(family, labels, None)], &mut verdicts);
    verdict(&verdicts)
}

/// One family with a series for each instance; answers the ids.
pub(crate) fn instances(store: &Store, def: &FamilyDef<'_>, instances: &[&str]) -> Vec<u32> {
    let family = family(store, def).unwrap();
    instances.iter().map(|name| series(store, family, &[("counter_instance", name)]).unwrap()).collect()
}

fn verdict(verdicts: &[Verdict]) -> Result<u32, DropReason> {
    match verdicts {
        [Verdict::Accepted(id)] => Ok(*id),
        [Verdict::Dropped(reason)] => Err(*reason),
        other => panic!("one verdict for one definition, not {other:?}"),
    }
}

pub(crate) fn send(store: &Store, ids: &[u32], values: &[f64]) -> BatchOutcome {
    send_column(store, ids, Column::F64(values))
}

pub(crate) fn send_column(store: &Store, ids: &[u32], values: Column<'_>) -> BatchOutcome {
    store.batch(&Batch { ids, values, timestamps: None, start_times: None })
}

pub(crate) fn complete(store: &Store, outcome: Outcome<'_>) {
    store.complete(CollectionId(0), Completion { outcome, stages: &[] });
}

pub(crate) fn failure() -> Failure {
    Failure::new(Stage::Tcp, GeneralReason::Timeout, "")
}

/// The samples of a page of these stores, without their comments.
pub(crate) fn samples(stores: &[&Arc<Store>]) -> String {
    let page = expose::page(Format::Text, stores.iter().map(|store| store.snapshot()).collect(), None);
    page.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}
