//! Which labels tell the instances of a counterset apart.

use counter_types::{Selection, same_name};

use crate::registration::Counter;
use crate::{Counterset, Provider};

/// What is in the labels of a counterset's series.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labelling {
    /// Whether instances have names.
    pub(super) by_name: bool,
    /// Whether series carry their numbers.
    pub(super) by_number: bool,
    /// Labels of the parts of a name, in the place of one for the whole.
    pub(super) split: Option<Split>,
}

/// The labels of instances that have a name and an identifier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    name: &'static str,
    id: &'static str,
    /// Whether the identifier is the instance's number; else it is in the name, which is `NAME:ID`.
    id_is_number: bool,
}

impl Split {
    /// That of a counterset whose instances have both, as documents say.
    pub(super) fn of(counterset: &Counterset) -> Option<Self> {
        match counterset.provider {
            Provider::V2(_) => Self::of_names(&counterset.name),
            Provider::V1(_) => {
                let (row, _) = numbered(&counterset.name, &counterset.counters)?;
                Some(Self { name: row.name, id: row.id, id_is_number: true })
            }
        }
    }

    fn of_names(counterset: &str) -> Option<Self> {
        let row = NAME_AND_ID.iter().find(|(known, ..)| same_name(known, counterset));
        row.map(|&(_, name, id)| Self { name, id, id_is_number: false })
    }

    /// Name and identifier. A name without one, such as `_Total`, is a name alone.
    fn parts(name: &str) -> (&str, Option<&str>) {
        let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        match name.rsplit_once(':') {
            Some((name, id)) if is_id(id) => (name, Some(id)),
            _ => (name, None),
        }
    }
}

/// The labels by which the instances of a counterset are told apart, for those who ask for its series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstanceLabels {
    /// The label of the name.
    pub name: &'static str,
    /// That of the identifier, where instances have one.
    pub id: Option<&'static str>,
    /// Whether the identifier is a part of the instance's name, which is `NAME:ID`; the label of the name has the rest.
    pub id_is_in_name: bool,
}

impl InstanceLabels {
    /// Those of a counterset with these counters; `is_classic` is whether its data come from the registry.
    pub fn of<'a>(counterset: &str, is_classic: bool, counters: impl IntoIterator<Item = &'a str>) -> Self {
        let id_of_classic = || {
            let row = NUMBERED.iter().find(|row| same_name(row.object, counterset))?;
            let has_ids = counters.into_iter().any(|counter| counter == row.counter);
            has_ids.then_some(Split { name: row.name, id: row.id, id_is_number: true })
        };
        let split = if is_classic { id_of_classic() } else { Split::of_names(counterset) };
        split.map_or(Self { name: INSTANCE_LABEL, id: None, id_is_in_name: false }, |split| Self {
            name: split.name,
            id: Some(split.id),
            id_is_in_name: !split.id_is_number,
        })
    }
}

impl Labelling {
    /// Whether instances that share a name differ in a label all the same.
    pub(super) fn tells_numbers(self) -> bool {
        self.by_number || self.split.is_some_and(|split| split.id_is_number)
    }

    /// Names and values of the labels that instances of this name and number have.
    pub(super) fn labels<'a>(self, name: &'a str, number: &'a str) -> Vec<(&'a str, &'a str)> {
        let mut labels = Vec::with_capacity(4);
        match self.split.filter(|_| self.by_name) {
            Some(split) => {
                let is_one = || !Selection::is_total(name);
                let (name, id) = match split.id_is_number {
                    true => (name, Some(number).filter(|_| is_one())),
                    false => Split::parts(name),
                };
                labels.push((split.name, name));
                labels.extend(id.map(|id| (split.id, id)));
            }
            None if self.by_name => labels.push((INSTANCE_LABEL, name)),
            None => {}
        }
        if self.by_number {
            labels.push((INSTANCE_ID_LABEL, number));
        }
        labels
    }
}

/// Countersets whose instances are named `NAME:ID`, and the labels of both. Process V2: the executable without its
/// extension, and the process identifier.
const NAME_AND_ID: &[(&str, &str, &str)] = &[("Process V2", "process", "process_id")];

/// A classic object whose instances share names, and have identifiers as values of a counter.
struct Numbered {
    object: &'static str,
    /// The counter with the identifiers.
    counter: &'static str,
    name: &'static str,
    id: &'static str,
}

/// The row of an object with such a counter, and the counter's place.
fn numbered(object: &str, counters: &[Counter]) -> Option<(&'static Numbered, usize)> {
    let row = NUMBERED.iter().find(|row| same_name(row.object, object))?;
    Some((row, counters.iter().position(|counter| counter.name == row.counter)?))
}

/// The place of the counter whose values are the numbers of a counterset's instances.
pub(crate) fn number_of(provider: Provider, name: &str, counters: &[Counter]) -> Option<usize> {
    provider.object()?;
    numbered(name, counters).map(|(_, place)| place)
}

/// The labels are those of the version 2 counterset that shows the same.
const NUMBERED: &[Numbered] =
    &[Numbered { object: "Process", counter: "ID Process", name: "process", id: "process_id" }];
const INSTANCE_LABEL: &str = "counter_instance";
const INSTANCE_ID_LABEL: &str = "instance_id";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_an_identifier_become_two_labels() {
        let process = Labelling { by_name: true, by_number: false, split: Split::of_names("process v2") };
        let check = |name, expected: &[(&str, &str)]| assert_eq!(process.labels(name, "7"), expected);
        check("svchost:1124", &[("process", "svchost"), ("process_id", "1124")]);
        check("a:b:4", &[("process", "a:b"), ("process_id", "4")]);
        check("_Total", &[("process", "_Total")]);
        check("a:", &[("process", "a:")]);
        check("a:b", &[("process", "a:b")]);
        let numbered = Labelling { by_number: true, ..process };
        let expected = [("process", "a"), ("process_id", "4"), ("instance_id", "7")];
        assert_eq!(numbered.labels("a:4", "7"), expected);
    }

    #[test]
    fn who_asks_for_series_is_told_the_labels_that_they_have() {
        let check = |counterset, is_classic, counters: &[&str], name, id, id_is_in_name| {
            let labels = InstanceLabels::of(counterset, is_classic, counters.iter().copied());
            assert_eq!(labels, InstanceLabels { name, id, id_is_in_name }, "{counterset}");
        };
        check("process v2", false, &[], "process", Some("process_id"), true);
        check("Process", true, &["ID Process"], "process", Some("process_id"), false);
        check("Process", true, &["Thread Count"], "counter_instance", None, false);
        check("Process", false, &["ID Process"], "counter_instance", None, false);
        check("Oven", true, &[], "counter_instance", None, false);
    }

    #[test]
    fn names_of_other_countersets_stay_whole() {
        let other = Labelling { by_name: true, by_number: true, split: Split::of_names("Oven") };
        assert_eq!(other.labels("C:1", "7"), [("counter_instance", "C:1"), ("instance_id", "7")]);
        let single = Labelling { by_name: false, by_number: false, split: None };
        assert_eq!(single.labels("", "0"), []);
    }
}
