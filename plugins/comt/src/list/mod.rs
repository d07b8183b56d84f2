//! `list`: the applications of a host with their components and figures, as the tracker tells them now.

mod table;

use std::time::Duration;

use plugin_sdk::{Command, Exit, Run};
use plugin_session::ObjectStep;
use plugin_session::command::{CommandError, HostAccess, HostArguments, ObjectTransportArguments};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::poll::{ApplicationFigures, ComponentFigures, LeftOut, Limits, Polled, poll};
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
    #[command(flatten)]
    transport: ObjectTransportArguments,
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
    let ListArguments { host, format, transport } = arguments;
    let access = HostAccess::of_objects(host, &transport)?;
    run.progress(&format!("connecting to {}…", access.host()));
    let mut tracker = access.activate(&TRACKER, run).await.map_err(|failed| failed.error)?;
    run.progress("applications…");
    let polled = poll(&mut tracker, &Limits::default(), &Stalls::default(), Instant::now() + CALLS_MAX).await;
    let polled =
        polled.map_err(|failed| CommandError::of_object(&TRACKER, &failed.error, ObjectStep::Call))?;
    // If the host is slow, it drops the object when no pings come.
    let _ = tracker.release(Instant::now() + RELEASE_MAX).await;
    Ok(match format {
        Format::Table => table::table(access.host(), &polled),
        Format::Json => format!("{:#}\n", json(access.host(), &polled)),
    })
}

fn json(host: &str, polled: &Polled) -> Value {
    let Polled { applications, left_out, failure } = polled;
    let applications: Vec<Value> = applications.iter().map(application).collect();
    let left_out: Vec<Value> = left_out
        .rows()
        .into_iter()
        .filter(|(.., number)| *number > 0)
        .map(|(kind, reason, number)| json!({"kind": kind, "reason": reason, "number": number}))
        .collect();
    let problem = failure.as_ref().map(|failure| &failure.message);
    json!({"host": host, "applications": applications, "left_out": left_out, "problem": problem})
}

fn application(figures: &ApplicationFigures) -> Value {
    let ApplicationFigures { application, components } = figures;
    let components: Vec<Value> = components.iter().map(component).collect();
    json!({
        "application_id": application.id.to_string(),
        "containers": application.containers.len(),
        "calls_in_progress": application.calls,
        "calls_per_second": application.calls_per_second,
        "instances": application.instances,
        "distinct_components": application.components,
        "components": components,
    })
}

/// Figures that the host does not track are null.
fn component(figures: &ComponentFigures) -> Value {
    json!({
        "clsid": figures.clsid.to_string(),
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
