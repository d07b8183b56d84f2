//! The sets of one category, read over an object that is kept.

use std::time::Duration;

use counter_types::NamePattern;
use dcom_runtime::Object;
use host_session::{Recovery, SessionError, Target};
use ms_pla::IDataCollectorSetCollection;
use ms_pla::collection::Collection as _;
use plugin_sdk::{Collection, Failure, Stage};
use plugin_session::{AttemptError, KeptConnection as _, ObjectConnection, Pause, Retry, TransportSettings};
use tokio::time::Instant;

use super::super::category::CategoryWord;
use super::super::host_set::HostSet;
use super::super::list::{Listed, Which, list};
use super::super::service::collection_service;
use crate::model::clean;
use crate::reasons::SET_NOT_READ;

/// The sets of one category.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) category: CategoryWord,
    pub(super) names: Vec<NamePattern>,
    pub(super) refresh: Duration,
    pub(super) connection: ObjectConnection,
    pub(super) refreshed: Option<Instant>,
    pub(super) pause: Pause,
    /// Why the sets could not be read the last time.
    pub(super) failure: Option<Failure>,
    pub(super) sets: Vec<HostSet>,
    /// Readings one after another in which something was missing.
    incomplete: u32,
    /// Whether the host answered in this collection.
    pub(super) has_answered: bool,
}

impl Reader {
    pub(super) fn new(category: CategoryWord, target: &Target, transport: &TransportSettings) -> Self {
        let service = collection_service(category.category());
        // [MS-PLA] 2.1: the host may act as the account.
        let connection =
            ObjectConnection::new(target.clone(), service, transport.clone()).permit_impersonation();
        Self {
            category,
            names: Vec::new(),
            refresh: Duration::ZERO,
            connection,
            refreshed: None,
            pause: Pause::default(),
            failure: None,
            sets: Vec::new(),
            incomplete: 0,
            has_answered: false,
        }
    }

    /// Reads the sets if that is due. Returns whether a set became another one.
    pub(super) async fn step(&mut self, collection: &Collection, deadline: Instant) -> bool {
        self.has_answered = false;
        let is_due = self.refreshed.is_none_or(|at| at.elapsed() >= self.refresh);
        if !is_due {
            self.keep_alive(deadline).await;
            return false;
        }
        if !self.pause.is_over() {
            return false;
        }
        match self.read(collection, deadline).await {
            Ok((listed, unread)) => {
                (self.pause, self.refreshed, self.has_answered) =
                    (Pause::default(), Some(Instant::now()), true);
                self.take(listed, unread)
            }
            Err(failure) => {
                if self.failure.as_ref().is_none_or(|before| before.reason != failure.reason) {
                    let (category, problem) = (self.category.as_str(), &failure.message);
                    tracing::warn!(
                        category,
                        problem,
                        "The sets of the host cannot be read; earlier ones hold"
                    );
                }
                for set in &mut self.sets {
                    set.problem = Some(failure.message.clone());
                }
                self.pause.extend();
                (self.refreshed, self.failure) = (None, Some(failure));
                false
            }
        }
    }

    /// Takes what was read. Returns whether a set became another one.
    fn take(&mut self, listed: Vec<Result<HostSet, (String, String)>>, unread: Option<String>) -> bool {
        let before = std::mem::take(&mut self.sets);
        let mut problem = unread;
        for one in listed {
            match one {
                Ok(set) => self.sets.push(set),
                Err((name, why)) => {
                    problem.get_or_insert_with(|| format!("set `{name}`: {why}"));
                    tracing::warn!(set = name, problem = why, "A set of the host cannot be read");
                    let known = before.iter().find(|set| set.set.name == clean(&name));
                    self.sets.extend(known.map(|set| HostSet { problem: Some(why), ..set.clone() }));
                }
            }
        }
        self.failure = problem.map(|text| Failure::new(Stage::Query, SET_NOT_READ, text));
        self.incomplete = if self.failure.is_some() { self.incomplete + 1 } else { 0 };
        if self.incomplete >= INCOMPLETE_MAX {
            // A right that was granted counts from the next logon on.
            self.connection.close(Recovery::Connection);
            self.incomplete = 0;
        }
        for set in &mut self.sets {
            match before.iter().find(|known| known.set.name == set.set.name) {
                Some(known) => set.is_admitted = known.is_admitted,
                None => set.tell_problems(),
            }
        }
        before.iter().map(|known| &known.set).ne(self.sets.iter().map(|set| &set.set))
    }

    /// Reads all sets, over the kept object or another one if that is lost.
    async fn read(&mut self, collection: &Collection, deadline: Instant) -> Result<Read, Failure> {
        let was_kept = self.connection.missing() == Recovery::Nothing;
        match self.attempt(collection, deadline).await {
            Ok(read) => Ok(read),
            Err(AttemptError { retry, .. })
                if was_kept && retry != Retry::Never && Instant::now() < deadline =>
            {
                self.connection.close(Recovery::Connection);
                self.attempt(collection, deadline).await.map_err(|error| error.failure)
            }
            Err(error) => Err(error.failure),
        }
    }

    async fn attempt(&mut self, collection: &Collection, deadline: Instant) -> Result<Read, AttemptError> {
        let mut object = self.connection.take(collection, deadline).await?;
        let timer = object.start_stage(host_session::Stage::Query);
        let names = &self.names;
        let is_wanted = |name: &str| names.iter().any(|pattern| pattern.matches(&clean(name)));
        let is_all = names.iter().any(|pattern| pattern.as_str() == "*");
        let which = if is_all { Which::All } else { Which::Named(&is_wanted) };
        let mut sets = Vec::new();
        let take = |listed: Listed| {
            sets.push(HostSet::new(&listed).map_err(|why| (listed.name.clone(), why.to_owned())));
        };
        let read = list(&mut object, which, take, deadline).await;
        let report = object.stop_stage(timer);
        collection.stages().add(report.calls, report.received_bytes, report.sent_bytes);
        match read {
            Ok(unread) => {
                self.connection.put_back(object);
                Ok((sets, unread))
            }
            Err(error) => Err(self.connection.fail(object, &error)),
        }
    }

    /// Pings the kept object if that is due, so that the next reading needs no logon.
    async fn keep_alive(&mut self, deadline: Instant) {
        if let Some(mut object) = self.connection.take_kept()
            && object.keep_alive(deadline).await.is_ok()
        {
            self.connection.put_back(object);
        }
    }

    /// Whether the kept object answers.
    pub(super) async fn ask(&mut self, collection: &Collection, deadline: Instant) -> bool {
        let Some(mut object) = self.connection.take_kept() else { return false };
        collection.enter(Stage::Query);
        let answered = count(&mut object, deadline).await;
        if answered.is_ok() {
            self.connection.put_back(object);
        }
        answered.is_ok()
    }
}

/// Sets, each with the reason if it was not read, and why others are missing.
type Read = (Vec<Result<HostSet, (String, String)>>, Option<String>);

async fn count(object: &mut Object, deadline: Instant) -> Result<(), SessionError> {
    let mut proxy = object.proxy::<IDataCollectorSetCollection>(deadline).await?;
    let counted = proxy.call(&IDataCollectorSetCollection::count()).await.map(drop);
    counted.map_err(|error| object.error_of(&error))
}

/// Incomplete readings before another logon.
const INCOMPLETE_MAX: u32 = 20;
