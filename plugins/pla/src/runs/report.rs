//! The report of a segment: XML and HTML in its folder, made of what was counted while it was sampled.

use std::io::{self, Read as _};

use cap_std::fs::Dir;
use counter_log::data_manager::ManagerSettings;
use counter_log::data_manager::reports::{
    Limits, Options, Report, Rules, RunFacts, RunFile, Source, Statistics,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ms_pla::xml;
use safe_text::component;

use super::open_log::ClosedLog;

/// What a report says of the run itself.
#[derive(Clone, Debug)]
pub(super) struct SegmentInfo {
    pub(super) set: String,
    pub(super) machine: String,
    pub(super) began: Timestamp,
    pub(super) ended: Timestamp,
    pub(super) zone: TimeZone,
    pub(super) serial_number: u32,
    /// What is said of the set.
    pub(super) remarks: Vec<String>,
}

/// Writes the report of each log into the folder of the segment, with the names of [`Names`]. Returns what could not be done.
pub(super) fn write(
    folder: &Dir,
    about: &SegmentInfo,
    manager: &xml::DataManager,
    logs: &[ClosedLog],
) -> Vec<String> {
    let mut failures = Vec::new();
    let rules = manager.rules.as_ref().map(|rules| Rules::read(rules, &Limits::default())).transpose();
    let rules = rules.unwrap_or_else(|error| {
        failures.push(format!("the rules: {error}"));
        None
    });
    if logs.len() > REPORTS_MAX {
        failures.push(format!("only {REPORTS_MAX} of {} logs have reports", logs.len()));
    }
    for (index, log) in logs.iter().enumerate().take(REPORTS_MAX) {
        let facts = facts(about, logs, log);
        let source = Source { columns: &log.header.columns, statistics: &log.statistics, facts: &facts };
        let mut report = Report::build(manager.report_schema.as_ref(), &source, &Options::default());
        if let Some(rules) = &rules {
            let mut documents = |name: &str| document(folder, name);
            let applied = rules.apply(&mut report, &mut documents, &Limits::default());
            failures.extend(applied.failures.iter().map(|failure| format!("a rule: {failure}")));
        }
        save(folder, &Names::of(manager, index + 1), &report, &mut failures);
    }
    failures
}

/// Writes the report of a segment that ended with the process: its figures were in memory, and what is left are its files.
/// Nothing if it has a report, or nothing else.
pub(super) fn write_cut_off(folder: &Dir, about: &SegmentInfo, manager: &xml::DataManager) -> Vec<String> {
    let names = Names::of(manager, 1);
    let mut failures = Vec::new();
    let (files, ended) = match files(folder, &mut failures) {
        Ok((files, _))
            if files.is_empty()
                || files.iter().any(|file| [&names.xml, &names.html].contains(&&file.name)) =>
        {
            return Vec::new();
        }
        Ok((files, ended)) => (files, ended.unwrap_or(about.ended)),
        Err(error) => return vec![format!("its files: {error}")],
    };
    let facts = RunFacts {
        set: about.set.clone(),
        host: about.machine.clone(),
        start: about.began,
        end: ended.max(about.began),
        zone: about.zone.clone(),
        serial_number: Some(about.serial_number),
        files,
        gaps: Vec::new(),
        records: None,
        records_lost: None,
        remarks: std::iter::once(CUT_OFF.to_owned()).chain(about.remarks.iter().cloned()).collect(),
    };
    let source = Source { columns: &[], statistics: &Statistics::new(0), facts: &facts };
    let report = Report::build(manager.report_schema.as_ref(), &source, &Options::default());
    save(folder, &names, &report, &mut failures);
    failures
}

/// The files of a folder, and when the newest of them was changed.
fn files(folder: &Dir, failures: &mut Vec<String>) -> io::Result<(Vec<RunFile>, Option<Timestamp>)> {
    let (mut files, mut newest) = (Vec::new(), None);
    let mut entries = folder.entries()?;
    for entry in entries.by_ref().take(FILES_MAX) {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let found = entry.metadata()?;
        if found.is_file() && !name.starts_with('.') {
            let modified = found.modified().ok().and_then(|time| Timestamp::try_from(time.into_std()).ok());
            newest = newest.max(modified);
            files.push(RunFile { name, bytes: found.len(), records: None });
        }
    }
    if entries.next().is_some() {
        failures.push(format!("only {FILES_MAX} of its files are listed"));
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok((files, newest))
}

fn save(folder: &Dir, Names { xml, html }: &Names, report: &Report, failures: &mut Vec<String>) {
    for (name, text) in [(xml, report.to_xml()), (html, report.to_html())] {
        if let Err(error) = safe_files::replace(folder, name, text.as_bytes()) {
            failures.push(format!("`{name}`: {error}"));
        }
    }
}

/// How a data manager works here: with the names that reports really have, so that it knows them from logs.
pub(super) fn settings(manager: &xml::DataManager) -> ManagerSettings {
    let names = (1..=REPORTS_MAX).map(|number| Names::of(manager, number));
    let report_files = names.flat_map(|names| [names.xml, names.html]).collect();
    ManagerSettings { report_files, ..ManagerSettings::from(manager) }
}

/// The files of one report.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Names {
    xml: String,
    html: String,
}

impl Names {
    /// Those of the log with this number, from 1: the first has the names that the set says, others their numbers as well.
    /// They end with `.xml` and `.html` or `.htm` whatever the set says, so that no report has the name of a log, which ends
    /// with its format, or of another report.
    fn of(manager: &xml::DataManager, number: usize) -> Self {
        let name = |own: Option<&String>, default: &str, endings: &[&str]| {
            let own = own.filter(|own| !own.is_empty()).map_or(default, String::as_str);
            let split = own
                .rsplit_once('.')
                .filter(|(_, ending)| endings.iter().any(|meant| meant.eq_ignore_ascii_case(ending)));
            let (stem, ending) = split.unwrap_or((own, endings[0]));
            let number = if number > 1 { format!(" ({number})") } else { String::new() };
            format!("{}.{ending}", component(&format!("{stem}{number}")))
        };
        Self {
            xml: name(manager.rule_target_file_name.as_ref(), "report.xml", &["xml"]),
            html: name(manager.report_file_name.as_ref(), "report.html", &["html", "htm"]),
        }
    }
}

fn facts(about: &SegmentInfo, logs: &[ClosedLog], log: &ClosedLog) -> RunFacts {
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
        records: Some(log.counts.written),
        records_lost: Some(log.counts.dropped),
        remarks: failure
            .map(|failure| format!("A write failed: {failure}."))
            .into_iter()
            .chain(about.remarks.iter().cloned())
            .collect(),
    }
}

fn document(folder: &Dir, name: &str) -> Result<Vec<u8>, String> {
    let file = safe_files::open_file(folder, &component(name)).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(DOCUMENT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
        return Err(format!("it has more than {DOCUMENT_BYTES_MAX} bytes"));
    }
    Ok(bytes)
}

/// Of a file that rules read.
const DOCUMENT_BYTES_MAX: u64 = 8 << 20;
/// Of one folder, that are listed.
const FILES_MAX: usize = 10_000;
const CUT_OFF: &str = "The exporter ended while this segment was written, without time to close it. Its files have what was \
                       written until then. There are no figures, because they are counted while the exporter runs.";
/// Reports of one run: as many as the sets of a module have logs. All that have such a name are known as reports.
const REPORTS_MAX: usize = 1_000;

#[cfg(test)]
mod tests;
