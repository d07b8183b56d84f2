//! The plugin's commands: `discover`, `query` and `selects`.
//!
//! | module | job |
//! | --- | --- |
//! | `discover`, `describe` | lists countersets, and writes a module with them |
//! | `query` | values, live |
//! | `selects` | which instances modules collect |
//! | `table` | values in columns |
//!
//! Counter paths on the command line, the other formats and times as text are here.

mod describe;
mod discover;
mod query;
mod selects;
mod table;

use std::time::Duration;

use counter_poll::over_host::PerflibSession as _;
use counter_poll::paths::{
    ClassicQuery, Key, PathPlan, PathProblem, PathQuery, Sample, Value, is_shown_as_read,
};
use counter_types::{Cooked, CounterPath, Reading};
use counters::pcq::perflibv2::CounterData;
use counters::rrp::winreg::RegistryValue;
use host_session::rpc_client::{Association, NamedPipe};
use host_session::{Recovery, Session, SessionError};
use plugin_session::command::CommandError;
use serde_json::{Map, json};
use tokio::time::Instant;
use wire::{FileTime, SystemTime};

pub(crate) use self::discover::Discover;
pub(crate) use self::query::Query;
pub(crate) use self::selects::SelectsInstances;

/// Writes samples as text.
trait Formatter: Send {
    /// The text of one sample.
    fn format(&mut self, plan: &PathPlan, sample: &Sample) -> String;

    /// A note for the user, returned once.
    fn note(&mut self) -> Option<String> {
        None
    }
}

fn rfc3339(time: FileTime) -> String {
    let SystemTime { year, month, day, hour, minute, second, milliseconds, .. } = time.into();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// `01/01/2026 12:00:00.000`, as typeperf and relog write it.
fn american_time(time: FileTime) -> String {
    let SystemTime { year, month, day, hour, minute, second, milliseconds, .. } = time.into();
    format!("{month:02}/{day:02}/{year:04} {hour:02}:{minute:02}:{second:02}.{milliseconds:03}")
}

/// `12:00:00`, with milliseconds if there are several samples per second.
fn time_of_day(time: FileTime, with_milliseconds: bool) -> String {
    let SystemTime { hour, minute, second, milliseconds, .. } = time.into();
    let fraction = if with_milliseconds { format!(".{milliseconds:03}") } else { String::new() };
    format!("{hour:02}:{minute:02}:{second:02}{fraction}")
}

// Counter paths on the command line: parsing, and errors for invalid ones.

/// Reads a counter path.
///
/// # Errors The path with a caret below the error.
fn parse_path(text: &str) -> Result<CounterPath, CommandError> {
    text.parse().map_err(|error: counter_types::PathError| {
        let before: usize = text.chars().take(error.position).count();
        CommandError::usage(format!(
            "invalid counter path: {}\n  {text}\n  {:before$}^\nwrite it as \\Counterset(instance)\\Counter \
             or \\Counterset\\Counter, in single quotes for the shell",
            error.reason, ""
        ))
    })
}

/// The error for a path that the host does not have.
fn explain_path(problem: &PathProblem) -> CommandError {
    let next_step = match problem {
        PathProblem::Pattern(_) => return CommandError::usage(problem.to_string()),
        PathProblem::UnknownCounterset { .. } | PathProblem::Classic { .. } => {
            "list what exists: perfmon-exporter discover --format table".to_owned()
        }
        PathProblem::Unusable { .. } => "see whether its provider runs on the host".to_owned(),
        PathProblem::LacksInstance { path, counterset } => {
            format!("name one, or write \\{counterset}(*)\\{}", path.counter)
        }
        PathProblem::HasNoInstances { path, counterset } => {
            format!("write \\{counterset}\\{}", path.counter)
        }
        PathProblem::UnknownCounter { counterset, .. } => {
            format!("list what exists: \\{counterset}(*)\\*")
        }
    };
    CommandError::failed(problem.to_string(), next_step)
}

// Samples as JSON.

/// One JSON object per line: the host, the clocks of the reply, and the raw and displayed form of each value, so
/// that other clients can be compared.
#[derive(Debug)]
struct Json {
    host: String,
}

impl Json {
    fn new(host: &str) -> Self {
        Self { host: host.to_owned() }
    }
}

impl Formatter for Json {
    fn format(&mut self, plan: &PathPlan, sample: &Sample) -> String {
        let values: Vec<serde_json::Value> =
            sample.values.iter().map(|(key, value)| object(plan, key, value)).collect();
        let line = json!({
            "host": self.host,
            "time": rfc3339(sample.time),
            "perf_time": sample.clocks.perf_time,
            "perf_freq": sample.clocks.perf_freq,
            "time_100ns": sample.clocks.time_100ns,
            "values": values,
        });
        format!("{line}\n")
    }
}

fn object(plan: &PathPlan, key: &Key, value: &Value) -> serde_json::Value {
    let counterset = &plan.countersets[key.counterset];
    let counter = &counterset.counters[key.counter];
    let mut object = Map::new();
    let mut put = |name: &str, value: serde_json::Value| object.insert(name.to_owned(), value);
    put("path", key.path(plan).into());
    put("counterset", counterset.name.text.as_str().into());
    put("instance", key.instance.as_ref().map(|instance| instance.name.as_str()).into());
    put("instance_id", key.instance.as_ref().and_then(|instance| instance.id).into());
    put("counter", counter.name.as_str().into());
    put("counter_id", counter.info.counter_id.0.into());
    put("type", counter.info.counter_type.to_string().into());
    match value {
        Value::Text(text) => {
            put("value", text.as_str().into());
            put("raw", serde_json::Value::Null);
        }
        Value::Nothing => {
            put("value", serde_json::Value::Null);
            put("raw", serde_json::Value::Null);
        }
        Value::Number(reading, cooked) => {
            let Reading { value: raw, base, clocks } = reading;
            match cooked {
                Cooked::Value(_) if is_shown_as_read(&counter.info) => put("value", (*raw).into()),
                Cooked::Value(value) => put("value", (*value).into()),
                _ => put("value", serde_json::Value::Null),
            };
            if let Some(reason) = reason(*cooked) {
                put("no_value", reason.into());
            }
            put("raw", (*raw).into());
            put("base", (*base).into());
            if clocks.object_time.is_some() || clocks.object_freq.is_some() {
                put("object_time", clocks.object_time.into());
                put("object_freq", clocks.object_freq.into());
            }
        }
    }
    serde_json::Value::Object(object)
}

/// Why there is no value.
const fn reason(cooked: Cooked) -> Option<&'static str> {
    match cooked {
        Cooked::Value(_) => None,
        Cooked::NeedsTwo => Some("needs_two"),
        Cooked::Restarted => Some("restarted"),
        Cooked::Undefined => Some("undefined"),
        Cooked::NoValue => Some("no_value"),
    }
}

// What `query` keeps open at a host.

/// A session with what is open over it.
struct Open {
    session: Session,
    query: Option<PathQuery>,
    classic: Option<OpenClassic>,
}

/// A second pipe, for classic objects.
struct OpenClassic {
    association: Association<NamedPipe>,
    query: ClassicQuery,
}

impl Open {
    /// Opens what the plan needs.
    async fn new(mut session: Session, plan: &PathPlan) -> Result<Self, (Recovery, CommandError)> {
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
    async fn fetch(
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
    fn problems(&self, plan: &PathPlan) -> Vec<String> {
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
const CALL_MAX: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_the_way_of_its_reader() {
        // 2026-01-01T00:00:00Z
        let moment = FileTime(134_116_992_000_000_000 + 45_296 * 10_000_000 + 1_230_000);
        assert_eq!(rfc3339(moment), "2026-01-01T12:34:56.123Z");
        assert_eq!(american_time(moment), "01/01/2026 12:34:56.123");
        assert_eq!(
            (time_of_day(moment, false), time_of_day(moment, true)),
            ("12:34:56".into(), "12:34:56.123".into())
        );
    }
}
