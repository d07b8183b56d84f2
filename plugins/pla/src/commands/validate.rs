//! `validate`: what of exported sets is ignored, in conflict, or not done here, [MS-PLA] 2.2.2.11.

use std::fmt::Write as _;
use std::path::PathBuf;

use ms_dtyp::HResult;
use ms_pla::FileFormat;
use ms_pla::xml::{DataCollectorSet, Finding};
use plugin_sdk::{Command, Exit, Run};
use plugin_session::command::CommandError;

use crate::files;
use crate::model::LogFormat;

/// Validates exported sets.
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
    const HELP: &'static str = "Lists the properties of exported data collector sets that are ignored or in conflict, with the codes of Windows";
    type Arguments = ValidateArguments;

    async fn run(run: Run, arguments: ValidateArguments) -> Exit {
        match validate(&run, &arguments) {
            Ok(exit) => exit,
            Err(error) => error.print(&run),
        }
    }
}

fn validate(run: &Run, arguments: &ValidateArguments) -> Result<Exit, CommandError> {
    let mut has_conflict = false;
    for path in &arguments.files {
        let read = files::document(path);
        let next_step = "export the set again: logman export -n NAME -xml FILE";
        let (set, _) = read.map_err(|error| CommandError::failed(error, next_step))?;
        let items = items(&set, arguments.log_format);
        let mut text = format!("{}:\n", path.display());
        if items.is_empty() {
            text += "  nothing is ignored, and nothing is in conflict\n";
        }
        for Item { property, code, sentence } in &items {
            has_conflict |= !code.is_success();
            // Writing to a string does not fail.
            let _ = writeln!(text, "  {property}\t{:#010x} {}\t{sentence}", code.0, name(*code));
        }
        run.out(&text);
    }
    Ok(if has_conflict { Exit::Failure } else { Exit::Success })
}

/// An entry of the value map.
struct Item {
    property: String,
    code: HResult,
    sentence: String,
}

/// What Windows would say, then what is otherwise here.
fn items(set: &DataCollectorSet, format: Option<LogFormat>) -> Vec<Item> {
    let said =
        |Finding { property, code }: Finding| Item { property, code, sentence: sentence(code).to_owned() };
    let mut items: Vec<Item> = set.validate().into_iter().map(said).collect();
    if set.root_path.as_ref().is_some_and(|path| !path.trim().is_empty()) {
        items.push(ignored("RootPath".to_owned(), "files go below `storage.directory` of the exporter"));
    }
    for (index, collector) in set.counters.iter().enumerate() {
        let at = |property: &str| format!("PerformanceCounterDataCollector[{}]/{property}", index + 1);
        if collector.log_file_format.unwrap_or(FileFormat::BINARY) == FileFormat::BINARY {
            items.push(match format {
                Some(_) => ignored(at("LogFileFormat"), "the set logs in the format that `log_format` says"),
                None => Item {
                    property: at("LogFileFormat"),
                    code: HResult::PLA_E_PROPERTY_CONFLICT,
                    sentence:
                        "the binary format has no public description: write `log_format` in the configuration"
                            .to_owned(),
                },
            });
        }
    }
    let others = [
        ("TraceDataCollector", set.traces.len()),
        ("ConfigurationDataCollector", set.configurations.len()),
        ("ApiTracingDataCollector", set.api_traces.len()),
    ];
    for (kind, count) in others.into_iter().filter(|(_, count)| *count > 0) {
        items.push(ignored(kind.to_owned(), &format!("{count} of them are not run here")));
    }
    items
}

fn ignored(property: String, sentence: &str) -> Item {
    Item { property, code: HResult::PLA_S_PROPERTY_IGNORED, sentence: sentence.to_owned() }
}

/// What people search for.
const fn name(code: HResult) -> &'static str {
    match code {
        HResult::PLA_S_PROPERTY_IGNORED => "PLA_S_PROPERTY_IGNORED",
        HResult::PLA_E_PROPERTY_CONFLICT => "PLA_E_PROPERTY_CONFLICT",
        HResult::PLA_E_CONFLICT_INCL_EXCL_API => "PLA_E_CONFLICT_INCL_EXCL_API",
        HResult::PLA_E_EXE_PATH_NOT_VALID => "PLA_E_EXE_PATH_NOT_VALID",
        HResult::PLA_E_NETWORK_EXE_NOT_VALID => "PLA_E_NETWORK_EXE_NOT_VALID",
        _ => "",
    }
}

const fn sentence(code: HResult) -> &'static str {
    match code {
        HResult::PLA_S_PROPERTY_IGNORED => "Windows keeps it, and it has no effect",
        HResult::PLA_E_PROPERTY_CONFLICT => "it contradicts another property",
        _ => "Windows refuses it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(xml: &str, format: Option<LogFormat>) -> Vec<String> {
        let text = format!("<DataCollectorSet>{xml}</DataCollectorSet>");
        let set = DataCollectorSet::read(text.as_bytes(), &crate::model::LIMITS).unwrap();
        let items = items(&set, format).into_iter();
        items.map(|item| format!("{} {:#010x} {}", item.property, item.code.0, name(item.code))).collect()
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
        let csv = "<PerformanceCounterDataCollector><LogFileFormat>0</LogFileFormat></PerformanceCounterDataCollector>";
        assert!(!said(csv, None).iter().any(|item| item.contains("LogFileFormat")));
    }
}
