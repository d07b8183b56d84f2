//! The countersets of a host, as it describes them or as `discover --format json` printed them, and by which families their
//! counters are exported.

use counter_poll::{InstanceLabels, Provider, survey};
use counter_types::{CounterPath, CounterType, Family, NamePattern, PatternText, plan_of, same_name};
use counters::pcq::types::{AggregateFunc, Attrib, CounterId, InstanceType};
use counters::pcq::wire::{CounterRegInfo, InstanceInfo};
use safe_text::nearest::nearest;
use serde::Deserialize;

/// A host, as far as its counters are concerned.
#[derive(Debug)]
pub(super) struct Host {
    /// As it was connected to.
    pub(super) name: String,
    countersets: Vec<Counterset>,
}

#[derive(Debug)]
pub(super) struct Counterset {
    pub(super) name: String,
    pub(super) instance_type: InstanceType,
    /// The labels of its series.
    pub(super) labels: InstanceLabels,
    /// The names of the instances that there were.
    pub(super) instances: Vec<String>,
    counters: Vec<Counter>,
    families: Vec<Family>,
}

#[derive(Debug)]
pub(super) struct Counter {
    pub(super) name: String,
    pub(super) info: CounterRegInfo,
    /// Whether its function of aggregation is known.
    pub(super) knows_function: bool,
    is_helper: bool,
}

impl Host {
    /// Reads the JSON.
    ///
    /// # Errors
    /// What is wrong, with line and column.
    pub(super) fn read(json: &[u8]) -> Result<Self, serde_json::Error> {
        let document: Document = serde_json::from_slice(json)?;
        Ok(Self {
            name: document.host,
            countersets: document.countersets.into_iter().map(Counterset::of_json).collect(),
        })
    }

    /// The host with countersets that it described.
    pub(super) fn of_survey(name: &str, found: Vec<(survey::Counterset, Vec<InstanceInfo>)>) -> Self {
        let countersets =
            found.into_iter().map(|(counterset, instances)| Counterset::of_survey(&counterset, instances));
        Self { name: name.to_owned(), countersets: countersets.collect() }
    }

    /// The counters that a path means.
    ///
    /// # Errors
    /// Why there are none.
    pub(super) fn find(&self, path: &CounterPath) -> Result<Vec<(&Counterset, &Counter)>, String> {
        let countersets = compiled(&path.counterset_pattern())?;
        let counters = compiled(&path.counter_pattern())?;
        let is_exact = counters.exact_name().is_some();
        let mut candidates =
            self.countersets.iter().filter(|counterset| countersets.matches(&counterset.name)).peekable();
        if candidates.peek().is_none() {
            let names = self.countersets.iter().map(|counterset| counterset.name.as_str());
            let hint = hint(nearest(&path.counterset, names));
            return Err(format!("{} has no counterset `{}`{hint}", self.name, path.counterset));
        }
        let mut found: Vec<(&Counterset, &Counter)> = Vec::new();
        for counterset in candidates.clone() {
            let matching = counterset
                .counters
                .iter()
                .filter(|counter| counters.matches(&counter.name) && (is_exact || !counter.is_helper));
            for counter in matching {
                let is_known = |(known, other): &(&Counterset, &Counter)| {
                    same_name(&known.name, &counterset.name) && same_name(&other.name, &counter.name)
                };
                if !found.iter().any(is_known) {
                    found.push((counterset, counter));
                }
            }
        }
        if found.is_empty() {
            let names = candidates
                .flat_map(|counterset| counterset.counters.iter().map(|counter| counter.name.as_str()));
            let hint = hint(nearest(&path.counter, names));
            return Err(format!(
                "`{}` of {} has no counter `{}`{hint}",
                path.counterset, self.name, path.counter
            ));
        }
        Ok(found)
    }
}

impl Counterset {
    fn new(
        name: String,
        is_classic: bool,
        instance_type: InstanceType,
        instances: Vec<String>,
        counters: Vec<Counter>,
    ) -> Self {
        let infos: Vec<CounterRegInfo> = counters.iter().map(|counter| counter.info).collect();
        let name_of = |id| {
            let counter = counters.iter().find(|counter| counter.info.counter_id == id);
            counter.map(|counter| counter.name.as_str())
        };
        let families = plan_of(&name, &infos, name_of);
        let names = counters.iter().map(|counter| counter.name.as_str());
        let labels = InstanceLabels::of(&name, is_classic, &names);
        Self { name, instance_type, labels, instances, counters, families }
    }

    fn of_json(read: CountersetJson) -> Self {
        let named = INSTANCE_TYPES.into_iter().find(|known| known.name() == Some(&*read.instance_type));
        let instance_type = named.unwrap_or(InstanceType(u32::MAX));
        let instances = read.instances.into_iter().map(|instance| instance.name).collect();
        let counters = read.counters.into_iter().map(Counter::of_json).collect();
        Self::new(read.name, read.provider == CLASSIC, instance_type, instances, counters)
    }

    fn of_survey(read: &survey::Counterset, instances: Vec<InstanceInfo>) -> Self {
        let of_counter = |counter: &counter_poll::registration::Counter| Counter {
            name: counter.name.clone(),
            info: counter.info,
            knows_function: true,
            is_helper: read.is_helper(counter),
        };
        let counters = read.counters.iter().map(of_counter).collect();
        let instances = instances.into_iter().map(|instance| instance.name).collect();
        let is_classic = matches!(read.provider, Provider::V1(_));
        Self::new(read.name.text.clone(), is_classic, read.instance_type, instances, counters)
    }

    /// Its counters, in the order of registration.
    #[cfg(test)]
    pub(super) fn counters(&self) -> &[Counter] {
        &self.counters
    }

    /// The families by which a counter is exported: its own, and its base.
    pub(super) fn families_of(&self, counter: &Counter) -> impl Iterator<Item = &Family> {
        let id = counter.info.counter_id;
        self.families.iter().filter(move |family| family.item == id)
    }
}

impl Counter {
    fn of_json(read: CounterJson) -> Self {
        let base = read.base_id.map_or(CounterId::NONE, CounterId);
        // A helper without a metric is hidden, or exported as the base of others only.
        let is_hidden = read.is_helper && read.metrics.is_empty();
        let function = read.aggregate.as_deref().map(aggregate_func);
        Self {
            knows_function: function.is_some(),
            info: CounterRegInfo {
                attrib: if is_hidden { Attrib::NO_DISPLAYABLE } else { Attrib(0) },
                base_counter_id: base,
                aggregate_func: function.unwrap_or(AggregateFunc::UNDEFINED),
                multi_id: base,
                ..CounterRegInfo::new(CounterId(read.id), counter_type(&read.kind))
            },
            name: read.name,
            is_helper: read.is_helper,
        }
    }
}

/// The type with this name; one that no table has is written as a number.
fn counter_type(text: &str) -> CounterType {
    let named = counter_types::ALL.iter().map(|row| row.counter_type).find(|known| known.to_string() == text);
    let number = || u32::from_str_radix(text.strip_prefix("0x")?, 16).ok().map(CounterType);
    named.or_else(number).unwrap_or(CounterType(u32::MAX))
}

/// The function with this name.
fn aggregate_func(text: &str) -> AggregateFunc {
    let known =
        [AggregateFunc::TOTAL, AggregateFunc::AVERAGE, AggregateFunc::MINIMUM, AggregateFunc::MAXIMUM];
    let named = known.into_iter().find(|function| function.name() == Some(text));
    named.unwrap_or(AggregateFunc::UNDEFINED)
}

fn compiled(pattern: &PatternText) -> Result<NamePattern, String> {
    NamePattern::new(pattern).map_err(|error| error.to_string())
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

const INSTANCE_TYPES: [InstanceType; 6] = [
    InstanceType::SINGLE,
    InstanceType::MULTIPLE,
    InstanceType::GLOBAL_AGGREGATE,
    InstanceType::MULTIPLE_AGGREGATE,
    InstanceType::GLOBAL_AGGREGATE_HISTORY,
    InstanceType::INSTANCE_AGGREGATE,
];
/// The provider of countersets whose data are in the registry.
const CLASSIC: &str = "v1";

#[derive(Deserialize)]
struct Document {
    host: String,
    countersets: Vec<CountersetJson>,
}

#[derive(Deserialize)]
struct CountersetJson {
    name: String,
    provider: String,
    instance_type: String,
    instances: Vec<InstanceJson>,
    counters: Vec<CounterJson>,
}

#[derive(Deserialize)]
struct InstanceJson {
    name: String,
}

#[derive(Deserialize)]
struct CounterJson {
    id: u32,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    is_helper: bool,
    /// What earlier versions do not write; so is `aggregate`.
    base_id: Option<u32>,
    aggregate: Option<String>,
    metrics: Vec<String>,
}
