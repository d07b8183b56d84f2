//! The sets of one category, read over an object that is kept.

use std::time::Duration;

use counter_types::NamePattern;
use dcom::client::Object;
use host_session::{Recovery, SessionError, Target};
use ms_pla::IDataCollectorSetCollection;
use ms_pla::collection::Collection as _;
use plugin_sdk::{Collection, Failure, GeneralReason, Stage};
use plugin_session::{
    AttemptError, Backoff, KeptConnection as _, ObjectConnection, Pause, Retry, TransportSettings,
};
use tokio::time::Instant;

use super::super::CategoryWord;
use super::super::collection_service;
use super::super::list::{Which, list};
use super::super::progress::Progress;
use super::known::{Known, Room};
use crate::model::clean;
use crate::reasons::SET_NOT_READ;

/// The sets of one category.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) category: CategoryWord,
    pub(super) names: Vec<NamePattern>,
    pub(super) refresh: Duration,
    pub(super) connection: ObjectConnection,
    /// When the collection began that read the last of all sets; nothing while they are to be read.
    refreshed: Option<Duration>,
    backoff: Backoff,
    /// Why something is missing of the sets.
    pub(super) failure: Option<Failure>,
    pub(super) known: Known,
    progress: Progress,
    /// Whether all sets were read once by the settings of now.
    was_complete: bool,
    /// Whether they are to be read before it is time.
    pub(super) is_stale: bool,
    /// Since when something is missing in each reading over the same logon.
    incomplete_since: Option<Duration>,
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
            backoff: Backoff::default(),
            failure: None,
            known: Known::default(),
            progress: Progress::default(),
            was_complete: false,
            is_stale: false,
            incomplete_since: None,
            has_answered: false,
        }
    }

    /// Reads the sets with the next collection, from the first one on.
    pub(super) fn restart(&mut self) {
        (self.refreshed, self.progress, self.was_complete) = (None, Progress::default(), false);
        self.backoff.forget();
    }

    /// Reads the sets if that is due. Returns whether a set became another one.
    pub(super) async fn step(&mut self, collection: &Collection, room: &Room<'_>, deadline: Instant) -> bool {
        self.has_answered = false;
        let now = collection.began();
        let is_old = |refreshed| now.saturating_sub(refreshed) >= self.refresh;
        let is_due = self.is_stale || self.refreshed.is_none_or(is_old);
        if !is_due {
            self.keep_alive(deadline).await;
            return false;
        }
        if self.backoff.check(now).is_err() {
            return false;
        }
        self.refreshed = None;
        let mut has_changed = false;
        match self.read(collection, room, deadline, &mut has_changed).await {
            Ok(()) => {
                self.has_answered = true;
                self.backoff.succeeded();
                has_changed |= self.end_attempt(now);
            }
            Err(failure) => {
                self.known.fail(&failure.message);
                if !self.known.sets.is_empty() {
                    self.backoff.gave_some();
                }
                self.backoff.fail(now, &failure);
                self.tell(Some(failure));
            }
        }
        has_changed
    }

    /// The host answered all that it was asked. Returns whether sets are gone.
    fn end_attempt(&mut self, now: Duration) -> bool {
        if !self.progress.is_complete() {
            // Until all were read once, some are missing; after that they are a little old.
            if !self.was_complete {
                let said = self.progress.in_the_time();
                let category = self.category.as_str();
                let text = format!(
                    "the host's data collector sets ({category}): {said}; the next collections read the others: raise the \
                     target's `interval` and `deadline`, or write fewer names in `host`"
                );
                self.tell(Some(Failure::new(Stage::Query, GeneralReason::Timeout, text)));
            }
            return false;
        }
        let (problem, are_gone) = self.known.end(self.progress.unread());
        self.renew_logon(problem.is_some(), now);
        let is_cut = self.progress.is_cut();
        self.tell(problem.map(|text| {
            if is_cut {
                Failure::new(Stage::Query, GeneralReason::LimitExceeded, text)
            } else {
                Failure::new(Stage::Query, SET_NOT_READ, text)
            }
        }));
        // What is gone may leave room for what was left out.
        self.is_stale |= are_gone && self.known.is_cut();
        (self.progress, self.was_complete, self.refreshed) = (Progress::default(), true, Some(now));
        are_gone
    }

    /// While something is missing, logs on again now and then: a right that was granted counts from the next logon on.
    fn renew_logon(&mut self, is_incomplete: bool, now: Duration) {
        let since = *self.incomplete_since.get_or_insert(now);
        if !is_incomplete {
            self.incomplete_since = None;
        } else if now.saturating_sub(since) >= Pause::LONGEST {
            self.connection.close(Recovery::Connection);
            self.incomplete_since = Some(now);
        }
    }

    /// Keeps why something is missing, and says when that begins and ends.
    fn tell(&mut self, failure: Option<Failure>) {
        let category = self.category.as_str();
        match (&self.failure, &failure) {
            (before, Some(now)) if before.as_ref().is_none_or(|before| before.reason != now.reason) => {
                let problem = &now.message;
                tracing::warn!(
                    category,
                    problem,
                    "The sets of the host cannot all be read; what was read earlier holds"
                );
            }
            (Some(_), None) => tracing::info!(category, "All sets of the host were read"),
            _ => {}
        }
        self.failure = failure;
    }

    /// Reads sets, over the kept object or another one if that is lost.
    async fn read(
        &mut self,
        collection: &Collection,
        room: &Room<'_>,
        deadline: Instant,
        has_changed: &mut bool,
    ) -> Result<(), Failure> {
        let was_kept = self.connection.missing() == Recovery::Nothing;
        match self.attempt(collection, room, deadline, has_changed).await {
            Ok(()) => Ok(()),
            Err(AttemptError { retry, .. })
                if was_kept && retry != Retry::Never && Instant::now() < deadline =>
            {
                self.connection.close(Recovery::Connection);
                let retried = self.attempt(collection, room, deadline, has_changed).await;
                retried.map_err(|error| error.failure)
            }
            Err(error) => Err(error.failure),
        }
    }

    async fn attempt(
        &mut self,
        collection: &Collection,
        room: &Room<'_>,
        deadline: Instant,
        has_changed: &mut bool,
    ) -> Result<(), AttemptError> {
        if self.connection.missing() != Recovery::Nothing {
            self.progress.forget_list();
        }
        // Before the host is reached: if it cannot be, no set was read.
        if !self.progress.is_filled() {
            self.known.begin();
            self.is_stale = false;
        }
        let mut object = self.connection.take(collection, deadline).await?;
        let timer = object.start_stage(host_session::Stage::Query);
        let Self { names, known, progress, .. } = self;
        let is_wanted = |name: &str| names.iter().any(|pattern| pattern.matches(&clean(name)));
        let is_all = names.iter().any(|pattern| pattern.as_str() == "*");
        let which = if is_all { Which::All } else { Which::Named(&is_wanted) };
        let read =
            list(&mut object, which, progress, |listed| *has_changed |= known.take(&listed, room), deadline)
                .await;
        let report = object.stop_stage(timer);
        collection.stages().add(report.calls, report.received_bytes, report.sent_bytes);
        match read {
            Ok(()) => {
                self.connection.put_back(object);
                Ok(())
            }
            Err(error) => {
                // The set that was asked for was not read, and is not gone.
                self.progress.forget_list();
                Err(self.connection.fail(object, &error))
            }
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

async fn count(object: &mut Object, deadline: Instant) -> Result<(), SessionError> {
    let mut proxy = object.proxy::<IDataCollectorSetCollection>(deadline).await?;
    let counted = proxy.call(&IDataCollectorSetCollection::count()).await.map(drop);
    counted.map_err(|error| object.error_of(&error))
}
