mod parquet;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::{Column, RawSample, Sample};
use cap_std::ambient_authority;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use self::parquet::values;
use super::*;

/// A log of three columns in a folder of its own.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        // In memory where there is such a folder: files are brought to the disk thousands of times.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Self { folder: folder.expect("a folder") }
    }

    /// The folder of the log, which a test may remove.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("logs").join(name)
    }

    fn make_folder(&self) -> &Self {
        fs::create_dir(self.path("")).expect("a folder");
        self
    }

    fn log(&self, name: &str, options: FileOptions) -> FileLog {
        let path = self.path("");
        let open: OpenFolder = Arc::new(move || Dir::open_ambient_dir(&path, ambient_authority()));
        FileLog::new(open, name, Arc::new(header()), options)
    }

    fn dir(&self) -> Dir {
        Dir::open_ambient_dir(self.path(""), ambient_authority()).expect("the folder")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text")
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("")).expect("the folder");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }
}

fn header() -> LogHeader {
    let column = |index: u32| Column {
        machine: "WEB1".to_owned(),
        object: "Process".to_owned(),
        parent: None,
        instance: Some("svchost".to_owned()),
        instance_index: index,
        counter: "ID".to_owned(),
        counter_type: 0x10000,
        default_scale: 0,
        time_base: 10_000_000,
    };
    LogHeader { columns: (0..3).map(column).collect(), zone: TimeZone::UTC, description: String::new() }
}

const HEADER: &str = "\"(PDH-CSV 4.0) (Coordinated Universal Time)(0)\",\"\\\\WEB1\\Process(svchost)\\ID\",\"\\\\WEB1\\Process(svchost#1)\\ID\",\"\\\\WEB1\\Process(svchost#2)\\ID\"\r\n";

const fn options(format: FileFormat, existing: Existing) -> FileOptions {
    FileOptions { format, existing, circular_bytes_max: None }
}

const CSV: FileOptions = options(FileFormat::Csv, Existing::Keep);
const PARQUET: FileOptions = options(FileFormat::Parquet, Existing::Keep);

fn batch(seconds: std::ops::Range<u32>) -> Batch {
    let mut batch = Batch::new(3);
    for second in seconds {
        let value = Sample {
            value: Some(f64::from(second)),
            raw: Some(RawSample { first: 1, second: 2, multi_count: 0 }),
        };
        batch.push(Timestamp::from_second(1_800_000_000 + i64::from(second)).expect("in range"), [value; 3]);
    }
    batch
}

/// The rows that these seconds are as text.
fn lines(seconds: std::ops::Range<u32>) -> String {
    let line = |second: u32| {
        format!(
            "\"01/15/2027 08:{:02}:{:02}.000\",\"{second}\",\"{second}\",\"{second}\"\r\n",
            second / 60,
            second % 60
        )
    };
    seconds.map(line).collect()
}

/// Columns of the table.
const INSTANCE_INDEX: usize = 5;
const VALUE: usize = 8;

async fn write(log: &mut FileLog, seconds: std::ops::Range<u32>) {
    let batch = batch(seconds);
    let written = log.write(&batch).await;
    assert_eq!((written.records, written.failure), (batch.len(), None));
}

#[tokio::test]
async fn a_file_is_begun_by_the_first_record_and_grows() {
    let bench = Bench::new();
    let mut log = bench.make_folder().log("log.csv", CSV);
    let progress = log.progress();
    write(&mut log, 0..0).await;
    assert_eq!((bench.names(), progress.name()), (Vec::new(), None));
    write(&mut log, 0..2).await;
    assert_eq!(bench.read("log.csv"), HEADER.to_owned() + &lines(0..2));
    write(&mut log, 2..3).await;
    log.finish().await.expect("a disk");
    assert_eq!(bench.read("log.csv"), HEADER.to_owned() + &lines(0..3));
    assert_eq!(progress.name().as_deref(), Some("log.csv"));
    assert_eq!(progress.bytes(), bench.read("log.csv").len() as u64);
}

#[tokio::test]
async fn a_file_that_is_there_stays_unless_it_shall_be_replaced() {
    let bench = Bench::new();
    bench.make_folder();
    fs::write(bench.path("log.csv"), "mine").expect("a disk");
    write(&mut bench.log("log.csv", CSV), 0..1).await;
    write(&mut bench.log("log.csv", CSV), 1..2).await;
    assert_eq!(bench.names(), ["log (2).csv", "log (3).csv", "log.csv"]);
    assert_eq!(
        (bench.read("log.csv"), bench.read("log (3).csv")),
        ("mine".to_owned(), HEADER.to_owned() + &lines(1..2))
    );
    write(&mut bench.log("log.csv", options(FileFormat::Csv, Existing::Replace)), 2..3).await;
    assert_eq!(bench.read("log.csv"), HEADER.to_owned() + &lines(2..3));
}

#[tokio::test]
async fn links_are_never_followed() {
    let bench = Bench::new();
    bench.make_folder();
    let outside = bench.folder.path().join("outside");
    for existing in [Existing::Keep, Existing::Replace] {
        fs::write(&outside, HEADER).expect("a disk");
        symlink("../outside", bench.path("log.csv")).expect("a link");
        fs::hard_link(&outside, bench.path("log (2).csv")).expect("a link");
        let mut log = bench.log("log.csv", options(FileFormat::Csv, existing));
        write(&mut log, 0..1).await;
        assert_eq!(fs::read_to_string(&outside).expect("a text"), HEADER, "{existing:?}");
        let expected = if existing == Existing::Replace { "log.csv" } else { "log (3).csv" };
        assert_eq!(log.progress().name().as_deref(), Some(expected));
        for name in bench.names() {
            fs::remove_file(bench.path(&name)).expect("a file");
        }
    }
    for name in ["", "..", "a/b", "a\0"] {
        let failure = bench.log(name, CSV).write(&batch(0..1)).await.failure.expect("no name of a file");
        assert_eq!(failure.kind, SinkErrorKind::Refused);
    }
    assert!(bench.names().is_empty());
}

#[tokio::test]
async fn a_folder_that_vanishes_is_unavailable_and_a_new_file_begins_when_it_is_back() {
    for (name, options) in [("log.csv", CSV), ("log.parquet", PARQUET)] {
        let bench = Bench::new();
        let mut log = bench.make_folder().log(name, options);
        write(&mut log, 0..2).await;
        fs::remove_dir_all(bench.path("")).expect("a folder");
        let written = log.write(&batch(2..4)).await;
        let failure = written.failure.expect("no folder");
        assert_eq!((written.records, failure.kind), (0, SinkErrorKind::Unavailable));
        assert!(failure.message.starts_with(&format!("open the folder of {name}: ")), "{failure}");
        bench.make_folder();
        write(&mut log, 2..4).await;
        log.finish().await.expect("a disk");
        if options.format == FileFormat::Csv {
            assert_eq!(bench.read(name), HEADER.to_owned() + &lines(2..4));
        } else {
            assert_eq!(values(&bench.path(name)), [2, 3]);
        }
    }
}

#[tokio::test]
async fn a_folder_that_may_not_be_written_is_denied() {
    // Nobody makes files there, whatever the rights of this process.
    for (name, options) in [("log.csv", CSV), ("log.parquet", PARQUET)] {
        let open: OpenFolder = Arc::new(|| Dir::open_ambient_dir("/sys", ambient_authority()));
        let written = FileLog::new(open, name, Arc::new(header()), options).write(&batch(0..1)).await;
        let failure = written.failure.expect("no file");
        assert_eq!((written.records, failure.kind), (0, SinkErrorKind::Denied), "{failure}");
        assert!(failure.message.ends_with("; let the exporter's user write there"), "{failure}");
    }
}

#[tokio::test]
async fn a_file_that_somebody_changed_is_left_alone() {
    let bench = Bench::new();
    let mut log = bench.make_folder().log("log.csv", CSV);
    write(&mut log, 0..2).await;
    fs::write(bench.path("log.csv"), "mine").expect("a disk");
    write(&mut log, 2..3).await;
    assert_eq!(bench.read("log.csv"), "mine");
    assert_eq!(bench.read("log (2).csv"), HEADER.to_owned() + &lines(2..3));
    fs::remove_file(bench.path("log (2).csv")).expect("a file");
    write(&mut log, 3..4).await;
    assert_eq!(bench.read("log (2).csv"), HEADER.to_owned() + &lines(3..4));
}

#[tokio::test]
async fn a_circular_log_has_its_newest_records_in_two_files_within_the_limit() {
    let row = lines(0..1).len();
    let limit = 2 * (HEADER.len() + 4 * row + row / 2) as u64;
    let bench = Bench::new();
    let mut log = bench.make_folder().log("log.csv", FileOptions { circular_bytes_max: Some(limit), ..CSV });
    for second in 0..60 {
        write(&mut log, second..second + 1).await;
        let sizes = bench.names().iter().map(|name| bench.read(name).len() as u64).sum::<u64>();
        assert!(sizes <= limit);
    }
    assert_eq!(bench.names(), ["log (previous).csv", "log.csv"]);
    let both = bench.read("log (previous).csv") + &bench.read("log.csv");
    let rows = both.replace(HEADER, "");
    assert_eq!(rows, lines(60 - u32::try_from(rows.len() / row).expect("few rows")..60));
    assert!((4..=8).contains(&(rows.len() / row)), "{rows}");
    // All at once comes to the same, but for the row that is always there.
    let mut log = bench.log("small.csv", FileOptions { circular_bytes_max: Some(1), ..CSV });
    write(&mut log, 0..5).await;
    assert_eq!(bench.read("small (previous).csv"), HEADER.to_owned() + &lines(3..4));
    assert_eq!(bench.read("small.csv"), HEADER.to_owned() + &lines(4..5));
}

#[tokio::test]
async fn a_write_that_was_given_up_goes_on_and_the_next_one_follows_it() {
    let bench = Bench::new();
    let mut log = bench.make_folder().log("log.csv", CSV);
    let first = batch(0..1000);
    {
        let mut given_up = Box::pin(log.write(&first));
        // Once, which begins it.
        std::future::poll_fn(|context| {
            let _ = given_up.as_mut().poll(context);
            std::task::Poll::Ready(())
        })
        .await;
    }
    write(&mut log, 1000..1001).await;
    let rows = bench.read("log.csv");
    assert_eq!(rows.lines().count(), 1 + 1000 + 1);
    assert!(rows.ends_with(&lines(1000..1001)));
}

#[tokio::test]
async fn a_name_of_the_longest_kind_has_room_for_all_that_is_put_beside_it() {
    let bench = Bench::new();
    let name = format!("{}.parquet", "x".repeat(200));
    let options = FileOptions { circular_bytes_max: Some(8_000), ..PARQUET };
    let mut log = bench.make_folder().log(&name, options);
    write(&mut log, 0..300).await;
    write(&mut log, 1300..1301).await;
    log.finish().await.expect("a disk");
    let mut other = bench.log(&name, PARQUET);
    write(&mut other, 0..1).await;
    other.finish().await.expect("a disk");
    let stem = "x".repeat(200);
    assert_eq!(
        bench.names(),
        [format!("{stem} (2).parquet"), format!("{stem} (previous).parquet"), format!("{stem}.parquet")]
    );
}

/// A run time as a library has it, with fewer threads for work that may block.
#[test]
fn a_disk_that_does_not_answer_leaves_threads_for_other_work_and_for_logs_of_other_hosts() {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().max_blocking_threads(9).build().expect("threads");
    // The number of hosts whose disk does not answer, and whether another host's log is written all the same.
    for (hosts, is_written) in [(1, true), (12, false)] {
        let bench = Bench::new();
        bench.make_folder();
        let log = |host: usize, number: usize, open: OpenFolder| {
            let mut header = header();
            header.columns.iter_mut().for_each(|column| column.machine = format!("HANGS{host}"));
            FileLog::new(open, &format!("{number}.csv"), Arc::new(header), CSV)
        };
        // Waits until the other end is dropped.
        let (closed, gate) = std::sync::mpsc::channel::<()>();
        let gate = Arc::new(parking_lot::Mutex::new(gate));
        runtime.block_on(async {
            let logs: Vec<_> = (0..12)
                .map(|number| {
                    let (path, gate) = (bench.path(""), Arc::clone(&gate));
                    let open: OpenFolder = Arc::new(move || {
                        assert!(gate.lock().recv().is_err());
                        Dir::open_ambient_dir(&path, ambient_authority())
                    });
                    let mut log = log(number % hosts, number, open);
                    tokio::spawn(async move { log.write(&batch(0..1)).await.records })
                })
                .collect();
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            let soon = std::time::Duration::from_secs(20);
            let other = tokio::time::timeout(soon, spawn_blocking(|| 5)).await;
            assert_eq!(other.expect("there is a thread left").expect("no panic"), 5);
            if is_written {
                let path = bench.path("");
                let open: OpenFolder = Arc::new(move || Dir::open_ambient_dir(&path, ambient_authority()));
                let mut other = log(hosts, 12, open);
                let written = tokio::time::timeout(soon, other.write(&batch(0..1))).await;
                assert_eq!(written.expect("it waits for no other host").records, 1);
            }
            drop(closed);
            for log in logs {
                assert_eq!(log.await.expect("no panic"), 1);
            }
        });
        assert_eq!(bench.names().len(), 12 + usize::from(is_written));
    }
}
