//! A limit on the size of files, which the system enforces in the middle of a write. It holds for the process, so this is a
//! program of its own with one test.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use counter_log::writer::{Existing, FileFormat, FileLog, FileOptions, recover};
use counter_log::{Batch, Column, LogHeader, LogSink, Sample, SinkErrorKind};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const SIGXFSZ: i32 = 25;

fn header() -> LogHeader {
    let column = Column {
        machine: "WEB1".to_owned(),
        object: "Memory".to_owned(),
        parent: None,
        instance: None,
        instance_index: 0,
        counter: "Pages/sec".to_owned(),
        counter_type: 0,
        default_scale: 0,
        time_base: 10_000_000,
    };
    LogHeader { columns: vec![column], zone: TimeZone::UTC, description: String::new() }
}

fn batch(seconds: std::ops::Range<i64>) -> Batch {
    let mut batch = Batch::new(1);
    for second in seconds {
        let time = Timestamp::from_second(1_800_000_000 + second).expect("in range");
        batch.push(time, [Sample { value: Some(0.5), raw: None }]);
    }
    batch
}

/// Without a handler, the signal would end the process; with one, the write fails.
fn limit_files_to(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum }).expect("a lower limit");
}

#[tokio::test]
async fn a_disk_that_is_full_in_the_middle_of_a_row_leaves_whole_rows() {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).expect("a handler");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_owned();
    let open: counter_log::writer::OpenFolder =
        Arc::new(move || Dir::open_ambient_dir(&path, ambient_authority()));
    for (name, format) in [("log.csv", FileFormat::Csv), ("log.parquet", FileFormat::Parquet)] {
        let options = FileOptions { format, existing: Existing::Keep, circular_bytes_max: None };
        let mut log = FileLog::new(Arc::clone(&open), name, Arc::new(header()), options);
        let part = folder.path().join(if format == FileFormat::Csv { "log.csv" } else { "log.parquet.part" });
        let first = log.write(&batch(0..1)).await;
        assert_eq!((first.records, first.failure), (1, None));
        let length = fs::metadata(&part).expect("a file").len();
        limit_files_to(Some(length + 1000));
        let written = log.write(&batch(1..101)).await;
        let failure = written.failure.expect("a full disk");
        assert_eq!(failure.kind, SinkErrorKind::Full, "{failure}");
        assert!(failure.message.starts_with(&format!("write {name}: ")), "{failure}");
        assert!((10..100).contains(&written.records), "{}", written.records);
        let bytes = fs::read(&part).expect("a file");
        let row = if format == FileFormat::Csv { 32 + 1 } else { 8 + 12 + 9 };
        assert_eq!(bytes.len() as u64, length + row * written.records as u64, "whole rows of {name}");
        limit_files_to(None);
        let kept = i64::try_from(written.records).expect("few rows");
        let rest = log.write(&batch(1 + kept..101)).await;
        assert_eq!((rest.records, rest.failure), (100 - written.records, None));
        // A row group that finds no room leaves the journal, and is made when there is room.
        if format == FileFormat::Parquet {
            limit_files_to(Some(fs::metadata(folder.path().join(name)).expect("a file").len() + 100));
            assert_eq!(log.finish().await.expect_err("a full disk").kind, SinkErrorKind::Full);
            limit_files_to(None);
            drop(log);
            let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).expect("the folder");
            let recovered = recover(&dir).expect("the folder");
            assert_eq!((recovered.files, recovered.records), (1, 101), "{recovered:?}");
        }
    }
    let text = fs::read_to_string(folder.path().join("log.csv")).expect("a text");
    assert_eq!(text.lines().count(), 1 + 101);
    assert!(text.lines().skip(1).all(|line| line.len() == 31), "{text}");
}
