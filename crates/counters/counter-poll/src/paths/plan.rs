//! Counter paths against what a host offers: which countersets are fetched, and which counters of them are shown.

use counter_types::{CounterPath, NamePattern, PatternText, nearest, same_name};
use ms_dtyp::Guid;
use ms_pcq::types::InstanceType;
use ms_pcq::wire::CounterIdentifier;

use super::problem::{FindError, PathProblem};
use crate::channel::{Client, HostChannel};
use crate::classic;
use crate::registration::{self, Name};
use crate::survey::{self, Counterset};

/// Everything that is asked for, found at the host.
#[derive(Debug)]
pub struct PathPlan {
    /// Each once.
    pub countersets: Vec<Counterset>,
    /// In the order of the command line.
    pub matches: Vec<PathMatch>,
}

/// What one path means in one counterset.
#[derive(Debug)]
pub struct PathMatch {
    /// The place of the path among all.
    pub(super) order: usize,
    /// The path as it was written.
    pub path: CounterPath,
    /// Which of [`PathPlan::countersets`].
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

/// Names of countersets, asked for one after the other.
struct Names {
    unread: Vec<Guid>,
    read: Vec<(Guid, Name)>,
    total: usize,
}

impl PathPlan {
    /// Finds what the paths mean among version 2 countersets, and answers those that may mean classic objects: what they mean
    /// [`add_classic`](Self::add_classic) finds. `progress` is told how many of how many names were asked for so far.
    ///
    /// # Errors
    /// When a call fails, or a counterset has none of what a path names.
    pub async fn find<C: HostChannel>(
        client: &mut Client<C>,
        paths: &[CounterPath],
        mut progress: impl FnMut(usize, usize) + Send,
    ) -> Result<(Self, Vec<OpenPath>), FindError<C::Error>> {
        let mut unread = client.enumerate_counter_set().await?;
        unread.reverse();
        let mut names = Names { total: unread.len(), unread, read: Vec::new() };
        let mut plan = Self { countersets: Vec::new(), matches: Vec::new() };
        let mut open = Vec::new();
        for (order, path) in paths.iter().enumerate() {
            let found = names.matching(client, path, &mut progress).await?;
            let problem = found.is_empty().then(|| names.unknown(path));
            if problem.is_some() || compiled(&path.counterset_pattern())?.exact_name().is_none() {
                open.push(OpenPath { order, path: path.clone(), problem });
            }
            for (guid, name) in found {
                let known = plan.countersets.iter().position(|known| known.provider.guid() == Some(guid));
                let counterset = match known {
                    Some(known) => known,
                    None => {
                        let counterset = name.text.clone();
                        let found = survey::counterset(client, guid, name, None).await?;
                        let found = found.map_err(|trouble| PathProblem::Unusable { counterset, trouble })?;
                        plan.countersets.push(found);
                        plan.countersets.len() - 1
                    }
                };
                plan.matches.push(pick((order, path), counterset, &plan.countersets[counterset])?);
            }
        }
        Ok((plan, open))
    }

    /// What the query is given: instances by name where one is meant, and all where a wildcard is.
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
            let Some(names) = names else {
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
    /// What is wrong with it if no classic object is meant.
    pub const fn problem(&self) -> Option<&PathProblem> {
        self.problem.as_ref()
    }
}

impl PathMatch {
    /// The instance's name, where the path means one and no other can be meant.
    pub fn only_instance(&self) -> Option<&str> {
        let instance = self.path.instance.as_ref()?;
        if instance.index.is_some() { None } else { self.instances.as_ref()?.exact_name() }
    }

    /// Whether an instance is meant that has `index` others of its name before it.
    pub fn wants(&self, name: &str, index: u32) -> bool {
        let (Some(instance), Some(pattern)) = (&self.path.instance, &self.instances) else { return true };
        pattern.matches(name) && instance.wants_index(index) || same_name(&instance.to_string(), name)
    }
}

impl Names {
    /// The countersets that a path names, which may be none. Names are asked for until the wanted one has come.
    async fn matching<C: HostChannel>(
        &mut self,
        client: &mut Client<C>,
        path: &CounterPath,
        progress: &mut (impl FnMut(usize, usize) + Send),
    ) -> Result<Vec<(Guid, Name)>, FindError<C::Error>> {
        let pattern = compiled(&path.counterset_pattern())?;
        loop {
            let found: Vec<_> =
                self.read.iter().filter(|(_, name)| pattern.matches(&name.text)).cloned().collect();
            if pattern.exact_name().is_some() && !found.is_empty() {
                return Ok(found);
            }
            let Some(guid) = self.unread.pop() else {
                return Ok(found);
            };
            progress(self.read.len() + 1, self.total);
            self.read.push((guid, registration::read_name(client, guid).await?));
        }
    }

    fn unknown(&self, path: &CounterPath) -> PathProblem {
        let names = self.read.iter().map(|(_, name)| name.text.as_str());
        if let Some(explanation) = classic::explain(&path.counterset, &names) {
            return PathProblem::Classic { path: Box::new(path.clone()), explanation };
        }
        let nearest = nearest(&path.counterset, names).map(str::to_owned);
        PathProblem::UnknownCounterset { path: Box::new(path.clone()), nearest }
    }
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
