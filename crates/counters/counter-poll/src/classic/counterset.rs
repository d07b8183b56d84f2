//! A classic object as a counterset.

use counters::pcq::types::{CounterId, InstanceType};
use counters::pcq::wire::CounterRegInfo;
use counters::perflib_v1::{CounterDefinition, Instances, NameTable, ObjectType};

use super::tables::Tables;
use crate::reading::id_of;
use crate::registration::Counter;
use crate::{Counterset, Provider};

/// The counterset that `object` is, with names from the host's tables. Its counters' identifiers are their places.
pub(super) fn counterset_of(object: &ObjectType<'_>, name: &str, tables: &Tables) -> Counterset {
    let definitions: Vec<CounterDefinition> = object.counters().collect();
    let instance_type = match object.instances() {
        Instances::Single(_) => InstanceType::SINGLE,
        Instances::Many(_) | Instances::Unasked => InstanceType::MULTIPLE,
    };
    let local = |index| tables.local_names.as_ref().and_then(|names| text(names, index));
    let counters = definitions.iter().enumerate().map(|(place, definition)| Counter {
        info: info_of(place, definition, definitions.get(place + 1)),
        name: text(&tables.names, definition.name_index)
            .unwrap_or_else(|| format!("counter_{}", definition.name_index)),
        local_name: local(definition.name_index),
        help: text(&tables.helps, definition.help_index).unwrap_or_default(),
    });
    Counterset {
        provider: Provider::V1(object.name_index),
        name: name.to_owned(),
        local_name: local(object.name_index),
        instance_type,
        is_type_inferred: false,
        counters: counters.collect(),
    }
}

/// What a counter is divided by comes right behind it (winperf.h on `PERF_AVERAGE_BASE` and its like).
fn info_of(place: usize, definition: &CounterDefinition, next: Option<&CounterDefinition>) -> CounterRegInfo {
    let row = counter_types::properties(definition.counter_type);
    let is_base = |next: &&CounterDefinition| {
        counter_types::properties(next.counter_type).is_some_and(|row| row.is_base)
    };
    let base = next.filter(is_base).map_or(CounterId::NONE, |_| id_of(place + 1));
    let needs = row.map(|row| row.needs).unwrap_or_default();
    CounterRegInfo {
        detail_level: definition.detail_level,
        default_scale: definition.default_scale,
        base_counter_id: if needs.base { base } else { CounterId::NONE },
        multi_id: if needs.multi { base } else { CounterId::NONE },
        ..CounterRegInfo::new(id_of(place), definition.counter_type)
    }
}

pub(super) fn text(table: &NameTable, index: u32) -> Option<String> {
    table.get(index).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}
