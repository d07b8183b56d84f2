//! What tells the instances of a classic object apart: names, which begin with that of the instance that they are part of,
//! and numbers.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use counters::perflib_v1::{DataBlock, Instances, Many, ObjectType, Parent};
use wire::WideStr;

use crate::Pace;

/// The identities of an object's instances in one reply, in buffers that are used again.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    /// Qualified names, if instances have parents.
    names: Names,
    /// Those of the instances that they are part of.
    parents: Names,
    /// How many instances of each name there are, by its hash.
    counts: HashMap<u64, u32>,
    /// How many of its name are before each instance.
    ordinals: Vec<u32>,
    /// The counters whose values are the numbers, where there are some.
    numbers: Option<Numbers>,
}

/// The places of the counters whose values number the instances of a counterset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) id: usize,
    /// Of what they are parts of.
    pub(crate) owner: Option<usize>,
    /// Whether instances are named as their owners.
    pub(crate) names_owner: bool,
}

/// Names, one after the other.
#[derive(Debug, Default)]
struct Names {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Identities {
    /// Takes the instances of `object`, which is part of `block`. They have the values of the counters at `numbers` as
    /// numbers; without those, how many of their name are before them.
    pub(crate) async fn update(
        &mut self,
        block: &DataBlock<'_>,
        object: &ObjectType<'_>,
        numbers: Option<Numbers>,
        pace: &mut Pace,
    ) {
        self.numbers = numbers;
        self.names.clear();
        self.ordinals.clear();
        let Instances::Many(many) = object.instances() else { return };
        self.find_names(block, many, pace).await;
        if numbers.is_none() {
            self.count_names(many, pace).await;
        }
    }

    /// The counters whose values are the numbers.
    pub(super) const fn numbers(&self) -> Option<Numbers> {
        self.numbers
    }

    /// The name of the instance at a place, which calls itself `own`.
    pub(super) fn name<'s>(&'s self, position: usize, own: WideStr<'s>) -> WideStr<'s> {
        self.names.get(position).unwrap_or(own)
    }

    /// How many of its name are before the instance at a place.
    pub(super) fn ordinal(&self, position: usize) -> Option<u32> {
        self.ordinals.get(position).copied()
    }

    /// Puts the name of the instance that one is part of before its own, as Windows shows it: `svchost/3`. Where instances
    /// are named as their owners, it takes the place of their own.
    async fn find_names(&mut self, block: &DataBlock<'_>, many: Many<'_>, pace: &mut Pace) {
        let Some(of) = many.clone().find_map(|instance| instance.parent) else { return };
        let parent = block.objects().flatten().find(|object| object.name_index == of.object);
        let Some(Instances::Many(parents)) = parent.map(|parent| parent.instances()) else { return };
        let slash = WideStr::until_nul_or_end(b"/\0");
        let names_owner = self.numbers.is_some_and(|numbers| numbers.names_owner);
        self.parents.clear();
        for parent in parents {
            self.parents.push(&[parent.wide_name().unwrap_or_default()]);
            pace.step(1).await;
        }
        for instance in many {
            let own = instance.wide_name().unwrap_or_default();
            let is_of = |parent: &Parent| parent.object == of.object;
            let position =
                instance.parent.filter(is_of).and_then(|parent| usize::try_from(parent.position).ok());
            match position.and_then(|position| self.parents.get(position)) {
                Some(parent) if names_owner => self.names.push(&[parent]),
                Some(parent) => self.names.push(&[parent, slash, own]),
                None => self.names.push(&[own]),
            }
            pace.step(1).await;
        }
    }

    async fn count_names(&mut self, many: Many<'_>, pace: &mut Pace) {
        self.counts.clear();
        for (position, instance) in many.enumerate() {
            let mut hasher = DefaultHasher::new();
            self.name(position, instance.wide_name().unwrap_or_default()).hash(&mut hasher);
            let count = self.counts.entry(hasher.finish()).or_default();
            self.ordinals.push(*count);
            *count = count.saturating_add(1);
            pace.step(1).await;
        }
    }
}

impl Names {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn push(&mut self, parts: &[WideStr<'_>]) {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part.as_bytes()));
        self.ends.push(self.bytes.len());
    }

    fn get(&self, position: usize) -> Option<WideStr<'_>> {
        let end = *self.ends.get(position)?;
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(WideStr::until_nul_or_end(&self.bytes[start..end]))
    }
}

#[cfg(test)]
mod tests {
    use counters::perflib_v1::write::{Counter, Data, Header, Instance, Object, encode};
    use test_support::future::now;

    use super::*;

    fn object(name_index: u32, instances: &[(&str, Option<Parent>)]) -> Object {
        let instance = |(name, parent): &(&str, Option<Parent>)| Instance {
            name: (*name).to_owned(),
            parent: *parent,
            values: vec![0],
            ..Instance::default()
        };
        let data = Data::Instances(instances.iter().map(instance).collect());
        Object { name_index, counters: vec![Counter::default()], data, ..Object::default() }
    }

    /// Names and ordinals of the first object.
    fn identities(objects: &[Object]) -> Vec<(String, Option<u32>)> {
        let bytes = encode(&Header::default(), objects).expect("it fits");
        let block = DataBlock::decode(&bytes).expect("a block");
        let object = block.objects().next().expect("an object").expect("a sound one");
        let mut identities = Identities::default();
        now(identities.update(&block, &object, None, &mut Pace::default()));
        let Instances::Many(many) = object.instances() else { panic!("it has instances") };
        let names = many.enumerate().map(|(position, instance)| {
            let name = identities.name(position, instance.wide_name().expect("UTF-16"));
            (name.to_string(), identities.ordinal(position))
        });
        names.collect()
    }

    fn expected(names: &[(&str, u32)]) -> Vec<(String, Option<u32>)> {
        names.iter().map(|(name, ordinal)| ((*name).to_owned(), Some(*ordinal))).collect()
    }

    #[test]
    fn instances_of_one_name_are_numbered_in_their_order() {
        let names = ["a", "b", "a", "a", "b", "c"].map(|name| (name, None));
        let found = identities(&[object(2, &names)]);
        assert_eq!(found, expected(&[("a", 0), ("b", 0), ("a", 1), ("a", 2), ("b", 1), ("c", 0)]));
    }

    #[test]
    fn parts_have_the_name_of_what_they_are_part_of_before_their_own() {
        let of = |position| Some(Parent { object: 230, position });
        let threads =
            object(232, &[("0", of(0)), ("0", of(1)), ("0", of(2)), ("1", of(9)), ("_Total", None)]);
        let processes = object(230, &[("Idle", None), ("svchost", None), ("svchost", None)]);
        let found = identities(&[threads.clone(), processes]);
        let whole = [("Idle/0", 0), ("svchost/0", 0), ("svchost/0", 1), ("1", 0), ("_Total", 0)];
        assert_eq!(found, expected(&whole));
        // Whole names need the other object.
        let alone = identities(&[threads]);
        assert_eq!(alone, expected(&[("0", 0), ("0", 1), ("0", 2), ("1", 0), ("_Total", 0)]));
    }
}
