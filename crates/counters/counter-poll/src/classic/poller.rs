//! Which call asks for which classic objects, and how a provider that hangs is kept from the others.

use std::collections::HashSet;
use std::error::Error as StdError;
use std::time::Duration;

use counter_types::RawClocks;
use counters::pcq::types::Lcid;
use counters::perflib_v1::{BadObject, DataBlock, ObjectType};
use counters::rrp::winreg::{Key, RegistryClient, ValueRoom};
use wire::FileTime;

use super::questions::Questions;
use super::watched::{WatchedObjects, objects_of};
use super::{Candidate, ClassicError, ClassicSeen, Search, Tables, Unmet, candidates, choose};
use crate::missing::{Missing, Why};
use crate::reading::classic_clocks_of;
use crate::registration::HostChannel;
use crate::{Counterset, CountersetPoller, SeriesIds, SeriesSink, Wanted, stalls};

/// Polls the classic objects of one host that are wanted.
#[derive(Debug)]
pub(crate) struct ClassicPoller<I: SeriesIds> {
    language: Option<Lcid>,
    /// What is wanted that no version 2 counterset is, at the last search: places among the wanted ones.
    searched: Vec<Unmet>,
    /// What has a name that is wanted. Not all of them are objects: counters are in the same table.
    candidates: Vec<Candidate>,
    /// When the table of names was written that the candidates are of, where the host says it.
    names_written: Option<FileTime>,
    is_search_due: bool,
    objects: WatchedObjects<I>,
    questions: Questions,
    /// Whether something is not there that was, since this was asked last.
    has_lost_some: bool,
    room: ValueRoom,
}

impl<I: SeriesIds> ClassicPoller<I> {
    /// A host that was not asked yet. Names are shown in `language` beside English.
    pub(crate) fn new(language: Option<Lcid>) -> Self {
        Self {
            language,
            searched: Vec::new(),
            candidates: Vec::new(),
            names_written: None,
            is_search_due: true,
            objects: WatchedObjects::default(),
            questions: Questions::default(),
            has_lost_some: false,
            room: ValueRoom::new(ROOM_BYTES),
        }
    }

    /// Wants others from now on.
    pub(crate) fn forget_all(&mut self, language: Option<Lcid>) {
        self.language = language;
        self.candidates.clear();
        self.searched.clear();
        self.names_written = None;
        self.is_search_due = true;
        self.objects.forget_all();
        self.questions.ask_later_for(std::iter::empty());
    }

    /// Begins a collection, and ends series that are not wanted any more.
    pub(crate) fn begin<S: SeriesSink<I>>(&mut self, now: Duration, output: &mut S) {
        self.objects.end_outdated(output);
        self.questions.begin(now);
    }

    /// The host may be another one, or have other software.
    pub(crate) const fn lose_connection(&mut self) {
        self.is_search_due = true;
    }

    /// Whether an object that is wanted is not there.
    pub(crate) fn lacks_some(&self) -> bool {
        self.objects.lacks_some() || self.searched.iter().any(|unmet| !self.objects.meets(unmet.wanted))
    }

    /// Searches again with the next collection.
    pub(crate) const fn search_again(&mut self) {
        self.is_search_due = true;
    }

    /// Whether there is something to ask for.
    pub(crate) fn is_needed(&self, unmet: &[Unmet]) -> bool {
        !unmet.is_empty() || !self.objects.is_empty()
    }

    /// Whether something of the wanted one at this place is watched.
    pub(crate) fn meets(&self, wanted: usize) -> bool {
        self.objects.meets(wanted)
    }

    /// Whether something is not there that was, since this was asked last.
    pub(crate) const fn take_loss(&mut self) -> bool {
        std::mem::replace(&mut self.has_lost_some, false)
    }

    /// What is `absent` need not be there: it is covered, without series.
    pub(crate) fn excuse<S: SeriesSink<I>>(
        &mut self,
        absent: &[Missing<I::Unlisted>],
        covered: &mut [bool],
        output: &mut S,
    ) {
        self.objects.excuse(absent, covered, output);
    }

    /// The names of the objects that are watched, with the wanted ones that they are.
    pub(crate) fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.objects.names()
    }

    /// Forgets which objects did not answer.
    pub(crate) fn forget_stalls(&mut self) {
        self.questions.forget_stalls();
    }

    /// How many objects did not answer in this collection. The channel on which that happened takes no other call.
    pub(crate) const fn stalls_met(&self) -> u32 {
        self.questions.stalls_met()
    }

    /// Fetches the values: in the steady state by one call. What was answered before a failure is not asked for again in
    /// the same collection.
    pub(crate) async fn fetch<C: HostChannel, S: SeriesSink<I>>(
        &mut self,
        client: &mut RegistryClient<C>,
        kept: &mut Option<Key>,
        search: Search<'_>,
        output: &mut S,
    ) -> Result<(), ClassicError<C::Error>> {
        let patience = stalls::patience(client.channel());
        client.channel().limit_calls(patience);
        let fetched = self.fetch_in_time(client, kept, search, output).await;
        client.channel().limit_calls(None);
        fetched
    }

    async fn fetch_in_time<C: HostChannel, S: SeriesSink<I>>(
        &mut self,
        client: &mut RegistryClient<C>,
        kept: &mut Option<Key>,
        search: Search<'_>,
        output: &mut S,
    ) -> Result<(), ClassicError<C::Error>> {
        let key = match kept.take() {
            Some(key) => key,
            None => client.open_performance_data().await?,
        };
        let key = &*kept.insert(key);
        let mut tables = None;
        let is_search = self.is_search_due || self.searched != search.unmet;
        if is_search {
            tables = self.find_candidates(client, key, search).await?;
            let mut indexes: Vec<u32> = self.candidates.iter().map(|candidate| candidate.index).collect();
            indexes.sort_unstable();
            indexes.dedup();
            self.questions.ask_for(&indexes);
        }
        self.questions.ask(client, key, &mut self.room).await?;
        if is_search {
            self.choose();
        }
        if self.has_news()? {
            let tables = match tables {
                Some(tables) => tables,
                None => Tables::read(client, key, self.language).await?,
            };
            for value in self.questions.values() {
                let block = DataBlock::decode(value).map_err(ClassicError::Malformed)?;
                self.objects.watch(&block, &self.candidates, search, &tables, output);
            }
        }
        if is_search {
            self.searched = search.unmet.to_vec();
            self.is_search_due = false;
            self.end_absent(output);
            self.questions.ask_later_for(self.objects.indexes());
        }
        Ok(())
    }

    /// Finds out which indexes may be objects that are wanted. The tables are read where they may be other ones, or were
    /// not read yet.
    async fn find_candidates<C: HostChannel>(
        &mut self,
        client: &mut RegistryClient<C>,
        key: &Key,
        search: Search<'_>,
    ) -> Result<Option<Tables>, ClassicError<C::Error>> {
        let written = super::last_write_time(client).await?;
        let are_known = written.is_some() && written == self.names_written && self.searched == search.unmet;
        if are_known {
            return Ok(None);
        }
        let tables = Tables::read(client, key, self.language).await?;
        self.candidates = candidates(search, &tables.names);
        self.names_written = written;
        Ok(Some(tables))
    }

    /// Whether the answers hold an object whose counters nobody has named yet.
    fn has_news<E: StdError + 'static>(&self) -> Result<bool, ClassicError<E>> {
        for value in self.questions.values() {
            let block = DataBlock::decode(value).map_err(ClassicError::Malformed)?;
            if self.objects.has_news(&block, &self.candidates) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The indexes of the objects in the answers.
    fn there(&self) -> HashSet<u32> {
        let blocks = self.questions.values().filter_map(|value| DataBlock::decode(value).ok());
        let index_of = |object: Result<ObjectType<'_>, BadObject>| {
            object.map_or_else(|bad| bad.name_index, |object| Some(object.name_index))
        };
        blocks.flat_map(|block| objects_of(&block)).filter_map(index_of).collect()
    }

    /// Decides which objects count where the first that is there is wanted. One whose provider hangs is there.
    fn choose(&mut self) {
        let there = self.there();
        let questions = &self.questions;
        let is_there = |index| there.contains(&index) || questions.trouble(index).is_some();
        choose(&mut self.candidates, is_there);
    }

    /// Ends objects that a search did not find, but for those whose providers hang.
    fn end_absent<S: SeriesSink<I>>(&mut self, output: &mut S) {
        let there = self.there();
        let is_wanted = |index, wanted| {
            let is_it = |one: &Candidate| one.index == index && one.wanted == wanted && !one.is_beaten;
            self.candidates.iter().any(is_it)
        };
        let is_kept = |index, wanted| {
            is_wanted(index, wanted) && (there.contains(&index) || self.questions.trouble(index).is_some())
        };
        self.objects.keep(is_kept, output);
    }

    /// Sends what the answers of this collection hold.
    pub(crate) async fn emit<S: SeriesSink<I>>(
        &mut self,
        wanted: &[Wanted],
        output: &mut S,
    ) -> ClassicSeen<I::Unlisted> {
        let mut seen = ClassicSeen { missing: Vec::new(), covered: self.none_covered() };
        for value in self.questions.values() {
            // It was decoded before.
            if let Ok(block) = DataBlock::decode(value) {
                self.objects.emit(&block, wanted, &mut seen, output).await;
            }
        }
        for (wanted, index, name) in self.objects.absent(&seen) {
            let why = self.questions.trouble(index).map_or(Why::NoData, Why::Trouble);
            seen.missing.push(Missing { wanted, name: name.to_owned(), why });
        }
        for candidate in self.candidates.iter().filter(|candidate| !candidate.is_beaten) {
            if let Some(trouble) = self.questions.trouble(candidate.index)
                && !self.objects.indexes().any(|index| index == candidate.index)
            {
                let (wanted, name) = (candidate.wanted, candidate.name.clone());
                seen.missing.push(Missing { wanted, name, why: Why::Trouble(trouble) });
            }
        }
        self.has_lost_some |= self.objects.note_losses(&seen);
        seen
    }

    /// The clocks of the last reply of this collection.
    pub(crate) fn clocks(&self) -> Option<RawClocks> {
        let block = DataBlock::decode(self.questions.values().last()?).ok()?;
        Some(classic_clocks_of(&block))
    }

    /// What is said where no object could be fetched.
    pub(crate) fn all_missing(&self, reason: &I::Unlisted) -> Vec<Missing<I::Unlisted>> {
        let why = || Why::NoClassic(reason.clone());
        let names = self.objects.names();
        names.map(|(wanted, name)| Missing { wanted, name: name.to_owned(), why: why() }).collect()
    }

    /// Of each object that is watched, that its values were not sent.
    pub(crate) fn none_covered(&self) -> Vec<bool> {
        vec![false; self.objects.indexes().count()]
    }

    /// Objects whose values `covered` tells of.
    pub(crate) fn covered<'a>(
        &'a self,
        covered: &'a [bool],
    ) -> impl Iterator<Item = (&'a Counterset, &'a CountersetPoller<I>)> {
        self.objects.covered(covered)
    }
}

/// Room for a value at first: some dozen objects of a small host.
const ROOM_BYTES: u32 = 64 << 10;
