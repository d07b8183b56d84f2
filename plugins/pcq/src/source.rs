//! One collection, from whatever state the last one left.

use std::time::Duration;

use ms_dtyp::Win32Error;
use ms_pcq::perflibv2::CounterData;
use ms_pcq::wire::Body;
use plugin_sdk::{
    Collection, Coverage, Failure, FamilyId, GeneralReason, Output, Problem, Setup, Source, Stage, Target,
};
use tokio::time::Instant;
use windows_session::Session;

use crate::catalog::{Catalog, Lookup};
use crate::config::{self, Settings, Wanted};
use crate::link::{Broken, Link, Standing};
use crate::missing::{self, Missing, Why};
use crate::polled::Polled;
use crate::query::{Addition, OpenQuery, Refusal};

/// The performance counters of one host.
#[derive(Debug)]
pub struct PcqSource {
    link: Link,
    wanted: Vec<Wanted>,
    catalog: Catalog,
    /// By wanted counterset; `None` until the host was asked about it.
    polled: Vec<Option<Polled>>,
    /// Of earlier settings; their series have to be ended.
    outdated: Vec<Polled>,
    /// INVARIANT: there is one only while the link stands up to the interface.
    query: Option<OpenQuery>,
    /// Whether `query` is not what the settings want any more.
    is_query_outdated: bool,
    /// What the open query could not be given.
    missing: Vec<Missing>,
    polls: u64,
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
        let target = windows_session::Target::new(host, port.unwrap_or(SMB_PORT));
        Ok(Self {
            link: Link::new(target, setup.settings.transport),
            polled: wanted.iter().map(|_| None).collect(),
            wanted,
            catalog: Catalog::default(),
            outdated: Vec::new(),
            query: None,
            is_query_outdated: false,
            missing: Vec::new(),
            polls: 0,
        })
    }

    fn reconfigure(&mut self, settings: Settings) {
        // Per the calling order of a source the settings were checked; those that are wrong change nothing.
        let Ok(wanted) = config::compile(&settings) else { return };
        self.outdated.extend(self.polled.drain(..).flatten());
        self.polled.extend(wanted.iter().map(|_| None));
        self.wanted = wanted;
        self.is_query_outdated = true;
        self.link.reconfigure(settings.transport);
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        let deadline = Instant::from_std(collection.deadline()) - margin(collection.remaining());
        self.outdated.drain(..).for_each(|mut polled| polled.clear(collection.output()));
        loop {
            let stood = self.standing();
            let Broken { failure, left } = match self.attempt(collection, deadline).await {
                Ok(coverage) => return Ok(coverage),
                Err(broken) => broken,
            };
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

type PcqError = ms_pcq::Error<rpc_client::Error>;
type Client<'a> = ms_pcq::perflibv2::PerflibV2Client<rpc_client::Interface<'a, rpc_client::NamedPipe>>;

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
        }
        let mut line = self.link.take(collection, deadline).await?;
        collection.enter(Stage::Query);
        let timer = line.session().start_stage(windows_session::Stage::Query);
        let fetched = self.fetch(line.session(), collection.output(), deadline).await;
        let report = line.session().stop_stage(timer);
        collection.stages().add(report.calls, report.received_bytes, report.sent_bytes);
        let data = match fetched {
            Ok(data) => data,
            Err(Stop::Missing) => {
                self.link.put_back(line);
                return Err(missing::explain(&self.missing, &self.wanted).into());
            }
            Err(Stop::Call(error)) => {
                let error = line.session().error(&error);
                return Err(self.link.fail(line, &error, collection, deadline).await);
            }
        };
        self.link.put_back(line);
        collection.enter(Stage::Decode);
        self.emit(&data, collection.output())
    }

    /// Opens the query where there is none, and fetches.
    async fn fetch(
        &mut self,
        session: &mut Session,
        output: &mut Output,
        deadline: Instant,
    ) -> Result<CounterData, Stop> {
        let mut client = session.perflib(deadline);
        self.polls += 1;
        if !self.missing.is_empty() && self.polls.is_multiple_of(POLLS_BETWEEN_SEARCHES) {
            self.catalog.forget_enumeration();
            self.is_query_outdated = true;
        }
        if let Some(query) = self.query.take_if(|_| self.is_query_outdated) {
            query.close(&mut client).await?;
        }
        let mut query = match self.query.take() {
            Some(query) => query,
            None => self.open(&mut client, output).await?,
        };
        self.is_query_outdated = false;
        match query.fetch(&mut client).await {
            Ok(data) => {
                self.query = Some(query);
                Ok(data)
            }
            Err(error) => Err(abandon(query, &mut client, error).await),
        }
    }

    /// Opens a query with all countersets that the host has.
    async fn open(&mut self, client: &mut Client<'_>, output: &mut Output) -> Result<OpenQuery, Stop> {
        let additions = self.search(client, output).await?;
        if additions.is_empty() {
            return Err(Stop::Missing);
        }
        let mut query = OpenQuery::open(client).await?;
        let refusals = match query.fill(client, &additions).await {
            Ok(refusals) => refusals,
            Err(error) => return Err(abandon(query, client, error).await),
        };
        let refused = |Refusal { wanted, status }| Missing { wanted, why: Why::Refused(status) };
        self.missing.extend(refusals.into_iter().map(refused));
        if query.is_empty() {
            query.close(client).await?;
            return Err(Stop::Missing);
        }
        Ok(query)
    }

    /// Finds the wanted countersets, as far as the host has them; notes the others.
    async fn search(
        &mut self,
        client: &mut Client<'_>,
        output: &mut Output,
    ) -> Result<Vec<Addition>, PcqError> {
        self.missing.clear();
        let mut additions = Vec::new();
        for (index, (wanted, place)) in self.wanted.iter().zip(&mut self.polled).enumerate() {
            let why = match self.catalog.find(client, &wanted.name).await? {
                Lookup::Found(counterset) => {
                    place.get_or_insert_with(|| Polled::new(counterset, wanted, output));
                    let (guid, instance_type) = (counterset.guid, counterset.instance_type);
                    additions.push(Addition { wanted: index, guid, instance_type });
                    continue;
                }
                Lookup::Unknown => Why::Unknown,
                Lookup::Refused(status) => Why::Refused(status),
                Lookup::Malformed(reason) => Why::Malformed(reason),
            };
            self.missing.push(Missing { wanted: index, why });
        }
        Ok(additions)
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
                    missing.push(Missing { wanted, why: Why::Malformed(error.to_string()) });
                }
            }
        }
        self.coverage(&covered, &missing)
    }

    fn coverage(&self, covered: &[bool], missing: &[Missing]) -> Result<Coverage, Broken> {
        if missing.is_empty() && covered.iter().all(|covered| *covered) {
            return Ok(Coverage::Full);
        }
        let failure = missing::explain(missing, &self.wanted);
        let there = self.polled.iter().zip(covered).filter(|(_, covered)| **covered);
        let families: Vec<FamilyId> =
            there.filter_map(|(polled, _)| polled.as_ref()).flat_map(Polled::families).collect();
        if families.is_empty() {
            Err(failure.into())
        } else {
            Ok(Coverage::Partial { families, failure: Some(failure) })
        }
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
const SMB_PORT: u16 = 445;
