//! One collection, from whatever state the last one left.

use std::time::Duration;

use host_session::Session;
use ms_pcq::perflibv2::CounterData;
use ms_pcq::types::Lcid;
use ms_pcq::wire::Layout;
use plugin_sdk::{
    Collection, Coverage, DeclaredReason, Failure, GeneralReason, Handle, Output, Problem, Setup, Source,
    Stage, Target,
};
use ssp::OsVersion;
use tokio::time::Instant;

use crate::catalog::{Catalog, WELL_KNOWN};
use crate::config::{self, Settings, Wanted};
use crate::failure;
use crate::forms::Forms;
use crate::link::{Broken, Line, Link, Standing};
use crate::missing;
use crate::query::{OpenQuery, Refusal};
use crate::registration::{Client, Error as PcqError};
use crate::registry::{Listed, Registry};
use crate::session::PerflibSession as _;
use crate::stalls;
use crate::watched::WatchList;

/// The performance counters of one host.
#[derive(Debug)]
pub struct PcqSource {
    handle: Handle,
    /// What the host was last said to run.
    os_version: Option<OsVersion>,
    link: Link,
    wanted: Vec<Wanted>,
    language: Option<Lcid>,
    catalog: Catalog,
    registry: Registry,
    watched: WatchList,
    /// INVARIANT: there is one only while the link stands up to the interface.
    query: Option<OpenQuery>,
    /// How the host lays out its data, as far as they proved it.
    layout: Layout,
    forms: Forms,
    /// Whether `query` is not what the settings or the host want any more.
    is_query_outdated: bool,
    polls: u64,
}

impl Source for PcqSource {
    const NAME: &'static str = "pcq";
    const HELP: &'static str = "Performance counters of a Windows host over its remote registry pipe";
    const REASONS: &'static [DeclaredReason] = &failure::DECLARED;
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
            handle: setup.handle,
            os_version: None,
            link: Link::new(target, setup.settings.transport),
            wanted,
            language,
            catalog: Catalog::default(),
            registry: Registry::default(),
            watched: WatchList::default(),
            query: None,
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
        self.link.reconfigure(settings.transport);
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        let deadline = Instant::from_std(collection.deadline()) - margin(collection.remaining());
        self.watched.end_outdated(collection.output());
        self.catalog.begin(self.polls);
        loop {
            let (stood, stalls) = (self.standing(), self.catalog.stalls_met());
            let Broken { failure, left } = match self.attempt(collection, deadline).await {
                Ok(coverage) => return Ok(coverage),
                Err(broken) => broken,
            };
            let has_stalled = self.catalog.stalls_met() > stalls;
            if has_stalled && stalls < STALLS_MAX && Instant::now() < deadline {
                tracing::debug!(error = %failure.message, "Going on with other countersets over another pipe");
                self.keep_only(Standing::Connection);
                continue;
            }
            let Some(left) = left else { return Err(failure) };
            // Only what was kept from an earlier collection may have been lost meanwhile; what fails right after it
            // was made will fail again. Each turn begins with less, so that there are three at most.
            self.keep_only(left.min(stood.without_top()));
            if stood == Standing::Nothing || Instant::now() >= deadline {
                return Err(failure);
            }
            tracing::debug!(error = %failure.message, "Building anew what was lost");
        }
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
    fn standing(&self) -> Standing {
        if self.query.is_some() { Standing::Query } else { self.link.standing() }
    }

    fn keep_only(&mut self, left: Standing) {
        if left < Standing::Query {
            self.query = None;
        }
        self.link.keep_only(left);
    }

    async fn attempt(&mut self, collection: &mut Collection, deadline: Instant) -> Result<Coverage, Broken> {
        if self.link.standing() < Standing::Interface {
            self.query = None;
        }
        if self.link.standing() == Standing::Nothing {
            self.catalog.forget_enumeration();
            self.layout = Layout::default();
            self.forms.forget();
        }
        let stalls = self.catalog.stalls_met();
        let mut line = self.link.take(collection, deadline).await?;
        self.tell_version(line.session().host().names.os_version);
        collection.enter(Stage::Query);
        let mut timer = line.session().start_stage(host_session::Stage::Query);
        let mut enumerated = self.enumerate(&mut line, collection, deadline).await;
        if enumerated.is_ok() && !line.is_connected() {
            // The host let go of the connection over its registry, which it is not asked for again soon.
            drop(line);
            line = self.link.take(collection, deadline).await?;
            collection.enter(Stage::Query);
            timer = line.session().start_stage(host_session::Stage::Query);
            self.catalog.forget_enumeration();
            enumerated = self.enumerate(&mut line, collection, deadline).await;
        }
        let fetched = match enumerated {
            Ok(()) => self.fetch(line.session(), collection.output(), deadline).await,
            Err(error) => Err(error.into()),
        };
        let report = line.session().stop_stage(timer);
        collection.stages().add(report.calls, report.received_bytes, report.sent_bytes);
        let data = match fetched {
            Ok(data) => data,
            Err(Stop::Missing) => {
                self.link.put_back(line);
                return Err(missing::explain(self.watched.missing()).into());
            }
            Err(Stop::Call(error)) => {
                let error = line.session().error(&error);
                if self.catalog.stalls_met() > stalls {
                    // One provider hangs, and the host does not.
                    self.link.put_back(line);
                    let failure = failure::of_session(&error);
                    return Err(Broken { failure, left: Some(Standing::Connection) });
                }
                return Err(self.link.fail(line, &error, collection, deadline).await);
            }
        };
        self.link.put_back(line);
        collection.enter(Stage::Decode);
        self.emit(&data, collection.output())
    }

    /// Says which Windows the host runs, where that is news.
    fn tell_version(&mut self, now: Option<OsVersion>) {
        if now != self.os_version {
            self.os_version = now;
            let text = now.map(|version| version.to_string()).unwrap_or_default();
            self.handle.fact("os.version", &text);
        }
    }

    /// Finds out which countersets the host has, where that is due. What it cannot say by PCQ, whose limit is 256, its
    /// registry says.
    async fn enumerate(
        &mut self,
        line: &mut Line,
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
        let (guids, unlisted) = match line.session().perflib(deadline).enumerate_counter_set().await {
            Ok(guids) => (guids, None),
            Err(ms_pcq::Error::LimitExceeded { .. }) => {
                let read = self.registry.read(line, collection, self.polls, deadline).await;
                collection.enter(Stage::Query);
                match read {
                    Ok(Listed { guids, unlisted }) => (guids, unlisted),
                    Err(failure) => (WELL_KNOWN.to_vec(), Some(failure)),
                }
            }
            Err(error) => return Err(error),
        };
        self.is_query_outdated |= self.catalog.enumerated(guids, unlisted);
        Ok(())
    }

    /// Opens the query where there is none, and fetches.
    async fn fetch(
        &mut self,
        session: &mut Session,
        output: &mut Output,
        deadline: Instant,
    ) -> Result<CounterData, Stop> {
        let mut client = session.perflib(deadline);
        if let Some(query) = self.query.take_if(|_| self.is_query_outdated) {
            query.close(&mut client).await?;
        }
        self.is_query_outdated = false;
        if let Some(query) = self.query.take() {
            return self.poll(query, &mut client).await;
        }
        let query = self.open(&mut client, output).await?;
        let data = self.poll(query, &mut client).await?;
        let Some(query) = self.query.take_if(|query| self.forms.try_others(query, &data.data(), self.polls))
        else {
            return Ok(data);
        };
        query.close(&mut client).await?;
        let query = self.open(&mut client, output).await?;
        let data = self.poll(query, &mut client).await?;
        if let Some(query) = &self.query {
            self.is_query_outdated |= self.forms.judge_others(query, &data.data(), self.polls);
        }
        Ok(data)
    }

    /// Fetches, and keeps the query with which that succeeds.
    async fn poll(&mut self, mut query: OpenQuery, client: &mut Client<'_>) -> Result<CounterData, Stop> {
        match query.fetch(client).await {
            Ok(data) => {
                self.layout = query.layout();
                self.query = Some(query);
                Ok(data)
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
        let additions = self.watched.search(&mut self.catalog, client, &self.wanted, output).await;
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
    fn emit(&mut self, data: &CounterData, output: &mut Output) -> Result<Coverage, Broken> {
        let Some(query) = &self.query else {
            return Err(
                Failure::new(Stage::Plugin, GeneralReason::Internal, "a reply without a query").into()
            );
        };
        let seen = self.watched.emit(&data.data(), query, &self.wanted, self.polls, output);
        for guid in seen.exchanged {
            self.catalog.forget(guid);
            self.is_query_outdated = true;
        }
        self.is_query_outdated |= seen.has_malformed;
        seen.coverage.map_err(Broken::from)
    }
}

/// Closes a query with which a call failed: nobody will use it again, and the host may still hold it.
async fn abandon(query: OpenQuery, client: &mut Client<'_>, error: PcqError) -> Stop {
    if let Err(error) = query.close(client).await {
        tracing::debug!(%error, "Query not closed");
    }
    error.into()
}

/// What a collection keeps for itself, so that it ends by its own account and not by being dropped.
fn margin(remaining: Duration) -> Duration {
    (remaining / 20).min(Duration::from_millis(250))
}

/// A counterset that is missing is looked for again after so many collections.
const POLLS_BETWEEN_SEARCHES: u64 = 20;
/// Countersets that may let their time pass in one collection; the search goes on in the next one.
const STALLS_MAX: u32 = 3;
const SMB_PORT: u16 = 445;
