//! Records that were kept survive a kill, and the next log leaves them alone. The program runs itself as the process that is killed, so it has
//! no harness.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use counter_log::writer::{Existing, FileFormat, FileLog, FileOptions, OpenFolder, recover};
use counter_log::{Batch, Column, LogHeader, LogSink, Sample};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use parquet::file::reader::{FileReader, SerializedFileReader};

const COLUMNS: usize = 500;
/// The folder, for the process that is killed.
const FOLDER: &str = "LOG_WRITER_KILLED_FOLDER";
const FORMAT: &str = "LOG_WRITER_KILLED_FORMAT";

fn log(folder: &std::path::Path, format: FileFormat) -> FileLog {
    let column = |index| Column {
        machine: "WEB1".to_owned(),
        object: "Process".to_owned(),
        parent: None,
        instance: Some(format!("instance {index}")),
        instance_index: 0,
        counter: "Pages/sec".to_owned(),
        counter_type: 0,
        default_scale: 0,
        time_base: 10_000_000,
    };
    let columns = (0..COLUMNS).map(column).collect();
    let header = LogHeader { columns, zone: TimeZone::UTC, description: String::new() };
    let folder = folder.to_owned();
    let open: OpenFolder = Arc::new(move || Dir::open_ambient_dir(&folder, ambient_authority()));
    let options = FileOptions { format, existing: Existing::Keep, circular_bytes_max: None };
    FileLog::new(
        open,
        if format == FileFormat::Csv { "log.csv" } else { "log.parquet" },
        Arc::new(header),
        options,
    )
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    match (std::env::var(FOLDER), std::env::var(FORMAT)) {
        (Ok(folder), Ok(format)) => write_until_killed(&folder, &format).await,
        _ => [1, 50, 300].into_iter().for_each(check),
    }
}

/// Tells each record that is kept.
async fn write_until_killed(folder: &str, format: &str) {
    let mut log = log(folder.as_ref(), if format == "csv" { FileFormat::Csv } else { FileFormat::Parquet });
    let mut batch = Batch::new(COLUMNS);
    for second in 0.. {
        batch.clear();
        let value = Sample { value: Some(1.0 / 3.0), raw: None };
        batch.push(Timestamp::from_second(1_800_000_000 + second).expect("in range"), [value; COLUMNS]);
        let written = log.write(&batch).await;
        assert_eq!((written.records, written.failure), (1, None));
        println!("kept {second}");
        std::io::stdout().flush().expect("a pipe");
    }
}

/// Returns how many records the process had told when it was killed.
fn kill_after(folder: &std::path::Path, format: &str, records: usize) -> usize {
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child.env(FOLDER, folder).env(FORMAT, format).stdout(Stdio::piped());
    let mut child = child.spawn().expect("this program once more");
    let mut lines =
        BufReader::new(child.stdout.take().expect("a pipe")).lines().map(|line| line.expect("a line"));
    let mut kept = 0;
    while kept < records {
        kept += usize::from(lines.next().expect("it never ends").contains("kept "));
    }
    child.kill().expect("a process");
    child.wait().expect("a process");
    kept + lines.filter(|line| line.contains("kept ")).count()
}

fn check(records: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = kill_after(folder.path(), "csv", records);
    let text = fs::read_to_string(folder.path().join("log.csv")).expect("a text");
    // The one in flight may be there as well, or a part of it.
    let rows: Vec<&str> = text.split_inclusive("\r\n").skip(1).collect();
    let whole = rows.iter().filter(|row| row.ends_with("\r\n")).count();
    assert!(
        (kept..=kept + 1).contains(&whole) && rows.len() <= kept + 1,
        "{whole} of {} rows of {kept}",
        rows.len()
    );
    let cells: Vec<usize> = rows[..whole].iter().map(|row| row.split("\",\"").count()).collect();
    assert!(cells.iter().all(|cells| *cells == COLUMNS + 1), "a row that is not whole: {cells:?}");
    kill_after(folder.path(), "csv", 1);
    let after = fs::read_to_string(folder.path().join("log.csv")).expect("a text");
    assert!(after == text && folder.path().join("log (2).csv").exists(), "another process goes on beside it");

    let kept = kill_after(folder.path(), "parquet", records);
    let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).expect("the folder");
    let recovered = recover(&dir).expect("the folder");
    assert_eq!((recovered.files, recovered.failures), (1, Vec::new()));
    let bytes = fs::read(folder.path().join("log.parquet")).expect("a file");
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a Parquet file");
    let rows = usize::try_from(reader.metadata().file_metadata().num_rows()).expect("a number of rows");
    assert!((kept..=kept + 1).contains(&(rows / COLUMNS)) && rows % COLUMNS == 0, "{rows} rows of {kept}");
}
