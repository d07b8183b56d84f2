//! One collection, from whatever state the last one left.

use std::sync::Arc;
use std::time::Duration;

use dcerpc::Channel;
use ms_dtyp::Win32Error;
use ms_pcq::perflibv2::{CounterData, PerflibV2Client};
use ms_pcq::wire::Body;
use ms_smb2::client::Encryption as SmbEncryption;
use plugin_sdk::{
    Collection, Coverage, Credential, Failure, FamilyId, GeneralReason, Output, Problem, Setup, Source,
    Stage, Target,
};
use ssp::{Credentials, Secret};
use tokio::time::Instant;
use transport::{Connector, TcpConnector};
use windows_session::{Options, Reached, Recovery, Session, SessionError};

use crate::catalog::Catalog;
use crate::config::{self, Encryption, Settings, TransportSettings, Wanted};
use crate::failure;
use crate::polled::Polled;
use crate::query::{Addition, OpenQuery, Refusal};

/// The performance counters of one host.
#[derive(Debug)]
pub struct PcqSource {
    target: windows_session::Target,
    connector: Arc<TcpConnector>,
    transport: TransportSettings,
    wanted: Vec<Wanted>,
    catalog: Catalog,
    /// By wanted counterset; `None` until the host was asked about it.
    polled: Vec<Option<Polled>>,
    session: Option<Session>,
    query: Option<OpenQuery>,
    /// What the open query could not be given.
    missing: Vec<Missing>,
    polls: u64,
}

/// A counterset that the host does not have now.
#[derive(Clone, Copy, Debug)]
struct Missing {
    wanted: usize,
    why: Why,
}

#[derive(Clone, Copy, Debug)]
enum Why {
    /// No counterset has this name.
    Unknown,
    /// The host answered with this status.
    Refused(Win32Error),
    /// What the host sent of it cannot be believed.
    Malformed,
}

impl Source for PcqSource {
    const NAME: &'static str = "pcq";
    const HELP: &'static str = "Performance counters of a Windows host over its remote registry pipe";
    type Settings = Settings;

    fn check(settings: &Settings, _target: &Target) -> Vec<Problem> {
        config::compile(settings).err().unwrap_or_default()
    }

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        let wanted = config::compile(&setup.settings)?;
        let Target { host, port, .. } = setup.target;
        Ok(Self {
            target: windows_session::Target::new(host, port.unwrap_or(SMB_PORT)),
            connector: Arc::default(),
            transport: setup.settings.transport,
            polled: wanted.iter().map(|_| None).collect(),
            wanted,
            catalog: Catalog::default(),
            session: None,
            query: None,
            missing: Vec::new(),
            polls: 0,
        })
    }

    fn reconfigure(&mut self, settings: Settings) {
        // Per the calling order of a source the settings were checked; those that are wrong change nothing.
        let Ok(wanted) = config::compile(&settings) else { return };
        self.polled = wanted.iter().map(|_| None).collect();
        self.wanted = wanted;
        self.transport = settings.transport;
        self.query = None;
        self.session = None;
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        let deadline = Instant::from_std(collection.deadline()) - margin(collection.remaining());
        for rebuilt in 0..=REBUILDS_MAX {
            // Only what was kept from an earlier collection may have been lost meanwhile; what fails right
            // after it was built will fail again.
            let kept = if self.query.is_some() { Kept::Query } else { Kept::from(self.session.is_some()) };
            match self.attempt(collection, deadline).await {
                Ok(coverage) => return Ok(coverage),
                Err(error) => {
                    self.give_up(error.recovery);
                    if kept == Kept::Nothing || rebuilt == REBUILDS_MAX || error.recovery == Recovery::Nothing
                    {
                        return Err(error.failure);
                    }
                    tracing::debug!(error = %error.failure.message, "Building anew what was lost");
                }
            }
        }
        Err(Failure::new(Stage::Plugin, GeneralReason::Internal, "the attempts ended without an outcome"))
    }
}

type PcqError = ms_pcq::Error<rpc_client::Error>;

/// What an attempt began with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Nothing,
    Session,
    Query,
}

impl From<bool> for Kept {
    fn from(session: bool) -> Self {
        if session { Self::Session } else { Self::Nothing }
    }
}

/// Why an attempt failed and what it leaves.
struct Broken {
    failure: Failure,
    recovery: Recovery,
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self { failure, recovery: Recovery::Nothing }
    }
}

impl From<SessionError> for Broken {
    fn from(error: SessionError) -> Self {
        Self { failure: failure::of_session(&error), recovery: error.recovery }
    }
}

impl PcqSource {
    async fn attempt(&mut self, collection: &mut Collection, deadline: Instant) -> Result<Coverage, Broken> {
        let mut session = match self.session.take().filter(Session::is_usable) {
            Some(session) => session,
            None => {
                self.query = None;
                self.catalog.forget_enumeration();
                self.connect(collection, deadline).await?
            }
        };
        collection.enter(Stage::Query);
        let timer = session.start_stage(windows_session::Stage::Query);
        let fetched = self.fetch(&mut session, collection.output(), deadline).await;
        let report = session.stop_stage(timer);
        collection.stages().add(report.calls, report.received_bytes, report.sent_bytes);
        // An error that leaves the connection standing keeps it; `give_up` decides about the rest.
        let fetched = fetched.map_err(|error| session.error(&error));
        self.session = Some(session);
        let data = fetched?;
        collection.enter(Stage::Decode);
        self.emit(&data, collection.output())
    }

    /// Connects, and asks for the secret only when the host has answered: one that does not must not keep the
    /// secret from others.
    async fn connect(&mut self, collection: &Collection, deadline: Instant) -> Result<Session, Broken> {
        let failed = |error: SessionError| {
            failure::account(collection, &error.stages);
            Broken::from(error)
        };
        let connector: &dyn Connector = &*self.connector;
        let reached = Reached::connect(self.target.clone(), self.options(), connector, deadline).await;
        let reached = reached.map_err(failed)?;
        let waiting_since = Instant::now();
        let credential = match lease(collection, deadline).await {
            Ok(credential) => credential,
            Err(withheld) => {
                failure::account(collection, reached.stages());
                return Err(withheld.into());
            }
        };
        collection.stages().account(Stage::Auth, waiting_since.elapsed(), 0, 0, 0);
        let credentials =
            Credentials::new(credential.domain(), credential.username(), Secret::new(credential.password()));
        let logged_on = match reached.log_on(credentials, deadline).await {
            Ok(logged_on) => logged_on,
            Err(error) => {
                failure::judge(credential, error.verdict());
                return Err(failed(error));
            }
        };
        credential.accepted();
        let session = logged_on.open(deadline).await.map_err(failed)?;
        failure::account(collection, session.stages());
        Ok(session)
    }

    fn options(&self) -> Options {
        let mut options = Options { connect_timeout: self.transport.connect_timeout(), ..Options::default() };
        options.smb.encryption = match self.transport.smb.encryption {
            Encryption::Disabled => SmbEncryption::Disabled,
            Encryption::Preferred => SmbEncryption::Preferred,
            Encryption::Required => SmbEncryption::Required,
        };
        options
    }

    /// Opens the query where there is none, and fetches.
    async fn fetch(
        &mut self,
        session: &mut Session,
        output: &mut Output,
        deadline: Instant,
    ) -> Result<CounterData, PcqError> {
        let mut client = session.perflib(deadline);
        self.polls += 1;
        let mut query = match self.query.take() {
            Some(query) => query,
            None => OpenQuery::open(&mut client).await?,
        };
        let mut added = Ok(());
        if !query.is_filled()
            || (!self.missing.is_empty() && self.polls.is_multiple_of(POLLS_BETWEEN_SEARCHES))
        {
            added = self.add_missing(&mut query, &mut client, output).await;
        }
        let fetched = match added {
            Ok(()) => query.fetch(&mut client).await,
            Err(error) => Err(error),
        };
        // What an error takes with it `give_up` drops; a query that is alive must not be opened twice.
        self.query = Some(query);
        fetched
    }

    /// Adds the wanted countersets that the query does not hold, as far as the host has them.
    async fn add_missing<C: Channel>(
        &mut self,
        query: &mut OpenQuery,
        client: &mut PerflibV2Client<C>,
        output: &mut Output,
    ) -> Result<(), ms_pcq::Error<C::Error>> {
        let mut missing = Vec::new();
        let mut additions = Vec::new();
        for (index, wanted) in self.wanted.iter().enumerate().filter(|(index, _)| !query.holds(*index)) {
            let Some(counterset) = self.catalog.find(client, &wanted.name).await? else {
                missing.push(Missing { wanted: index, why: Why::Unknown });
                continue;
            };
            if let Some(polled) = self.polled.get_mut(index) {
                polled.get_or_insert_with(|| Polled::new(counterset, wanted, output));
            }
            let (guid, instance_type) = (counterset.guid, counterset.instance_type);
            additions.push(Addition { wanted: index, guid, instance_type });
        }
        for Refusal { wanted, status } in query.add(client, &additions).await? {
            missing.push(Missing { wanted, why: Why::Refused(status) });
        }
        self.missing = missing;
        Ok(())
    }

    /// Sends what the reply holds.
    fn emit(&mut self, data: &CounterData, output: &mut Output) -> Result<Coverage, Broken> {
        let data = data.data();
        let mut covered = vec![false; self.wanted.len()];
        let mut missing = self.missing.clone();
        let Some(query) = &self.query else {
            return Err(
                Failure::new(Stage::Plugin, GeneralReason::Internal, "a reply without a query").into()
            );
        };
        for (index, block) in data.blocks().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let Some(wanted) = query.wanted_of(index) else { continue };
            let (Some(Some(polled)), Some(settings)) = (self.polled.get_mut(wanted), self.wanted.get(wanted))
            else {
                continue;
            };
            match block {
                Ok(block) if block.status == Win32Error::ERROR_NO_DATA => {
                    polled.clear(output);
                    covered[wanted] = true;
                }
                Ok(block) if matches!(block.body, Body::ErrorReturn) => {
                    missing.push(Missing { wanted, why: Why::Refused(block.status) });
                }
                Ok(block) => {
                    polled.emit(&block, data.header(), &settings.selection, output);
                    covered[wanted] = true;
                }
                Err(error) => {
                    tracing::debug!(counterset = settings.name, %error, "A block cannot be believed");
                    missing.push(Missing { wanted, why: Why::Malformed });
                }
            }
        }
        self.coverage(&covered, &missing)
    }

    fn coverage(&self, covered: &[bool], missing: &[Missing]) -> Result<Coverage, Broken> {
        if missing.is_empty() && covered.iter().all(|covered| *covered) {
            return Ok(Coverage::Full);
        }
        let failure = self.explain(missing);
        let there = self.polled.iter().zip(covered).filter(|(_, covered)| **covered);
        let families: Vec<FamilyId> =
            there.filter_map(|(polled, _)| polled.as_ref()).flat_map(Polled::families).collect();
        if families.is_empty() {
            Err(failure.into())
        } else {
            Ok(Coverage::Partial { families, failure: Some(failure) })
        }
    }

    /// One failure for all countersets that are missing; its reason is that of the first.
    fn explain(&self, missing: &[Missing]) -> Failure {
        let sentence = |missing: &Missing| {
            let name = self.wanted.get(missing.wanted).map_or("", |wanted| wanted.name.as_str());
            match missing.why {
                Why::Unknown => format!("the host has no counterset `{name}`"),
                Why::Refused(status) => format!("counterset `{name}`: {status}"),
                Why::Malformed => format!("counterset `{name}`: its values cannot be read"),
            }
        };
        let (stage, reason) = match missing.first().map(|missing| missing.why) {
            Some(Why::Unknown) => (Stage::Query, GeneralReason::NotFound),
            Some(Why::Refused(Win32Error::ERROR_ACCESS_DENIED)) => {
                (Stage::Query, GeneralReason::AccessDenied)
            }
            Some(Why::Refused(_)) => (Stage::Query, GeneralReason::NotFound),
            Some(Why::Malformed) => (Stage::Decode, GeneralReason::MalformedReply),
            None => (Stage::Decode, GeneralReason::MalformedReply),
        };
        let sentences: Vec<String> = missing.iter().map(sentence).collect();
        let message = if sentences.is_empty() {
            "the reply lacks countersets that were asked for".to_owned()
        } else {
            sentences.join("; ")
        };
        Failure::new(stage, reason, message)
    }

    /// Drops what an error has taken with it.
    fn give_up(&mut self, recovery: Recovery) {
        if recovery > Recovery::Nothing {
            self.query = None;
        }
        if recovery > Recovery::Handle {
            self.session = None;
        }
    }
}

/// The secret, or why there is none; another target may be trying it first.
async fn lease(collection: &Collection, deadline: Instant) -> Result<Credential, Failure> {
    tokio::time::timeout_at(deadline, collection.credential()).await.unwrap_or_else(|_late| {
        let message = "another target tries the secret first and has not been answered";
        Err(Failure::new(Stage::Auth, GeneralReason::Timeout, message))
    })
}

/// What a collection keeps for itself, so that it ends by its own account and not by being dropped.
fn margin(remaining: Duration) -> Duration {
    (remaining / 20).min(Duration::from_millis(250))
}

/// Times that one collection builds anew what it had kept.
const REBUILDS_MAX: u32 = 2;
/// A counterset that is missing is looked for again after so many collections.
const POLLS_BETWEEN_SEARCHES: u64 = 20;
const SMB_PORT: u16 = 445;
