//! Logs of counters in databases: an example program writes an invented log and says of each record what became of it, while
//! PostgreSQL is killed and started again, while connections break at the commit, and until the program itself is killed.
//! Then psql and sqlite3 run the joins over PDH's three tables that their users have, and find each record once.

pub(super) mod server;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use self::server::Server;
use crate::process::Running;
use crate::stage::{START_TIMEOUT, Stage};
use crate::workspace::{Workspace, capture};
use crate::{Outcome, Result};

const COUNTERS: u32 = 20;

/// As they stand in many places for the databases of Windows, with `{log}` for the name of a log.
const JOINS: [&str; 4] = [
    "SELECT d.MachineName, d.ObjectName, d.CounterName, d.InstanceName, c.CounterDateTime, c.CounterValue \
     FROM CounterData c INNER JOIN CounterDetails d ON c.CounterID = d.CounterID \
     INNER JOIN DisplayToID i ON i.GUID = c.GUID WHERE i.DisplayString = '{log}' ORDER BY c.RecordIndex, c.CounterID",
    "select CounterDetails.CounterName, CounterDetails.InstanceName, min(CounterData.CounterValue), \
     max(CounterData.CounterValue), count(*) from CounterData, CounterDetails, DisplayToID \
     where DisplayToID.DisplayString = '{log}' and CounterData.GUID = DisplayToID.GUID \
     and CounterData.CounterID = CounterDetails.CounterID and CounterDetails.ObjectName = 'Process' \
     group by CounterDetails.CounterName, CounterDetails.InstanceName order by 1, 2",
    "SELECT c.CounterDateTime, c.CounterValue FROM CounterData c JOIN CounterDetails d ON d.CounterID = c.CounterID \
     WHERE d.CounterName LIKE '%Processor Time' AND d.InstanceName = 'worker 3' AND d.MachineName = '\\\\INVENTED' \
     AND c.CounterDateTime BETWEEN '2026-03-01 00:00:05' AND '2026-03-01 00:00:10' \
     AND c.GUID = (SELECT GUID FROM DisplayToID WHERE DisplayString = '{log}') ORDER BY c.CounterDateTime, c.CounterValue",
    "SELECT DisplayString, RunID, LogStartTime, LogStopTime, NumberOfRecords, MinutesToUTC, TimeZoneName \
     FROM DisplayToID WHERE DisplayString = '{log}'",
];

/// Everything of a log, to be compared with what a program said.
const EVERYTHING: &str = "SELECT c.RecordIndex, c.CounterDateTime, d.InstanceName, d.InstanceIndex, c.CounterValue, \
     c.FirstValueB, c.FirstValueA, c.SecondValueA, c.SecondValueB, c.MultiCount FROM CounterData c \
     INNER JOIN CounterDetails d ON c.CounterID = d.CounterID INNER JOIN DisplayToID i ON i.GUID = c.GUID \
     WHERE i.DisplayString = '{log}'";

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let mut server = Server::new()?;
    let killed = killed_server(&stage, &mut server)?;
    let cut = Transcript::of(&mut program(&stage, &server, "Cut", &["--records", "90", "--cut", "3"])?)?;
    if cut.written.len() != 90 || cut.failures == 0 {
        return Err(format!("{} of 90 records are written over a bad line", cut.written.len()).into());
    }
    cut.compare(&server.ask(EVERYTHING, "Cut")?)?;
    over_tls(&stage, &server)?;
    let sqlite = killed_program(&stage)?;
    let joins = joins(&stage, &server)?;
    shared_counters(&stage, &server)?;
    tables_of_another_form(&stage, &server)?;
    server.end()?;
    Ok(Outcome::Ran(format!("{killed}; {} commits cut; {sqlite}; {joins} rows agree", cut.failures)))
}

/// The server is killed when a part of the log is written, and started again when records were dropped.
fn killed_server(stage: &Stage<'_>, server: &mut Server) -> Result<String> {
    let options = ["--records", "400", "--pause-ms", "20", "--waiting", "20"];
    let mut program = program(stage, server, "Killed", &options)?;
    let transcript = Transcript::default();
    transcript.hear(&mut program, "record 10", |line| line.starts_with("written 10"))?;
    server.kill()?;
    transcript.hear(&mut program, "dropped records", |line| line.starts_with("dropped"))?;
    server.start()?;
    let transcript = transcript.until_end(&mut program)?;
    if transcript.dropped.is_empty() || transcript.written.len() + transcript.dropped.len() != 400 {
        return Err(format!(
            "{} records written, {} dropped of 400",
            transcript.written.len(),
            transcript.dropped.len()
        )
        .into());
    }
    let unheard = transcript.compare(&server.ask(EVERYTHING, "Killed")?)?;
    // What the server committed when it was killed, and nobody heard of.
    if unheard > 20 {
        return Err(format!("{unheard} records are there that count as dropped").into());
    }
    Ok(format!(
        "{} records through a killed server, {} dropped",
        transcript.written.len(),
        transcript.dropped.len()
    ))
}

/// The server's certificate is checked, and its list of connections has one with TLS.
fn over_tls(stage: &Stage<'_>, server: &Server) -> Result<()> {
    let authority = server.authority();
    let authority = authority.to_str().ok_or("the path is no text")?;
    let mut program = program(stage, server, "TLS", &["--records", "200", "--tls-ca", authority])?;
    let transcript = Transcript::default();
    transcript.hear(&mut program, "record 1", |line| line.starts_with("written 1 "))?;
    let count = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                 WHERE ssl AND application_name = 'perfmon-exporter'";
    let found = server.psql("perf", count)?;
    let transcript = transcript.until_end(&mut program)?;
    transcript.compare(&server.ask(EVERYTHING, "TLS")?)?;
    if transcript.written.len() == 200 && found.trim() == "1" {
        Ok(())
    } else {
        Err(format!("{} of 200 records written over {found} connections with TLS", transcript.written.len())
            .into())
    }
}

/// The program is killed; what it said is in the file.
fn killed_program(stage: &Stage<'_>) -> Result<String> {
    let file = stage.path("log.db");
    let mut command = Command::new(stage.workspace.program("examples/invented_tables"));
    command.arg("--sqlite").arg(&file).args(["--log", "Killed", "--counters", &COUNTERS.to_string()]);
    command.args(["--records", "100000", "--pause-ms", "1"]);
    let mut program = Running::start("invented_tables", &mut command)?;
    let transcript = Transcript::default();
    transcript.hear(&mut program, "record 500", |line| line.starts_with("written 500 "))?;
    drop(program);
    let transcript = transcript.read()?;
    transcript.compare(&ask_sqlite(&file, EVERYTHING, "Killed")?)?;
    let check = capture(Command::new("sqlite3").arg(&file).arg("PRAGMA integrity_check"))?;
    if check.trim() != "ok" {
        return Err(format!("sqlite3 says of the file: {check}").into());
    }
    Ok(format!("{} records of a killed program in SQLite", transcript.written.len()))
}

/// Both databases answer the same to the same joins over the same log.
fn joins(stage: &Stage<'_>, server: &Server) -> Result<usize> {
    let options = ["--records", "30", "--pause-ms", "1"];
    Transcript::of(&mut program(stage, server, "Same", &options)?)?;
    let file = stage.path("log.db");
    let mut command = Command::new(stage.workspace.program("examples/invented_tables"));
    command.arg("--sqlite").arg(&file).args(["--log", "Same", "--counters", &COUNTERS.to_string()]);
    Transcript::of(&mut Running::start("invented_tables", command.args(options))?)?;
    let mut rows = 0;
    for join in JOINS {
        let (ours, theirs) = (server.ask(join, "Same")?, ask_sqlite(&file, join, "Same")?);
        let differs = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
        if ours.is_empty() || ours.len() != theirs.len() || differs.is_some() {
            let counts = (ours.len(), theirs.len());
            return Err(format!("{join}\n{counts:?} rows from PostgreSQL and SQLite; {differs:?}").into());
        }
        rows += ours.len();
    }
    Ok(rows)
}

/// Programs that begin their logs at the same time, in a database without tables, share the rows of their counters.
fn shared_counters(stage: &Stage<'_>, server: &Server) -> Result<()> {
    server.psql("postgres", "CREATE DATABASE shared")?;
    let options = ["--database", "shared", "--records", "20", "--pause-ms", "1"];
    let logs = ["a", "b", "c", "d"];
    let begun = logs.map(|log| program(stage, server, log, &options));
    for program in begun {
        let transcript = Transcript::of(&mut program?)?;
        if transcript.written.len() != 20 || transcript.failures > 0 {
            let (written, failure) = (transcript.written.len(), transcript.last_failure);
            let message = format!(
                "programs that begin at the same time disturb each other: {written} of 20 written; {failure}"
            );
            return Err(message.into());
        }
    }
    let count = "SELECT count(*), (SELECT count(*) FROM DisplayToID), (SELECT count(*) FROM CounterData) FROM CounterDetails";
    let found = server.psql("shared", count)?;
    let expected = format!("{COUNTERS}|4|{}", 4 * 20 * (COUNTERS - 1));
    if found.trim() == expected { Ok(()) } else { Err(format!("{found} rows instead of {expected}").into()) }
}

/// The column is named, and nothing is written.
fn tables_of_another_form(stage: &Stage<'_>, server: &Server) -> Result<()> {
    server.psql("shared", "ALTER TABLE CounterData ALTER COLUMN CounterValue TYPE real")?;
    let options = ["--database", "shared", "--records", "1"];
    let mut program = program(stage, server, "e", &options)?;
    program.wait_for("refusal", START_TIMEOUT, |line| {
        (line.starts_with("failed refused") && line.contains("its column CounterValue is float4"))
            .then_some(())
    })?;
    let found = server.psql("shared", "SELECT count(*) FROM DisplayToID WHERE DisplayString = 'e'")?;
    if found.trim() == "0" { Ok(()) } else { Err("a log was begun in tables of another form".into()) }
}

fn program(stage: &Stage<'_>, server: &Server, log: &str, options: &[&str]) -> Result<Running> {
    let mut command = Command::new(stage.workspace.program("examples/invented_tables"));
    command.args(["--port", &server.port.to_string(), "--log", log, "--counters", &COUNTERS.to_string()]);
    command.arg("--password-file").arg(stage.password_file()?).args(options);
    Running::start("invented_tables", &mut command)
}

type Row = Vec<String>;

/// The answer to a query, field by field, without the blanks after texts of fixed length, and without `.0` after numbers.
fn rows(text: &str) -> Vec<Row> {
    let field = |field: &str| {
        let field = field.trim_end();
        field.strip_suffix(".0").unwrap_or(field).to_owned()
    };
    text.lines().map(|line| line.split('|').map(field).collect()).collect()
}

fn ask_sqlite(file: &Path, sql: &str, log: &str) -> Result<Vec<Row>> {
    let mut command = Command::new("sqlite3");
    Ok(rows(&capture(command.arg("-list").arg(file).arg(sql.replace("{log}", log)))?))
}

// What a program says of the records that it writes, compared with what is in the tables.

const TIMEOUT: Duration = Duration::from_secs(60);

/// What a program said of its records.
#[derive(Default)]
struct Transcript {
    lines: RefCell<Vec<String>>,
    written: BTreeSet<u32>,
    dropped: BTreeSet<u32>,
    failures: usize,
    /// The last of them.
    last_failure: String,
}

impl Transcript {
    fn of(program: &mut Running) -> Result<Self> {
        Self::default().until_end(program)
    }

    fn until_end(self, program: &mut Running) -> Result<Self> {
        self.hear(program, "end", |line| line == "end")?;
        self.read()
    }

    fn hear(&self, program: &mut Running, what: &str, is_it: impl Fn(&str) -> bool) -> Result<()> {
        program.wait_for(what, TIMEOUT, |line| {
            self.lines.borrow_mut().push(line.to_owned());
            is_it(line).then_some(())
        })
    }

    fn read(mut self) -> Result<Self> {
        for line in self.lines.take() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["written", first, last] => self.written.extend(first.parse::<u32>()?..=last.parse()?),
                ["dropped", record] => {
                    self.dropped.insert(record.parse()?);
                }
                ["failed", ..] => {
                    self.failures += 1;
                    line.clone_into(&mut self.last_failure);
                }
                _ => {}
            }
        }
        Ok(self)
    }

    /// Each record that is written is there once, with its values, and in order. Answers how many are there that are not
    /// said to be.
    fn compare(&self, found: &[Row]) -> Result<usize> {
        let mut records: BTreeMap<u32, (String, BTreeSet<u32>)> = BTreeMap::new();
        for row in found {
            let (Some(index), Some(record), Some(counter)) = (
                row.first(),
                row.get(5).and_then(|field| field.parse().ok()),
                row.get(6).and_then(|field| field.parse().ok()),
            ) else {
                return Err(format!("a row is wrong: {row:?}").into());
            };
            let (record, counter): (u32, u32) = (record, counter);
            let value = f64::from(record) + f64::from(counter) / 1000.0;
            let expected = [time(record), format!("worker {}", counter / 2), (counter % 2).to_string()];
            let is_right = row[1..4] == expected
                && row[4].parse() == Ok(value)
                && row[7..] == ["-1", "-1", "1"].map(str::to_owned);
            let (known, counters) = records.entry(record).or_insert((index.clone(), BTreeSet::new()));
            if !is_right || known != index || !counters.insert(counter) {
                return Err(format!("a row is wrong, or there twice: {row:?}").into());
            }
        }
        for (record, (_, counters)) in &records {
            let expected: BTreeSet<u32> =
                (0..COUNTERS).filter(|counter| *counter != record % COUNTERS).collect();
            if *counters != expected {
                return Err(format!("record {record} has only the counters {counters:?}").into());
            }
        }
        if let Some(lost) = self.written.iter().find(|record| !records.contains_key(record)) {
            return Err(format!("record {lost} was written and is not there").into());
        }
        Ok(records.len() - self.written.len())
    }
}

fn time(record: u32) -> String {
    format!("2026-03-01 00:{:02}:{:02}.000", record / 60, record % 60)
}
