//! The report of a segment: XML and HTML in its folder, made of what was counted while it was sampled.

use std::io::Read as _;

use cap_std::fs::Dir;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ms_pla::xml;
use pla_engine::component;
use pla_report::{Limits, Options, Report, Rules, RunFacts, RunFile, Source};
use rustix::fs::OFlags;

use super::folder::{open_file, replace};
use super::open_log::ClosedLog;

/// What a report says of the run itself.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) set: String,
    pub(super) machine: String,
    pub(super) began: Timestamp,
    pub(super) ended: Timestamp,
    pub(super) zone: TimeZone,
    pub(super) serial_number: u32,
}

/// Writes the report of each log into the folder of the segment: that of the first one has the names that the set says, those of
/// others the names of their collectors as well. Returns what could not be done.
pub(super) fn write(
    folder: &Dir,
    about: &About,
    manager: &xml::DataManager,
    logs: &[ClosedLog],
) -> Vec<String> {
    let mut failures = Vec::new();
    let rules = manager.rules.as_ref().map(|rules| Rules::read(rules, &Limits::default())).transpose();
    let rules = rules.unwrap_or_else(|error| {
        failures.push(format!("the rules: {error}"));
        None
    });
    for (index, log) in logs.iter().enumerate() {
        let facts = facts(about, logs, log);
        let source = Source { columns: &log.header.columns, statistics: &log.statistics, facts: &facts };
        let mut report = Report::build(manager.report_schema.as_ref(), &source, &Options::default());
        if let Some(rules) = &rules {
            let mut documents = |name: &str| document(folder, name);
            let applied = rules.apply(&mut report, &mut documents, &Limits::default());
            failures.extend(applied.failures.iter().map(|failure| format!("a rule: {failure}")));
        }
        let name = |own: Option<&String>, default: &str| {
            let name = own.map_or(default, String::as_str);
            let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "txt"));
            let of_log = if index == 0 { String::new() } else { format!(" ({})", log.collector) };
            component(&format!("{stem}{of_log}.{ending}"))
        };
        let files = [
            (name(manager.rule_target_file_name.as_ref(), "report.xml"), report.to_xml()),
            (name(manager.report_file_name.as_ref(), "report.html"), report.to_html()),
        ];
        for (name, text) in files {
            if let Err(error) = replace(folder, &name, text.as_bytes()) {
                failures.push(format!("`{name}`: {error}"));
            }
        }
    }
    failures
}

fn facts(about: &About, logs: &[ClosedLog], log: &ClosedLog) -> RunFacts {
    let file = |log: &ClosedLog| {
        let name = log.file.clone()?;
        Some(RunFile { name, bytes: log.bytes, records: Some(log.counts.written) })
    };
    let failure = log.counts.last_failure.as_deref();
    RunFacts {
        set: about.set.clone(),
        host: about.machine.clone(),
        start: about.began,
        end: about.ended,
        zone: about.zone.clone(),
        serial_number: Some(about.serial_number),
        files: logs.iter().filter_map(file).collect(),
        gaps: log.gaps.clone(),
        records: log.counts.written,
        records_lost: log.counts.dropped,
        remarks: failure.map(|failure| format!("A write failed: {failure}.")).into_iter().collect(),
    }
}

fn document(folder: &Dir, name: &str) -> Result<Vec<u8>, String> {
    let file = open_file(folder, &component(name), OFlags::RDONLY).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
        return Err(format!("it has more than {DOCUMENT_BYTES_MAX} bytes"));
    }
    Ok(bytes)
}

/// Of a file that rules read.
const DOCUMENT_BYTES_MAX: u64 = 8 << 20;
