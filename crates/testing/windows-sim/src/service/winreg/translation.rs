//! The countersets of version 2 as objects: what Windows offers to clients that know version 1 alone.

use counters::pcq::types::CounterType;
use counters::perflib_v1::write::{Counter as WriteCounter, Data, Instance, Object};

use crate::choices::{Choices, Translation};
use crate::model::{Counter, Counterset, Moment, Sample, Value, ValueSource};

/// A counterset with the indexes of its names.
pub(super) struct Translated {
    pub(super) set: &'static Counterset,
    /// The index of its name; those of its counters follow.
    pub(super) index: u32,
}

/// The index of the first counterset: above those of all objects.
const FIRST_INDEX: u32 = 20_000;

/// The countersets that are offered. None where the host does not translate.
pub(super) fn translated(source: &dyn ValueSource, choices: &Choices) -> Vec<Translated> {
    if choices.performance_data.translation == Translation::Off {
        return Vec::new();
    }
    let mut index = FIRST_INDEX;
    let next = |set: &'static Counterset| {
        let translated = Translated { set, index };
        index += 2 + 2 * u32::try_from(set.counters.len()).unwrap_or(0);
        translated
    };
    source.countersets().into_iter().map(next).collect()
}

impl Translated {
    /// Its counters with the indexes of their names. Texts are no counters of version 1.
    pub(super) fn counters(&self) -> impl Iterator<Item = (u32, &'static Counter)> + use<> {
        let first = self.index + 2;
        (first..)
            .step_by(2)
            .zip(self.set.counters)
            .filter(|(_, counter)| counter.kind != CounterType::PERF_COUNTER_TEXT)
    }

    /// The object with its values. A base has to follow its numerator, which version 2 does not ask for: as here.
    pub(super) fn object(&self, source: &dyn ValueSource, at: &Moment) -> Option<Object> {
        let set = source.counterset(self.set.guid, at)?;
        if source.failure(set.guid, at).is_some() {
            return None;
        }
        let samples = source.sample(set.guid, at)?;
        let counters = self.counters().map(|(index, counter)| WriteCounter {
            name_index: index,
            help_index: index + 1,
            default_scale: counter.default_scale,
            detail_level: counter.detail,
            counter_type: counter.kind,
            ..WriteCounter::default()
        });
        let clock =
            self.set.counters.iter().find_map(|counter| Some([counter.perf_time?, counter.perf_freq?]));
        let data = if set.instances.is_multiple() || set.instances.is_aggregate() {
            Data::Instances(samples.iter().map(|sample| self.instance(sample)).collect())
        } else {
            Data::Single(samples.first().map(|sample| self.instance(sample).values)?)
        };
        let [perf_time, perf_freq] =
            clock.map_or([0, 0], |ids| ids.map(|id| self.number(samples.first(), id)));
        Some(Object {
            name_index: self.index,
            help_index: self.index + 1,
            detail_level: set.detail,
            perf_time,
            perf_freq,
            counters: counters.collect(),
            default_counter: 0,
            data,
        })
    }

    /// The number of a counter in a sample.
    fn number(&self, sample: Option<&Sample>, id: u32) -> u64 {
        let values = self.set.counters.iter().zip(sample.map_or(&[][..], |sample| &sample.values));
        let found = values.into_iter().find(|(counter, _)| counter.id == id);
        match found {
            Some((_, Value::Large(number))) => *number,
            _ => 0,
        }
    }

    fn instance(&self, sample: &Sample) -> Instance {
        let values = self.set.counters.iter().zip(&sample.values);
        let numbers = values.filter(|(counter, _)| counter.kind != CounterType::PERF_COUNTER_TEXT);
        let values = numbers.map(|(_, value)| match value {
            Value::Dword(value) => u64::from(*value),
            Value::Large(value) => *value,
            Value::Text(_) | Value::Nothing => 0,
        });
        Instance { name: sample.instance.name.clone(), values: values.collect(), ..Instance::default() }
    }
}
