//! `validate`: what of exported sets is ignored, in conflict, or not done here, [MS-PLA] 2.2.2.11.

use std::fmt::Write as _;
use std::path::PathBuf;

use plugin_sdk::{Command, Exit, Run};
use plugin_session::command::CommandError;

use crate::files;
use crate::model::{LogFormat, Neglected};

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
        let items = Neglected::of(&set, arguments.log_format);
        let mut text = format!("{}:\n", path.display());
        if items.is_empty() {
            text += "  nothing is ignored, and nothing is in conflict\n";
        }
        for Neglected { property, code, sentence } in &items {
            has_conflict |= !code.is_success();
            // Writing to a string does not fail.
            let _ = writeln!(text, "  {property}\t{:#010x} {}\t{sentence}", code.0, Neglected::name(*code));
        }
        run.out(&text);
    }
    Ok(if has_conflict { Exit::Failure } else { Exit::Success })
}

#[cfg(test)]
mod tests {
    use ms_pla::xml::DataCollectorSet;

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
        assert_eq!(said(&appends, None).iter().filter(|item| **item == append).count(), 1);
        let csv = "<PerformanceCounterDataCollector><LogFileFormat>0</LogFileFormat></PerformanceCounterDataCollector>";
        assert!(!said(csv, None).iter().any(|item| item.contains("LogFileFormat")));
    }
}
