//! The values of what is due.

use counter_poll::ClassicError;
use counter_poll::classic::Questions;
use counter_poll::over_host::{PerflibSession as _, PipeChannel, error_of_classic, registry};
use counter_poll::paths::{ClassicQuery, PathPlan, PathQuery};
use counters::rrp::winreg::RegistryClient;
use host_session::{Reason, Recovery, SessionError};
use plugin_sdk::{Collection, Failure, Stage};
use rpc::Pause;
use tokio::time::Instant;

use super::{Counters, Fetched, Kinds, Open, TRIES_MAX};
use crate::REGISTRY;

impl Counters {
    /// Fetches the values of all paths of these kinds: one call for the counters of version 2, and one for classic objects.
    ///
    /// # Errors
    /// When the call for the former failed. That for the latter comes with the values.
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
            let query = opened.map_err(|error| session.error(&error))?;
            self.has_refused = !query.is_whole();
            if self.has_refused {
                self.pause.extend(self.now, Pause::AFTER_LOSS);
            } else if !found.has_problems() {
                self.pause = Pause::default();
            }
            *handles = Some(query);
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
        self.classic_backoff.check(self.now)?;
        let mut tries = 0;
        loop {
            tries += 1;
            let Some(found) = &self.found else { return Ok(false) };
            let pipe = match open.side_pipe(REGISTRY, collection, deadline).await {
                Ok(pipe) => pipe,
                Err(failure) => {
                    self.classic_backoff.fail(self.now, &failure);
                    return Err(failure);
                }
            };
            let is_new = pipe.is_new;
            let kept = self.classic.take().filter(|_| !is_new);
            let mut client = registry(pipe.association, deadline);
            match read_classic(&mut client, kept, &found.plan, &mut self.questions).await {
                Ok(query) => {
                    self.classic = Some(query);
                    self.classic_backoff.succeeded();
                    return Ok(!self.questions.answers().is_empty());
                }
                Err(error) => {
                    let hangs = error.is_timeout::<PipeChannel<'_>>() && tries < TRIES_MAX;
                    let error = error_of_classic(open.session().target(), &error);
                    let is_lost = !is_new && tries == 1 && error.recovery > Recovery::Nothing;
                    let failure = self.let_go(&error, open);
                    if !(hangs || is_lost) || Instant::now() >= deadline {
                        return Err(failure);
                    }
                }
            }
        }
    }

    /// Closes what `error` has made useless. A right that is granted counts from the next logon on, which is not tried
    /// with each collection.
    pub(super) fn let_go(&mut self, error: &SessionError, open: &mut Open) -> Failure {
        let failure = open.side_pipe_failed(error);
        if error.reason == Reason::AccessDenied {
            self.classic_backoff.fail(self.now, &failure);
        }
        failure
    }
}

async fn read_classic(
    client: &mut RegistryClient<PipeChannel<'_>>,
    kept: Option<ClassicQuery>,
    plan: &PathPlan,
    questions: &mut Questions,
) -> Result<ClassicQuery, ClassicError<host_session::rpc_client::Error>> {
    let mut query = match kept {
        Some(query) => query,
        None => ClassicQuery::open(client, plan).await?,
    };
    query.ask(client, questions).await?;
    Ok(query)
}
