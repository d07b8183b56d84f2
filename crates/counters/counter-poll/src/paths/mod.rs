//! Counter paths in, cooked values out: what paths mean at a host, one query for all of them, and the samples of its
//! replies.

mod aggregate;
mod classic;
mod frame;
mod plan;
mod problem;
mod rows;
mod sample;
mod search;

use counter_types::RawClocks;
use counters::pcq::perflibv2::{BlockMapping, Change, CounterData, MappingProblem, Query};
use counters::pcq::types::InstanceType;
use counters::pcq::wire::{Block, CounterIdentifier};
use counters::perflib_v1::{BadObject, DataBlock, Definitions, ObjectType};
use counters::rrp::winreg::RegistryValue;
use wire::{DecodeResult, Win32Error};

pub use self::aggregate::Aggregates;
pub use self::classic::ClassicQuery;
pub use self::frame::{Columns, CountersetFrame, Frame};
pub use self::plan::{Instance, OpenPath, PathMatch, PathPlan};
pub use self::problem::{FindError, PathProblem};
pub use self::rows::{Row, Rows};
pub use self::sample::{Key, Readings, Sample, Value, is_shown_as_read};
pub use self::search::PathSearch;

use super::reading::{Identities, ObjectReading, Reading, with_clock_of};
use super::registration::{Client, Error, HostChannel};
use super::survey::Counterset;
use super::{Pace, Provider};

/// A query with the countersets of a [`PathPlan`], open at a host.
#[derive(Debug)]
pub struct PathQuery {
    query: Query,
    /// Which counterset of the plan, and what was asked for of it.
    added: Vec<(usize, CounterIdentifier)>,
    /// Which of those each block is.
    mapping: BlockMapping,
    is_whole: bool,
}

impl PathQuery {
    /// Opens a query with what `plan` needs, as far as the host takes it: see [`is_empty`](Self::is_empty).
    ///
    /// # Errors
    /// When a call fails.
    pub async fn open<C: HostChannel>(client: &mut Client<C>, plan: &PathPlan) -> Result<Self, Error<C>> {
        let query = client.open_query_handle().await?;
        let (countersets, identifiers): (Vec<usize>, Vec<_>) = plan.identifiers().into_iter().unzip();
        let wanted = identifiers.len();
        let answered = client.validate_counters(&query, &identifiers, Change::Add).await?;
        let all = countersets.into_iter().zip(identifiers).zip(answered);
        let taken = all.filter(|(_, answer)| answer.status.is_success());
        let added: Vec<(usize, CounterIdentifier)> = taken.map(|(asked_for, _)| asked_for).collect();
        let identifiers: Vec<_> = added.iter().map(|(_, identifier)| identifier.clone()).collect();
        let mapping = BlockMapping::new(&identifiers, &client.query_counter_info(&query).await?);
        let is_whole = added.len() == wanted;
        Ok(Self { query, added, mapping, is_whole })
    }

    /// Whether no block will be that of a counterset.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mapping.is_empty()
    }

    /// Whether the host took all that the plan needs. What it refuses it had when it was asked what it has.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Why blocks cannot be told apart from others, each with the counterset of the plan that it may be.
    pub fn problems(&self) -> impl Iterator<Item = (usize, &MappingProblem)> {
        let problems = self.mapping.problems().iter();
        problems.filter_map(|(which, problem)| Some((self.added.get(*which)?.0, problem)))
    }

    /// Fetches the values.
    ///
    /// # Errors
    /// When the call fails.
    pub async fn fetch<C: HostChannel>(&mut self, client: &mut Client<C>) -> Result<CounterData, Error<C>> {
        client.query_counter_data(&mut self.query).await
    }

    /// Closes it.
    ///
    /// # Errors
    /// When the call fails.
    pub async fn close<C: HostChannel>(self, client: &mut Client<C>) -> Result<(), Error<C>> {
        client.close_query_handle(self.query).await
    }
}

// The replies for a plan, counterset by counterset.

/// Instances of a counterset. Those of one may come in several parts.
struct Part<'a> {
    /// Which of the plan's countersets.
    counterset: usize,
    reading: Reading<'a>,
    clocks: RawClocks,
    /// Whether there is one instance only, which has no name.
    is_single: bool,
    /// The name that was asked for, which a host need not repeat.
    asked_for: Option<&'a str>,
}

/// What is needed to read one object of a reply: counters, and identities of instances.
type Described = (Definitions, Identities);

/// What the block at a place of a query's reply is; nothing where it is none of the plan's, or there is no such instance now.
///
/// # Errors
/// Why the host sent nothing usable, in words.
fn part_of_block<'a>(
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
async fn describe_all(plan: &PathPlan, values: &[RegistryValue], described: &mut Vec<Vec<Described>>) {
    described.resize_with(values.len(), Vec::new);
    for (value, described) in values.iter().zip(described) {
        describe(plan, value, described).await;
    }
}

async fn describe(plan: &PathPlan, value: &RegistryValue, described: &mut Vec<Described>) {
    let Ok(block) = DataBlock::decode(value.bytes()) else { return described.clear() };
    let (mut count, mut pace) = (0, Pace::default());
    for object in crate::classic::objects_of(&block) {
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
fn part_of_object<'a>(
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
