//! `validate`: what of exported sets is ignored, in conflict, or not done here, [MS-PLA] 2.2.2.11.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ms_pla::xml::DataCollectorSet;
use plugin_sdk::{Command, Exit, Run};
use plugin_session::command::CommandError;
use safe_text::one_line;

use crate::files::{self, Overrides};
use crate::model::{LogFormat, LogOverrides, Neglected, Problem, ProblemKind};

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
    let mut said: Vec<Said> = Vec::new();
    for (index, path) in arguments.files.iter().enumerate() {
        let read = files::document(path);
        let next_step = "export the set again: logman export -n NAME -xml FILE";
        let (document, _) = read.map_err(|error| CommandError::failed(error, next_step))?;
        let (items, has_mistake) = items(path, &document, arguments.log_format);
        is_wrong |= has_mistake;
        for text in items {
            match said.iter_mut().find(|said| said.text == text) {
                Some(said) => said.files.push(index),
                None => said.push(Said { text, files: vec![index] }),
            }
        }
    }
    run.out(&printed(&arguments.files, &said));
    Ok(if is_wrong { Exit::Failure } else { Exit::Success })
}

/// A line, and the files that it is about.
struct Said {
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
fn printed(files: &[PathBuf], said: &[Said]) -> String {
    let mut text = String::new();
    let lines = |text: &mut String, of: &dyn Fn(&Said) -> bool| {
        for said in said.iter().filter(|said| of(said)) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "  {}", said.text);
        }
    };
    for (index, path) in files.iter().enumerate() {
        let path = one_line(&path.display().to_string());
        if said.iter().any(|said| said.files == [index]) {
            let _ = writeln!(text, "{path}:");
            lines(&mut text, &|said| said.files == [index]);
        } else if !said.iter().any(|said| said.files.contains(&index)) {
            let _ = writeln!(text, "{path}:\n  nothing is ignored, and nothing is in conflict");
        }
    }
    let mut shared: Vec<&[usize]> =
        said.iter().map(|said| &said.files[..]).filter(|files| files.len() > 1).collect();
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
        lines(&mut text, &|said| said.files == group);
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
