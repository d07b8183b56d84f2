//! The countersets of a host that are watched: found, polled, missed, exchanged.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use counters::pcq::wire::{Body, QueryData};
use rpc::Pause;
use safe_text::nearest::nearest;
use wire::{Guid, Win32Error};

use crate::classic::Unmet;
use crate::missing::{self, Missing, Why, unknown_counters, warn_of_nothing};
use crate::reading::clocks_of;
use crate::registration::Trouble;
use crate::{
    Addition, Catalog, Client, Counterset, CountersetPoller, Error, HostChannel, Lookup, OpenQuery,
    SeriesIds, SeriesSink, Wanted, Which, classic,
};

/// All countersets that are watched.
#[derive(Debug)]
pub struct WatchList<I: SeriesIds> {
    watched: Vec<Watched<I>>,
    /// Of earlier settings or registrations; their series have to be ended.
    outdated: Vec<CountersetPoller<I>>,
    /// What the open query could not be given.
    missing: Vec<Missing<I::Unlisted>>,
    /// The wanted ones that the last search found nothing usable for, and patterns.
    unmet: Vec<Unmet>,
    /// Whether the last reply lacked a counterset of the query.
    lacks_some: bool,
    /// Whether something is not there that was, since this was asked last.
    has_lost_some: bool,
}

impl<I: SeriesIds> Default for WatchList<I> {
    fn default() -> Self {
        Self {
            watched: Vec::new(),
            outdated: Vec::new(),
            missing: Vec::new(),
            unmet: Vec::new(),
            lacks_some: false,
            has_lost_some: false,
        }
    }
}

#[derive(Debug)]
struct Watched<I: SeriesIds> {
    /// Which of the wanted ones.
    wanted: usize,
    counterset: Arc<Counterset>,
    poller: CountersetPoller<I>,
    /// Until its registration is read again, which was found outdated.
    exchanged: Pause,
    /// Whether that is still to be reported.
    is_exchanged: bool,
    /// Whether the last reply had its values.
    was_there: bool,
    /// Of a choice: whether a classic object comes before it.
    is_beaten: bool,
}

/// What a reply showed.
#[derive(Debug)]
pub struct Seen<U> {
    /// Countersets of which there are no values, first those that the query could not be given.
    pub missing: Vec<Missing<U>>,
    /// Those of which there need be none.
    pub absent: Vec<Missing<U>>,
    /// Countersets whose registration has changed.
    pub exchanged: Vec<Guid>,
    /// Whether there was something that cannot be believed.
    pub has_malformed: bool,
    /// Of each that is watched, in order, whether its values were sent.
    pub(crate) covered: Vec<bool>,
    /// The same of each classic object.
    pub(crate) classic_covered: Vec<bool>,
}

impl<U> Seen<U> {
    /// Whether the values of all that is wanted were sent.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.covered.iter().chain(&self.classic_covered).all(|covered| *covered)
    }
}

impl<I: SeriesIds> WatchList<I> {
    /// Whether something is not there, other than the wanted ones that are `met` elsewhere.
    pub fn lacks_some_but(&self, met: impl Fn(usize) -> bool) -> bool {
        self.lacks_some || self.missing.iter().any(|missing| !met(missing.wanted))
    }

    /// Whether something is not there that was, since this was asked last.
    pub(crate) const fn take_loss(&mut self) -> bool {
        std::mem::replace(&mut self.has_lost_some, false)
    }

    /// Of a choice that `is_met` by a classic object, which comes before it, a version 2 counterset has no series.
    pub(crate) fn let_come_before<S: SeriesSink<I>>(
        &mut self,
        wanted: &[Wanted],
        is_met: impl Fn(usize) -> bool,
        output: &mut S,
    ) {
        for one in &mut self.watched {
            let is_choice = matches!(wanted.get(one.wanted), Some(Wanted { which: Which::FirstOf(_), .. }));
            one.is_beaten = is_choice && is_met(one.wanted);
            if one.is_beaten {
                one.poller.clear(output);
            }
        }
    }

    /// What is `absent` need not be there: it is covered, without series.
    pub(crate) fn excuse<S: SeriesSink<I>>(
        &mut self,
        absent: &[Missing<I::Unlisted>],
        covered: &mut [bool],
        output: &mut S,
    ) {
        let watched = self.watched.iter_mut().map(|one| (one.wanted, &*one.counterset, &mut one.poller));
        missing::excuse(watched, absent, covered, output);
    }

    /// What is seen where there is no reply.
    pub(crate) fn nothing_seen(&self) -> Seen<I::Unlisted> {
        Seen {
            missing: self.missing.clone(),
            absent: Vec::new(),
            exchanged: Vec::new(),
            has_malformed: false,
            covered: vec![false; self.watched.len()],
            classic_covered: Vec::new(),
        }
    }

    /// The settings have changed: nothing is watched any more.
    pub fn forget_all(&mut self) {
        self.outdated.extend(self.watched.drain(..).map(|watched| watched.poller));
    }

    /// Ends the series of what is not watched any more.
    pub fn end_outdated<S: SeriesSink<I>>(&mut self, output: &mut S) {
        self.outdated.drain(..).for_each(|mut poller| poller.end(output));
    }

    /// Finds the wanted countersets, as far as the host has them; notes the others, of which it may have some all the same
    /// where `unlisted` says why. A counterset that is wanted twice is
    /// watched as it is wanted first.
    ///
    /// # Errors
    /// When a call fails.
    pub async fn search<C: HostChannel, S: SeriesSink<I>>(
        &mut self,
        catalog: &mut Catalog,
        client: &mut Client<C>,
        wanted: &[Wanted],
        unlisted: Option<&I::Unlisted>,
        output: &mut S,
    ) -> Result<Vec<Addition>, Error<C>> {
        self.missing.clear();
        self.unmet.clear();
        let mut found: Vec<(usize, Arc<Counterset>)> = Vec::new();
        let mut taken = HashSet::new();
        for (index, one) in wanted.iter().enumerate() {
            let (lookups, names_max) = match &one.which {
                Which::FirstOf(names) => match catalog.find_first(client, names).await? {
                    Some((place, lookup)) => (vec![lookup], place),
                    None => (Vec::new(), names.len()),
                },
                which => (catalog.find(client, which).await?, 1),
            };
            if lookups.is_empty() || one.which.is_pattern() && unlisted.is_some() {
                self.missing.push(unknown((index, one), catalog, unlisted));
            }
            let is_usable = |lookup: &Lookup| matches!(lookup, Lookup::Found(_));
            let may_be_classic = match one.which {
                Which::FirstOf(_) => names_max > 0,
                _ => one.which.is_pattern() || !lookups.iter().any(is_usable),
            };
            if may_be_classic {
                self.unmet.push(Unmet { wanted: index, names_max });
            }
            for lookup in lookups {
                match lookup {
                    Lookup::Found(counterset) if taken.insert(counterset.provider) => {
                        found.push((index, counterset));
                    }
                    Lookup::Found(_) => {}
                    Lookup::Unusable(name, trouble) => {
                        let why = Why::Trouble(trouble);
                        self.missing.push(Missing { wanted: index, name, why });
                    }
                }
            }
        }
        self.watch(found, wanted, output);
        let addition = |(watched, one): (usize, &Watched<I>)| {
            let Counterset { instance_type, is_type_inferred, .. } = *one.counterset;
            Some(Addition { watched, guid: one.counterset.provider.guid()?, instance_type, is_type_inferred })
        };
        Ok(self.watched.iter().enumerate().filter_map(addition).collect())
    }

    /// Watches these and no others. What is watched already goes on.
    fn watch<S: SeriesSink<I>>(
        &mut self,
        found: Vec<(usize, Arc<Counterset>)>,
        wanted: &[Wanted],
        output: &mut S,
    ) {
        let mut before: Vec<Watched<I>> = std::mem::take(&mut self.watched);
        for (index, counterset) in found {
            let Some(settings) = wanted.get(index) else { continue };
            self.missing.extend(unknown_counters(index, settings, &counterset));
            let is_it = |one: &Watched<I>| one.wanted == index && one.counterset == counterset;
            let known = before.iter().position(is_it).map(|place| before.swap_remove(place));
            // The provider may be exchanged once more, and the pause goes on.
            let other = before.iter().find(|one| one.counterset.provider == counterset.provider);
            let exchanged = other.map(|one| one.exchanged).unwrap_or_default();
            self.watched.push(known.unwrap_or_else(|| {
                warn_of_nothing(settings, &counterset);
                let poller = CountersetPoller::new(&counterset, settings, output);
                let (is_exchanged, was_there, is_beaten) = (false, false, false);
                Watched { wanted: index, counterset, poller, exchanged, is_exchanged, was_there, is_beaten }
            }));
        }
        for mut gone in before {
            let is_it = |one: &Watched<I>| one.counterset.provider == gone.counterset.provider;
            self.has_lost_some |= gone.was_there && !self.watched.iter().any(is_it);
            gone.poller.end(output);
        }
    }

    /// The host does not give one of those that were found.
    pub fn refuse(&mut self, watched: usize, trouble: Trouble) {
        let Some(watched) = self.watched.get(watched) else { return };
        let (wanted, name) = (watched.wanted, watched.counterset.name.clone());
        self.missing.push(Missing { wanted, name, why: Why::Trouble(trouble) });
    }

    /// Sends what a reply of `query` holds.
    pub async fn emit<S: SeriesSink<I>>(
        &mut self,
        data: &QueryData<'_>,
        query: &OpenQuery,
        wanted: &[Wanted],
        now: Duration,
        output: &mut S,
    ) -> Seen<I::Unlisted> {
        let mut covered = vec![false; self.watched.len()];
        let mut missing = self.missing.clone();
        let known = missing.len();
        let mut has_malformed = false;
        let blocks = match query.check(data) {
            Ok(()) => Some(data.blocks()),
            Err(mismatch) => {
                has_malformed = true;
                missing.extend(self.all_malformed(query, &mismatch.to_string()));
                None
            }
        };
        for (index, block) in blocks.into_iter().flatten().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let Some(place) = query.watched_of(index) else { continue };
            let Some(watched) = self.watched.get_mut(place) else { continue };
            let Some(settings) = wanted.get(watched.wanted) else { continue };
            let (wanted, name) = (watched.wanted, || watched.counterset.name.clone());
            match block {
                Ok(_) if watched.is_beaten => covered[place] = true,
                Ok(block) if block.status == Win32Error::ERROR_NO_DATA => {
                    watched.poller.clear(output);
                    covered[place] = true;
                }
                Ok(block) if matches!(block.body, Body::ErrorReturn) => {
                    let why = Why::Trouble(Trouble::Refused(block.status));
                    missing.push(Missing { wanted, name: name(), why });
                }
                Ok(block) => {
                    let clocks = clocks_of(data.header());
                    watched.poller.emit(&block.into(), clocks, settings, output).await;
                    covered[place] = true;
                    watched.notice_exchange(now);
                }
                Err(error) => {
                    has_malformed = true;
                    let why = Why::Trouble(Trouble::Malformed(error.to_string()));
                    missing.push(Missing { wanted, name: name(), why });
                }
            }
        }
        self.lacks_some = missing.len() > known || covered.iter().any(|covered| !covered);
        let were_there = self.watched.iter_mut().map(|one| &mut one.was_there);
        self.has_lost_some |= missing::note_losses(were_there, &covered);
        let exchanged = self.watched.iter_mut().filter_map(Watched::take_exchanged).collect();
        let (absent, classic_covered) = (Vec::new(), Vec::new());
        Seen { missing, absent, exchanged, has_malformed, covered, classic_covered }
    }

    /// The wanted ones that the last search found nothing usable for, and those of which there may be more elsewhere, or a
    /// better one.
    pub(crate) fn unmet(&self) -> &[Unmet] {
        &self.unmet
    }

    /// The names of the countersets that are watched.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.watched.iter().map(|one| one.counterset.name.as_str())
    }

    /// The same with the wanted ones that they are, but for those that classic objects come before.
    pub(crate) fn wanted_names(&self) -> impl Iterator<Item = (usize, &str)> {
        let shown = self.watched.iter().filter(|one| !one.is_beaten);
        shown.map(|one| (one.wanted, one.counterset.name.as_str()))
    }

    /// Countersets whose values `seen` tells of.
    pub fn covered<'a>(
        &'a self,
        seen: &'a Seen<I::Unlisted>,
    ) -> impl Iterator<Item = (&'a Counterset, &'a CountersetPoller<I>)> {
        let is_shown = |(one, covered): &(&Watched<I>, &bool)| **covered && !one.is_beaten;
        let covered = self.watched.iter().zip(&seen.covered).filter(is_shown);
        covered.map(|(watched, _)| (&*watched.counterset, &watched.poller))
    }

    /// What is said where nothing of the query's data can be believed.
    fn all_malformed(&self, query: &OpenQuery, reason: &str) -> Vec<Missing<I::Unlisted>> {
        let in_query = query.additions().filter_map(|addition| self.watched.get(addition.watched));
        let why = || Why::Trouble(Trouble::Malformed(reason.to_owned()));
        let malformed =
            in_query.map(|one| Missing { wanted: one.wanted, name: one.counterset.name.clone(), why: why() });
        malformed.collect()
    }
}

impl<I: SeriesIds> Watched<I> {
    /// Notices whether the host's provider was exchanged, so that its registration has to be read again. A host whose replies
    /// never fit what it registers is asked now and then, not each time.
    fn notice_exchange(&mut self, now: Duration) {
        self.poller.compare(&self.counterset);
        if self.poller.has_unregistered_counters() && self.exchanged.is_over(now) {
            self.exchanged.extend(now, Pause::NEVER_THERE);
            self.is_exchanged = true;
        }
    }

    /// The counterset if its provider was exchanged since this was asked last.
    fn take_exchanged(&mut self) -> Option<Guid> {
        std::mem::take(&mut self.is_exchanged).then(|| self.counterset.provider.guid())?
    }
}

fn unknown<U: Clone>(
    (place, wanted): (usize, &Wanted),
    catalog: &Catalog,
    unlisted: Option<&U>,
) -> Missing<U> {
    let name = wanted.label.clone();
    let nameless = catalog.nameless();
    let why = match (&wanted.which, unlisted) {
        (_, Some(reason)) => Why::Unlisted(reason.clone()),
        (Which::Matching(_), None) => Why::NoMatch { nameless },
        (Which::FirstOf(_), None) => Why::NoneOf { nameless },
        (Which::Name(_) | Which::Guid(_), None) => match classic::explain(&name, &catalog.names()) {
            Some(explanation) => Why::Classic(explanation),
            None => {
                let near = nearest(&name, catalog.names()).or_else(|| nearest(&name, classic::names()));
                Why::Unknown { nearest: near.map(str::to_owned), nameless }
            }
        },
    };
    Missing { wanted: place, name, why }
}
