//! Counter logs of the whole exporter: it logs a simulated host's counters to CSV, TSV and Parquet files in segments by records,
//! time and size, SQLite and PostgreSQL, is killed in the middle of a segment and started again, and PostgreSQL is killed while it
//! logs. pandas, psql and sqlite3 find the same values in all of them, each record once.

mod host;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::counter_tables::server::Server;
use crate::peers::pandas;
use crate::process::poll;
use crate::scraped::Page;
use crate::stage::Stage;
use crate::workspace::{Workspace, capture};
use crate::{Outcome, Result, http};

const SETS: [&str; 8] = ["Csv", "Tsv", "Parquet", "Exported", "Timed", "Sized", "Lite", "Warehouse"];
/// Those whose logs are files in segments.
const IN_FILES: [&str; 6] = ["Csv", "Tsv", "Parquet", "Exported", "Timed", "Sized"];
/// Those whose logs are tables, which have one segment a run.
const IN_TABLES: [&str; 2] = ["Lite", "Warehouse"];
/// The segment in which the exporter is killed: the second one by records, and the only one in tables. Segments by time and size
/// are in any.
const SEGMENT_AT_KILL: [(&str, u32); 6] =
    [("Csv", 2), ("Tsv", 2), ("Parquet", 2), ("Exported", 8), ("Lite", 1), ("Warehouse", 1)];

/// Records of a segment in a file.
const SEGMENT: usize = 8;
/// Records at which the exporter is killed: in the middle of the second segment.
const RECORDS_AT_KILL: usize = SEGMENT + 4;
/// Records that wait when PostgreSQL is started again.
const WAITING_MIN: usize = 4;

const TIMEOUT: Duration = Duration::from_secs(60);
/// The pause between two attempts to write grows up to a minute.
const RETRY_TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let mut server = Server::new()?;
    let (_simulator, host) = stage.simulator(&["--processors", host::PROCESSORS])?;
    let configuration = host::configuration(&stage, host, server.port)?;

    let (mut exporter, address) = stage.exporter_with(&configuration)?;
    let figures = poll("records in the second segment", TIMEOUT, || {
        let figures = Figures::of(address)?;
        let are_there = SETS.iter().all(|set| figures.records(set) >= RECORDS_AT_KILL)
            && SEGMENT_AT_KILL.iter().all(|(set, segment)| figures.serial_number(set) == *segment);
        Ok(are_there.then_some(figures))
    })
    .map_err(|error| exporter.complaint(&error.to_string()))?;
    drop(exporter);
    fs::write(stage.path("killed.page"), &figures.page)?;
    capture(Command::new("cp").arg("-a").arg(stage.path("files")).arg(stage.path("killed")))?;
    save(&stage, &server, "killed")?;
    let mut at_kill = in_tables(&stage, &server)?;
    at_kill.append(&mut in_files(&stage.path("killed"))?);

    let (mut exporter, address) = stage.exporter_with(&configuration)?;
    let waited = outage(address, &mut server).map_err(|error| exporter.complaint(&error.to_string()))?;
    let counted = poll("as many records as the metrics say", TIMEOUT, || {
        let before = Figures::of(address)?;
        let mut found = in_tables(&stage, &server)?;
        found.append(&mut in_files(&stage.path("files"))?);
        for (set, records) in &mut found {
            *records = records.saturating_sub(at_kill[set]);
        }
        compare(&before, &Figures::of(address)?, &found)
    });
    let counted = counted.map_err(|error| exporter.complaint(&error.to_string()))?;
    exporter.end()?;
    save(&stage, &server, "ended")?;
    server.end()?;

    let reports = reports(&stage.path("files/sim"))?;
    let mut python = Command::new(pandas(workspace));
    python.arg(workspace.root.join("crates/xtask/peers/exporter_logs.py")).arg(stage.path(""));
    let read = capture(&mut python)?;
    let outage = format!("{waited} records waited for a killed server, {counted} are what the metrics say");
    Ok(Outcome::Ran(format!("{}; {outage}; {reports} reports", read.trim())))
}

/// PostgreSQL is killed while the exporter logs, and started again when records wait. Returns how many waited.
fn outage(address: SocketAddr, server: &mut Server) -> Result<usize> {
    let tables = "Warehouse";
    poll("records after a new start", TIMEOUT, || {
        let figures = Figures::of(address)?;
        Ok(SETS.iter().all(|set| figures.records(set) >= 2).then_some(()))
    })?;
    server.kill()?;
    let waited = poll("records that wait", TIMEOUT, || {
        let waiting = Figures::of(address)?.number("log_waiting", tables);
        Ok((waiting >= WAITING_MIN).then_some(waiting))
    })?;
    server.start()?;
    let figures = poll("that nothing waits any more", RETRY_TIMEOUT, || {
        let figures = Figures::of(address)?;
        Ok((figures.number("log_waiting", tables) == 0).then_some(figures))
    })?;
    for set in SETS {
        let lost = (figures.number("log_gaps_total", set), figures.number("log_dropped_records_total", set));
        let failures = figures.number("log_failures_total", set);
        if lost != (0, 0) || (failures > 0) != (set == tables) {
            return Err(format!("{set} has {lost:?} gaps and dropped records and {failures} failures").into());
        }
    }
    Ok(waited)
}

/// Compares what files and tables have with what the metrics say, where no collection was between and no earlier record waits. The
/// record of the last collection may have been written after the metrics were taken. Returns how many records there are.
fn compare(before: &Figures, after: &Figures, found: &Counts) -> Result<Option<usize>> {
    let is_settled =
        |set: &&str| before.records(set) == after.records(set) && before.number("log_waiting", set) == 0;
    if !found.keys().all(is_settled) {
        return Ok(None);
    }
    for (set, found) in found {
        let records = before.records(set);
        if !(records..=records + 1).contains(found) {
            return Err(format!("{set} has {found} records; the metrics say {records}").into());
        }
    }
    Ok(Some(found.values().sum()))
}

/// xmllint reads all reports. Returns how many there are.
fn reports(target: &Path) -> Result<usize> {
    let mut count = 0;
    for set in IN_FILES {
        for run in fs::read_dir(target.join(set))? {
            let report = run?.path().join("report.xml");
            if report.is_file() {
                capture(Command::new("xmllint").arg("--noout").arg(report))?;
                count += 1;
            }
        }
    }
    Ok(count)
}

/// What the page of metrics says.
struct Figures {
    page: String,
    /// By the end of the metric's name and the set, over all other labels.
    sums: BTreeMap<(String, String), f64>,
}

impl Figures {
    fn of(address: SocketAddr) -> Result<Self> {
        let page = http::get(address, "/metrics", "text/plain;version=0.0.4")?.body;
        let mut sums = BTreeMap::new();
        for sample in Page::read(&page)?.samples {
            if let Some(name) = sample.name.strip_prefix("perfmon_pla_") {
                *sums.entry((name.to_owned(), sample.label("set").to_owned())).or_default() += sample.value;
            }
        }
        Ok(Self { page, sums })
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of a short run")]
    fn number(&self, name: &str, set: &str) -> usize {
        self.sums.get(&(name.to_owned(), set.to_owned())).copied().unwrap_or_default() as usize
    }

    fn records(&self, set: &str) -> usize {
        self.number("log_records_total", set)
    }

    fn serial_number(&self, set: &str) -> u32 {
        self.number("run_serial_number", set).try_into().unwrap_or(u32::MAX)
    }
}

const JOIN: &str = "SELECT i.GUID, i.MinutesToUTC, i.TimeZoneName, c.RecordIndex, c.CounterDateTime, d.ObjectName, d.InstanceName, \
     d.CounterName, c.CounterValue FROM CounterData c INNER JOIN CounterDetails d ON c.CounterID = d.CounterID \
     INNER JOIN DisplayToID i ON i.GUID = c.GUID WHERE i.DisplayString = 'sim: {set}' \
     ORDER BY i.LogStartTime, c.RecordIndex, c.CounterID";
const COUNT: &str = "SELECT count(DISTINCT RecordIndex) FROM CounterData \
     WHERE GUID IN (SELECT GUID FROM DisplayToID WHERE DisplayString = 'sim: {set}')";

type Counts = BTreeMap<&'static str, usize>;

/// Writes the rows of both databases to files for pandas.
fn save(stage: &Stage<'_>, server: &Server, name: &str) -> Result<()> {
    for set in IN_TABLES {
        fs::write(stage.path(&format!("{name}.{set}")), ask(stage, server, set, JOIN)?)?;
    }
    Ok(())
}

/// How many records the tables have. A log of a set has the records of all of its runs.
fn in_tables(stage: &Stage<'_>, server: &Server) -> Result<Counts> {
    let count = |set| Ok((set, ask(stage, server, set, COUNT)?.trim().parse()?));
    IN_TABLES.into_iter().map(count).collect()
}

/// How many records the text files below a directory have.
fn in_files(directory: &Path) -> Result<Counts> {
    let of_text = IN_FILES.into_iter().filter(|set| *set != "Parquet");
    of_text.map(|set| Ok((set, lines(&directory.join("sim").join(set))?))).collect()
}

fn ask(stage: &Stage<'_>, server: &Server, set: &str, sql: &str) -> Result<String> {
    let sql = sql.replace("{set}", set);
    if set == "Warehouse" {
        server.psql("perf", &sql)
    } else {
        let file = stage.path("files/sim/archive.db");
        capture(Command::new("sqlite3").args(["-readonly", "-list"]).arg(file).arg(sql))
    }
}

/// Lines with values in the files of all segments.
fn lines(set: &Path) -> Result<usize> {
    let mut count = 0;
    for run in fs::read_dir(set)? {
        let run = run?.path();
        // The state of the set is beside them.
        if !run.is_dir() {
            continue;
        }
        for file in fs::read_dir(run)? {
            let file = file?.path();
            if file.extension().is_some_and(|ending| ending == "csv" || ending == "tsv") {
                count += fs::read_to_string(file)?.lines().skip(1).count();
            }
        }
    }
    Ok(count)
}
