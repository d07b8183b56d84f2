//! What a counterset's counters are called on the way to the host.

use counters::{Exposition, Kind};
use ms_pcq::types::{CounterId, InstanceType};
use plugin_sdk::{Family, FamilyId, Output, ValueKind};

use crate::catalog::Counterset;

/// Registers `families`, in their order; `None` for those that the host does not want.
pub(super) fn register(
    counterset: &Counterset,
    families: &[counters::Family],
    output: &mut Output,
) -> Vec<Option<FamilyId>> {
    let counter_of = |id: CounterId| counterset.counters.iter().find(|counter| counter.info.counter_id == id);
    let origins: Vec<String> = families
        .iter()
        .map(|family| {
            let counter = counter_of(family.item);
            let (name, kind) = counter.map_or(("", counters::CounterType::default()), |counter| {
                (counter.name.as_str(), counter.info.counter_type)
            });
            let instances = if counterset.instance_type == InstanceType::SINGLE { "" } else { "(*)" };
            format!(r"\{}{instances}\{name} [{kind}]", counterset.name)
        })
        .collect();
    let offered: Vec<Family<'_>> = families
        .iter()
        .zip(&origins)
        .map(|(family, origin)| {
            let Exposition { kind, unit, part, .. } = family.exposition;
            let counter = counter_of(family.item);
            Family {
                namespace: "",
                object: &counterset.name,
                item: counter.map_or("", |counter| &counter.name),
                part: part.as_str(),
                kind: kind_of(kind),
                unit: unit.as_str(),
                help: counter.map_or("", |counter| &counter.help),
                origin,
                value: if family.exposition.is_integer() { ValueKind::U64 } else { ValueKind::F64 },
            }
        })
        .collect();
    output.register_families(&offered)
}

const fn kind_of(kind: Kind) -> plugin_sdk::Kind {
    match kind {
        Kind::Counter => plugin_sdk::Kind::Counter,
        Kind::Gauge => plugin_sdk::Kind::Gauge,
        Kind::Info => plugin_sdk::Kind::Info,
        Kind::Unknown => plugin_sdk::Kind::Unknown,
    }
}
