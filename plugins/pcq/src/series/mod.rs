//! Families, series and values of polled countersets for the exporter.

mod display;
mod help;

use counter_poll::registration::Counter;
use counter_poll::{Counterset, FamilyGroup, NewSeries, PolledFamily, SeriesIds, SeriesSink};
use counter_types::{Exposition, Kind, Value};
use counters::pcq::types::InstanceType;
use plugin_sdk::{Display, FamilyDef, FamilyId, Output, SeriesDef, SeriesId, Stamp, Start, ValueKind};

use self::display::display_of;
use self::help::help;
use super::missing::Unlisted;

#[derive(Debug)]
pub(crate) struct ExporterIds;

impl SeriesIds for ExporterIds {
    type Family = FamilyId;
    type Series = SeriesId;
    type Unlisted = Unlisted;
}

impl SeriesSink<ExporterIds> for Output {
    fn register_families(
        &mut self,
        counterset: &Counterset,
        group: FamilyGroup,
        families: &[PolledFamily],
    ) -> Vec<Option<FamilyId>> {
        register_families(counterset, group, families, self)
    }

    fn register_series(&mut self, series: &[NewSeries<'_, ExporterIds>]) -> Vec<Option<SeriesId>> {
        let offered = series.iter().map(|NewSeries { family, labels, start }| SeriesDef {
            family: *family,
            labels,
            start: start.map(|start| Start { unix_nanos: start.unix_nanos, is_inferred: start.is_inferred }),
        });
        Self::register_series(self, &offered.collect::<Vec<_>>())
    }

    fn push(&mut self, series: SeriesId, value: Value, start_unix_nanos: i64) {
        let stamp = Stamp { time_unix_nanos: 0, start_unix_nanos };
        match value {
            Value::U64(value) => self.push_u64_at(series, value, stamp),
            Value::F64(value) => self.push_f64_at(series, value, stamp),
        }
    }

    fn retire(&mut self, series: &[SeriesId]) {
        Self::retire(self, series);
    }
}

// Registers the families of a counterset's counters.

/// Added for counters whose instances have no creation time. Instances of the first reply are assumed to count
/// since the start of the host, which is computed from its clocks.
const INFERRED: &str = " (start time inferred from the host's start)";

/// Texts of a family.
struct Texts<'a> {
    counter: Option<&'a Counter>,
    display: Display<'static>,
    object: String,
    help: String,
    origin: String,
}

/// Registers `families`, in their order; `None` for those that the host drops.
fn register_families(
    counterset: &Counterset,
    group: FamilyGroup,
    families: &[PolledFamily],
    output: &mut Output,
) -> Vec<Option<FamilyId>> {
    let texts = families.iter().map(|polled| describe(counterset, &polled.family, group));
    let texts: Vec<Texts<'_>> = texts.collect();
    let offered: Vec<FamilyDef<'_>> =
        families.iter().zip(&texts).map(|(polled, texts)| texts.family(polled)).collect();
    output.register_families(&offered)
}

/// The origin of a family: its path with the counter's type, also in the language of the settings.
fn describe<'a>(counterset: &'a Counterset, family: &counter_types::Family, group: FamilyGroup) -> Texts<'a> {
    let is_item = |counter: &&Counter| counter.info.counter_id == family.item;
    let counter = counterset.counters.iter().find(is_item);
    let instances = if counterset.instance_type == InstanceType::SINGLE { "" } else { "(*)" };
    let path = |object: &str, item: &str| format!(r"\{object}{instances}\{item}");
    let name = counter.map_or("", |counter| counter.name.as_str());
    let kind = counter.map_or_else(counter_types::CounterType::default, |counter| counter.info.counter_type);
    let mut origin = format!("{} [{kind}]", path(&counterset.name, name));
    let local = counter.and_then(|counter| counter.local_name.as_deref());
    if let (Some(object), Some(item)) = (&counterset.local_name, local) {
        origin = format!("{origin} = {}", path(object, item));
    }
    if family.exposition.counts_since_beginning()
        && group != FamilyGroup::Aggregate
        && !tells_creation(counterset)
    {
        origin.push_str(INFERRED);
    }
    let formula = counter_types::properties(kind).map_or(counter_types::Formula::Value, |row| row.formula);
    let help = help(family, formula, name, counter.map_or("", |counter| &counter.help));
    Texts {
        counter,
        display: display_of(family),
        object: format!("{}{}", counterset.name, group.suffix()),
        help,
        origin,
    }
}

/// Whether instances have a creation time.
fn tells_creation(counterset: &Counterset) -> bool {
    let is_creation =
        |counter: &Counter| counter.info.counter_type == counter_types::CounterType::PERF_ELAPSED_TIME;
    counterset.counters.iter().any(is_creation)
}

impl Texts<'_> {
    /// The family to register.
    fn family(&self, polled: &PolledFamily) -> FamilyDef<'_> {
        let Exposition { kind, unit, part, .. } = polled.family.exposition;
        FamilyDef {
            namespace: "",
            object: &self.object,
            item: self.counter.map_or("", |counter| &counter.name),
            part: part.as_str(),
            kind: kind_of(kind),
            unit: unit.as_str(),
            help: &self.help,
            origin: &self.origin,
            value: if polled.is_integer { ValueKind::U64 } else { ValueKind::F64 },
            bounds: &[],
            display: self.display,
        }
    }
}

/// The number of counters with an undocumented type.
pub(crate) fn unknown_types(counterset: &Counterset) -> u64 {
    let is_unknown = |counter: &&Counter| counter_types::properties(counter.info.counter_type).is_none();
    counterset.counters.iter().filter(is_unknown).count() as u64
}

pub(crate) const fn kind_of(kind: Kind) -> plugin_sdk::Kind {
    match kind {
        Kind::Counter => plugin_sdk::Kind::Counter,
        Kind::Gauge => plugin_sdk::Kind::Gauge,
        Kind::Info => plugin_sdk::Kind::Info,
        Kind::Unknown => plugin_sdk::Kind::Unknown,
    }
}

#[cfg(test)]
mod tests;
