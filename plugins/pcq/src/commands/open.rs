//! What `query` keeps open at a host.

use std::time::Duration;

use counter_poll::over_host::PerflibSession as _;
use counter_poll::paths::{ClassicQuery, PathPlan, PathQuery};
use counters::pcq::perflibv2::CounterData;
use counters::rrp::winreg::RegistryValue;
use host_session::rpc_client::{Association, NamedPipe};
use host_session::{Recovery, Session, SessionError};
use plugin_session::command::CommandError;
use tokio::time::Instant;

/// A session with what is open over it.
pub(super) struct Open {
    pub(super) session: Session,
    pub(super) query: Option<PathQuery>,
    classic: Option<OpenClassic>,
}

/// A second pipe, for classic objects.
struct OpenClassic {
    association: Association<NamedPipe>,
    query: ClassicQuery,
}

impl Open {
    /// Opens what the plan needs.
    pub(super) async fn new(mut session: Session, plan: &PathPlan) -> Result<Self, (Recovery, CommandError)> {
        let deadline = Instant::now() + CALL_MAX;
        let failed = |error: &SessionError| (error.recovery, CommandError::of_session(error));
        let classic = match plan.has_classic() {
            true => {
                Some(OpenClassic::new(&mut session, plan, deadline).await.map_err(|error| failed(&error))?)
            }
            false => None,
        };
        if plan.identifiers().is_empty() {
            return Ok(Self { session, query: None, classic });
        }
        let opened = PathQuery::open(&mut session.perflib(deadline), plan).await;
        match opened {
            Ok(query) if !query.is_empty() => Ok(Self { session, query: Some(query), classic }),
            Ok(query) => {
                let problem = query.problems().next().map(|(_, problem)| problem.to_string());
                let message =
                    problem.unwrap_or_else(|| "the host adds none of the countersets to a query".to_owned());
                let error = CommandError::failed(message, "see whether their providers run on the host");
                Err((Recovery::Nothing, error))
            }
            Err(error) => Err(failed(&session.error(&error))),
        }
    }

    /// Fetches the values of both kinds.
    pub(super) async fn fetch(
        &mut self,
        deadline: Instant,
    ) -> Result<(Option<CounterData>, Option<RegistryValue>), SessionError> {
        let data = match &mut self.query {
            Some(query) => {
                let fetched = query.fetch(&mut self.session.perflib(deadline)).await;
                Some(fetched.map_err(|error| self.session.error(&error))?)
            }
            None => None,
        };
        let classic = match &mut self.classic {
            Some(OpenClassic { association, query }) => {
                let fetched =
                    query.fetch(&mut counter_poll::over_host::registry(association, deadline)).await;
                let target = self.session.target();
                Some(fetched.map_err(|error| counter_poll::over_host::error_of_classic(target, &error))?)
            }
            None => None,
        };
        Ok((data, classic))
    }

    /// Messages about identifiers whose blocks cannot be distinguished from others.
    pub(super) fn problems(&self, plan: &PathPlan) -> Vec<String> {
        let say = |(counterset, problem): (usize, _)| {
            let name: &str = &plan.countersets[counterset].name.text;
            format!("counterset `{name}`: {problem}")
        };
        self.query.iter().flat_map(PathQuery::problems).map(say).collect()
    }
}

impl OpenClassic {
    async fn new(session: &mut Session, plan: &PathPlan, deadline: Instant) -> Result<Self, SessionError> {
        let mut association = counter_poll::over_host::open_registry(session, deadline).await?;
        let opened =
            ClassicQuery::open(&mut counter_poll::over_host::registry(&mut association, deadline), plan)
                .await;
        let query =
            opened.map_err(|error| counter_poll::over_host::error_of_classic(session.target(), &error))?;
        Ok(Self { association, query })
    }
}

/// The time of a call.
pub(super) const CALL_MAX: Duration = Duration::from_secs(10);
