//! The counters of all alerts and logs at a host: what their paths mean there, and the values of those that are due, at a time.

mod fetch;
mod found;
mod listing;

use std::collections::HashMap;
use std::time::Duration;

use counter_poll::classic::Questions;
use counter_poll::over_host::{PcqError, PerflibSession as _, PipeChannel, error_of_classic, registry};
use counter_poll::paths::{ClassicQuery, Frame, OpenPath, PathPlan, PathQuery, PathSearch};
use counter_poll::{Provider, Stalls};
use counter_types::CounterPath;
use counters::pcq::perflibv2::CounterData;
use host_session::SessionError;
use plugin_sdk::{Collection, Failure, Stage};
use plugin_session::{Backoff, OpenSession, Pause};
use tokio::time::Instant;
use wire::Guid;

use crate::REGISTRY;

#[cfg(feature = "logs")]
pub(crate) use self::found::Meaning;
pub(crate) use self::found::{Found, Pick};

/// The connection with the query that is open over it.
pub(crate) type Open = OpenSession<PathQuery>;

/// What is known of the paths at the host.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    paths: Vec<CounterPath>,
    /// By path: whether hosts may lack what it means, and whether the log says that this host does.
    are_optional: Vec<bool>,
    are_reported: Vec<bool>,
    found: Option<Found>,
    /// By path: whether it meant something before.
    were_there: Vec<bool>,
    /// Until what is missing is searched for again.
    pause: Pause,
    /// How many paths that were there before the last search missed.
    losses: usize,
    /// A search that was interrupted.
    search: Option<PathSearch>,
    /// What is open over the second pipe.
    classic: Option<ClassicQuery>,
    classic_backoff: Backoff,
    /// Countersets, and classic objects with their answers in this collection, whose providers hang.
    stalls: Stalls<Guid>,
    questions: Questions,
    /// Why the host may have countersets that are not searched.
    unlisted: Option<String>,
    /// Of the registry's list of them.
    list_backoff: Backoff,
    /// When the collection began.
    now: Duration,
    /// Whether the host refused to give values of what it had when it was searched.
    has_refused: bool,
    /// The values of the last replies.
    frame: Frame,
}

/// The replies of one collection.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    /// Of the counters of version 2.
    pub(crate) data: Option<CounterData>,
    /// Whether there are answers for classic objects.
    pub(crate) has_classic: bool,
    /// Why there is nothing of classic objects.
    pub(crate) classic_failure: Option<Failure>,
}

impl Fetched {
    /// Which replies there are.
    pub(crate) const fn replied(&self) -> Kinds {
        Kinds { version_2: self.data.is_some(), classic: self.has_classic }
    }
}

impl Counters {
    /// Takes other paths. What is open for the ones before is opened again with the next collection.
    pub(crate) fn select(&mut self, paths: Paths) {
        let (paths, are_optional) = paths.into_list();
        self.are_optional = are_optional;
        if paths != self.paths {
            (self.were_there, self.losses) = (vec![false; paths.len()], 0);
            self.are_reported = vec![false; paths.len()];
            self.paths = paths;
            self.search_again();
        }
        if let Some(found) = &mut self.found {
            found.set_optional(&self.are_optional);
        }
    }

    /// Says what the host lacks and may lack, once.
    fn report_optional(&mut self, found: &Found) {
        for (path, (is_reported, problem)) in self.are_reported.iter_mut().zip(&found.problems).enumerate() {
            let is_excused = found.is_excused(path);
            if let Some(reason) = problem.as_deref().filter(|_| is_excused && !*is_reported) {
                tracing::info!(reason, "Host lacks a counter of an optional alert or log");
            }
            *is_reported = is_excused;
        }
    }

    /// The values of the last replies of each kind.
    pub(crate) const fn frame(&self) -> &Frame {
        &self.frame
    }

    pub(crate) async fn read(&mut self, data: Option<(&PathQuery, &CounterData)>, has_classic: bool) {
        let Some(found) = &self.found else { return };
        let classic = if has_classic { self.questions.answers() } else { &[] };
        self.frame.update(&found.plan, data, classic).await;
        for refused in &self.frame.refused {
            tracing::debug!(refused, "The host sent no values of a counterset");
        }
    }

    /// The meaning of the paths, as far as it is known.
    pub(crate) const fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    /// What the paths mean is searched for in the next collection: the host is another one, perhaps.
    pub(crate) fn search_again(&mut self) {
        (self.found, self.search, self.classic) = (None, None, None);
        (self.pause, self.has_refused) = (Pause::default(), false);
        self.forget_failures();
    }

    /// Forgets what the host did not answer or refused: it was away meanwhile, or somebody may have removed the cause.
    pub(crate) fn forget_failures(&mut self) {
        self.stalls.forget();
        self.questions.forget_stalls();
        self.classic_backoff.forget();
        self.list_backoff.forget();
        self.pause.cut_short();
    }

    /// The connection was lost in this attempt, so that nothing of what was asked over it is known.
    pub(crate) fn lose_connection(&mut self) {
        self.classic_backoff.cut_short();
        if self.found.as_ref().is_some_and(|found| found.is_new) {
            self.found = None;
        }
    }

    pub(crate) fn begin(&mut self, now: Duration) {
        self.now = now;
        self.stalls.begin(now);
        self.questions.begin(now);
        if let Some(found) = &mut self.found {
            found.is_new = false;
        }
    }

    /// How many countersets did not answer in this collection. Their pipe takes no other call.
    pub(crate) const fn stalls_met(&self) -> u32 {
        self.stalls.met()
    }

    /// An attempt begins, which has nothing open if the connection is gone.
    pub(crate) fn begin_attempt(&mut self, is_connected: bool) {
        if !is_connected {
            self.classic = None;
        }
    }

    /// Whether it is not known what the paths mean, or some meant nothing for a while.
    pub(crate) fn needs_search(&self) -> bool {
        let is_lacking = |found: &Found| found.has_problems() || self.has_refused;
        self.found.as_ref().is_none_or(|found| is_lacking(found) && self.pause.is_over(self.now))
    }

    /// Searches for what the paths mean, where [`needs_search`](Self::needs_search) says so.
    ///
    /// # Errors
    /// When a call failed.
    pub(crate) async fn search(
        &mut self,
        open: &mut Open,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<(), SessionError> {
        if !self.needs_search() {
            return Ok(());
        }
        let searched = self.find(open, collection, deadline).await;
        let (mut plan, open_paths) = searched.map_err(|error| open.session().error(&error))?;
        let mut failure = None;
        if !open_paths.is_empty() {
            failure = self.find_classic(&mut plan, &open_paths, open, collection, deadline).await;
        }
        if let Some(query) = open.handles().take()
            && let Err(error) = query.close(&mut open.session().perflib(deadline)).await
        {
            tracing::debug!(%error, "Query not closed");
        }
        self.classic = None;
        let mut found = Found::new(plan, self.paths.len());
        found.add_problems(&open_paths, failure.as_ref(), self.unlisted.as_deref());
        found.is_new = true;
        // Why an attempt failed is not that something is not there.
        let is_unknown = failure.is_some() && self.classic_backoff.check(self.now).is_ok();
        self.plan_search(&found, is_unknown);
        found.may_be_classic = !open_paths.is_empty();
        self.frame.change_plan(&found.plan);
        found.set_optional(&self.are_optional);
        self.report_optional(&found);
        self.found = Some(found);
        Ok(())
    }

    /// What was there before comes back soon, as a rule: a provider that starts after its host. Else a name is wrong, unless it
    /// is not known what there is.
    fn plan_search(&mut self, found: &Found, is_unknown: bool) {
        let mut losses = 0;
        for (was_there, problem) in self.were_there.iter_mut().zip(&found.problems) {
            losses += usize::from(*was_there && problem.is_some());
            *was_there |= problem.is_none();
        }
        let was_refused = std::mem::take(&mut self.has_refused);
        if losses > self.losses || !(found.has_problems() || was_refused) {
            self.pause = Pause::default();
        }
        self.losses = losses;
        if found.has_problems() {
            self.pause.extend(
                self.now,
                if losses > 0 || is_unknown { Pause::AFTER_LOSS } else { Pause::NEVER_THERE },
            );
        }
    }

    /// The paths, of which there are so many, mean what is in `plan`.
    pub(crate) fn take(&mut self, plan: PathPlan, paths: usize) {
        self.frame.change_plan(&plan);
        self.found = Some(Found::new(plan, paths));
    }

    /// Goes on with the search where it was interrupted.
    async fn find(
        &mut self,
        open: &mut Open,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<(PathPlan, Vec<OpenPath>), PcqError> {
        if self.search.is_none() {
            let guids = self.list(open, collection, deadline).await?;
            self.search = Some(PathSearch::new(guids, self.paths.clone()));
        }
        if let Some(search) = &mut self.search {
            let mut client = open.session().perflib(deadline);
            while search.step_past(&mut client, &mut self.stalls).await? {}
        }
        Ok(self.search.take().map(PathSearch::finish).unwrap_or_default())
    }

    /// Whether paths may mean classic objects, after a search that did not fail.
    pub(crate) fn wants_classic(&self) -> bool {
        !self.needs_search() && self.found.as_ref().is_some_and(|found| found.may_be_classic)
    }

    /// What was asked for classic objects ended a new connection: it would end the next one, too.
    pub(crate) fn refuse_classic(&mut self, failure: &Failure) {
        self.classic_backoff.fail_with_others(self.now, failure);
    }

    /// Adds what the open paths mean among classic objects. Returns why that is not known.
    async fn find_classic(
        &mut self,
        plan: &mut PathPlan,
        paths: &[OpenPath],
        open: &mut Open,
        collection: &Collection,
        deadline: Instant,
    ) -> Option<Failure> {
        if let Err(failure) = self.classic_backoff.check(self.now) {
            return Some(failure);
        }
        let mut tries = 0;
        loop {
            tries += 1;
            let pipe = match open.side_pipe(REGISTRY, collection, deadline).await {
                Ok(pipe) => pipe,
                Err(failure) => {
                    self.classic_backoff.fail(self.now, &failure);
                    return Some(failure);
                }
            };
            let mut client = registry(pipe.association, deadline);
            let added = plan.add_each_classic(&mut client, paths, &mut self.questions).await;
            collection.enter(Stage::Query);
            let Err(error) = added else {
                self.classic_backoff.succeeded();
                return None;
            };
            let may_help = error.is_timeout::<PipeChannel<'_>>() && tries < TRIES_MAX;
            let error = error_of_classic(open.session().target(), &error);
            let failure = self.let_go(&error, open);
            if !may_help || Instant::now() >= deadline {
                return Some(failure);
            }
        }
    }
}

/// Pipes for classic objects in one collection: all objects are asked for together, then one by one until some hang. The search
/// for those goes on in the next collection.
const TRIES_MAX: u32 = 5;

/// The paths that are asked for, each once. Alerts and logs refer to them by their places.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    list: Vec<CounterPath>,
    places: HashMap<CounterPath, usize>,
    /// By path: whether hosts may lack what it means, for all that ask for it.
    are_optional: Vec<bool>,
}

impl Paths {
    /// The place of a path of this host, which may lack what an optional one means.
    pub(crate) fn add(&mut self, path: &CounterPath, is_optional: bool) -> usize {
        let path = CounterPath { machine: None, ..path.clone() };
        let place = *self.places.entry(path).or_insert_with_key(|path| {
            self.list.push(path.clone());
            self.are_optional.push(true);
            self.list.len() - 1
        });
        self.are_optional[place] &= is_optional;
        place
    }

    /// All of them, and which are optional.
    pub(crate) fn into_list(self) -> (Vec<CounterPath>, Vec<bool>) {
        (self.list, self.are_optional)
    }
}

/// Which of the two replies have the values of counters: each is a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    /// That of a query, for counters of version 2.
    pub(crate) version_2: bool,
    /// That of the registry, for classic ones.
    pub(crate) classic: bool,
}

impl Kinds {
    /// What a counterset needs.
    pub(crate) const fn of(provider: Provider) -> Self {
        match provider {
            Provider::V2(_) => Self { version_2: true, classic: false },
            Provider::V1(_) => Self { version_2: false, classic: true },
        }
    }

    /// Whether there is any.
    pub(crate) const fn any(self) -> bool {
        self.version_2 || self.classic
    }

    /// Both these and others.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self { version_2: self.version_2 || other.version_2, classic: self.classic || other.classic }
    }

    /// Whether all `others` are among these.
    pub(crate) const fn have(self, others: Self) -> bool {
        (self.version_2 || !others.version_2) && (self.classic || !others.classic)
    }
}
