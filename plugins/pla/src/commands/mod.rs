//! Commands on the data collector sets of a host: `pla list`, `show`, `export`, `start` and `stop`. Nothing is made, changed or
//! removed there.
//!
//! | module | job |
//! | --- | --- |
//! | `access` | the options that all have, the way to the host, and what its answers about one set mean |
//! | `list` | all sets of a category |
//! | `text` | one set for people |
//! | `control` | a set is started or stopped, where the configuration allows it, and that is recorded |
//!
//! `show`, `export` and `validate` are here.

mod access;
mod control;
mod list;
mod text;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ms_pla::xml::{DataCollectorSet, Schedule};
use plugin_sdk::{Command, Exit, Run};
use plugin_session::command::CommandError;
use safe_text::one_line;
use serde_json::{Value, json};

pub(crate) use self::control::{Start, Stop};
pub(crate) use self::list::List;

use self::text::week_days;
use super::files::{self, Overrides};
use super::host::HostXml;
use super::model::{LIMITS, LogFormat, LogOverrides, Neglected, Problem, ProblemKind};
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

// `validate`: what of exported sets is ignored, in conflict, or not done here, [MS-PLA] 2.2.2.11.

#[derive(Debug)]
pub(crate) struct Validate;

#[derive(clap::Args)]
pub(crate) struct ValidateArguments {
    /// Data collector sets, as Windows exports them (XML)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The format in which logs run that want the binary one, as `log_format` in the configuration: csv, tsv, parquet or sql
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
}

impl Command for Validate {
    const NAME: &'static str = "validate";
    const HELP: &'static str = "Lists what of exported data collector sets is ignored, in conflict or not done, with the codes of Windows";
    type Arguments = ValidateArguments;

    async fn run(run: Run, arguments: ValidateArguments) -> Exit {
        match validate(&run, &arguments) {
            Ok(exit) => exit,
            Err(error) => error.print(&run),
        }
    }
}

fn validate(run: &Run, arguments: &ValidateArguments) -> Result<Exit, CommandError> {
    let mut is_wrong = false;
    let mut remarks: Vec<Remark> = Vec::new();
    for (index, path) in arguments.files.iter().enumerate() {
        let read = files::document(path);
        let next_step = "export the set again: logman export -n NAME -xml FILE";
        let (document, _) = read.map_err(|error| CommandError::failed(error, next_step))?;
        let (items, has_mistake) = items(path, &document, arguments.log_format);
        is_wrong |= has_mistake;
        for text in items {
            match remarks.iter_mut().find(|remark| remark.text == text) {
                Some(remark) => remark.files.push(index),
                None => remarks.push(Remark { text, files: vec![index] }),
            }
        }
    }
    run.out(&printed(&arguments.files, &remarks));
    Ok(if is_wrong { Exit::Failure } else { Exit::Success })
}

/// A line, and the files that it is about.
struct Remark {
    text: String,
    files: Vec<usize>,
}

/// What is said of a set, and whether it has a mistake.
fn items(path: &Path, document: &DataCollectorSet, format: Option<LogFormat>) -> (Vec<String>, bool) {
    let neglected = Neglected::of(document, format);
    let overrides = Overrides { logs: LogOverrides::of_set(document, format), ..Overrides::default() };
    let set = files::judge(path, document, &overrides);
    // Collectors that are not run, and formats, are among the properties.
    let is_new = |problem: &&Problem| match problem.kind {
        ProblemKind::LogFormat => false,
        ProblemKind::Collector => !problem.alert.is_empty(),
        _ => true,
    };
    let problems: Vec<&Problem> = set.problems.iter().filter(is_new).collect();
    let is_wrong = neglected.iter().any(|item| !item.code.is_success())
        || problems.iter().any(|problem| problem.is_mistake());
    let of_properties = neglected.iter().map(|Neglected { property, code, sentence }| {
        format!("{property}\t{:#010x} {}\t{sentence}", code.0, Neglected::name(*code))
    });
    let of_set = problems.iter().map(|problem| format!("{}\t{}", problem.kind.as_str(), problem.sentence()));
    let lines = of_properties.chain(of_set).map(|line| one_line(&line.replace('\t', "  ")));
    (lines.collect(), is_wrong)
}

/// What is said of several files is there once.
fn printed(files: &[PathBuf], remarks: &[Remark]) -> String {
    let mut text = String::new();
    let lines = |text: &mut String, of: &dyn Fn(&Remark) -> bool| {
        for remark in remarks.iter().filter(|remark| of(remark)) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "  {}", remark.text);
        }
    };
    for (index, path) in files.iter().enumerate() {
        let path = one_line(&path.display().to_string());
        if remarks.iter().any(|remark| remark.files == [index]) {
            let _ = writeln!(text, "{path}:");
            lines(&mut text, &|remark| remark.files == [index]);
        } else if !remarks.iter().any(|remark| remark.files.contains(&index)) {
            let _ = writeln!(text, "{path}:\n  nothing is ignored, and nothing is in conflict");
        }
    }
    let mut shared: Vec<&[usize]> =
        remarks.iter().map(|remark| &remark.files[..]).filter(|files| files.len() > 1).collect();
    shared.sort_unstable();
    shared.dedup();
    for group in shared {
        let names: Vec<String> = group
            .iter()
            .take(FILES_SHOWN)
            .map(|index| one_line(&files[*index].display().to_string()))
            .collect();
        let more = group.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(text, "{}{more}:", names.join(", "));
        lines(&mut text, &|remark| remark.files == group);
    }
    text
}

/// Of files that have the same said of them.
const FILES_SHOWN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn said(xml: &str, format: Option<LogFormat>) -> Vec<String> {
        let text = format!("<DataCollectorSet>{xml}</DataCollectorSet>");
        let set = DataCollectorSet::read(text.as_bytes(), &crate::model::LIMITS).unwrap();
        let items = Neglected::of(&set, format).into_iter();
        items
            .map(|item| format!("{} {:#010x} {}", item.property, item.code.0, Neglected::name(item.code)))
            .collect()
    }

    #[test]
    fn the_binary_format_is_a_conflict_unless_another_one_is_said() {
        let set = "<RootPath>C:\\PerfLogs</RootPath><PerformanceCounterDataCollector><LogFileFormat>3</LogFileFormat>\
                   </PerformanceCounterDataCollector><TraceDataCollector/>";
        let format = "PerformanceCounterDataCollector[1]/LogFileFormat";
        let ignored = "0x00300100 PLA_S_PROPERTY_IGNORED";
        let rest = [format!("RootPath {ignored}"), format!("TraceDataCollector {ignored}")];
        let conflict = format!("{format} 0x80300101 PLA_E_PROPERTY_CONFLICT");
        let is_there = |all: &[String], one: &String| all.contains(one);
        let without = said(set, None);
        assert!(
            is_there(&without, &conflict) && rest.iter().all(|one| is_there(&without, one)),
            "{without:?}"
        );
        let with = said(set, Some(LogFormat::Csv));
        assert!(is_there(&with, &format!("{format} {ignored}")) && !is_there(&with, &conflict), "{with:?}");
        let appends = set.replace("<LogFileFormat>", "<LogAppend>-1</LogAppend><LogFileFormat>");
        let append = format!("PerformanceCounterDataCollector[1]/LogAppend {ignored}");
        assert_eq!(said(&appends, Some(LogFormat::Csv)).iter().filter(|item| **item == append).count(), 1);
        assert!(!said(&appends, None).contains(&append), "there is no log");
        let csv = "<PerformanceCounterDataCollector><LogFileFormat>0</LogFileFormat></PerformanceCounterDataCollector>";
        assert!(!said(csv, None).iter().any(|item| item.contains("LogFileFormat")));
    }
}
