//! The classic objects of a host that are watched.

use std::sync::Arc;

use counter_types::RawClocks;
use counters::perflib_v1::{BadObject, DataBlock, Definitions, Instances, ObjectType};

use super::{Candidate, ClassicSeen, Search, Tables, counterset_of};
use crate::missing::{self, Missing, Why, unknown_counters, warn_of_nothing};
use crate::poller::labels::numbers_of;
use crate::reading::{Identities, Numbers, ObjectReading, classic_clocks_of, with_clock_of};
use crate::registration::Trouble;
use crate::{Counterset, CountersetPoller, Pace, SeriesIds, SeriesSink, Wanted};

/// All objects that are watched.
#[derive(Debug)]
pub(super) struct WatchedObjects<I: SeriesIds> {
    watched: Vec<Watched<I>>,
    /// Of earlier settings; their series have to be ended.
    outdated: Vec<CountersetPoller<I>>,
    /// Whether the last collection lacked values of one.
    lacks_some: bool,
    identities: Identities,
}

#[derive(Debug)]
struct Watched<I: SeriesIds> {
    index: u32,
    /// Which of the wanted ones.
    wanted: usize,
    counterset: Arc<Counterset>,
    definitions: Definitions,
    /// The counters whose values number the instances.
    numbers: Option<Numbers>,
    /// Counters that the settings name and the object does not have.
    unknown: Vec<Missing<I::Unlisted>>,
    poller: CountersetPoller<I>,
    /// Whether the last collection had its values.
    was_there: bool,
}

impl<I: SeriesIds> Default for WatchedObjects<I> {
    fn default() -> Self {
        Self {
            watched: Vec::new(),
            outdated: Vec::new(),
            lacks_some: false,
            identities: Identities::default(),
        }
    }
}

impl<I: SeriesIds> WatchedObjects<I> {
    pub(super) const fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    /// Whether the last collection lacked something.
    pub(super) const fn lacks_some(&self) -> bool {
        self.lacks_some
    }

    /// Whether an object is watched for the wanted one at this place.
    pub(super) fn meets(&self, wanted: usize) -> bool {
        self.watched.iter().any(|one| one.wanted == wanted)
    }

    /// The objects, in their order.
    pub(super) fn indexes(&self) -> impl Iterator<Item = u32> {
        self.watched.iter().map(|one| one.index)
    }

    /// The name of each, with the wanted one that it is.
    pub(super) fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.watched.iter().map(|one| (one.wanted, one.counterset.name.as_str()))
    }

    /// The settings have changed: nothing is watched any more.
    pub(super) fn forget_all(&mut self) {
        self.outdated.extend(self.watched.drain(..).map(|one| one.poller));
    }

    /// Ends the series of what is not watched any more.
    pub(super) fn end_outdated<S: SeriesSink<I>>(&mut self, output: &mut S) {
        self.outdated.drain(..).for_each(|mut poller| poller.end(output));
    }

    /// Whether `block` holds an object that is a candidate, and is not watched with the counters that it has.
    pub(super) fn has_news(&self, block: &DataBlock<'_>, candidates: &[Candidate]) -> bool {
        objects_of(block).flatten().any(|object| {
            let is_known =
                |one: &Watched<I>| one.index == object.name_index && one.definitions.are_of(&object);
            let is_it = |candidate: &Candidate| candidate.index == object.name_index && !candidate.is_beaten;
            candidates.iter().any(is_it) && !self.watched.iter().any(is_known)
        })
    }

    /// Watches the objects of `block` that are candidates. What is watched already, with the same counters, goes on.
    pub(super) fn watch<S: SeriesSink<I>>(
        &mut self,
        block: &DataBlock<'_>,
        candidates: &[Candidate],
        search: Search<'_>,
        tables: &Tables,
        output: &mut S,
    ) {
        for object in objects_of(block).flatten() {
            let is_it = |candidate: &&Candidate| candidate.index == object.name_index && !candidate.is_beaten;
            let Some(Candidate { wanted, name, .. }) = candidates.iter().find(is_it) else { continue };
            let Some(settings) = search.wanted.get(*wanted) else { continue };
            let known = self.watched.iter().position(|one| one.index == object.name_index);
            if known.is_some_and(|known| self.watched[known].definitions.are_of(&object)) {
                continue;
            }
            if let Some(known) = known {
                self.watched.remove(known).poller.end(output);
            }
            let counterset = counterset_of(&object, name, tables).shared();
            warn_of_nothing(settings, &counterset);
            let poller = CountersetPoller::new(&counterset, settings, output);
            let mut definitions = Definitions::default();
            definitions.update(&object);
            let numbers = numbers_of(counterset.provider, &counterset.name, &counterset.counters);
            let index = object.name_index;
            let unknown = unknown_counters(*wanted, settings, &counterset);
            self.watched.push(Watched {
                index,
                wanted: *wanted,
                counterset,
                definitions,
                numbers,
                unknown,
                poller,
                was_there: false,
            });
        }
    }

    /// Ends what is not wanted any more, or what the answers to a search do not hold.
    pub(super) fn keep<S: SeriesSink<I>>(&mut self, is_kept: impl Fn(u32, usize) -> bool, output: &mut S) {
        for one in &mut self.watched {
            if !is_kept(one.index, one.wanted) {
                one.poller.end(output);
            }
        }
        self.watched.retain(|one| is_kept(one.index, one.wanted));
    }

    /// Sends the values of the objects of `block`.
    pub(super) async fn emit<S: SeriesSink<I>>(
        &mut self,
        block: &DataBlock<'_>,
        wanted: &[Wanted],
        seen: &mut ClassicSeen<I::Unlisted>,
        output: &mut S,
    ) {
        let clocks = classic_clocks_of(block);
        for object in objects_of(block) {
            let index = object.as_ref().map_or_else(|bad| bad.name_index, |object| Some(object.name_index));
            let Some(place) = self.watched.iter().position(|one| Some(one.index) == index) else { continue };
            let one = &mut self.watched[place];
            let Some(settings) = wanted.get(one.wanted) else { continue };
            let outcome = match object.map_err(|bad| bad.error.to_string()) {
                Ok(object) => match check(&object) {
                    Ok(()) => {
                        one.emit((block, &object), clocks, settings, &mut self.identities, output).await;
                        Ok(())
                    }
                    Err(reason) => Err(reason),
                },
                Err(reason) => Err(reason),
            };
            let (wanted, name) = (one.wanted, || one.counterset.name.clone());
            match outcome {
                Ok(()) => {
                    seen.covered[place] = true;
                    seen.missing.extend_from_slice(&one.unknown);
                }
                Err(reason) => {
                    let why = Why::Trouble(Trouble::Malformed(reason));
                    seen.missing.push(Missing { wanted, name: name(), why });
                }
            }
        }
    }

    /// The objects that nothing was sent and nothing said of.
    pub(super) fn absent(&self, seen: &ClassicSeen<I::Unlisted>) -> Vec<(usize, u32, &str)> {
        let is_absent = |(one, covered): &(&Watched<I>, &bool)| {
            !**covered && !seen.missing.iter().any(|missing| missing.name == one.counterset.name)
        };
        let absent = self.watched.iter().zip(&seen.covered).filter(is_absent);
        absent.map(|(one, _)| (one.wanted, one.index, one.counterset.name.as_str())).collect()
    }

    /// Remembers what was lacking. Returns whether something was there the last time.
    pub(super) fn note_losses(&mut self, seen: &ClassicSeen<I::Unlisted>) -> bool {
        self.lacks_some = !seen.missing.is_empty();
        missing::note_losses(self.watched.iter_mut().map(|one| &mut one.was_there), &seen.covered)
    }

    /// What is `absent` need not be there: it is covered, without series.
    pub(super) fn excuse<S: SeriesSink<I>>(
        &mut self,
        absent: &[Missing<I::Unlisted>],
        covered: &mut [bool],
        output: &mut S,
    ) {
        let watched = self.watched.iter_mut().map(|one| (one.wanted, &*one.counterset, &mut one.poller));
        missing::excuse(watched, absent, covered, output);
    }

    /// Objects whose values `covered` tells of.
    pub(super) fn covered<'a>(
        &'a self,
        covered: &'a [bool],
    ) -> impl Iterator<Item = (&'a Counterset, &'a CountersetPoller<I>)> {
        let covered = self.watched.iter().zip(covered).filter(|(_, covered)| **covered);
        covered.map(|(one, _)| (&*one.counterset, &one.poller))
    }
}

impl<I: SeriesIds> Watched<I> {
    async fn emit<S: SeriesSink<I>>(
        &mut self,
        (block, object): (&DataBlock<'_>, &ObjectType<'_>),
        clocks: RawClocks,
        wanted: &Wanted,
        identities: &mut Identities,
        output: &mut S,
    ) {
        // Its counters were named when they came; others that come in their place are named before they are sent.
        self.definitions.update(object);
        identities.update(block, object, self.numbers, &mut Pace::default()).await;
        let clocks = with_clock_of(object, clocks);
        let reading = ObjectReading::new(self.definitions.fields(), object.instances(), identities);
        self.poller.emit(&reading.into(), clocks, wanted, output).await;
    }
}

/// The objects of a reply. A host answers with those that it was asked for and their parents; what is beyond any such number
/// is not read.
pub(crate) fn objects_of<'a>(
    block: &DataBlock<'a>,
) -> impl Iterator<Item = Result<ObjectType<'a>, BadObject>> + use<'a> {
    block.objects().take(OBJECTS_MAX)
}

const OBJECTS_MAX: usize = 1 << 12;

/// What is wrong with an object that could be read.
pub(super) fn check(object: &ObjectType<'_>) -> Result<(), String> {
    match object.instances() {
        Instances::Unasked => Err("the host sent the definition of the object and no values".to_owned()),
        Instances::Many(_) if object.code_page != 0 => {
            Err(format!("names of instances are in code page {}, which nobody reads here", object.code_page))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
