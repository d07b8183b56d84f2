//! One collection, from whatever state the last one left.

use counter_poll::stalls;
use counter_poll::{
    Catalog, Forms, HostChannel as _, OpenQuery, Refusal, Seen, WELL_KNOWN, Wanted, WatchList,
};
use host_session::{Recovery, Session};
use ms_pcq::perflibv2::CounterData;
use ms_pcq::types::Lcid;
use ms_pcq::wire::Layout;
use plugin_sdk::{
    Collection, Coverage, DeclaredReason, Failure, FamilyId, GeneralReason, Output, Problem, Setup, Source,
    Stage, Target, Transport,
};
use plugin_session::{AttemptError, HostConnection, HostSource, OpenSession, Retry, failure_of};
use tokio::time::Instant;

use crate::channel::{Client, PcqError};
use crate::config::{self, Settings};
use crate::missing;
use crate::notes::Notes;
use crate::registry::{Listed, Registry};
use crate::series::{ExporterIds, unknown_types};
use crate::session::{PERFLIB, PerflibSession as _};

/// The performance counters of one host.
#[derive(Debug)]
pub(crate) struct PcqSource {
    connection: HostConnection<OpenQuery>,
    wanted: Vec<Wanted>,
    language: Option<Lcid>,
    catalog: Catalog,
    registry: Registry,
    /// Why the host may have countersets that it did not list.
    unlisted: Option<Failure>,
    /// The same at the last search.
    unlisted_then: Option<Failure>,
    watched: WatchList<ExporterIds>,
    notes: Notes,
    /// How the host lays out its data, as far as they proved it.
    layout: Layout,
    forms: Forms,
    /// Whether the open query is not what the settings or the host want any more.
    is_query_outdated: bool,
    polls: u64,
}

impl Source for PcqSource {
    const NAME: &'static str = "pcq";
    const HELP: &'static str = "Performance counters of a Windows host over its remote registry pipe";
    const REASONS: &'static [DeclaredReason] = &plugin_session::DECLARED_REASONS;
    const SHOWN: &'static [&'static str] = config::SHOWN;
    const TRANSPORTS: &'static [Transport] = &[plugin_session::SMB_TRANSPORT];
    type Settings = Settings;

    fn check(settings: &Settings, target: &Target) -> Vec<Problem> {
        let mut problems = config::compile(settings).err().unwrap_or_default();
        // Without a host the settings alone are asked about.
        if target.identity.is_empty() && !target.host.is_empty() {
            problems.push(Problem::new(Problem::NO_IDENTITY, "the host asks who logs on"));
        }
        problems
    }

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        let wanted = config::compile(&setup.settings)?;
        let language = config::language(&setup.settings);
        let Target { host, port, .. } = setup.target;
        let target = host_session::Target::new(host, port.unwrap_or(SMB_PORT));
        Ok(Self {
            connection: HostConnection::new(target, PERFLIB, setup.settings.transport),
            wanted,
            language,
            catalog: Catalog::default(),
            registry: Registry::default(),
            unlisted: None,
            unlisted_then: None,
            watched: WatchList::default(),
            notes: Notes::default(),
            layout: Layout::default(),
            forms: Forms::default(),
            is_query_outdated: false,
            polls: 0,
        })
    }

    fn reconfigure(&mut self, settings: Settings) {
        // Per the calling order of a source the settings were checked; those that are wrong change nothing.
        let Ok(wanted) = config::compile(&settings) else { return };
        self.watched.forget_all();
        self.wanted = wanted;
        self.language = config::language(&settings);
        self.is_query_outdated = true;
        self.registry.forget();
        self.connection.reconfigure(settings.transport);
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        self.watched.end_outdated(collection.output());
        self.catalog.begin(self.polls);
        plugin_session::collect(self, collection).await
    }
}

impl HostSource for PcqSource {
    type Handles = OpenQuery;

    fn connection(&mut self) -> &mut HostConnection<OpenQuery> {
        &mut self.connection
    }

    async fn attempt(
        &mut self,
        collection: &mut Collection,
        deadline: Instant,
    ) -> Result<Coverage, AttemptError> {
        if self.connection.missing() == Recovery::Connection {
            self.catalog.forget_enumeration();
            self.layout = Layout::default();
            self.forms.forget();
        }
        let stalls = self.catalog.stalls_met();
        let mut open = self.connection.take(collection, deadline).await?;
        let mut timer = open.begin_calls(collection);
        let mut enumerated = self.enumerate(&mut open, collection, deadline).await;
        if enumerated.is_ok() && !open.is_connected() {
            // The host let go of the connection over its registry, which it is not asked for again soon.
            drop(open);
            open = self.connection.take(collection, deadline).await?;
            timer = open.begin_calls(collection);
            self.catalog.forget_enumeration();
            enumerated = self.enumerate(&mut open, collection, deadline).await;
        }
        let fetched = match enumerated {
            Ok(()) => {
                let (session, query) = open.parts();
                self.fetch(session, query, collection.output(), deadline).await
            }
            Err(error) => Err(error.into()),
        };
        open.end_calls(timer, collection);
        let data = match fetched {
            Ok(data) => data,
            Err(Stop::Missing) => {
                self.connection.put_back(open);
                return Err(missing::explain(self.watched.missing(), self.unlisted_then.as_ref()).into());
            }
            Err(Stop::Call(error)) => {
                let error = open.session().error(&error);
                if self.catalog.stalls_met() > stalls {
                    // One provider hangs, and the host does not: others are asked about over another pipe.
                    self.connection.put_back(open);
                    let retry =
                        if stalls < STALLS_MAX { Retry::Always } else { Retry::IfLost }(Recovery::Pipe);
                    return Err(AttemptError { failure: failure_of(&error), retry });
                }
                return Err(self.connection.fail(open, &error, collection, deadline).await);
            }
        };
        collection.enter(Stage::Decode);
        let emitted = self.emit(&data, open.handles().as_ref(), collection.output());
        self.connection.put_back(open);
        Ok(emitted?)
    }
}

/// Why there are no values.
enum Stop {
    /// A call failed.
    Call(PcqError),
    /// The host has none of the countersets.
    Missing,
}

impl From<PcqError> for Stop {
    fn from(error: PcqError) -> Self {
        Self::Call(error)
    }
}

impl PcqSource {
    /// Finds out which countersets the host has, where that is due. What it cannot say by PCQ, whose limit is 256, its
    /// registry says.
    async fn enumerate(
        &mut self,
        open: &mut OpenSession<OpenQuery>,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<(), PcqError> {
        self.polls += 1;
        if self.polls.is_multiple_of(POLLS_BETWEEN_SEARCHES) && self.is_search_due() {
            self.catalog.forget_enumeration();
        }
        if self.catalog.is_enumerated() {
            return Ok(());
        }
        let (guids, unlisted) = match open.session().perflib(deadline).enumerate_counter_set().await {
            Ok(guids) => (guids, None),
            Err(ms_pcq::Error::LimitExceeded { .. }) => {
                let read = self.registry.read(open, collection, self.polls, deadline).await;
                collection.enter(Stage::Query);
                match read {
                    Ok(Listed { guids, unlisted }) => (guids, unlisted),
                    Err(failure) => (WELL_KNOWN.to_vec(), Some(failure)),
                }
            }
            Err(error) => return Err(error),
        };
        self.unlisted = unlisted;
        self.is_query_outdated |= self.catalog.enumerated(guids);
        Ok(())
    }

    /// Opens the query where there is none, and fetches.
    async fn fetch(
        &mut self,
        session: &mut Session,
        kept: &mut Option<OpenQuery>,
        output: &mut Output,
        deadline: Instant,
    ) -> Result<CounterData, Stop> {
        let mut client = session.perflib(deadline);
        if let Some(query) = kept.take_if(|_| self.is_query_outdated) {
            query.close(&mut client).await?;
        }
        self.is_query_outdated = false;
        if let Some(query) = kept.take() {
            let (query, data) = self.poll(query, &mut client).await?;
            *kept = Some(query);
            return Ok(data);
        }
        let query = self.open(&mut client, output).await?;
        let (query, data) = self.poll(query, &mut client).await?;
        let answers = query.form_answers(&data.data(), &self.forms);
        if !self.forms.try_others(&answers, self.polls) {
            *kept = Some(query);
            return Ok(data);
        }
        query.close(&mut client).await?;
        let query = self.open(&mut client, output).await?;
        let (query, data) = self.poll(query, &mut client).await?;
        let answers = query.form_answers(&data.data(), &self.forms);
        self.is_query_outdated |= self.forms.judge_others(&answers, self.polls);
        *kept = Some(query);
        Ok(data)
    }

    /// Fetches. A query with which that fails is closed.
    async fn poll(
        &mut self,
        mut query: OpenQuery,
        client: &mut Client<'_>,
    ) -> Result<(OpenQuery, CounterData), Stop> {
        match query.fetch(client).await {
            Ok(data) => {
                self.layout = query.layout();
                Ok((query, data))
            }
            Err(error) => Err(abandon(query, client, error).await),
        }
    }

    /// Whether countersets, or data of them, may have come that are wanted.
    fn is_search_due(&self) -> bool {
        self.watched.lacks_some()
            || self.forms.has_silent()
            || self.wanted.iter().any(|wanted| wanted.which.is_pattern())
    }

    /// Opens a query with all countersets that the host has.
    async fn open(&mut self, client: &mut Client<'_>, output: &mut Output) -> Result<OpenQuery, Stop> {
        self.catalog.speak(self.language);
        let patience = stalls::patience(client);
        client.channel().limit_calls(patience);
        self.unlisted_then.clone_from(&self.unlisted);
        let unlisted = self.unlisted.as_ref().map(|failure| failure.message.as_str());
        let additions = self.watched.search(&mut self.catalog, client, &self.wanted, unlisted, output).await;
        client.channel().limit_calls(None);
        let additions = additions?;
        if additions.is_empty() {
            // Perhaps the host failed as a whole, and does not any more the next time.
            self.catalog.forget_nameless();
            return Err(Stop::Missing);
        }
        let mut query = OpenQuery::open(client, self.layout).await?;
        let refusals = match query.fill(client, &additions, &mut self.forms).await {
            Ok(refusals) => refusals,
            Err(error) => return Err(abandon(query, client, error).await),
        };
        for Refusal { watched, trouble } in refusals {
            self.watched.refuse(watched, trouble);
        }
        if query.is_empty() {
            query.close(client).await?;
            return Err(Stop::Missing);
        }
        Ok(query)
    }

    /// Sends what the reply holds.
    fn emit(
        &mut self,
        data: &CounterData,
        query: Option<&OpenQuery>,
        output: &mut Output,
    ) -> Result<Coverage, Failure> {
        let Some(query) = query else {
            return Err(Failure::new(Stage::Plugin, GeneralReason::Internal, "a reply without a query"));
        };
        let seen = self.watched.emit(&data.data(), query, &self.wanted, self.polls, output);
        for guid in &seen.exchanged {
            self.catalog.forget(*guid);
            self.is_query_outdated = true;
        }
        self.is_query_outdated |= seen.has_malformed;
        for (counterset, poller) in self.watched.covered(&seen) {
            self.notes.tell(&counterset.name, poller.left_out(), unknown_types(counterset), output);
        }
        self.coverage(&seen)
    }

    fn coverage(&self, seen: &Seen) -> Result<Coverage, Failure> {
        if seen.is_complete() {
            return Ok(Coverage::Full);
        }
        let failure = missing::explain(&seen.missing, self.unlisted_then.as_ref());
        let covered = self.watched.covered(seen);
        let mut families: Vec<FamilyId> = covered.flat_map(|(_, poller)| poller.families()).collect();
        if families.is_empty() {
            return Err(failure);
        }
        families.extend(self.notes.families());
        Ok(Coverage::Partial { families, failure: Some(failure) })
    }
}

/// Closes a query with which a call failed: nobody will use it again, and the host may still hold it.
async fn abandon(query: OpenQuery, client: &mut Client<'_>, error: PcqError) -> Stop {
    if let Err(error) = query.close(client).await {
        tracing::debug!(%error, "Query not closed");
    }
    error.into()
}

/// A counterset that is missing is looked for again after so many collections.
const POLLS_BETWEEN_SEARCHES: u64 = 20;
/// Countersets that may let their time pass in one collection; the search goes on in the next one.
const STALLS_MAX: u32 = 3;
const SMB_PORT: u16 = 445;
