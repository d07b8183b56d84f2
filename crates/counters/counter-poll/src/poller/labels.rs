//! Which labels tell the instances of a counterset apart.

use counter_types::{Selection, same_name};

use crate::reading::Numbers;
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
    /// The label of the number of what an instance is a part of.
    owner: Option<&'static str>,
    /// Whether the identifier is the instance's number; else it is in the name, which is `NAME:ID`.
    id_is_number: bool,
}

impl Split {
    /// That of a counterset whose instances have both, as documents say.
    pub(super) fn of(counterset: &Counterset) -> Option<Self> {
        match counterset.provider {
            Provider::V2(_) => Self::of_names(&counterset.name),
            Provider::V1(_) => {
                let names = || counterset.counters.iter().map(|counter| counter.name.as_str());
                Numbered::of(&counterset.name, names).map(|(row, _)| row.split())
            }
        }
    }

    fn of_names(counterset: &str) -> Option<Self> {
        let row = NAME_AND_ID.iter().find(|(known, ..)| same_name(known, counterset));
        row.map(|&(_, name, id)| Self { name, id, owner: None, id_is_number: false })
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
    /// Whether the label of the name has only that of what an instance is a part of, where its own name is `OWNER/NAME`.
    pub names_owner: bool,
}

impl InstanceLabels {
    /// Those of a counterset with these counters; `is_classic` is whether its data come from the registry.
    pub fn of<'a>(
        counterset: &str,
        is_classic: bool,
        counters: &(impl Iterator<Item = &'a str> + Clone),
    ) -> Self {
        let split = match is_classic {
            true => Numbered::of(counterset, || counters.clone()).map(|(row, _)| row.split()),
            false => Split::of_names(counterset),
        };
        match split {
            None => Self { name: INSTANCE_LABEL, id: None, id_is_in_name: false, names_owner: false },
            Some(Split { name, id, owner, id_is_number }) => {
                Self { name, id: Some(id), id_is_in_name: !id_is_number, names_owner: owner.is_some() }
            }
        }
    }

    /// What the label of the name has for an instance of this name.
    #[must_use]
    pub fn shown<'a>(&self, instance: &'a str) -> &'a str {
        match instance.rsplit_once('/') {
            Some((owner, _)) if self.names_owner => owner,
            _ => instance,
        }
    }
}

impl Labelling {
    /// Whether instances have the names of what they are parts of.
    pub(super) fn names_owner(self) -> bool {
        self.by_name && self.split.is_some_and(|split| split.owner.is_some())
    }

    /// Whether instances that share a name differ in a label all the same.
    pub(super) fn tells_numbers(self) -> bool {
        self.by_number || self.split.is_some_and(|split| split.id_is_number)
    }

    /// Names and values of the labels that instances of this name and number have, which are parts of what has the number
    /// `owner`.
    pub(super) fn labels<'a>(
        self,
        name: &'a str,
        number: &'a str,
        owner: &'a str,
    ) -> Vec<(&'a str, &'a str)> {
        let mut labels = Vec::with_capacity(4);
        match self.split.filter(|_| self.by_name) {
            Some(split) => {
                let is_one = || !Selection::is_total(name);
                let (name, id) = match split.id_is_number {
                    true => (name, Some(number).filter(|_| is_one())),
                    false => Split::parts(name),
                };
                labels.push((split.name, name));
                labels.extend(split.owner.filter(|_| is_one()).map(|label| (label, owner)));
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

/// Classic objects whose instances share names, and have identifiers as values of a counter.
struct Numbered {
    /// The object, or with `*` the beginning of its name.
    object: &'static str,
    /// The counter with the identifiers.
    counter: &'static str,
    /// The counter with the identifiers of what the instances are parts of, and its label. Then their own names, which are
    /// places in the owner that others take over, are left out.
    owner: Option<(&'static str, &'static str)>,
    name: &'static str,
    id: &'static str,
}

impl Numbered {
    /// The row of an object with such counters, and their places.
    fn of<'a, N: Iterator<Item = &'a str>>(
        object: &str,
        counters: impl Fn() -> N,
    ) -> Option<(&'static Self, Numbers)> {
        let place = |counter: &str| counters().position(|name| name == counter);
        let row = NUMBERED.iter().find(|row| match row.object.strip_suffix('*') {
            Some(begin) => object.get(..begin.len()).is_some_and(|head| same_name(head, begin)),
            None => same_name(row.object, object),
        })?;
        let owner = match row.owner {
            Some((counter, _)) => Some(place(counter)?),
            None => None,
        };
        Some((row, Numbers { id: place(row.counter)?, owner, names_owner: owner.is_some() }))
    }

    const fn split(&self) -> Split {
        let owner = match self.owner {
            Some((_, label)) => Some(label),
            None => None,
        };
        Split { name: self.name, id: self.id, owner, id_is_number: true }
    }
}

/// The places of the counters whose values are the numbers of a counterset's instances.
pub(crate) fn numbers_of(provider: Provider, name: &str, counters: &[Counter]) -> Option<Numbers> {
    provider.object()?;
    let names = || counters.iter().map(|counter| counter.name.as_str());
    Numbered::of(name, names).map(|(_, numbers)| numbers)
}

/// The labels are those of the version 2 counterset that shows the same.
const NUMBERED: &[Numbered] = &[
    PROCESS,
    Numbered {
        object: "Thread",
        counter: "ID Thread",
        owner: Some(("ID Process", "process_id")),
        name: "process",
        id: "thread_id",
    },
    Numbered { object: ".NET CLR *", counter: "Process ID", ..PROCESS },
    Numbered { object: "Process Address Space_Costly", ..PROCESS },
    Numbered { object: "Job Object Details", name: INSTANCE_LABEL, ..PROCESS },
];
const PROCESS: Numbered =
    Numbered { object: "Process", counter: "ID Process", owner: None, name: "process", id: "process_id" };
const INSTANCE_LABEL: &str = "counter_instance";
const INSTANCE_ID_LABEL: &str = "instance_id";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_an_identifier_become_two_labels() {
        let process = Labelling { by_name: true, by_number: false, split: Split::of_names("process v2") };
        let check = |name, expected: &[(&str, &str)]| assert_eq!(process.labels(name, "7", "0"), expected);
        check("svchost:1124", &[("process", "svchost"), ("process_id", "1124")]);
        check("a:b:4", &[("process", "a:b"), ("process_id", "4")]);
        check("_Total", &[("process", "_Total")]);
        check("a:", &[("process", "a:")]);
        check("a:b", &[("process", "a:b")]);
        let numbered = Labelling { by_number: true, ..process };
        let expected = [("process", "a"), ("process_id", "4"), ("instance_id", "7")];
        assert_eq!(numbered.labels("a:4", "7", "0"), expected);
    }

    #[test]
    fn who_asks_for_series_is_told_the_labels_that_they_have() {
        let check = |counterset, is_classic, counters: &[&str], name, id, id_is_in_name| {
            let labels = InstanceLabels::of(counterset, is_classic, &counters.iter().copied());
            let names_owner = counterset == "Thread";
            assert_eq!(labels, InstanceLabels { name, id, id_is_in_name, names_owner }, "{counterset}");
        };
        check("process v2", false, &[], "process", Some("process_id"), true);
        check("Process", true, &["ID Process"], "process", Some("process_id"), false);
        check("Process", true, &["Thread Count"], "counter_instance", None, false);
        check("Process", false, &["ID Process"], "counter_instance", None, false);
        check("Thread", true, &["ID Process", "ID Thread"], "process", Some("thread_id"), false);
        check(".net clr memory", true, &["Process ID"], "process", Some("process_id"), false);
        check(".NET CLR Jit", true, &["# of Methods Jitted"], "counter_instance", None, false);
        check("Oven", true, &[], "counter_instance", None, false);
    }

    #[test]
    fn a_thread_has_the_labels_of_its_process_and_no_place_in_it() {
        let counters = ["ID Process", "ID Thread"];
        let (row, _) = Numbered::of("Thread", || counters.into_iter()).unwrap();
        let threads = Labelling { by_name: true, by_number: false, split: Some(row.split()) };
        let expected = [("process", "svchost"), ("process_id", "812"), ("thread_id", "4711")];
        assert_eq!(threads.labels("svchost", "4711", "812"), expected);
        assert_eq!(threads.labels("_Total", "0", "0"), [("process", "_Total")]);
        let labels = InstanceLabels::of("Thread", true, &counters.into_iter());
        assert_eq!(["svchost/3", "_Total/_Total"].map(|name| labels.shown(name)), ["svchost", "_Total"]);
    }

    #[test]
    fn names_of_other_countersets_stay_whole() {
        let other = Labelling { by_name: true, by_number: true, split: Split::of_names("Oven") };
        assert_eq!(other.labels("C:1", "7", "0"), [("counter_instance", "C:1"), ("instance_id", "7")]);
        let single = Labelling { by_name: false, by_number: false, split: None };
        assert_eq!(single.labels("", "0", "0"), []);
    }
}
