//! A plugin's side of the boundary, in few words.

use std::sync::Arc;

use crate::Format;
use plugin_abi::{
    Batch, BatchOutcome, CollectionId, Column, Completion, DataSink, Display, DropReason, Failure, FamilyDef,
    GeneralReason, HistogramBatch, Kind, Outcome, SeriesDef, Stage, ValueKind, Verdict,
};
use series::model::Target;
use series::pipeline::{Catalog, Limits, NoObserver, Scope, Store};

/// A store of a target of its own.
pub fn store(target: &str) -> Arc<Store> {
    store_with(&Catalog::new(), target, Limits::default())
}

/// A store in a catalog that others use, too.
pub fn store_with(catalog: &Arc<Catalog>, target: &str, limits: Limits) -> Arc<Store> {
    Scope::new(Arc::clone(catalog), Target::new(target), limits).store(Arc::new(NoObserver))
}

/// A gauge of the object `X`.
pub fn gauge(item: &str) -> FamilyDef<'_> {
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
        bounds: &[],
        display: Display::NONE,
    }
}

/// A counter of the object `X`.
pub fn counter(item: &str) -> FamilyDef<'_> {
    FamilyDef { kind: Kind::Counter, ..gauge(item) }
}

/// A histogram of the object `X` with these bounds.
pub fn histogram<'a>(item: &'a str, bounds: &'a [f64]) -> FamilyDef<'a> {
    FamilyDef { kind: Kind::Histogram, value: ValueKind::Histogram, bounds, ..gauge(item) }
}

/// Registers a family; answers its id.
///
/// # Errors
/// When it was not taken.
pub fn family(store: &Store, def: &FamilyDef<'_>) -> Result<u32, DropReason> {
    let mut verdicts = Vec::new();
    store.register_families(&[*def], &mut verdicts);
    verdict(&verdicts)
}

/// Registers a series; answers its id.
///
/// # Errors
/// When it was not taken.
pub fn series(store: &Store, family: u32, labels: &[(&str, &str)]) -> Result<u32, DropReason> {
    let mut verdicts = Vec::new();
    store.register_series(&[SeriesDef::new(family, labels, None)], &mut verdicts);
    verdict(&verdicts)
}

/// One family with a series for each instance; answers the ids.
pub fn instances(store: &Store, def: &FamilyDef<'_>, instances: &[&str]) -> Vec<u32> {
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

pub fn send(store: &Store, ids: &[u32], values: &[f64]) -> BatchOutcome {
    send_column(store, ids, Column::F64(values))
}

/// Sends values of any type.
pub fn send_column(store: &Store, ids: &[u32], values: Column<'_>) -> BatchOutcome {
    store.batch(&Batch { ids, values, timestamps: None, start_times: None })
}

/// Sends a histogram for each series of a family: the counts of its buckets and its sum.
pub fn send_histograms(store: &Store, family: u32, ids: &[u32], rows: &[(&[u64], f64)]) -> BatchOutcome {
    let buckets = rows.first().map_or(1, |(counts, _)| counts.len());
    let counts: Vec<u64> = rows.iter().flat_map(|(counts, _)| counts.iter().copied()).collect();
    let sums: Vec<f64> = rows.iter().map(|&(_, sum)| sum).collect();
    let (counts, sums) = (&*counts, &*sums);
    store.histograms(&HistogramBatch {
        family,
        buckets,
        ids,
        counts,
        sums,
        timestamps: None,
        start_times: None,
    })
}

pub fn complete(store: &Store, outcome: Outcome<'_>) {
    store.complete(CollectionId(0), Completion { outcome, stages: &[] });
}

/// A failure that means nothing.
#[must_use]
pub fn failure() -> Failure {
    Failure::new(Stage::Tcp, GeneralReason::Timeout, "")
}

/// The samples of a page of these stores, without their comments.
pub fn samples(stores: &[&Arc<Store>]) -> String {
    let page = crate::page(Format::Text, stores.iter().map(|store| store.snapshot()).collect(), None);
    page.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}
