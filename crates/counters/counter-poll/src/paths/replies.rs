//! The replies for a plan, counterset by counterset.

use counter_types::RawClocks;
use counters::pcq::types::InstanceType;
use counters::pcq::wire::Block;
use counters::perflib_v1::{BadObject, DataBlock, Definitions, ObjectType};
use counters::rrp::winreg::RegistryValue;
use wire::{DecodeResult, Win32Error};

use super::{PathPlan, PathQuery};
use crate::Pace;
use crate::Provider;
use crate::classic;
use crate::reading::{Identities, ObjectReading, Reading, with_clock_of};
use crate::survey::Counterset;

/// Instances of a counterset. Those of one may come in several parts.
pub(super) struct Part<'a> {
    /// Which of the plan's countersets.
    pub(super) counterset: usize,
    pub(super) reading: Reading<'a>,
    pub(super) clocks: RawClocks,
    /// Whether there is one instance only, which has no name.
    pub(super) is_single: bool,
    /// The name that was asked for, which a host need not repeat.
    pub(super) asked_for: Option<&'a str>,
}

/// What is needed to read one object of a reply: counters, and identities of instances.
pub(super) type Described = (Definitions, Identities);

/// What the block at a place of a query's reply is; nothing where it is none of the plan's, or there is no such instance now.
///
/// # Errors
/// Why the host sent nothing usable, in words.
pub(super) fn part_of_block<'a>(
    plan: &PathPlan,
    query: &'a PathQuery,
    clocks: RawClocks,
    (index, block): (usize, DecodeResult<Block<'a>>),
) -> Result<Option<Part<'a>>, String> {
    let which = query.mapping.identifier_of(u32::try_from(index).unwrap_or(u32::MAX));
    let Some((counterset, identifier)) = which.and_then(|which| query.added.get(which)) else {
        return Ok(None);
    };
    let counterset = *counterset;
    let asked_for = identifier.instance_name.as_deref().filter(|name| *name != "*");
    let name = &plan.countersets[counterset].name.text;
    match block {
        Ok(block) if block.status.is_success() => {
            let is_single = plan.countersets[counterset].instance_type == InstanceType::SINGLE;
            Ok(Some(Part { counterset, reading: block.into(), clocks, is_single, asked_for }))
        }
        Ok(block) if block.status == Win32Error::ERROR_NO_DATA => Ok(None),
        Ok(block) => Err(format!("counterset `{name}`: {}", block.status)),
        Err(error) => Err(format!("counterset `{name}`: {error}")),
    }
}

/// Prepares replies of the registry for [`part_of_object`], each by its own. What is in `described` of earlier ones is used again.
pub(super) async fn describe_all(
    plan: &PathPlan,
    values: &[RegistryValue],
    described: &mut Vec<Vec<Described>>,
) {
    described.resize_with(values.len(), Vec::new);
    for (value, described) in values.iter().zip(described) {
        describe(plan, value, described).await;
    }
}

async fn describe(plan: &PathPlan, value: &RegistryValue, described: &mut Vec<Described>) {
    let Ok(block) = DataBlock::decode(value.bytes()) else { return described.clear() };
    let (mut count, mut pace) = (0, Pace::default());
    for object in classic::objects_of(&block) {
        if described.len() <= count {
            described.push(Described::default());
        }
        if let (Ok(object), Some((definitions, identities))) = (object, described.get_mut(count)) {
            let counterset = place_of(plan, &object).map(|place| &plan.countersets[place]);
            definitions.update(&object);
            identities.update(&block, &object, counterset.and_then(Counterset::numbers), &mut pace).await;
        }
        count += 1;
    }
    described.truncate(count);
}

/// What an object of a reply of the registry is; nothing where it is none of the plan's.
///
/// # Errors
/// Why the host sent nothing usable, in words.
pub(super) fn part_of_object<'a>(
    plan: &PathPlan,
    clocks: RawClocks,
    object: Result<ObjectType<'a>, BadObject>,
    (definitions, identities): &'a Described,
) -> Result<Option<Part<'a>>, String> {
    let object = object.map_err(|bad| bad.to_string())?;
    let Some(place) = place_of(plan, &object) else { return Ok(None) };
    let counterset = &plan.countersets[place];
    if definitions.fields().len() != counterset.counters.len() {
        return Err(format!("counterset `{}` has other counters by now", counterset.name.text));
    }
    let object_reading = ObjectReading::new(definitions.fields(), object.instances(), identities);
    Ok(Some(Part {
        counterset: place,
        reading: object_reading.into(),
        clocks: with_clock_of(&object, clocks),
        is_single: counterset.instance_type == InstanceType::SINGLE,
        asked_for: None,
    }))
}

/// Which of the plan's countersets a classic object is.
fn place_of(plan: &PathPlan, object: &ObjectType<'_>) -> Option<usize> {
    let is_it = |one: &Counterset| one.provider == Provider::V1(object.name_index);
    plan.countersets.iter().position(is_it)
}
