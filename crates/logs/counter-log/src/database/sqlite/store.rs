//! An open file, with the data set of one log.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Statement, TransactionBehavior, params};

use super::{SqliteFile, failed, tables};
use crate::database::log::Log;
use crate::database::progress::Counted;
use crate::database::record::{Value, time_text, values, zone_fields};
use crate::database::{COUNTER_DATA, Chunk, DataSetId, Outcome, failure};
use crate::{Batch, SinkError, SinkErrorKind};

/// An open file, with the data set of one log.
#[derive(Debug)]
pub(super) struct Store {
    connection: Connection,
    path: PathBuf,
    /// What the path led to when the file was opened.
    identity: Identity,
    database: String,
    log: Arc<Log>,
    /// `GUID` of the data set, as the table has it.
    data_set: String,
    /// `CounterID` of each column.
    counters: Vec<Option<i32>>,
    /// What there was of the log when the file was opened.
    pub(super) found: Counted,
}

impl Store {
    /// Opens the file, makes or checks its tables, and finds or begins the data set, whose first record is at `first`.
    pub(super) fn open(file: &SqliteFile, log: Arc<Log>, first: Timestamp) -> Result<Self, SinkError> {
        let path = file.path()?;
        let database = path.display().to_string();
        let fail = |doing: &'static str| {
            let database = database.clone();
            move |error| failed(&database, doing, &error)
        };
        let mut connection = connect(&path).map_err(fail("open"))?;
        let identity = Identity::of(&path);
        set_up(&connection, &log).map_err(fail("set up"))?;
        let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.map_err(fail("begin a transaction"))?;
        tables::prepare(&transaction, &database)?;
        let (data_set, found) = data_set(&transaction, &database, &log, first)?;
        let counters = tables::counter_ids(&transaction, &log);
        let counters = counters.map_err(fail("look up the counters in CounterDetails"))?;
        transaction.commit().map_err(fail("commit"))?;
        Ok(Self { connection, path, identity, database, log, data_set, counters, found })
    }

    /// Adds records in one transaction.
    pub(super) fn add(&mut self, batch: &Batch, chunk: &Chunk) -> Result<Outcome, SinkError> {
        let after = chunk.after(&self.log)?;
        let found = Identity::of(&self.path);
        if found != self.identity {
            if found.0.is_none() {
                self.empty_write_ahead_log();
            }
            let message = format!("{}: the file was removed or replaced; it is opened again", self.database);
            return Err(failure(SinkErrorKind::Unavailable, message));
        }
        let last = chunk.rows(batch).last().map_or(Timestamp::UNIX_EPOCH, |row| row.time);
        let added = self.transact(batch, chunk, after, last);
        added.map_err(|error| failed(&self.database, "write records", &error))
    }

    /// A file that was moved away has all its records then.
    fn empty_write_ahead_log(&self) {
        // If the file was deleted, nobody misses them.
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }

    /// One transaction. One that fails leaves nothing.
    fn transact(
        &mut self,
        batch: &Batch,
        chunk: &Chunk,
        after: u32,
        last: Timestamp,
    ) -> rusqlite::Result<Outcome> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Nobody else changes the file within the transaction: the pages that it adds are those of these records.
        let pages = page_count(&transaction);
        let sql = "UPDATE DisplayToID SET NumberOfRecords = ?1, LogStopTime = ?2 \
                   WHERE GUID = ?3 AND NumberOfRecords = ?4";
        let updated =
            transaction.execute(sql, params![after, time_text(last), self.data_set, chunk.before])?;
        if updated != 1 {
            return counted(&transaction, &self.data_set).map(Outcome::Moved);
        }
        let mut insert = transaction.prepare(&insert_sql())?;
        for (index, is_first, row) in chunk.numbered(batch) {
            let time = time_text(row.time);
            for value in values(row, &self.counters, is_first) {
                insert_value(&mut insert, &self.data_set, index, &time, &value)?;
            }
        }
        drop(insert);
        let bytes = page_count(&transaction).saturating_sub(pages) * PAGE_BYTES;
        transaction.commit()?;
        Ok(Outcome::Done { records: after, bytes })
    }
}

/// Device and number of a file; nothing where there is none. SQLite would go on in a file that has lost its name, and nobody
/// would read that again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity(Option<(u64, u64)>);

impl Identity {
    fn of(path: &Path) -> Self {
        Self(fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino())))
    }
}

/// Opens the file, which is made if it is not there.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    // Without SQLITE_OPEN_URI, a name is never read as parameters.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let is_missing = || Identity::of(path).0.is_none();
    let making = is_missing().then(|| MAKING.lock());
    // Another log may have made it in the meantime: then the files beside it are in use.
    if making.is_some() && is_missing() {
        remove_files_beside(path);
    }
    Connection::open_with_flags(path, flags)
}

/// Removes what is left of a database that was deleted or moved away: others of this process may still use it, and a new one
/// must not share their memory.
fn remove_files_beside(path: &Path) {
    for ending in ["-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        // Mostly there is none; SQLite says what is wrong with one that stays.
        let _ = fs::remove_file(name);
    }
}

fn set_up(connection: &Connection, log: &Log) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Nothing that a file says of itself is run but its tables.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update_and_check(None, "journal_size_limit", JOURNAL_BYTES_MAX, |_| Ok(()))?;
    // The newest page of each counter stays in memory.
    let cache_kib = (log.counters.len() as u64 * 6).clamp(8 << 10, 64 << 10);
    connection.pragma_update(None, "cache_size", -cache_kib.cast_signed())?;
    Ok(())
}

/// `GUID` of the log, which is begun if it is not there, and what there is of it.
fn data_set(
    connection: &Connection,
    database: &str,
    log: &Log,
    first: Timestamp,
) -> Result<(String, Counted), SinkError> {
    let fail = |doing: &'static str| move |error| failed(database, doing, &error);
    let sql = "SELECT GUID FROM DisplayToID WHERE DisplayString = ?1";
    let found = connection.query_row(sql, [&log.name], |row| row.get::<_, String>(0)).optional();
    if let Some(id) = found.map_err(fail("find the log in DisplayToID"))? {
        // Somebody else may have begun it, and not counted.
        let sql = "UPDATE DisplayToID SET NumberOfRecords = coalesce((SELECT max(RecordIndex) FROM CounterData \
                   WHERE CounterData.GUID = ?1), 0) WHERE GUID = ?1 AND NumberOfRecords IS NULL";
        let found = connection.execute(sql, [&id]).and_then(|_| counted(connection, &id));
        return Ok((id, found.map_err(fail("count the records"))?));
    }
    let no_random = || failure(SinkErrorKind::Other, "the system has no random bytes for the id of a log");
    let id = DataSetId::random().ok_or_else(no_random)?.to_string();
    let (minutes, zone) = zone_fields(&log.zone, first);
    let start = time_text(first);
    let sql = "INSERT INTO DisplayToID (GUID, RunID, DisplayString, LogStartTime, LogStopTime, NumberOfRecords, \
               MinutesToUTC, TimeZoneName) VALUES (?1, 0, ?2, ?3, ?3, 0, ?4, ?5)";
    let begun = connection.execute(sql, params![id, log.name, start, minutes, zone]);
    begun.map_err(fail("begin the log in DisplayToID"))?;
    Ok((id, Counted { records: 0, stop: start }))
}

fn counted(connection: &Connection, data_set: &str) -> rusqlite::Result<Counted> {
    let sql = "SELECT NumberOfRecords, rtrim(coalesce(LogStopTime, '')) FROM DisplayToID WHERE GUID = ?1";
    connection.query_row(sql, [data_set], |row| Ok(Counted { records: row.get(0)?, stop: row.get(1)? }))
}

fn insert_sql() -> String {
    format!(
        "INSERT INTO CounterData ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        COUNTER_DATA.column_names()
    )
}

fn insert_value(
    insert: &mut Statement<'_>,
    data_set: &str,
    index: i32,
    time: &str,
    value: &Value,
) -> rusqlite::Result<usize> {
    let raw = value.raw;
    insert.execute(params![
        data_set,
        value.counter,
        index,
        time,
        value.value,
        raw.map(|raw| raw.first.low),
        raw.map(|raw| raw.first.high),
        raw.map(|raw| raw.second.low),
        raw.map(|raw| raw.second.high),
        raw.map(|raw| raw.multi_count),
    ])
}

/// For a figure only: a failure counts as none.
fn page_count(connection: &Connection) -> u64 {
    connection.pragma_query_value(None, "page_count", |row| row.get::<_, u32>(0)).map_or(0, u64::from)
}

const PAGE_BYTES: u64 = 4096;

/// Held while a file is made.
static MAKING: Mutex<()> = Mutex::new(());
/// How long a transaction waits for those of others.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// What the write-ahead log keeps on the disk after a checkpoint.
const JOURNAL_BYTES_MAX: i64 = 16 << 20;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{Column, LogHeader, LogSink as _, Sample};
    use jiff::tz::TimeZone;

    use super::super::SqliteSink;
    use super::*;

    fn sink(folder: &Path) -> SqliteSink {
        let columns = (0..100).map(|index| Column {
            machine: "WEB1".to_owned(),
            object: "Processor".to_owned(),
            parent: None,
            instance: Some(index.to_string()),
            instance_index: 0,
            counter: "% Processor Time".to_owned(),
            counter_type: 0x2161_0500,
            default_scale: 0,
            time_base: 10_000_000,
        });
        let header =
            LogHeader { columns: columns.collect(), zone: TimeZone::UTC, description: String::new() };
        let log = Log::new("Nightly", header).expect("the name is harmless");
        SqliteSink::new(SqliteFile::at(&folder.join("archive.db")).expect("a name"), log)
    }

    fn batch(seconds: std::ops::Range<i64>) -> Batch {
        let mut batch = Batch::new(100);
        for second in seconds {
            let sample = Sample { value: Some(1.0), raw: None };
            batch.push(Timestamp::from_second(second).expect("in range"), [sample; 100]);
        }
        batch
    }

    #[tokio::test]
    async fn a_full_database_keeps_whole_transactions_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut sink = sink(folder.path());
        assert_eq!(sink.write(&batch(0..5)).await.records, 5);
        let count = |table: &str| {
            let reader = Connection::open(folder.path().join("archive.db")).expect("it is there");
            reader.query_row(table, [], |row| row.get::<_, i64>(0)).expect("a number")
        };
        let connection = &sink.store.as_ref().expect("it is kept open").connection;
        // As a full disk.
        connection.pragma_update_and_check(None, "max_page_count", 50, |_| Ok(())).expect("it is set");
        let written = sink.write(&batch(5..100)).await;
        assert_eq!(written.records, 0);
        let failure = written.failure.expect("there is no room");
        assert_eq!(failure.kind, SinkErrorKind::Full);
        assert!(failure.message.ends_with("free space on its disk"), "{failure}");
        assert_eq!(count("SELECT count(*) FROM CounterData"), 500);
        assert_eq!(count("SELECT NumberOfRecords FROM DisplayToID"), 5);
        // The file is opened again, and there is room again.
        assert_eq!(sink.write(&batch(5..100)).await.records, 95);
        assert_eq!(count("SELECT count(*) FROM CounterData"), 10_000);
    }
}
