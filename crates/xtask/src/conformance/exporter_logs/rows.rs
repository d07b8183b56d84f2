//! What psql and sqlite3 find in the tables by PDH's joins, and how many records files and tables have.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::{IN_FILES, IN_TABLES};
use crate::Result;
use crate::conformance::counter_tables::server::Server;
use crate::stage::Stage;
use crate::workspace::capture;

const JOIN: &str = "SELECT i.GUID, i.MinutesToUTC, i.TimeZoneName, c.RecordIndex, c.CounterDateTime, d.ObjectName, d.InstanceName, \
     d.CounterName, c.CounterValue FROM CounterData c INNER JOIN CounterDetails d ON c.CounterID = d.CounterID \
     INNER JOIN DisplayToID i ON i.GUID = c.GUID WHERE i.DisplayString = 'sim: {set}' \
     ORDER BY i.LogStartTime, c.RecordIndex, c.CounterID";
const COUNT: &str = "SELECT count(DISTINCT RecordIndex) FROM CounterData \
     WHERE GUID IN (SELECT GUID FROM DisplayToID WHERE DisplayString = 'sim: {set}')";

pub(super) type Counts = BTreeMap<&'static str, usize>;

/// Writes the rows of both databases to files for pandas.
pub(super) fn save(stage: &Stage<'_>, server: &Server, name: &str) -> Result<()> {
    for set in IN_TABLES {
        fs::write(stage.path(&format!("{name}.{set}")), ask(stage, server, set, JOIN)?)?;
    }
    Ok(())
}

/// How many records the tables have. A log of a set has the records of all of its runs.
pub(super) fn in_tables(stage: &Stage<'_>, server: &Server) -> Result<Counts> {
    let count = |set| Ok((set, ask(stage, server, set, COUNT)?.trim().parse()?));
    IN_TABLES.into_iter().map(count).collect()
}

/// How many records the text files below a directory have.
pub(super) fn in_files(directory: &Path) -> Result<Counts> {
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
