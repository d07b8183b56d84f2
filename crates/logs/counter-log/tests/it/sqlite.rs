use std::os::unix::fs::symlink;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Waker};

use counter_log::database::{SqliteFile, SqliteSink};
use counter_log::{Batch, LogSink, Sample, SinkErrorKind, Written};
use jiff::Timestamp;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::invented::{batch, log};

/// As it is in many places for the databases of Windows.
const JOIN: &str = "SELECT d.MachineName, d.ObjectName, d.CounterName, d.InstanceName, c.RecordIndex, c.CounterDateTime, \
    c.CounterValue FROM CounterData c INNER JOIN CounterDetails d ON c.CounterID = d.CounterID \
    INNER JOIN DisplayToID i ON i.GUID = c.GUID WHERE i.DisplayString = ?1 ORDER BY c.RecordIndex, c.CounterID";

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room for a folder")
}

fn file(folder: &TempDir) -> SqliteFile {
    SqliteFile::at(&folder.path().join("log.db")).expect("it is an absolute path")
}

fn reader(folder: &TempDir) -> Connection {
    Connection::open(folder.path().join("log.db")).expect("the file is there")
}

fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).expect("the query has a number")
}

fn texts(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect("it is a query");
    let rows = statement.query_map([], |row| row.get(0)).expect("it has no parameters");
    rows.collect::<Result<_, _>>().expect("the column is a text")
}

#[track_caller]
fn expect_written(written: &Written, records: usize) {
    assert_eq!((written.records, &written.failure), (records, &None));
}

#[track_caller]
fn expect_failure(written: &Written, kind: SinkErrorKind, text: &str) {
    let failure = written.failure.as_ref().expect("the sink failed");
    assert!(failure.kind == kind && failure.message.contains(text), "{failure:?}");
}

#[tokio::test]
async fn the_join_of_users_finds_every_value_once() {
    let folder = folder();
    let mut sink = SqliteSink::new(file(&folder), log("Nightly", "WEB1", 2));
    expect_written(&sink.write(&batch(2, 0..3)).await, 3);
    sink.finish().await.expect("the file closes");
    let connection = reader(&folder);
    let mut statement = connection.prepare(JOIN).expect("the tables are there");
    let rows = statement.query_map(["Nightly"], |row| {
        let names: (String, String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        Ok((names, row.get::<_, i32>(4)?, row.get::<_, String>(5)?, row.get::<_, f64>(6)?))
    });
    let rows: Vec<_> = rows.expect("one parameter").collect::<Result<_, _>>().expect("the types fit");
    let row = |instance: &str, index, time: &str, value| {
        let names = (
            r"\\WEB1".to_owned(),
            "Processor".to_owned(),
            "% Processor Time".to_owned(),
            instance.to_owned(),
        );
        (names, index, time.to_owned(), value)
    };
    let expected = [
        row("0", 1, "2026-03-01 00:00:00.000", 0.0),
        row("1", 1, "2026-03-01 00:00:00.000", 0.001),
        row("0", 2, "2026-03-01 00:00:01.000", 1.0),
        row("1", 2, "2026-03-01 00:00:01.000", 1.001),
        row("0", 3, "2026-03-01 00:00:02.000", 2.0),
        row("1", 3, "2026-03-01 00:00:02.000", 2.001),
    ];
    assert_eq!(rows, expected);
    let raw = "SELECT DISTINCT SecondValueA || ' ' || SecondValueB || ' ' || FirstValueB || ' ' || MultiCount FROM CounterData";
    assert_eq!(texts(&connection, raw), ["-1 -1 0 1"]);
    let details = "SELECT CounterType || ' ' || DefaultScale || ' ' || InstanceIndex || ' ' || TimeBaseA || ' ' || TimeBaseB || \
                   coalesce(ParentName, '') || coalesce(ParentObjectID, '') FROM CounterDetails LIMIT 1";
    assert_eq!(texts(&connection, details), ["560006400 0 0 10000000 0"]);
    let display = "SELECT RunID || ' ' || LogStartTime || ' ' || LogStopTime || ' ' || NumberOfRecords || ' ' || MinutesToUTC || \
                   ' ' || TimeZoneName FROM DisplayToID WHERE length(GUID) = 36";
    let expected = "0 2026-03-01 00:00:00.000 2026-03-01 00:00:02.000 3 -60 W. Europe Standard Time";
    assert_eq!(texts(&connection, display), [expected]);
}

#[tokio::test]
async fn a_set_that_starts_again_continues_its_log_and_keeps_its_counters() {
    let folder = folder();
    for start in [0, 10] {
        let mut sink = SqliteSink::new(file(&folder), log("Nightly", "WEB1", 2));
        expect_written(&sink.write(&batch(2, start..start + 5)).await, 5);
    }
    let connection = reader(&folder);
    assert_eq!(number(&connection, "SELECT count(*) FROM DisplayToID"), 1);
    assert_eq!(number(&connection, "SELECT count(*) FROM CounterDetails"), 2);
    assert_eq!(number(&connection, "SELECT count(DISTINCT RecordIndex) FROM CounterData"), 10);
    let display = "SELECT NumberOfRecords || ' ' || LogStartTime || ' ' || LogStopTime FROM DisplayToID";
    assert_eq!(texts(&connection, display), ["10 2026-03-01 00:00:00.000 2026-03-01 00:00:14.000"]);
}

#[tokio::test]
async fn a_missing_value_has_no_row_and_its_record_counts() {
    let folder = folder();
    let mut sink = SqliteSink::new(file(&folder), log("Nightly", "WEB1", 2));
    let mut records = Batch::new(2);
    for value in [Some(1.0), None, Some(f64::NAN), Some(4.0)] {
        records.push(Timestamp::UNIX_EPOCH, [Sample { value, raw: None }]);
    }
    expect_written(&sink.write(&records).await, 4);
    let connection = reader(&folder);
    assert_eq!(texts(&connection, "SELECT RecordIndex || '' FROM CounterData"), ["1", "4"]);
    assert_eq!(number(&connection, "SELECT NumberOfRecords FROM DisplayToID"), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_at_the_same_time_share_counters_and_lose_nothing() {
    let folder = folder();
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let mut sink = SqliteSink::new(file(&folder), log(&format!("log {writer}"), "WEB1", 50));
            tokio::spawn(async move {
                for start in 0..10 {
                    expect_written(&sink.write(&batch(50, start * 10..start * 10 + 10)).await, 10);
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.expect("no writer failed");
    }
    let connection = reader(&folder);
    assert_eq!(number(&connection, "SELECT count(*) FROM CounterDetails"), 50);
    assert_eq!(number(&connection, "SELECT count(*) FROM CounterData"), 4 * 50 * 100);
    assert_eq!(number(&connection, "SELECT sum(NumberOfRecords) FROM DisplayToID"), 400);
}

#[tokio::test]
async fn two_writers_of_one_log_are_noticed() {
    let folder = folder();
    let mut sinks = [(); 2].map(|()| SqliteSink::new(file(&folder), log("Nightly", "WEB1", 1)));
    expect_written(&sinks[0].write(&batch(1, 0..1)).await, 1);
    expect_written(&sinks[1].write(&batch(1, 1..2)).await, 1);
    expect_failure(
        &sinks[0].write(&batch(1, 2..3)).await,
        SinkErrorKind::Refused,
        "another program writes this log",
    );
    assert_eq!(number(&reader(&folder), "SELECT count(*) FROM CounterData"), 2);
}

#[tokio::test]
async fn a_future_that_is_dropped_neither_loses_nor_doubles_records() {
    let folder = folder();
    let mut sink = SqliteSink::new(file(&folder), log("Nightly", "WEB1", 10));
    expect_written(&sink.write(&batch(10, 0..1)).await, 1);
    let mut kept = 1;
    for _ in 0..10 {
        let records = batch(10, kept..kept + 99);
        // Polled once, it has begun its transaction on another thread, which may even have ended it.
        let poll = pin!(sink.write(&records)).as_mut().poll(&mut Context::from_waker(Waker::noop()));
        kept += if poll.is_ready() { 99 } else { 0 };
    }
    expect_written(&sink.write(&batch(10, kept..kept + 199)).await, 199);
    let records = i64::from(kept) + 199;
    assert_eq!(number(&reader(&folder), "SELECT count(*) FROM CounterData"), 10 * records);
    assert_eq!(number(&reader(&folder), "SELECT NumberOfRecords FROM DisplayToID"), records);
}

#[tokio::test]
async fn tables_of_another_form_are_refused_by_the_column() {
    let other = [
        (
            "CREATE TABLE CounterData (GUID TEXT)",
            "table CounterData is not as Windows makes it: it has no column CounterID",
        ),
        ("CREATE TABLE DISPLAYTOID (GUID TEXT, RunID TEXT)", "its column RunID is TEXT"),
        ("CREATE VIEW CounterDetails AS SELECT 1", "it is a view"),
    ];
    for (sql, text) in other {
        let folder = folder();
        reader(&folder).execute_batch(sql).expect("the statement is right");
        let mut sink = SqliteSink::new(file(&folder), log("Nightly", "WEB1", 1));
        expect_failure(&sink.write(&batch(1, 0..1)).await, SinkErrorKind::Refused, text);
        assert_eq!(number(&reader(&folder), "SELECT count(*) FROM sqlite_schema"), 1, "nothing was added");
    }
}

#[tokio::test]
async fn tables_with_more_columns_are_used() {
    let folder = folder();
    let mut sink = SqliteSink::new(file(&folder), log("Nightly", "WEB1", 1));
    expect_written(&sink.write(&batch(1, 0..1)).await, 1);
    let sql = "ALTER TABLE CounterData ADD COLUMN Site TEXT";
    reader(&folder).execute_batch(sql).expect("the table is there");
    let mut sink = SqliteSink::new(file(&folder), log("Nightly", "WEB1", 1));
    expect_written(&sink.write(&batch(1, 1..2)).await, 1);
    let sql = "ALTER TABLE CounterDetails RENAME COLUMN TimeBaseB TO Other";
    reader(&folder).execute_batch(sql).expect("the table is there");
    let mut sink = SqliteSink::new(file(&folder), log("Nightly", "WEB1", 1));
    expect_failure(&sink.write(&batch(1, 2..3)).await, SinkErrorKind::Refused, "it has no column TimeBaseB");
}

#[tokio::test]
async fn a_number_of_records_that_is_none_is_refused() {
    let folder = folder();
    let mut sink = SqliteSink::new(file(&folder), log("Nightly", "WEB1", 1));
    expect_written(&sink.write(&batch(1, 0..1)).await, 1);
    reader(&folder).execute_batch("UPDATE DisplayToID SET NumberOfRecords = -1").expect("the table is there");
    let mut sink = SqliteSink::new(file(&folder), log("Nightly", "WEB1", 1));
    let text = "a row has a value that Windows does not write; use another file";
    expect_failure(&sink.write(&batch(1, 1..2)).await, SinkErrorKind::Refused, text);
}

#[tokio::test]
async fn a_link_leads_nowhere() {
    let (folder, elsewhere) = (folder(), folder());
    symlink(elsewhere.path().join("log.db"), folder.path().join("log.db")).expect("nothing is there");
    let mut sink = SqliteSink::new(file(&folder), log("Nightly", "WEB1", 1));
    expect_failure(&sink.write(&batch(1, 0..1)).await, SinkErrorKind::Refused, "this is no file");
    // Nor does one in place of the folder, which others may write into the one above.
    let link = folder.path().join("web1");
    symlink(elsewhere.path(), &link).expect("nothing is there");
    let mut sink = SqliteSink::new(
        SqliteFile::at(&link.join("log.db")).expect("it is a path"),
        log("Nightly", "WEB1", 1),
    );
    let text = "web1` is a link, not a folder: delete it";
    expect_failure(&sink.write(&batch(1, 0..1)).await, SinkErrorKind::Refused, text);
    assert!(!elsewhere.path().join("log.db").exists());
}

#[tokio::test]
async fn what_is_no_database_or_not_there_says_so() {
    let folder = folder();
    std::fs::write(folder.path().join("log.db"), [b'x'; 4096]).expect("the folder is there");
    let mut sink = SqliteSink::new(file(&folder), log("Nightly", "WEB1", 1));
    expect_failure(&sink.write(&batch(1, 0..1)).await, SinkErrorKind::Refused, "move the file away");
    let nowhere = SqliteFile::at(Path::new("/nowhere/at/all/log.db")).expect("it is a path");
    let mut sink = SqliteSink::new(nowhere, log("Nightly", "WEB1", 1));
    expect_failure(&sink.write(&batch(1, 0..1)).await, SinkErrorKind::Unavailable, "create the folder");
    // Nobody makes files there, whatever the rights of this process.
    let unwritable = SqliteFile::at(Path::new("/sys/log.db")).expect("it is a path");
    let mut sink = SqliteSink::new(unwritable, log("Nightly", "WEB1", 1));
    let text = "that this account may write it";
    expect_failure(&sink.write(&batch(1, 0..1)).await, SinkErrorKind::Unavailable, text);
}

#[tokio::test]
async fn a_file_that_is_deleted_is_made_again() {
    for is_closed in [true, false] {
        let folder = folder();
        let mut sink = SqliteSink::new(file(&folder), log("Nightly", "WEB1", 1));
        expect_written(&sink.write(&batch(1, 0..3)).await, 3);
        if is_closed {
            sink.finish().await.expect("the file closes");
        }
        std::fs::remove_file(folder.path().join("log.db")).expect("the file is there");
        if !is_closed {
            // It does not go on in a file that nobody can open any more.
            let text = "the file was removed or replaced";
            expect_failure(&sink.write(&batch(1, 3..5)).await, SinkErrorKind::Unavailable, text);
        }
        expect_written(&sink.write(&batch(1, 3..5)).await, 2);
        assert_eq!(number(&reader(&folder), "SELECT max(RecordIndex) FROM CounterData"), 2);
    }
}

#[tokio::test]
async fn logs_of_one_file_that_is_replaced_all_go_on_in_the_new_one() {
    let folder = folder();
    let path = folder.path().join("log.db");
    let sink = |name| SqliteSink::new(SqliteFile::at(&path).expect("it is a path"), log(name, "WEB1", 1));
    let mut sinks = [sink("one"), sink("two")];
    for sink in &mut sinks {
        expect_written(&sink.write(&batch(1, 0..3)).await, 3);
    }
    std::fs::rename(&path, folder.path().join("old.db")).expect("the file is there");
    for sink in &mut sinks {
        assert_eq!(sink.write(&batch(1, 3..5)).await.records, 0);
        expect_written(&sink.write(&batch(1, 3..5)).await, 2);
    }
    for sink in &mut sinks {
        expect_written(&sink.write(&batch(1, 5..6)).await, 1);
        sink.finish().await.expect("the file closes");
    }
    assert_eq!(number(&reader(&folder), "SELECT count(*) FROM CounterData"), 6);
    assert_eq!(texts(&reader(&folder), "PRAGMA integrity_check"), ["ok"]);
    let old = Connection::open(folder.path().join("old.db")).expect("the file is there");
    assert_eq!(number(&old, "SELECT count(*) FROM CounterData"), 6);
    assert_eq!(texts(&old, "PRAGMA integrity_check"), ["ok"]);
}

#[tokio::test]
async fn each_log_of_a_file_counts_its_own_bytes() {
    let folder = folder();
    let mut small = SqliteSink::new(file(&folder), log("Small", "WEB1", 1));
    let mut large = SqliteSink::new(file(&folder), log("Large", "WEB1", 100));
    let (mut bytes_of_small, mut bytes_of_large) = (0, 0);
    for record in 0..20 {
        bytes_of_small += small.write(&batch(1, record..record + 1)).await.bytes;
        bytes_of_large += large.write(&batch(100, record * 10..record * 10 + 10)).await.bytes;
    }
    small.finish().await.expect("the file closes");
    large.finish().await.expect("the file closes");
    let all = folder.path().join("log.db").metadata().expect("the file is there").len();
    assert!(bytes_of_small + bytes_of_large <= all, "{bytes_of_small} and {bytes_of_large} of {all}");
    assert!(
        bytes_of_large > all / 2 && bytes_of_small < all / 20,
        "{bytes_of_small} and {bytes_of_large} of {all}"
    );
}

/// The file `FOLDER/NAME`, in a folder that is there.
fn in_folder(folder: &TempDir, path: &str) -> SqliteFile {
    let path = folder.path().join(path);
    std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the folder is ours");
    SqliteFile::at(&path).expect("the path is absolute")
}

/// Starts writes of several sinks to files that another connection has locked, runs `work`, and releases the locks.
fn while_files_are_locked<F: Future<Output = ()>>(
    folder: &TempDir,
    names: &[String],
    sinks: usize,
    work: impl FnOnce() -> F,
) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().max_blocking_threads(5).build().expect("threads");
    let locks: Vec<_> = names
        .iter()
        .map(|name| {
            in_folder(folder, name);
            let lock = Connection::open(folder.path().join(name)).expect("the folder is ours");
            lock.execute_batch("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE").expect("nobody else has it");
            lock
        })
        .collect();
    runtime.block_on(async {
        let writers: Vec<_> = (0..sinks)
            .map(|number| {
                let file = in_folder(folder, &names[number % names.len()]);
                let mut sink = SqliteSink::new(file, log(&format!("log {number}"), "WEB1", 1));
                tokio::spawn(async move { sink.write(&batch(1, 0..1)).await })
            })
            .collect();
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        work().await;
        drop(locks);
        for writer in writers {
            expect_written(&writer.await.expect("no panic"), 1);
        }
    });
}

/// Less than a transaction waits for others.
const SOON: std::time::Duration = std::time::Duration::from_secs(5);

#[test]
fn files_that_wait_leave_threads_for_other_work() {
    let folder = folder();
    let names: Vec<_> = (0..8).map(|number| format!("web{number}/log.db")).collect();
    while_files_are_locked(&folder, &names, 8, || async {
        let other = tokio::time::timeout(SOON, tokio::task::spawn_blocking(|| 5)).await;
        assert_eq!(other.expect("there is a thread left").expect("no panic"), 5);
    });
}

#[test]
fn files_that_wait_leave_threads_for_files_of_others() {
    let of =
        |names: std::ops::Range<u32>| names.map(|number| format!("web1/{number}.db")).collect::<Vec<_>>();
    for (locked, free) in [
        // Many logs of one file, for another one of its folder.
        (of(0..1), "web1/other.db"),
        // Many files of a folder, for another folder.
        (of(0..8), "web2/other.db"),
    ] {
        let folder = folder();
        while_files_are_locked(&folder, &locked, 8, || async {
            let file = in_folder(&folder, free);
            let mut sink = SqliteSink::new(file, log("other", "WEB1", 1));
            let written = tokio::time::timeout(SOON, async move { sink.write(&batch(1, 0..1)).await }).await;
            expect_written(&written.unwrap_or_else(|_| panic!("{free} waits for {locked:?}")), 1);
        });
    }
}
