//! Counter paths against what a host offers: which countersets are fetched, and which counters of them are shown.

use counter_types::aggregate::Scope;
use counter_types::{CounterPath, NamePattern, PatternText, same_name};
use counters::pcq::types::InstanceType;
use counters::pcq::wire::CounterIdentifier;
use safe_text::nearest::nearest;

use super::problem::PathProblem;
use crate::survey::Counterset;

/// Everything that is asked for, found at the host.
#[derive(Debug, Default)]
pub struct PathPlan {
    pub countersets: Vec<Counterset>,
    /// In the order of the command line.
    pub matches: Vec<PathMatch>,
    /// Paths that mean nothing, by their places, after a [`PathSearch`](super::PathSearch).
    pub problems: Vec<(usize, PathProblem)>,
}

/// What one path means in one counterset.
#[derive(Debug)]
pub struct PathMatch {
    /// The place of the path among all.
    pub(super) order: usize,
    /// The path as it was written.
    pub path: CounterPath,
    pub counterset: usize,
    /// Which instances; all of a counterset that has one only.
    pub instances: Option<NamePattern>,
    /// Which of its counters.
    pub counters: Vec<usize>,
}

/// A path that no version 2 counterset was found for, or whose wildcard may match classic objects as well.
#[derive(Clone, Debug)]
pub struct OpenPath {
    /// Its place among the paths.
    pub(super) order: usize,
    pub(super) path: CounterPath,
    /// What is wrong with it if no classic object is meant.
    pub(super) problem: Option<PathProblem>,
}

/// An instance of a counterset.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    pub name: String,
    /// Its number, where the reply tells it.
    pub id: Option<u32>,
    /// How many of its name are before it.
    pub index: u32,
}

impl PathPlan {
    /// What the query is given: instances by name where a few are meant, and all where many are, or a wildcard.
    pub fn identifiers(&self) -> Vec<(usize, CounterIdentifier)> {
        let mut identifiers: Vec<(usize, CounterIdentifier)> = Vec::new();
        for (index, counterset) in self.countersets.iter().enumerate() {
            let Some(guid) = counterset.provider.guid() else { continue };
            // Those that are added up as one take no name either, and answer with all their instances.
            if !counterset.instance_type.is_multiple() {
                identifiers.push((index, CounterIdentifier::single_instance(guid)));
                continue;
            }
            let matches = self.matches.iter().filter(|one| one.counterset == index);
            let names: Option<Vec<&str>> = matches.map(PathMatch::only_instance).collect();
            let Some(names) = names.filter(|names| names.len() <= NAMES_MAX) else {
                identifiers.push((index, CounterIdentifier::all_instances(guid)));
                continue;
            };
            let mut added: Vec<&str> = Vec::new();
            for name in names {
                if !added.iter().any(|earlier| same_name(earlier, name)) {
                    let all = CounterIdentifier::all_instances(guid);
                    let instance_name = Some(name.to_owned());
                    identifiers.push((index, CounterIdentifier { instance_name, ..all }));
                    added.push(name);
                }
            }
        }
        identifiers
    }
}

impl OpenPath {
    /// Its place among the paths.
    #[must_use]
    pub const fn order(&self) -> usize {
        self.order
    }

    #[must_use]
    pub const fn path(&self) -> &CounterPath {
        &self.path
    }

    /// What is wrong with it if no classic object is meant.
    pub const fn problem(&self) -> Option<&PathProblem> {
        self.problem.as_ref()
    }
}

impl Instance {
    /// Its name, with a number where others of this name are before it.
    pub fn shown(&self) -> String {
        match self.index {
            0 => self.name.clone(),
            index => format!("{}#{index}", self.name),
        }
    }
}

impl PathMatch {
    /// The place of its path among all.
    #[must_use]
    pub const fn order(&self) -> usize {
        self.order
    }

    /// The instance's name, where the path means one and no other can be meant.
    pub fn only_instance(&self) -> Option<&str> {
        let instance = self.path.instance.as_ref()?;
        if instance.index.is_some() { None } else { self.instances.as_ref()?.exact_name() }
    }

    /// Whether an instance is meant; nothing is the only one of a counterset that has one only, or all of an aggregate
    /// counterset as one.
    pub fn wants(&self, seen: Option<&Instance>) -> bool {
        match (&self.path.instance, &self.instances, seen) {
            (Some(instance), Some(pattern), Some(Instance { name, index, .. })) => {
                pattern.matches(name) && instance.wants_index(*index)
                    || same_name(&instance.to_string(), name)
            }
            (None, _, None) => true,
            _ => false,
        }
    }

    /// Whether all instances are meant as one, if the counterset has several.
    pub(super) const fn is_aggregate(&self) -> bool {
        self.path.instance.is_none()
    }
}

/// Whether a client adds up the instances of a counterset.
pub(super) const fn is_aggregated(counterset: &Counterset) -> bool {
    Scope::of(counterset.instance_type).is_some()
}

pub(super) fn compiled(pattern: &PatternText) -> Result<NamePattern, PathProblem> {
    NamePattern::new(pattern).map_err(|error| PathProblem::Pattern(error.to_string()))
}

pub(super) fn pick(
    (order, path): (usize, &CounterPath),
    index: usize,
    counterset: &Counterset,
) -> Result<PathMatch, PathProblem> {
    let name = &counterset.name.text;
    let instances = match (&path.instance, counterset.instance_type == InstanceType::SINGLE) {
        (Some(instance), false) => Some(compiled(&instance.pattern())?),
        (None, true) => None,
        // All of its instances, as one.
        (None, false) if is_aggregated(counterset) => None,
        (None, false) => {
            return Err(PathProblem::LacksInstance {
                path: Box::new(path.clone()),
                counterset: name.clone(),
            });
        }
        (Some(_), true) => {
            return Err(PathProblem::HasNoInstances {
                path: Box::new(path.clone()),
                counterset: name.clone(),
            });
        }
    };
    let pattern = compiled(&path.counter_pattern())?;
    let is_exact = pattern.exact_name().is_some();
    let all = counterset.counters.iter().enumerate();
    let wanted = all.filter(|(_, counter)| {
        pattern.matches(&counter.name) && (is_exact || !counterset.is_helper(counter))
    });
    let mut counters: Vec<usize> = wanted.map(|(counter, _)| counter).collect();
    if is_exact {
        counters.truncate(1);
    }
    if counters.is_empty() {
        let names = counterset.counters.iter().map(|counter| counter.name.as_str());
        let nearest = nearest(&path.counter, names).map(str::to_owned);
        let (path, counterset) = (Box::new(path.clone()), name.clone());
        return Err(PathProblem::UnknownCounter { path, counterset, nearest });
    }
    Ok(PathMatch { order, path: path.clone(), counterset: index, instances, counters })
}

/// Instances of one counterset that are asked for by their names.
const NAMES_MAX: usize = 64;
