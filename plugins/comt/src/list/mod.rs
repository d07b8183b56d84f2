//! `list`: the applications of a host with their components and figures, as the tracker tells them now; and with an event of
//! the host, if one is waited for, what only that tells: names, processes, container ids.

mod event;
mod table;

use std::time::Duration;

use plugin_sdk::{Command, Exit, Failure, GeneralReason, Run, Stage};
use plugin_session::ObjectStep;
use plugin_session::command::{CommandError, HostAccess, HostArguments, ObjectTransportArguments};
use serde_json::{Value, json};
use tokio::time::Instant;
use wire::Guid;

use self::event::EventArguments;
use crate::model::{
    ApplicationFigures, ComponentFigures, HostFigures, LeftOut, Limits, Place, ProcessFigures,
};
use crate::poll::{Components, poll};
use crate::progress::Progress;
use crate::stalls::Stalls;
use crate::tracker::TRACKER;

/// Lists the COM+ applications of a host.
#[derive(Debug)]
pub(crate) struct List;

#[derive(clap::Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    host: HostArguments,
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    /// Read only the component of this class, and list the applications that have it
    #[arg(long, value_name = "GUID")]
    clsid: Option<Guid>,
    #[command(flatten)]
    transport: ObjectTransportArguments,
    #[command(flatten)]
    event: EventArguments,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// for reading
    Table,
    /// for programs
    Json,
}

/// How long all calls may take.
const CALLS_MAX: Duration = Duration::from_secs(60);
const RELEASE_MAX: Duration = Duration::from_secs(2);

impl Command for List {
    const NAME: &'static str = "list";
    const HELP: &'static str = "Lists the COM+ applications of a host, their components and figures";
    type Arguments = ListArguments;

    async fn run(run: Run, arguments: ListArguments) -> Exit {
        match list(&run, arguments).await {
            Ok(text) => {
                run.progress("");
                run.out(&text);
                Exit::Success
            }
            Err(error) => error.print(&run),
        }
    }
}

async fn list(run: &Run, arguments: ListArguments) -> Result<String, CommandError> {
    let ListArguments { host, format, clsid, transport, event } = arguments;
    let access = HostAccess::of_objects(host, &transport)?;
    run.progress(&format!("connecting to {}…", access.host()));
    let mut tracker = access.activate(&TRACKER, run).await.map_err(|failed| failed.error)?;
    run.progress("applications…");
    let which = clsid.map_or(Components::All, Components::OfClass);
    let deadline = Instant::now() + CALLS_MAX;
    let (limits, mut stalls, mut progress) = (Limits::default(), Stalls::default(), Progress::default());
    let polled = poll(&mut tracker, which, &limits, &mut stalls, &mut progress, deadline).await;
    let mut polled =
        polled.map_err(|failed| CommandError::of_object(&TRACKER, &failed.error, ObjectStep::Call))?;
    // If the host is slow, it drops the object when no pings come.
    let _ = tracker.release(Instant::now() + RELEASE_MAX).await;
    if let Some(told) = event::told(run, &access, &event).await? {
        polled.complete_with(&told);
    }
    polled.failure = too_slow(&polled).or(polled.failure);
    if let Some(clsid) = clsid {
        polled.keep_component(clsid);
    }
    Ok(match format {
        Format::Table => table::table(access.host(), &polled),
        Format::Json => format!("{:#}\n", json(access.host(), &polled)),
    })
}

/// Why the components of some applications are missing, if there was no time for them.
fn too_slow(polled: &HostFigures) -> Option<Failure> {
    let (late, all) = (polled.late().count(), polled.applications.len());
    let message = format!(
        "the host is slow: the components of {late} of {all} applications are missing; list them again when it has less to do"
    );
    (late > 0).then(|| Failure::new(Stage::Query, GeneralReason::Timeout, message))
}

fn json(host: &str, polled: &HostFigures) -> Value {
    let HostFigures { applications, processes, left_out, failure } = polled;
    let applications: Vec<Value> = applications.iter().map(application).collect();
    let left_out: Vec<Value> = left_out
        .rows()
        .into_iter()
        .filter(|(.., number)| *number > 0)
        .map(|(kind, reason, number)| json!({"kind": kind, "reason": reason, "number": number}))
        .collect();
    let problem = failure.as_ref().map(|failure| &failure.message);
    let processes = processes.as_ref().map(|all| all.iter().map(process).collect::<Vec<_>>());
    json!({
        "host": host,
        "applications": applications,
        "processes": processes,
        "left_out": left_out,
        "problem": problem,
    })
}

/// What only an event tells is null without one.
fn application(figures: &ApplicationFigures) -> Value {
    let components: Vec<Value> = figures.components.iter().map(component).collect();
    let about = figures.about.as_ref();
    let place = |place: &Place| {
        let container_id = place.container_id.map(|id| id.to_string());
        json!({"container_id": container_id, "process_id": place.process_id})
    };
    let places = about.map(|_told| figures.places.iter().map(place).collect::<Vec<_>>());
    json!({
        "application_id": figures.id.to_string(),
        "name": about.and_then(|about| about.name.as_deref()),
        "partition_id": about.and_then(|about| about.partition_id).map(|id| id.to_string()),
        "containers": figures.containers,
        "container_ids": places,
        "process_ids": figures.places.iter().filter_map(|place| place.process_id).collect::<Vec<_>>(),
        "calls_in_progress": figures.calls,
        "calls_per_second": figures.calls_per_second,
        "instances": figures.instances,
        "distinct_components": figures.distinct_components,
        "components": components,
    })
}

fn process(process: &ProcessFigures) -> Value {
    json!({
        "process_id": process.id,
        "program": process.program.as_deref(),
        "paused": process.is_paused,
        "recycling": process.is_recycling,
        "service": process.is_service,
    })
}

/// Figures that the host does not track are null.
fn component(figures: &ComponentFigures) -> Value {
    json!({
        "clsid": figures.clsid.to_string(),
        "name": figures.name.as_deref(),
        "instances": figures.instances,
        "instances_active": figures.active,
        "references": figures.references,
        "bound_references": figures.bound_references,
        "instances_pooled": figures.pooled,
        "instances_in_call": figures.in_call,
        "call_time_ms": figures.call_time_ms,
        "recent_calls_completed": figures.calls_completed,
        "recent_calls_failed": figures.calls_failed,
    })
}

/// `3 containers ended, …`; empty if nothing was left out.
fn in_words(left_out: &LeftOut) -> String {
    let words =
        left_out.rows().into_iter().filter(|(.., number)| *number > 0).map(|(kind, reason, number)| {
            let plural = if number == 1 { "" } else { "s" };
            format!("{number} {kind}{plural} ({reason})")
        });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applications_that_there_was_no_time_for_are_said_to_be_missing() {
        let host = |late: [bool; 3]| {
            let application = |is_late| ApplicationFigures { is_late, ..ApplicationFigures::default() };
            HostFigures { applications: late.map(application).into(), ..HostFigures::default() }
        };
        assert_eq!(too_slow(&host([false; 3])), None);
        let failure = too_slow(&host([false, true, true])).unwrap();
        assert_eq!(
            failure.message,
            "the host is slow: the components of 2 of 3 applications are missing; list them again when it has less to do"
        );
    }
}
