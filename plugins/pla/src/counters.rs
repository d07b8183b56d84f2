//! The counters of all alerts at a host: what their paths mean there, and the values of all of them at a time.

use counter_poll::paths::{ClassicQuery, OpenPath, PathPlan, PathQuery, PathSearch};
use counter_poll::{ClassicError, WELL_KNOWN};
use counter_types::CounterPath;
use host_session::{Reason, Recovery, SessionError};
use ms_pcq::perflibv2::CounterData;
use ms_rrp::winreg::{RegistryClient, RegistryValue};
use perflib_session::{PcqError, PerflibSession as _, PipeChannel, error_of_classic, registry};
use plugin_sdk::{Collection, Failure, GeneralReason, Stage};
use plugin_session::{OpenSession, failure_of};
use tokio::time::Instant;

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
    collections: u64,
}

/// What the paths mean.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// What is asked for.
    pub(crate) plan: PathPlan,
    /// By path: the places of its matches.
    pub(crate) matches: Vec<Vec<usize>>,
    /// By path: why it means nothing.
    pub(crate) problems: Vec<Option<String>>,
    /// The collection in which it was searched.
    searched: u64,
}

/// The replies of one collection.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    /// Of the counters of version 2.
    pub(crate) data: Option<CounterData>,
    /// Of classic objects.
    pub(crate) classic: Option<RegistryValue>,
    /// Why there is nothing of classic objects.
    pub(crate) classic_failure: Option<Failure>,
}

impl Counters {
    /// Takes other paths. What is open for the ones before is opened anew with the next collection.
    pub(crate) fn select(&mut self, paths: Vec<CounterPath>) {
        if paths != self.paths {
            self.paths = paths;
            self.search_again();
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

    /// A collection begins, which has nothing open if the connection is gone.
    pub(crate) fn begin(&mut self, is_connected: bool) {
        self.collections += 1;
        if !is_connected {
            self.classic = None;
        }
    }

    /// Searches for what the paths mean, if it is not known, or some meant nothing for a while.
    ///
    /// # Errors
    /// When a call failed.
    pub(crate) async fn search(
        &mut self,
        open: &mut Open,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<(), SessionError> {
        let due = |found: &Found| {
            let has_problem = found.problems.iter().any(Option::is_some);
            has_problem && self.collections - found.searched >= COLLECTIONS_BETWEEN_SEARCHES
        };
        if self.found.as_ref().is_some_and(|found| !due(found)) {
            return Ok(());
        }
        let searched = self.find(open, deadline).await;
        let (mut plan, open_paths) = searched.map_err(|error| open.session().error(&error))?;
        let mut failure = None;
        if !open_paths.is_empty() {
            failure = self.find_classic(&mut plan, &open_paths, open, collection, deadline).await;
        }
        let mut problems: Vec<Option<String>> = vec![None; self.paths.len()];
        let mut matches: Vec<Vec<usize>> = vec![Vec::new(); self.paths.len()];
        for (place, one) in plan.matches.iter().enumerate() {
            matches[one.order()].push(place);
        }
        for (order, problem) in &plan.problems {
            problems[*order] = Some(problem.to_string());
        }
        let is_open = |path: &&OpenPath| matches[path.order()].is_empty() && problems[path.order()].is_none();
        let still_open: Vec<&OpenPath> = open_paths.iter().filter(is_open).collect();
        for path in still_open {
            let unread = failure.as_ref().map(|failure: &Failure| {
                format!("{}: the host's classic counters cannot be read: {}", path.path(), failure.message)
            });
            let own = path.problem().map(ToString::to_string);
            problems[path.order()] = unread.or(own);
        }
        if let Some(query) = open.handles().take()
            && let Err(error) = query.close(&mut open.session().perflib(deadline)).await
        {
            tracing::debug!(%error, "Query not closed");
        }
        self.classic = None;
        self.found = Some(Found { plan, matches, problems, searched: self.collections });
        Ok(())
    }

    /// Goes on with the search where it was interrupted.
    async fn find(
        &mut self,
        open: &mut Open,
        deadline: Instant,
    ) -> Result<(PathPlan, Vec<OpenPath>), PcqError> {
        let mut client = open.session().perflib(deadline);
        let search = match &mut self.search {
            Some(search) => search,
            None => {
                let guids = match client.enumerate_counter_set().await {
                    // There are more than fit into the answer.
                    Err(ms_pcq::Error::LimitExceeded { .. }) => WELL_KNOWN.to_vec(),
                    listed => listed?,
                };
                self.search.insert(PathSearch::new(guids, self.paths.clone()))
            }
        };
        while search.step(&mut client, &mut |_, _| {}).await? {}
        Ok(self.search.take().map(PathSearch::finish).unwrap_or_default())
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
        let pipe = match open.side_pipe(REGISTRY, collection, deadline).await {
            Ok(pipe) => pipe,
            Err(failure) => {
                self.classic_after = self.collections + COLLECTIONS_BETWEEN_SEARCHES;
                return Some(failure);
            }
        };
        let mut client = registry(pipe.association, deadline);
        let added = plan.add_each_classic(&mut client, paths).await;
        collection.enter(Stage::Query);
        let error = error_of_classic(open.session().target(), &added.err()?);
        self.let_go(&error, open);
        Some(failure_of(&error))
    }

    /// Fetches the values of all paths: one call for the counters of version 2, and one for classic objects.
    ///
    /// # Errors
    /// When the call for the former failed. That for the latter is told with the values.
    pub(crate) async fn fetch(
        &mut self,
        open: &mut Open,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<Fetched, SessionError> {
        let mut fetched = Fetched::default();
        let Some(found) = &self.found else { return Ok(fetched) };
        let (session, handles) = open.parts();
        if handles.is_none() && !found.plan.identifiers().is_empty() {
            let opened = PathQuery::open(&mut session.perflib(deadline), &found.plan).await;
            *handles = Some(opened.map_err(|error| session.error(&error))?);
        }
        if let Some(query) = handles.as_mut().filter(|query| !query.is_empty()) {
            let data = query.fetch(&mut session.perflib(deadline)).await;
            fetched.data = Some(data.map_err(|error| session.error(&error))?);
        }
        if found.plan.has_classic() {
            match self.fetch_classic(open, collection, deadline).await {
                Ok(value) => fetched.classic = value,
                Err(failure) => fetched.classic_failure = Some(failure),
            }
            collection.enter(Stage::Query);
        }
        Ok(fetched)
    }

    async fn fetch_classic(
        &mut self,
        open: &mut Open,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<Option<RegistryValue>, Failure> {
        if self.collections < self.classic_after {
            return Ok(None);
        }
        let mut is_retry = false;
        loop {
            let Some(found) = &self.found else { return Ok(None) };
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
            match read_classic(&mut client, kept, &found.plan).await {
                Ok((query, value)) => {
                    self.classic = Some(query);
                    return Ok(Some(value));
                }
                Err(error) => {
                    let error = error_of_classic(open.session().target(), &error);
                    self.let_go(&error, open);
                    let may_help = !is_new && !is_retry && error.recovery > Recovery::Nothing;
                    if !may_help || Instant::now() >= deadline {
                        return Err(failure_of(&error));
                    }
                    is_retry = true;
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
) -> Result<(ClassicQuery, RegistryValue), ClassicError<rpc_client::Error>> {
    let mut query = match kept {
        Some(query) => query,
        None => ClassicQuery::open(client, plan).await?,
    };
    let value = query.fetch(client).await?;
    Ok((query, value))
}

/// What the host does not have, or refuses, is asked for again after so many collections: names are read one by one, and
/// another pipe is a logon.
const COLLECTIONS_BETWEEN_SEARCHES: u64 = 20;
