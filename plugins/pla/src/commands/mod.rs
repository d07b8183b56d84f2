//! Commands on the data collector sets of a host: `pla list`, `show`, `export`, `start` and `stop`. Nothing is made, changed or
//! removed there.
//!
//! | module | job |
//! | --- | --- |
//! | `access` | the options that all have, and the way to the host |
//! | `list` | all sets of a category |
//! | `show`, `text`, `json` | one set: for people, for programs |
//! | `export` | one set as XML |
//! | `control`, `audit` | a set is started or stopped, where the configuration allows it, and that is recorded |
//! | `validate` | what of exported sets is ignored or in conflict |
//! | `reasons` | what the host's answers about one set mean |

mod access;
mod control;
mod list;
mod text;
mod validate;

use std::path::PathBuf;

use ms_pla::xml::{DataCollectorSet, Schedule};
use plugin_sdk::{Command, Exit, Run};
use plugin_session::command::CommandError;
use serde_json::{Value, json};

pub(crate) use self::control::{Start, Stop};
pub(crate) use self::list::List;
pub(crate) use self::validate::Validate;

use self::text::week_days;
use super::host::HostXml;
use super::model::LIMITS;
use super::series::status_word;
use crate::commands::access::WayArguments;
use crate::commands::list::Format;
use crate::host::CategoryWord;

/// Shows a data collector set of a host.
#[derive(Debug)]
pub(crate) struct Show;

#[derive(clap::Args)]
pub(crate) struct ShowArguments {
    /// The name of the set
    #[arg(value_name = "SET")]
    set: String,
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[arg(long, value_name = "CATEGORY", default_value = "user_defined")]
    category: CategoryWord,
    #[command(flatten)]
    way: WayArguments,
}

impl Command for Show {
    const NAME: &'static str = "show";
    const HELP: &'static str = "Shows a data collector set of a host: status, schedules, data collectors, counters, thresholds, providers of traces";
    type Arguments = ShowArguments;

    async fn run(run: Run, arguments: ShowArguments) -> Exit {
        let ShowArguments { set, format, category, way } = arguments;
        let access = match way.access() {
            Ok(access) => access,
            Err(error) => return error.print(&run),
        };
        match access::read(&run, &access, category.category(), &set).await {
            Ok(read) => {
                run.out(&match format {
                    Format::Table => text::set(&set, &read),
                    Format::Json => format!("{:#}\n", set_json(access.host(), &set, &read)),
                });
                Exit::Success
            }
            Err(error) => error.print(&run),
        }
    }
}

/// How many collectors there are of each kind.
fn collectors_json(set: &DataCollectorSet) -> Value {
    json!({
        "counter": set.counters.len(),
        "trace": set.traces.len(),
        "api_trace": set.api_traces.len(),
        "configuration": set.configurations.len(),
        "alert": set.alerts.len(),
    })
}

/// All that `show` says.
fn set_json(host: &str, name: &str, read: &HostXml) -> Value {
    let set = &read.document;
    let counters = set.counters.iter().map(|it| {
        json!({"kind": "counter", "name": it.name, "sample_interval_s": it.sample_interval_s, "counters": it.counters})
    });
    let alerts = set.alerts.iter().map(|it| {
        json!({
            "kind": "alert", "name": it.name, "sample_interval_s": it.sample_interval_s, "thresholds": it.alerts,
            "event": it.logs_events, "task": it.task, "starts_set": it.trigger_data_collector_set,
        })
    });
    let traces = set.traces.iter().map(|it| {
        let provider = |provider: &ms_pla::xml::TraceDataProvider| {
            json!({"name": provider.display_name, "guid": provider.guid.map(|guid| guid.to_string())})
        };
        let providers: Vec<Value> = it.providers.iter().map(provider).collect();
        json!({"kind": "trace", "name": it.name, "session": it.session_name, "providers": providers})
    });
    let configurations = set.configurations.iter().map(|it| {
        json!({
            "kind": "configuration", "name": it.name, "registry_keys": it.registry_keys, "files": it.files,
            "management_queries": it.management_queries,
        })
    });
    let api_traces = set.api_traces.iter().map(|it| {
        json!({"kind": "api_trace", "name": it.name, "program": it.exe_path, "functions": it.include_apis})
    });
    let collectors = counters.chain(alerts).chain(traces).chain(configurations).chain(api_traces);
    json!({
        "host": host,
        "name": set.name.as_deref().unwrap_or(name),
        "status": status_word(read.status),
        "description": set.description,
        "serial_number": set.serial_number,
        "user_account": set.user_account,
        "duration_s": set.duration_s,
        "output_location": set.output_location,
        "schedules_enabled": set.are_schedules_enabled,
        "schedules": set.schedules.iter().map(schedule).collect::<Vec<_>>(),
        "collectors": collectors.collect::<Vec<_>>(),
    })
}

/// Dates and times are the host's own.
fn schedule(schedule: &Schedule) -> Value {
    let day = |date: ms_pla::xml::Date| format!("{:04}-{:02}-{:02}", date.year, date.month, date.day);
    let time = |time: ms_pla::xml::Time| time.to_string();
    json!({
        "start_date": schedule.start_date.map(day),
        "end_date": schedule.end_date.map(day),
        "start_time": schedule.start_time.map(time),
        "days": week_days(schedule.days.unwrap_or_default()),
    })
}

// `export`: one set as XML, as the host sent it.

/// Exports a data collector set of a host.
#[derive(Debug)]
pub(crate) struct Export;

#[derive(clap::Args)]
pub(crate) struct ExportArguments {
    /// The name of the set
    #[arg(value_name = "SET")]
    set: String,
    /// Write it to this file, in UTF-16 as Windows does, in place of the standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[arg(long, value_name = "CATEGORY", default_value = "user_defined")]
    category: CategoryWord,
    #[command(flatten)]
    way: WayArguments,
}

impl Command for Export {
    const NAME: &'static str = "export";
    const HELP: &'static str =
        "Exports a data collector set of a host as XML, such as the module's settings and Windows read it";
    type Arguments = ExportArguments;

    async fn run(run: Run, arguments: ExportArguments) -> Exit {
        match export(&run, arguments).await {
            Ok(()) => Exit::Success,
            Err(error) => error.print(&run),
        }
    }
}

async fn export(run: &Run, arguments: ExportArguments) -> Result<(), CommandError> {
    let ExportArguments { set, output, category, way } = arguments;
    let text = access::export(run, &way.access()?, category.category(), &set).await?;
    if let Err(error) = DataCollectorSet::read_each(text.as_bytes(), &LIMITS) {
        run.err(&format!("note: the XML of the set is as the host sent it, and cannot be read: {error}\n"));
    }
    let Some(file) = output else {
        run.out(&printable(&text));
        return Ok(());
    };
    // The text says that it is UTF-16, as the host sent it.
    let units = std::iter::once(BYTE_ORDER_MARK).chain(text.encode_utf16());
    let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
    std::fs::write(&file, bytes).map_err(|error| {
        let next_step = "name a file in a directory that this user may write to";
        CommandError::failed(format!("{}: {error}", file.display()), next_step)
    })
}

/// XML has no control characters but blanks and ends of lines, and others are commands to a terminal. They stay in a file.
fn printable(text: &str) -> String {
    let is_foreign = |letter: &char| letter.is_control() && !letter.is_ascii_whitespace();
    text.chars().filter(|letter| !is_foreign(letter)).collect()
}

const BYTE_ORDER_MARK: u16 = 0xfeff;
