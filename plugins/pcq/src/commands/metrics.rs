//! The metric names of a host's counters.

use std::collections::BTreeMap;

use counter_poll::survey::Counterset;
use counters::pcq::types::CounterId;
use counters::pcq::wire::CounterRegInfo;
use plugin_sdk::{Display, FamilyDef, Run, ValueKind};

use crate::series::kind_of;

/// The metric names of each counter, by the rules of the target's first module, or by the general rules if there is
/// none. Empty if the exporter does not provide names.
pub(super) fn names_of(run: &Run, counterset: &Counterset) -> BTreeMap<CounterId, Vec<String>> {
    let infos: Vec<CounterRegInfo> = counterset.counters.iter().map(|counter| counter.info).collect();
    let name_of = |id| {
        let counter = counterset.counters.iter().find(|counter| counter.info.counter_id == id);
        counter.map(|counter| counter.name.as_str())
    };
    let module = (!run.configured().is_empty()).then_some(0);
    let mut names: BTreeMap<CounterId, Vec<String>> = BTreeMap::new();
    for family in counter_types::plan_of(&counterset.name.text, &infos, name_of) {
        let exposition = family.exposition;
        let named = run.metric_name(
            module,
            &FamilyDef {
                namespace: "",
                object: &counterset.name.text,
                item: name_of(family.item).unwrap_or_default(),
                part: exposition.part.as_str(),
                kind: kind_of(exposition.kind),
                unit: exposition.unit.as_str(),
                help: "",
                origin: "",
                value: if exposition.is_integer() { ValueKind::U64 } else { ValueKind::F64 },
                bounds: &[],
                display: Display::NONE,
            },
        );
        names.entry(family.item).or_default().extend(named);
    }
    names
}
