//! Logs as Parquet: their journals and row groups.

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::RowAccessor;

use super::*;

/// The first values of the rows of a Parquet file, for its first column.
pub(super) fn values(path: &Path) -> Vec<u32> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(fs::read(path).expect("a file")))
        .expect("a Parquet file");
    let mut values = Vec::new();
    for row in reader.get_row_iter(None).expect("rows") {
        let row = row.expect("a row");
        if row.get_uint(INSTANCE_INDEX).expect("an index") == 0 {
            values.push(row.get_double(VALUE).expect("a value"));
        }
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small integers were written"
    )]
    values.into_iter().map(|value| value as u32).collect()
}

#[tokio::test]
async fn a_circular_parquet_log_has_its_newest_records() {
    let bench = Bench::new();
    let mut log =
        bench.make_folder().log("log.parquet", FileOptions { circular_bytes_max: Some(8_000), ..PARQUET });
    write(&mut log, 0..300).await;
    log.finish().await.expect("a disk");
    assert_eq!(bench.names(), ["log (previous).parquet", "log.parquet"]);
    let both = [values(&bench.path("log (previous).parquet")), values(&bench.path("log.parquet"))].concat();
    assert_eq!(both, (300 - u32::try_from(both.len()).expect("few")..300).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_parquet_file_can_be_read_at_any_time_and_has_all_at_the_end() {
    let bench = Bench::new();
    let mut log = bench.make_folder().log("log.parquet", PARQUET);
    write(&mut log, 0..10).await;
    assert_eq!(bench.names(), ["log.parquet", "log.parquet.part"]);
    assert_eq!(values(&bench.path("log.parquet")), [0; 0]);
    // After a quarter of an hour the first row group is made.
    write(&mut log, 900..902).await;
    assert_eq!(values(&bench.path("log.parquet")), (0..10).collect::<Vec<_>>());
    log.finish().await.expect("a disk");
    assert_eq!(bench.names(), ["log.parquet"]);
    assert_eq!(values(&bench.path("log.parquet")), (0..10).chain(900..902).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_journal_that_is_cut_off_anywhere_becomes_a_file() {
    let bench = Bench::new();
    let mut log = bench.make_folder().log("log.parquet", PARQUET);
    write(&mut log, 0..2).await;
    write(&mut log, 900..902).await;
    drop(log);
    let parquet = fs::read(bench.path("log.parquet")).expect("a file");
    let journal = fs::read(bench.path("log.parquet.part")).expect("a file");
    let record = 8 + 12 + 3 * 29;
    let begin = journal.len() - 2 * record;
    for length in begin..=journal.len() {
        let kept: Vec<u32> = (0..2).chain((900..902).take((length - begin) / record)).collect();
        fs::write(bench.path("log.parquet"), &parquet).expect("a disk");
        fs::write(bench.path("log.parquet.part"), &journal[..length]).expect("a disk");
        let recovered = recover(&bench.dir()).expect("a folder");
        assert_eq!(recovered, Recovered { files: 1, records: kept.len() as u64 - 2, failures: Vec::new() });
        assert_eq!(values(&bench.path("log.parquet")), kept, "cut at {length}");
        assert_eq!(bench.names(), ["log.parquet"]);
    }
}

#[tokio::test]
async fn a_row_group_that_was_cut_off_anywhere_is_made_again() {
    let bench = Bench::new();
    let mut log = bench.make_folder().log("log.parquet", PARQUET);
    write(&mut log, 0..2).await;
    write(&mut log, 900..902).await;
    let before = fs::read(bench.path("log.parquet")).expect("a file");
    let journal = fs::read(bench.path("log.parquet.part")).expect("a file");
    log.finish().await.expect("a disk");
    let after = fs::read(bench.path("log.parquet")).expect("a file");
    let end = before.iter().zip(&after).position(|(left, right)| left != right).expect("another footer");
    for length in end..after.len() {
        // What was written of the second row group, and what is left of the first footer after it.
        let mut torn = after[..length].to_vec();
        torn.extend(before.iter().skip(length));
        fs::write(bench.path("log.parquet"), &torn).expect("a disk");
        fs::write(bench.path("log.parquet.part"), &journal).expect("a disk");
        fs::write(bench.path("log.parquet.part.new"), "half a journal").expect("a disk");
        assert_eq!(recover(&bench.dir()).expect("a folder").files, 1);
        assert_eq!(fs::read(bench.path("log.parquet")).expect("a file"), after, "cut at {length}");
        assert_eq!(bench.names(), ["log.parquet"]);
    }
}

#[tokio::test]
async fn what_cannot_be_recovered_stays_and_is_told() {
    let bench = Bench::new();
    let mut log = bench.make_folder().log("lost.parquet", PARQUET);
    write(&mut log, 0..2).await;
    fs::remove_file(bench.path("lost.parquet")).expect("a file");
    fs::write(bench.path("odd.parquet.part"), "no journal").expect("a disk");
    let recovered = recover(&bench.dir()).expect("a folder");
    let [failure] = recovered.failures.as_slice() else { panic!("{recovered:?}") };
    assert_eq!(
        failure.message,
        "odd.parquet.part: not the journal of a log: it begins with other letters; move it away"
    );
    assert_eq!((recovered.files, recovered.records), (1, 2));
    assert_eq!(values(&bench.path("lost.parquet")), [0, 1]);
    assert_eq!(bench.read("odd.parquet.part"), "no journal");
}

#[tokio::test]
async fn a_parquet_file_that_somebody_changed_is_left_alone_and_another_one_begins() {
    let other = "a text that is longer than what the file had, and is not ours; ".repeat(1_000);
    for (content, text) in [("mine", "is shorter than"), (&other, "is no Parquet file any more")] {
        let bench = Bench::new();
        let mut log = bench.make_folder().log("log.parquet", PARQUET);
        write(&mut log, 0..2).await;
        write(&mut log, 900..902).await;
        fs::write(bench.path("log.parquet"), content).expect("a disk");
        let written = log.write(&batch(1800..1802)).await;
        let failure = written.failure.expect("the row group has no place");
        assert_eq!((written.records, failure.kind), (0, SinkErrorKind::Refused));
        assert!(failure.message.contains(text) && failure.message.contains("; move"), "{failure}");
        write(&mut log, 1800..1802).await;
        log.finish().await.expect("a disk");
        assert_eq!(bench.names(), ["log (2).parquet", "log.parquet", "log.parquet.part"]);
        assert_eq!(bench.read("log.parquet"), content);
        assert_eq!(values(&bench.path("log (2).parquet")), [1800, 1801]);
        // What the journal has is told, and stays.
        let recovered = recover(&bench.dir()).expect("a folder");
        assert_eq!((recovered.files, recovered.failures.len()), (0, 1));
        assert_eq!(bench.read("log.parquet"), content);
    }
}

#[tokio::test]
async fn all_bytes_of_a_parquet_log_are_counted_at_its_end() {
    let bench = Bench::new();
    bench.make_folder();
    for circular_bytes_max in [None, Some(20_000)] {
        let log = bench.log("log.parquet", FileOptions { circular_bytes_max, ..PARQUET });
        let (queue, writer) = crate::writer::log_queue(3, log, &crate::writer::QueueOptions::default());
        let writing = tokio::spawn(writer.run());
        for row in batch(0..120).rows() {
            queue.push(row.time, row.samples.iter().copied());
        }
        let counts = queue.finish(tokio::time::Instant::now() + std::time::Duration::from_secs(60)).await;
        writing.await.expect("no panic");
        assert_eq!((counts.written, counts.dropped), (120, 0));
        // What is not counted is the begin of a file and its footer.
        let row_groups: u64 = bench.names().iter().map(|name| row_group_bytes(&bench.path(name))).sum();
        assert!(row_groups > 0);
        assert_eq!(counts.bytes, row_groups, "{:?}", bench.names());
        bench.names().iter().for_each(|name| fs::remove_file(bench.path(name)).expect("it is ours"));
    }
}

/// The bytes between the begin of a Parquet file and its footer.
fn row_group_bytes(path: &Path) -> u64 {
    let bytes = fs::read(path).expect("a file");
    let footer = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[footer..footer + 4].try_into().expect("four bytes"));
    (footer - 4) as u64 - u64::from(length)
}
