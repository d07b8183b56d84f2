//! One collection, from any state after the last one.

use std::time::Duration;

use counter_poll::over_host::{PcqError, PerflibSession as _};
use counter_poll::{FetchError, OpenQuery, Seen, SelectionPoller, WELL_KNOWN, clocks_of};
use counters::pcq::perflibv2::CounterData;
use counters::rrp::RegisteredCounterSets;
use host_session::Recovery;
use plugin_sdk::{
    Collection, Coverage, DeclaredReason, Failure, FamilyId, FamilyKey, GeneralReason, Output, Problem,
    Reason, Selects, Setup, Source, Stage, Target, Transport,
};
use plugin_session::{
    AttemptError, Backoff, HostConnection, HostSource, KeptConnection as _, OpenSession, Retry, failure_of,
};
use tokio::time::Instant;
use wire::Guid;

use super::missing::{Unlisted, explain_missing};
use crate::classic::Classic;
use crate::config::{self, Settings};
use crate::host_info::{HostInfo, ReplyClocks};
use crate::notes::Notes;
use crate::series::{ExporterIds, unknown_types};
use crate::{PERFLIB, REGISTRY};

/// The performance counters of one host.
#[derive(Debug)]
pub(crate) struct PcqSource {
    connection: HostConnection<OpenQuery>,
    poller: SelectionPoller<ExporterIds>,
    registry: Registry,
    classic: Classic,
    notes: Notes,
    host_info: HostInfo,
    /// Since when the host is known not to have the interface of version 2. Every Windows has it; Samba has classic objects alone.
    lacks_perflib_since: Option<Duration>,
    /// That it has not was told.
    is_lack_told: bool,
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
        // Without a host only the settings are checked.
        if target.identity.is_empty() && !target.host.is_empty() {
            problems.push(Problem::new(Problem::NO_IDENTITY, "the host asks who logs on"));
        }
        problems
    }

    fn selects(settings: &Settings, family: &FamilyKey) -> Selects {
        config::selects(settings, family)
    }

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        let wanted = config::compile(&setup.settings)?;
        let language = config::language(&setup.settings);
        let facts = config::facts(&setup.settings);
        let Target { host, port, .. } = setup.target;
        let target = host_session::Target::new(host, port.unwrap_or(SMB_PORT));
        Ok(Self {
            connection: HostConnection::new(target, PERFLIB, setup.settings.transport),
            poller: SelectionPoller::new(wanted, language),
            registry: Registry::default(),
            classic: Classic::default(),
            notes: Notes::default(),
            host_info: HostInfo::new(facts),
            lacks_perflib_since: None,
            is_lack_told: false,
        })
    }

    fn reconfigure(&mut self, settings: Settings) {
        // Per the calling order of a source the settings were checked before; invalid ones change nothing.
        let Ok(wanted) = config::compile(&settings) else { return };
        self.poller.select(wanted, config::language(&settings));
        self.registry.forget();
        self.classic.forget();
        self.notes.forget();
        self.host_info.select(config::facts(&settings));
        self.connection.reconfigure(settings.transport);
        self.ask_for_perflib();
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        self.poller.begin(collection.began(), collection.output());
        self.notes.end_outdated(collection.output());
        self.host_info.begin(collection.output());
        plugin_session::collect(self, collection).await
    }
}

impl HostSource for PcqSource {
    type Connection = HostConnection<OpenQuery>;

    fn connection(&mut self) -> &mut HostConnection<OpenQuery> {
        &mut self.connection
    }

    async fn attempt(
        &mut self,
        collection: &mut Collection,
        deadline: Instant,
    ) -> Result<Coverage, AttemptError> {
        if self.connection.take_was_away() {
            self.forget_failures();
        }
        if self.connection.missing() == Recovery::Connection {
            self.poller.lose_connection();
            self.host_info.lose_connection();
        }
        let began = collection.began();
        if self.lacks_perflib_since.is_some_and(|since| began.saturating_sub(since) >= LACK_BELIEVED) {
            self.ask_for_perflib();
        }
        let stalls = self.poller.stalls_met();
        let mut open = match self.connection.take(collection, deadline).await {
            Err(error) if self.lacks_perflib_since.is_none() && is_without_perflib(&error.failure) => {
                self.lacks_perflib_since = Some(began);
                self.lack_perflib(&error.failure);
                self.connection.take(collection, deadline).await?
            }
            taken => taken?,
        };
        if self.lacks_perflib_since.is_none() && std::mem::take(&mut self.is_lack_told) {
            tracing::info!("Host has counters of version 2 again");
        }
        let mut timer = open.begin_calls(collection);
        let mut enumerated = self.enumerate(&mut open, collection, deadline).await;
        if enumerated.is_ok() && !open.is_connected() {
            // The host closed the connection because of the registry; its next read is delayed.
            drop(open);
            open = self.connection.take(collection, deadline).await?;
            timer = open.begin_calls(collection);
            self.poller.forget_enumeration();
            enumerated = self.enumerate(&mut open, collection, deadline).await;
        }
        let mut call = None;
        let fetched = match enumerated {
            Ok(()) => {
                let (session, query) = open.parts();
                let mut client = session.perflib(deadline);
                let fetched = self.poller.fetch(&mut client, query, collection.output()).await;
                // A reply is the answer of the last call.
                call = client.channel().last_call();
                fetched
            }
            Err(error) => Err(error.into()),
        };
        open.end_calls(timer, collection);
        let data = match fetched {
            Ok(data) => Some(data),
            Err(FetchError::Missing) => None,
            Err(FetchError::Call(error)) => {
                let error = open.session().error(&error);
                if self.poller.stalls_met() > stalls {
                    // One provider hangs, but the host does not: the other countersets are read over another pipe.
                    self.connection.put_back(open);
                    let retry =
                        if stalls < STALLS_MAX { Retry::Always } else { Retry::IfLost }(Recovery::Pipe);
                    return Err(AttemptError { failure: failure_of(&error), retry });
                }
                return Err(self.connection.fail(open, &error, collection, deadline).await);
            }
        };
        let classic = if self.poller.wants_classic() {
            collection.enter(Stage::Query);
            self.classic.fetch(&mut self.poller, &mut open, collection, deadline).await
        } else {
            Ok(())
        };
        let is_pipe_new = self.host_info.refresh(&mut open, collection, deadline).await;
        let has_values = data.is_some() || self.poller.wants_classic() && classic.is_ok();
        if let Err(lost) = open.check_connected(has_values) {
            self.classic.retry();
            self.host_info.retry();
            return Err(lost);
        }
        if is_pipe_new {
            self.classic.lose_key();
        }
        collection.enter(Stage::Decode);
        let clocks = data.as_ref().map(|data| clocks_of(data.data().header()));
        let reply = clocks.zip(call).map(|(clocks, call)| ReplyClocks { clocks, call });
        let reply = reply.or(self.classic.take_clocks());
        self.host_info.emit(reply, collection.output());
        let data = data.as_ref().zip(open.handles().as_ref());
        let emitted = self.emit(data, classic, collection.output()).await;
        if open.is_connected() {
            self.connection.put_back(open);
        }
        Ok(emitted?)
    }
}

impl PcqSource {
    /// Forgets what the host did not answer or refused.
    fn forget_failures(&mut self) {
        self.poller.forget_stalls();
        self.registry.forget();
        self.classic.forget();
        self.host_info.forget();
        self.ask_for_perflib();
    }

    /// The host may have the interface of version 2 by now.
    fn ask_for_perflib(&mut self) {
        if self.lacks_perflib_since.take().is_some() {
            self.connection.use_service(PERFLIB);
            self.poller.forget_enumeration();
        }
    }

    /// Goes on without the interface of version 2.
    fn lack_perflib(&mut self, failure: &Failure) {
        self.connection.use_service(REGISTRY);
        self.poller.forget_enumeration();
        if !std::mem::replace(&mut self.is_lack_told, true) {
            tracing::warn!(
                problem = failure.message,
                next_step = "see whether it is a Windows host",
                "Host has no counters of version 2; classic objects are read"
            );
        }
    }

    /// Lists the host's countersets if it is time to do so. If there are more than the 256 that PCQ can list, reads
    /// them from its registry.
    async fn enumerate(
        &mut self,
        open: &mut OpenSession<OpenQuery>,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<(), PcqError> {
        if !self.poller.needs_enumeration() {
            return Ok(());
        }
        if self.lacks_perflib_since.is_some() {
            self.poller.enumerated(Vec::new(), None);
            return Ok(());
        }
        let (guids, unlisted) = match open.session().perflib(deadline).enumerate_counter_set().await {
            Ok(guids) => (guids, None),
            Err(counters::pcq::Error::LimitExceeded { .. }) => {
                let read = self.registry.read(open, collection, deadline).await;
                collection.enter(Stage::Query);
                match read {
                    Ok(Listed { guids, unlisted }) => (guids, unlisted),
                    Err(failure) => (WELL_KNOWN.to_vec(), Some(failure)),
                }
            }
            Err(error) => return Err(error),
        };
        self.poller.enumerated(guids, unlisted.map(Unlisted));
        Ok(())
    }

    /// Sends the values of the reply.
    async fn emit(
        &mut self,
        data: Option<(&CounterData, &OpenQuery)>,
        classic: Result<(), Failure>,
        output: &mut Output,
    ) -> Result<Coverage, Failure> {
        let seen = self.poller.emit(data, classic.map_err(Unlisted), output).await;
        for (counterset, poller) in self.poller.covered(&seen) {
            if poller.shows_any() {
                self.notes.report_provider(&counterset.name, counterset.provider, output);
            }
            self.notes.report(&counterset.name, poller.left_out(), unknown_types(counterset), output);
        }
        self.notes.report_absent(&seen.absent, &seen.missing, output);
        self.notes.report_choices(
            self.poller.choices().filter_map(|(wanted, taken)| Some((self.poller.label(wanted)?, taken))),
        );
        self.coverage(&seen)
    }

    fn coverage(&self, seen: &Seen<Unlisted>) -> Result<Coverage, Failure> {
        if seen.is_complete() {
            return Ok(Coverage::Full);
        }
        let failure = explain_missing(&seen.missing);
        let covered = self.poller.covered(seen);
        let mut families: Vec<FamilyId> = covered.flat_map(|(_, poller)| poller.families()).collect();
        if families.is_empty() {
            return Err(failure);
        }
        families.extend(self.notes.families());
        families.extend(self.host_info.families());
        Ok(Coverage::Partial { families, failure: Some(failure) })
    }
}

/// Whether a host refused the interface and nothing else.
fn is_without_perflib(failure: &Failure) -> bool {
    (failure.stage, failure.reason) == (Stage::Bind, Reason::General(GeneralReason::NotFound))
}

/// After this time a host that lacked the interface is asked again: its service may have been starting.
const LACK_BELIEVED: Duration = Duration::from_secs(600);

/// Maximum countersets that may time out in one collection; the search continues in the next one.
const STALLS_MAX: u32 = 3;
const SMB_PORT: u16 = 445;

// The countersets of a host with more of them than PCQ can list. They are read from its registry.
//
// This needs another pipe and another logon, which the host may refuse. So after a failure the registry is not
// read for a while, even over a new connection. This avoids repeated logons for a list that the
// host does not return.

/// Reads the list, and delays the next attempt after failures.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    backoff: Backoff,
}

/// The countersets in the registry.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) guids: Vec<Guid>,
    /// Why there may be more countersets.
    pub(crate) unlisted: Option<Failure>,
}

impl Registry {
    /// Reads the list over `open`.
    ///
    /// # Errors If the host does not return it, or recently did not. The connection may be lost then.
    pub(crate) async fn read<H>(
        &mut self,
        open: &mut OpenSession<H>,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<Listed, Failure> {
        self.backoff.begin(collection.began())?;
        match list(open, collection, share(deadline)).await {
            Ok(registered) => {
                self.backoff.succeeded();
                let hidden = registered.denied_providers;
                let message =
                    format!("the host's registry hides the countersets of {hidden} providers from us");
                let unlisted = Failure::new(Stage::Query, GeneralReason::AccessDenied, message);
                Ok(Listed { guids: registered.counter_sets, unlisted: (hidden > 0).then_some(unlisted) })
            }
            Err(why) => {
                self.backoff.fail(collection.began(), &why);
                tracing::warn!(
                    error = %why.message,
                    next_attempt_in_s = self.backoff.left(collection.began()).as_secs(),
                    "Host has more countersets than it can list, and its registry does not list them; only \
                     well-known ones and those with a guid in the settings are found"
                );
                Err(why)
            }
        }
    }

    /// Drops the record of failures: their cause may have been removed.
    pub(crate) fn forget(&mut self) {
        self.backoff.forget();
    }
}

/// The countersets in the registry of the host. This is a logon, too, so it needs a lease.
async fn list<H>(
    open: &mut OpenSession<H>,
    collection: &Collection,
    deadline: Instant,
) -> Result<RegisteredCounterSets, Failure> {
    let lease = open.lease(collection, deadline).await?;
    let listed = counter_poll::over_host::registered_counter_sets(open.session(), deadline).await;
    lease.settle(&listed);
    listed.map_err(|error| failure_of(&error))
}

/// The share of a collection's time for the list; the rest is for the values of known countersets.
fn share(deadline: Instant) -> Instant {
    let now = Instant::now();
    now + deadline.saturating_duration_since(now) * 3 / 4
}
