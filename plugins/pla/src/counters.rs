//! The counters of all alerts at a host: what their paths mean there, and the values of those that are due, at a time.

mod found;
mod kinds;

use counter_poll::classic::Questions;
use counter_poll::paths::{ClassicQuery, Frame, OpenPath, PathPlan, PathQuery, PathSearch};
use counter_poll::{ClassicError, Stalls, WELL_KNOWN};
use counter_types::CounterPath;
use host_session::{Reason, Recovery, SessionError};
use ms_dtyp::Guid;
use ms_pcq::perflibv2::CounterData;
use ms_rrp::RegisteredCounterSets;
use ms_rrp::winreg::RegistryClient;
use perflib_session::{
    PcqError, PerflibSession as _, PipeChannel, error_of_classic, error_of_registry, registry,
};
use plugin_sdk::{Collection, Failure, GeneralReason, Stage};
use plugin_session::{OpenSession, failure_of};
use tokio::time::Instant;

pub(crate) use self::found::{Found, Pick};
pub(crate) use self::kinds::Kinds;
use crate::session::REGISTRY;

/// The connection with the query that is open over it.
pub(crate) type Open = OpenSession<PathQuery>;

/// What is known of the paths at the host.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    paths: Vec<CounterPath>,
    found: Option<Found>,
    /// A search that was interrupted.
    search: Option<PathSearch>,
    /// What is open over the second pipe.
    classic: Option<ClassicQuery>,
    /// The first collection that may ask for classic objects again.
    classic_after: u64,
    /// Countersets, and classic objects with their answers in this collection, whose providers hang.
    stalls: Stalls<Guid>,
    questions: Questions,
    /// Why the host may have countersets that are not searched.
    unlisted: Option<String>,
    /// How often the registry did not list them, and the first collection that may ask it again.
    not_listed: (u32, u64),
    collections: u64,
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
    /// Takes other paths. What is open for the ones before is opened anew with the next collection.
    pub(crate) fn select(&mut self, paths: Vec<CounterPath>) {
        if paths != self.paths {
            self.paths = paths;
            self.search_again();
        }
    }

    /// The values of the last replies of each kind.
    pub(crate) const fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Reads replies.
    pub(crate) fn read(&mut self, data: Option<(&PathQuery, &CounterData)>, has_classic: bool) {
        let Some(found) = &self.found else { return };
        let classic = if has_classic { self.questions.answers() } else { &[] };
        self.frame.update(&found.plan, data, classic);
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
        self.classic_after = 0;
    }

    /// A collection begins.
    pub(crate) fn begin(&mut self) {
        self.collections += 1;
        self.stalls.begin(self.collections);
        self.questions.begin(self.collections);
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
        self.found.as_ref().is_none_or(|found| {
            found.has_problems() && self.collections - found.searched >= COLLECTIONS_BETWEEN_SEARCHES
        })
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
        found.searched = self.collections;
        self.found = Some(found);
        self.frame.forget();
        Ok(())
    }

    /// The paths, of which there are so many, mean what is in `plan`.
    pub(crate) fn take(&mut self, plan: PathPlan, paths: usize) {
        self.found = Some(Found::new(plan, paths));
        self.frame.forget();
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

    /// The host's countersets. If there are more than the 256 that PCQ can list, those that its registry lists.
    async fn list(
        &mut self,
        open: &mut Open,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<Vec<Guid>, PcqError> {
        self.unlisted = None;
        match open.session().perflib(deadline).enumerate_counter_set().await {
            Err(ms_pcq::Error::LimitExceeded { .. }) => {}
            listed => return listed,
        }
        let listed = self.list_registered(open, collection, share(deadline)).await;
        collection.enter(Stage::Query);
        let (guids, why) = match listed {
            Ok(RegisteredCounterSets { counter_sets, denied_providers: 0, .. }) => return Ok(counter_sets),
            Ok(RegisteredCounterSets { counter_sets, denied_providers, .. }) => {
                (counter_sets, format!("hides the countersets of {denied_providers} providers"))
            }
            Err(failure) => (WELL_KNOWN.to_vec(), format!("does not list them: {}", failure.message)),
        };
        self.unlisted =
            Some(format!("the host has more countersets than it can list, and its registry {why}"));
        Ok(guids)
    }

    /// What a host refuses is asked for ever more rarely.
    async fn list_registered(
        &mut self,
        open: &mut Open,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<RegisteredCounterSets, Failure> {
        let (failures, next) = self.not_listed;
        if self.collections < next {
            let message = "it did not a short time ago, and is asked again later";
            return Err(Failure::new(Stage::Query, GeneralReason::AccessDenied, message));
        }
        // Set before, because the collection may be aborted meanwhile.
        let pause = COLLECTIONS_BETWEEN_SEARCHES << failures.min(DOUBLINGS_MAX);
        self.not_listed = (failures.saturating_add(1), self.collections + pause);
        let pipe = open.side_pipe(REGISTRY, collection, deadline).await?;
        let listed = ms_rrp::enumerate_counter_sets(&mut registry(pipe.association, deadline)).await;
        match listed {
            Ok(listed) => {
                self.not_listed = (0, 0);
                Ok(listed)
            }
            Err(error) => {
                let error = error_of_registry(open.session().target(), &error);
                if error.recovery > Recovery::Handle {
                    open.close_side_pipe();
                }
                Err(failure_of(&error))
            }
        }
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
        if self.collections < self.classic_after {
            let message = "they were refused a short time ago, and are asked for again later";
            return Some(Failure::new(Stage::Query, GeneralReason::AccessDenied, message));
        }
        let mut tries = 0;
        loop {
            tries += 1;
            let pipe = match open.side_pipe(REGISTRY, collection, deadline).await {
                Ok(pipe) => pipe,
                Err(failure) => {
                    self.classic_after = self.collections + COLLECTIONS_BETWEEN_SEARCHES;
                    return Some(failure);
                }
            };
            let mut client = registry(pipe.association, deadline);
            let added = plan.add_each_classic(&mut client, paths, &mut self.questions).await;
            collection.enter(Stage::Query);
            let error = added.err()?;
            let may_help = error.is_timeout::<PipeChannel<'_>>() && tries < TRIES_MAX;
            let error = error_of_classic(open.session().target(), &error);
            self.let_go(&error, open);
            if !may_help || Instant::now() >= deadline {
                return Some(failure_of(&error));
            }
        }
    }

    /// Fetches the values of all paths of these kinds: one call for the counters of version 2, and one for classic objects.
    ///
    /// # Errors
    /// When the call for the former failed. That for the latter is told with the values.
    pub(crate) async fn fetch(
        &mut self,
        kinds: Kinds,
        open: &mut Open,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<Fetched, SessionError> {
        let mut fetched = Fetched::default();
        let Some(found) = &self.found else { return Ok(fetched) };
        let (session, handles) = open.parts();
        if kinds.version_2 && handles.is_none() {
            let opened = PathQuery::open(&mut session.perflib(deadline), &found.plan).await;
            *handles = Some(opened.map_err(|error| session.error(&error))?);
        }
        if let Some(query) = handles.as_mut().filter(|query| kinds.version_2 && !query.is_empty()) {
            let data = query.fetch(&mut session.perflib(deadline)).await;
            fetched.data = Some(data.map_err(|error| session.error(&error))?);
        }
        if kinds.classic {
            match self.fetch_classic(open, collection, deadline).await {
                Ok(has_classic) => fetched.has_classic = has_classic,
                Err(failure) => fetched.classic_failure = Some(failure),
            }
            collection.enter(Stage::Query);
        }
        Ok(fetched)
    }

    /// Returns whether there are answers.
    async fn fetch_classic(
        &mut self,
        open: &mut Open,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<bool, Failure> {
        if self.collections < self.classic_after {
            return Ok(false);
        }
        let mut tries = 0;
        loop {
            tries += 1;
            let Some(found) = &self.found else { return Ok(false) };
            let pipe = match open.side_pipe(REGISTRY, collection, deadline).await {
                Ok(pipe) => pipe,
                Err(failure) => {
                    self.classic_after = self.collections + COLLECTIONS_BETWEEN_SEARCHES;
                    return Err(failure);
                }
            };
            let is_new = pipe.is_new;
            let kept = self.classic.take().filter(|_| !is_new);
            let mut client = registry(pipe.association, deadline);
            match read_classic(&mut client, kept, &found.plan, &mut self.questions).await {
                Ok(query) => {
                    self.classic = Some(query);
                    return Ok(!self.questions.answers().is_empty());
                }
                Err(error) => {
                    let hangs = error.is_timeout::<PipeChannel<'_>>() && tries < TRIES_MAX;
                    let error = error_of_classic(open.session().target(), &error);
                    self.let_go(&error, open);
                    let is_lost = !is_new && tries == 1 && error.recovery > Recovery::Nothing;
                    if !(hangs || is_lost) || Instant::now() >= deadline {
                        return Err(failure_of(&error));
                    }
                }
            }
        }
    }

    /// Closes what `error` has made useless. A right that is granted counts from the next logon on, which is not tried
    /// with each collection.
    fn let_go(&mut self, error: &SessionError, open: &mut Open) {
        if error.recovery > Recovery::Handle {
            open.close_side_pipe();
        }
        if error.reason == Reason::AccessDenied {
            self.classic_after = self.collections + COLLECTIONS_BETWEEN_SEARCHES;
        }
    }
}

async fn read_classic(
    client: &mut RegistryClient<PipeChannel<'_>>,
    kept: Option<ClassicQuery>,
    plan: &PathPlan,
    questions: &mut Questions,
) -> Result<ClassicQuery, ClassicError<rpc_client::Error>> {
    let mut query = match kept {
        Some(query) => query,
        None => ClassicQuery::open(client, plan).await?,
    };
    query.ask(client, questions).await?;
    Ok(query)
}

/// The share of a collection's time for the list of countersets; the rest is for the values.
fn share(deadline: Instant) -> Instant {
    let now = Instant::now();
    now + deadline.saturating_duration_since(now) * 3 / 4
}

/// What the host does not have, or refuses, is asked for again after so many collections: names are read one by one, and
/// another pipe is a logon.
const COLLECTIONS_BETWEEN_SEARCHES: u64 = 20;
const DOUBLINGS_MAX: u32 = 6;
/// Pipes for classic objects in one collection: all objects are asked for together, then one by one until some hang. The search
/// for those goes on in the next collection.
const TRIES_MAX: u32 = 5;
