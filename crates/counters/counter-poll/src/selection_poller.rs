//! When a query is opened, kept and closed, and when countersets are searched.

use std::error::Error as StdError;
use std::time::Duration;

use counter_types::RawClocks;
use counters::pcq::perflibv2::CounterData;
use counters::pcq::types::Lcid;
use counters::pcq::wire::Layout;
use counters::rrp::winreg::{Key, RegistryClient};
use rpc::Pause;
use wire::Guid;

use super::registration::{Client, Error, HostChannel};
use crate::classic::{ClassicError, ClassicPoller, Search};
use crate::missing::{Missing, Why};
use crate::query::{OpenQuery, Refusal};
use crate::watch_list::{Seen, WatchList};
use crate::{Catalog, Counterset, CountersetPoller, Forms, SeriesIds, SeriesSink, Wanted, Which, stalls};

/// Polls the countersets of one host that are wanted.
///
/// Countersets are those of version 2 where the host has them, and else classic objects.
///
/// Calling order of a collection: [`begin`](Self::begin), [`lose_connection`](Self::lose_connection) when the connection is
/// another one, [`needs_enumeration`](Self::needs_enumeration) and, if so, [`enumerated`](Self::enumerated), then
/// [`fetch`](Self::fetch), [`fetch_classic`](Self::fetch_classic) where [`wants_classic`](Self::wants_classic) says so, and
/// [`emit`](Self::emit). What is known of a host outlives its connections.
#[derive(Debug)]
pub struct SelectionPoller<I: SeriesIds> {
    wanted: Vec<Wanted>,
    language: Option<Lcid>,
    catalog: Catalog,
    /// Why the host may have countersets that it did not list.
    unlisted: Option<I::Unlisted>,
    watch_list: WatchList<I>,
    /// How the host lays out its data, as far as they proved it.
    layout: Layout,
    forms: Forms,
    classic: ClassicPoller<I>,
    /// Whether the open query is not what is wanted or what the host has any more.
    is_query_outdated: bool,
    /// When the collection began that is under way.
    now: Duration,
    /// Until what is not there, or may be another one by now, is searched for again.
    search: Pause,
    is_search: bool,
    /// Whether what is not there was there.
    has_lost_some: bool,
}

/// Why there are no values.
#[derive(Debug)]
pub enum FetchError<E: StdError + 'static> {
    Call(counters::pcq::Error<E>),
    /// The host has none of the countersets in version 2. What [`SelectionPoller::emit`] returns says why.
    Missing,
}

impl<E: StdError + 'static> From<counters::pcq::Error<E>> for FetchError<E> {
    fn from(error: counters::pcq::Error<E>) -> Self {
        Self::Call(error)
    }
}

impl<I: SeriesIds> SelectionPoller<I> {
    /// A host that was not asked yet. Names are given in `language` beside English.
    #[must_use]
    pub fn new(wanted: Vec<Wanted>, language: Option<Lcid>) -> Self {
        Self {
            wanted,
            language,
            catalog: Catalog::default(),
            unlisted: None,
            watch_list: WatchList::default(),
            layout: Layout::default(),
            forms: Forms::default(),
            classic: ClassicPoller::new(language),
            is_query_outdated: false,
            now: Duration::ZERO,
            search: Pause::default(),
            is_search: true,
            has_lost_some: false,
        }
    }

    /// Wants other countersets from now on.
    pub fn select(&mut self, wanted: Vec<Wanted>, language: Option<Lcid>) {
        self.watch_list.forget_all();
        self.classic.forget_all(language);
        self.wanted = wanted;
        self.language = language;
        self.is_query_outdated = true;
        (self.search, self.is_search, self.has_lost_some) = (Pause::default(), true, false);
    }

    /// Begins a collection, and ends series that are not wanted any more.
    pub fn begin<S: SeriesSink<I>>(&mut self, now: Duration, output: &mut S) {
        self.now = now;
        self.watch_list.end_outdated(output);
        self.catalog.begin(now);
        self.classic.begin(now, output);
    }

    /// The host may be another one, or have other software.
    pub fn lose_connection(&mut self) {
        self.catalog.forget_enumeration();
        self.layout = Layout::default();
        self.forms.forget();
        self.classic.lose_connection();
    }

    /// Forgets what did not answer: the host was away as a whole.
    pub fn forget_stalls(&mut self) {
        self.catalog.forget_stalls();
        self.classic.forget_stalls();
    }

    /// Forgets which countersets the host has.
    pub fn forget_enumeration(&mut self) {
        self.catalog.forget_enumeration();
    }

    /// Whether it must be known first which countersets the host has. What is not there is searched for again after pauses.
    pub fn needs_enumeration(&mut self) -> bool {
        if self.search.is_over(self.now) && self.is_search_due() {
            self.is_search = true;
            self.catalog.forget_enumeration();
            if self.may_change() || self.classic.lacks_some() {
                self.classic.search_again();
            }
        }
        !self.catalog.is_enumerated()
    }

    /// The host has these countersets; `unlisted` says why it may have others.
    pub fn enumerated(&mut self, guids: Vec<Guid>, unlisted: Option<I::Unlisted>) {
        self.unlisted = unlisted;
        self.is_query_outdated |= self.catalog.enumerated(guids);
    }

    /// How many countersets did not answer in this collection. The channel on which that happened takes no other call.
    #[must_use]
    pub const fn stalls_met(&self) -> u32 {
        self.catalog.stalls_met()
    }

    /// How many classic objects did not answer in this collection. The channel on which that happened takes no other call.
    #[must_use]
    pub const fn classic_stalls_met(&self) -> u32 {
        self.classic.stalls_met()
    }

    /// Fetches the values by the query in `kept`, where it still is what is wanted, else by a new one. The query with
    /// which that succeeds is kept.
    ///
    /// # Errors
    /// When a call fails, or the host has nothing of what is wanted.
    pub async fn fetch<C: HostChannel, S: SeriesSink<I>>(
        &mut self,
        client: &mut Client<C>,
        kept: &mut Option<OpenQuery>,
        output: &mut S,
    ) -> Result<CounterData, FetchError<C::Error>> {
        if let Some(query) = kept.take_if(|_| self.is_query_outdated) {
            query.close(client).await?;
        }
        self.is_query_outdated = false;
        if let Some(query) = kept.take() {
            let (query, data) = self.poll(query, client).await?;
            *kept = Some(query);
            return Ok(data);
        }
        let query = self.open(client, output).await?;
        let (query, data) = self.poll(query, client).await?;
        let answers = query.form_answers(&data.data(), &self.forms);
        if !self.forms.try_others(&answers, self.now) {
            *kept = Some(query);
            return Ok(data);
        }
        query.close(client).await?;
        let query = self.open(client, output).await?;
        let (query, data) = self.poll(query, client).await?;
        let answers = query.form_answers(&data.data(), &self.forms);
        self.is_query_outdated |= self.forms.judge_others(&answers, self.now);
        *kept = Some(query);
        Ok(data)
    }

    /// Whether classic objects are wanted, or may be. Known after [`fetch`](Self::fetch).
    #[must_use]
    pub fn wants_classic(&self) -> bool {
        self.classic.is_needed(self.watch_list.unmet())
    }

    /// Fetches the values of classic objects, by the key `HKEY_PERFORMANCE_DATA` in `kept`, or by one that is opened and
    /// kept. It may be called again over another channel where it fails: what was answered is not asked for again.
    ///
    /// # Errors
    /// When a call fails, or a reply is no performance data.
    pub async fn fetch_classic<C: HostChannel, S: SeriesSink<I>>(
        &mut self,
        client: &mut RegistryClient<C>,
        kept: &mut Option<Key>,
        output: &mut S,
    ) -> Result<(), ClassicError<C::Error>> {
        let watched_names: Vec<String> = match self.has_patterns() {
            true => self.watch_list.names().map(str::to_owned).collect(),
            false => Vec::new(),
        };
        let search =
            Search { wanted: &self.wanted, unmet: self.watch_list.unmet(), watched_names: &watched_names };
        self.classic.fetch(client, kept, search, output).await
    }

    /// The clocks of the last reply with classic objects in this collection.
    #[must_use]
    pub fn classic_clocks(&self) -> Option<RawClocks> {
        self.classic.clocks()
    }

    /// Sends what was fetched: a reply of a query, and classic objects, unless `classic` says why there are none.
    pub async fn emit<S: SeriesSink<I>>(
        &mut self,
        data: Option<(&CounterData, &OpenQuery)>,
        classic: Result<(), I::Unlisted>,
        output: &mut S,
    ) -> Seen<I::Unlisted> {
        let Self { watch_list, classic: objects, wanted, .. } = self;
        watch_list.let_come_before(wanted, |wanted| objects.meets(wanted), output);
        let mut seen = match data {
            Some((data, query)) => watch_list.emit(&data.data(), query, wanted, self.now, output).await,
            None => watch_list.nothing_seen(),
        };
        for guid in &seen.exchanged {
            self.catalog.forget(*guid);
            self.is_query_outdated = true;
        }
        self.is_query_outdated |= seen.has_malformed;
        self.emit_classic(classic, &mut seen, output).await;
        self.plan_search();
        self.excuse(&mut seen, output);
        seen
    }

    /// Decides when the next search is made.
    fn plan_search(&mut self) {
        // Both are asked.
        if self.watch_list.take_loss() | self.classic.take_loss() {
            (self.search, self.has_lost_some) = (Pause::default(), true);
        } else if std::mem::take(&mut self.is_search) {
            let lacks_some = self.lacks_some() || self.classic.lacks_some();
            self.has_lost_some &= lacks_some;
            let shortest = match lacks_some {
                true if self.has_lost_some => Pause::AFTER_LOSS,
                true => Pause::NEVER_THERE,
                false => {
                    self.search = Pause::default();
                    Pause::LONGEST
                }
            };
            self.search.extend(self.now, shortest);
        }
    }

    /// What is optional and not there is no failure.
    fn excuse<S: SeriesSink<I>>(&mut self, seen: &mut Seen<I::Unlisted>, output: &mut S) {
        let is_excused = |missing: &mut Missing<I::Unlisted>| {
            self.wanted.get(missing.wanted).is_some_and(|wanted| wanted.is_optional)
                && missing.why.is_absence()
        };
        seen.absent = seen.missing.extract_if(.., is_excused).collect();
        if !seen.absent.is_empty() {
            self.watch_list.excuse(&seen.absent, &mut seen.covered, output);
            self.classic.excuse(&seen.absent, &mut seen.classic_covered, output);
        }
    }

    /// Adds classic objects to what was seen: what they are is not missing.
    async fn emit_classic<S: SeriesSink<I>>(
        &mut self,
        classic: Result<(), I::Unlisted>,
        seen: &mut Seen<I::Unlisted>,
        output: &mut S,
    ) {
        if let Err(reason) = classic {
            for missing in &mut seen.missing {
                // A name that is nearly another one is misspelt, whatever the registry has, unless it need not be there.
                let is_optional = self.wanted.get(missing.wanted).is_some_and(|wanted| wanted.is_optional);
                let is_misspelt =
                    !is_optional && matches!(missing.why, Why::Unknown { nearest: Some(_), .. });
                if missing.why.may_be_classic() && !is_misspelt {
                    missing.why = Why::NoClassic(reason.clone());
                }
            }
            seen.missing.extend(self.classic.all_missing(&reason));
            seen.classic_covered = self.classic.none_covered();
            return;
        }
        let found = self.classic.emit(&self.wanted, output).await;
        let is_met = |missing: &Missing<I::Unlisted>| {
            let is_pattern = self.wanted.get(missing.wanted).is_some_and(|wanted| wanted.which.is_pattern());
            let may_be_met = missing.why.may_be_classic()
                || !is_pattern && matches!(missing.why, Why::Trouble(_) | Why::Unlisted(_));
            may_be_met && self.classic.meets(missing.wanted)
        };
        seen.missing.retain(|missing| !is_met(missing));
        seen.missing.extend(found.missing);
        seen.classic_covered = found.covered;
    }

    /// Countersets whose values `seen` tells of.
    pub fn covered<'a>(
        &'a self,
        seen: &'a Seen<I::Unlisted>,
    ) -> impl Iterator<Item = (&'a Counterset, &'a CountersetPoller<I>)> {
        self.watch_list.covered(seen).chain(self.classic.covered(&seen.classic_covered))
    }

    /// Fetches. A query with which that fails is closed.
    async fn poll<C: HostChannel>(
        &mut self,
        mut query: OpenQuery,
        client: &mut Client<C>,
    ) -> Result<(OpenQuery, CounterData), FetchError<C::Error>> {
        match query.fetch(client).await {
            Ok(data) => {
                self.layout = query.layout();
                Ok((query, data))
            }
            Err(error) => Err(abandon(query, client, error).await),
        }
    }

    /// Which of the names of each choice the host has: its place among what is wanted, and the name.
    pub fn choices(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_choice =
            |wanted: usize| matches!(self.wanted.get(wanted), Some(Wanted { which: Which::FirstOf(_), .. }));
        let all = self.watch_list.wanted_names().chain(self.classic.names());
        all.filter(move |(wanted, _)| is_choice(*wanted))
    }

    /// How something is named where it is wanted.
    #[must_use]
    pub fn label(&self, wanted: usize) -> Option<&str> {
        self.wanted.get(wanted).map(|wanted| wanted.label.as_str())
    }

    /// Whether countersets, or data of them, may have come that are wanted.
    fn is_search_due(&self) -> bool {
        self.lacks_some() || self.classic.lacks_some() || self.may_change()
    }

    fn lacks_some(&self) -> bool {
        self.watch_list.lacks_some_but(|wanted| self.classic.meets(wanted)) || self.forms.has_silent()
    }

    /// Whether the host may have others of what is wanted although nothing is missing.
    fn may_change(&self) -> bool {
        self.wanted.iter().any(|wanted| wanted.which.may_change())
    }

    fn has_patterns(&self) -> bool {
        self.wanted.iter().any(|wanted| wanted.which.is_pattern())
    }

    /// Opens a query with all wanted countersets that the host has.
    async fn open<C: HostChannel, S: SeriesSink<I>>(
        &mut self,
        client: &mut Client<C>,
        output: &mut S,
    ) -> Result<OpenQuery, FetchError<C::Error>> {
        self.catalog.speak(self.language);
        let patience = stalls::patience(client.channel());
        client.channel().limit_calls(patience);
        let Self { watch_list, catalog, wanted, unlisted, .. } = self;
        let additions = watch_list.search(catalog, client, wanted, unlisted.as_ref(), output).await;
        client.channel().limit_calls(None);
        let additions = additions?;
        if additions.is_empty() {
            if self.watch_list.lacks_some_but(|wanted| self.classic.meets(wanted)) {
                // Perhaps the host failed as a whole, and does not any more the next time.
                self.catalog.forget_nameless();
            }
            return Err(FetchError::Missing);
        }
        let mut query = OpenQuery::open(client, self.layout).await?;
        let refusals = match query.fill(client, &additions, &mut self.forms).await {
            Ok(refusals) => refusals,
            Err(error) => return Err(abandon(query, client, error).await),
        };
        for Refusal { watched, trouble } in refusals {
            self.watch_list.refuse(watched, trouble);
        }
        if query.is_empty() {
            query.close(client).await?;
            return Err(FetchError::Missing);
        }
        Ok(query)
    }
}

/// Closes a query with which a call failed: nobody will use it again, and the host may still hold it.
async fn abandon<C: HostChannel>(
    query: OpenQuery,
    client: &mut Client<C>,
    error: Error<C>,
) -> FetchError<C::Error> {
    if let Err(error) = query.close(client).await {
        tracing::debug!(%error, "Query not closed");
    }
    error.into()
}
