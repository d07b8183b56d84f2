//! The replies for a plan, counterset by counterset.

use counter_types::RawClocks;
use ms_dtyp::{FileTime, Win32Error};
use ms_pcq::types::InstanceType;
use ms_pcq::wire::QueryData;
use ms_rrp::winreg::RegistryValue;
use perflib_v1::{DataBlock, Definitions, ObjectType};

use super::{PathPlan, PathQuery};
use crate::Provider;
use crate::classic::{self, Identities, ObjectReading};
use crate::reading::{Reading, clocks_of};
use crate::survey::Counterset;

/// What takes the countersets of replies, in the order in which they come.
pub(super) trait Receiver<'a> {
    /// A reply was taken by the host at this time.
    fn begin(&mut self, time: FileTime, clocks: RawClocks);

    /// The host sent nothing usable of a counterset, in words.
    fn refuse(&mut self, reason: String);

    /// Instances of a counterset. Those of one may come in several parts.
    fn take(&mut self, part: Part<'_, impl Reading<'a>>);
}

/// Instances of a counterset.
pub(super) struct Part<'p, R> {
    /// Which of the plan's countersets.
    pub(super) counterset: usize,
    pub(super) reading: &'p R,
    pub(super) clocks: RawClocks,
    /// Whether there is one instance only, which has no name.
    pub(super) is_single: bool,
    /// The name that was asked for, which a host need not repeat.
    pub(super) asked_for: Option<&'p str>,
}

/// What is needed to read one object of a reply: counters, and identities of instances.
pub(super) type Described = (Definitions, Identities);

/// The blocks of a query's reply.
pub(super) fn read_blocks<'a>(
    plan: &PathPlan,
    query: &PathQuery,
    data: &QueryData<'a>,
    receiver: &mut impl Receiver<'a>,
) {
    let clocks = clocks_of(data.header());
    receiver.begin(data.header().perf_time_100ns, clocks);
    if let Err(mismatch) = query.mapping.check_count(data.header().num_counters) {
        return receiver.refuse(mismatch.to_string());
    }
    for (index, block) in data.blocks().enumerate() {
        let which = query.mapping.identifier_of(u32::try_from(index).unwrap_or(u32::MAX));
        let Some((counterset, identifier)) = which.and_then(|which| query.added.get(which)) else {
            continue;
        };
        let counterset = *counterset;
        let asked_for = identifier.instance_name.as_deref().filter(|name| *name != "*");
        let name = &plan.countersets[counterset].name.text;
        match block {
            Ok(block) if block.status.is_success() => {
                let is_single = plan.countersets[counterset].instance_type == InstanceType::SINGLE;
                receiver.take(Part { counterset, reading: &block, clocks, is_single, asked_for });
            }
            // No such instance now.
            Ok(block) if block.status == Win32Error::ERROR_NO_DATA => {}
            Ok(block) => receiver.refuse(format!("counterset `{name}`: {}", block.status)),
            Err(error) => receiver.refuse(format!("counterset `{name}`: {error}")),
        }
    }
}

/// Prepares replies of the registry for [`read_objects`], each by its own. What is in `described` of earlier ones is used again.
pub(super) fn describe_all(plan: &PathPlan, values: &[RegistryValue], described: &mut Vec<Vec<Described>>) {
    described.resize_with(values.len(), Vec::new);
    values.iter().zip(described).for_each(|(value, described)| describe(plan, value, described));
}

fn describe(plan: &PathPlan, value: &RegistryValue, described: &mut Vec<Described>) {
    let Ok(block) = DataBlock::decode(value.bytes()) else { return described.clear() };
    let mut count = 0;
    for object in block.objects() {
        if described.len() <= count {
            described.push(Described::default());
        }
        if let (Ok(object), Some((definitions, identities))) = (object, described.get_mut(count)) {
            let counterset = place_of(plan, &object).map(|place| &plan.countersets[place]);
            definitions.update(&object);
            identities.update(&block, &object, counterset.and_then(Counterset::number));
        }
        count += 1;
    }
    described.truncate(count);
}

/// The objects of a reply of the registry.
pub(super) fn read_objects<'a>(
    plan: &PathPlan,
    value: &'a RegistryValue,
    described: &'a [Described],
    receiver: &mut impl Receiver<'a>,
) {
    let block = match DataBlock::decode(value.bytes()) {
        Ok(block) => block,
        Err(error) => return receiver.refuse(error.to_string()),
    };
    let clocks = classic::clocks_of(&block);
    receiver.begin(block.header.perf_time_100ns, clocks);
    for (object, (definitions, identities)) in block.objects().zip(described) {
        let object = match object {
            Ok(object) => object,
            Err(bad) => {
                receiver.refuse(bad.to_string());
                continue;
            }
        };
        let Some(place) = place_of(plan, &object) else { continue };
        let counterset = &plan.countersets[place];
        if definitions.fields().len() != counterset.counters.len() {
            receiver.refuse(format!("counterset `{}` has other counters by now", counterset.name.text));
            continue;
        }
        receiver.take(Part {
            counterset: place,
            reading: &ObjectReading::new(definitions.fields(), object.instances(), identities),
            clocks: classic::with_clock_of(&object, clocks),
            is_single: counterset.instance_type == InstanceType::SINGLE,
            asked_for: None,
        });
    }
}

/// Which of the plan's countersets a classic object is.
fn place_of(plan: &PathPlan, object: &ObjectType<'_>) -> Option<usize> {
    let is_it = |one: &Counterset| one.provider == Provider::V1(object.name_index);
    plan.countersets.iter().position(is_it)
}
