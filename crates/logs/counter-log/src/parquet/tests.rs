use std::collections::BTreeMap;

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::journal::{self, Journal};
use super::{START, Table};
use crate::batch::{Batch, RawSample, Sample};
use crate::header::{Column, LogHeader};

fn header(columns: usize) -> LogHeader {
    let column = |index: u32| Column {
        machine: "WEB1".to_owned(),
        object: "Process".to_owned(),
        parent: (index == 2).then(|| "parent".to_owned()),
        instance: (index > 0).then(|| "svchöst".to_owned()),
        instance_index: index,
        counter: format!("counter {index}"),
        counter_type: 0x8000_0000 + index,
        default_scale: -3,
        time_base: 10_000_000,
    };
    let columns = u32::try_from(columns).expect("few columns of a test");
    LogHeader {
        columns: (0..columns).map(column).collect(),
        zone: TimeZone::get("Europe/Berlin").expect("a zone of the bundled database"),
        description: "Night".to_owned(),
    }
}

fn time(second: i64) -> Timestamp {
    Timestamp::new(1_800_000_000 + second, 250_000_900).expect("in range")
}

/// Records in which each kind of sample occurs.
fn records(columns: usize, count: i64, first: i64) -> Batch {
    let mut batch = Batch::new(columns);
    for second in first..first + count {
        let samples = (0..columns).map(|column| {
            let number = second * 100 + i64::try_from(column).expect("few columns of a test");
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let value = (number % 3 > 0).then_some(number as f64 / 7.0);
            let raw = (number % 4 > 0).then_some(RawSample {
                first: number,
                second: i64::MIN + number,
                multi_count: 2,
            });
            Sample { value, raw }
        });
        batch.push(time(second), samples);
    }
    batch
}

fn same(left: &Batch, right: &Batch) -> bool {
    left.len() == right.len()
        && left
            .rows()
            .zip(right.rows())
            .all(|(left, right)| left.time == right.time && left.samples == right.samples)
}

/// A file as a writer makes it: each row group over the footer before.
fn file(table: &mut Table, batches: &[Batch]) -> Vec<u8> {
    let mut bytes = START.to_vec();
    for batch in batches {
        assert_eq!(bytes.len() as u64, table.end());
        bytes.extend(table.add(batch).expect("a row group"));
    }
    bytes.extend(table.footer().expect("a footer"));
    bytes
}

/// All rows of a file: for each counter and time in microseconds the fields by name.
fn rows(bytes: Vec<u8>) -> Vec<BTreeMap<String, Field>> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a Parquet file");
    let rows = reader.get_row_iter(None).expect("rows");
    rows.map(|row| row.expect("a row").into_columns().into_iter().collect()).collect()
}

#[test]
fn a_table_has_a_row_for_each_sample_in_all_its_row_groups() {
    let header = header(3);
    let mut table = Table::new(&header).expect("a table");
    let batches = [records(3, 5, 0), records(3, 2, 5)];
    let bytes = file(&mut table, &batches);
    let rows = rows(bytes);
    assert_eq!(rows.len(), 21);
    let mut expected = Vec::new();
    for batch in &batches {
        for (index, column) in header.columns.iter().enumerate() {
            expected.extend(batch.rows().map(|row| (column, row.time, row.samples[index])));
        }
    }
    for (row, (column, time, sample)) in rows.iter().zip(expected) {
        let text = |text: &Option<String>| text.clone().map_or(Field::Null, Field::Str);
        assert_eq!(row["time"], Field::TimestampMicros(time.as_microsecond()));
        assert_eq!(row["machine"], Field::Str("WEB1".to_owned()));
        assert_eq!(row["object"], Field::Str("Process".to_owned()));
        assert_eq!((&row["parent"], &row["instance"]), (&text(&column.parent), &text(&column.instance)));
        assert_eq!(row["instance_index"], Field::UInt(column.instance_index));
        assert_eq!(row["counter"], Field::Str(column.counter.clone()));
        assert_eq!(row["counter_type"], Field::UInt(column.counter_type));
        assert_eq!(row["value"], sample.value.map_or(Field::Null, Field::Double));
        assert_eq!(row["raw_first"], sample.raw.map_or(Field::Null, |raw| Field::Long(raw.first)));
        assert_eq!(row["raw_second"], sample.raw.map_or(Field::Null, |raw| Field::Long(raw.second)));
        assert_eq!(row["multi_count"], sample.raw.map_or(Field::Null, |raw| Field::UInt(raw.multi_count)));
        assert_eq!(row["time_base"], Field::ULong(10_000_000));
    }
}

#[test]
fn a_table_without_records_is_a_file_without_rows() {
    let mut table = Table::new(&header(1)).expect("a table");
    assert!(rows(file(&mut table, &[])).is_empty());
}

#[test]
fn a_file_goes_on_from_its_footer() {
    let header = header(2);
    let whole = file(&mut Table::new(&header).expect("a table"), &[records(2, 3, 0), records(2, 3, 3)]);
    let mut first = Table::new(&header).expect("a table");
    let mut bytes = file(&mut first, &[records(2, 3, 0)]);
    let end = usize::try_from(first.end()).expect("a small file");
    let mut second = Table::with_footer(&header, &bytes[end..], first.end()).expect("a footer");
    bytes.truncate(end);
    bytes.extend(second.add(&records(2, 3, 3)).expect("a row group"));
    bytes.extend(second.footer().expect("a footer"));
    assert!(rows(bytes) == rows(whole));
    assert!(Table::with_footer(&header, b"no footer, but some letters", 4).is_err());
    assert!(Table::with_footer(&header, b"short", 4).is_err());
}

#[test]
fn row_groups_that_end_before_they_begin_are_refused() {
    let header = header(1);
    let footer = Table::new(&header).expect("a table").footer().expect("a footer");
    for end in 0..4 {
        let refused = Table::with_footer(&header, &footer, end).expect_err("a file begins with four letters");
        assert_eq!(refused.to_string(), "not the journal of a log: its row groups end before they begin");
    }
    let mut table = Table::with_footer(&header, &footer, 4).expect("a file without records");
    table.add(&records(1, 1, 0)).expect("a row group");
}

#[test]
fn what_is_no_number_is_missing() {
    let mut batch = Batch::new(1);
    batch.push(time(0), [Sample { value: Some(f64::NAN), raw: None }]);
    let rows = rows(file(&mut Table::new(&header(1)).expect("a table"), &[batch]));
    assert_eq!(rows[0]["value"], Field::Null);
}

/// A journal with so many records, and where each of them ends.
fn journal(header: &LogHeader, records: &Batch) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = journal::begin(header, 77, b"footer").expect("few columns");
    let mut ends = vec![bytes.len()];
    for row in records.rows() {
        journal::put_record(row, &mut bytes);
        ends.push(bytes.len());
    }
    (bytes, ends)
}

fn first(records: &Batch, count: usize) -> Batch {
    let mut batch = Batch::new(records.columns());
    for row in records.rows().take(count) {
        batch.push(row.time, row.samples.iter().copied());
    }
    batch
}

#[test]
fn a_journal_that_is_cut_off_anywhere_has_the_records_before() {
    let header = header(3);
    let all = records(3, 4, 0);
    let (bytes, ends) = journal(&header, &all);
    for length in 0..=bytes.len() {
        let whole = ends.iter().filter(|end| **end <= length).count();
        match journal::read(&bytes[..length]) {
            Err(_) => assert_eq!(whole, 0, "cut at {length}"),
            Ok(Journal { header: read, end, footer, records, whole_bytes }) => {
                assert_eq!(
                    (read.columns, read.description),
                    (header.columns.clone(), header.description.clone())
                );
                assert_eq!(read.zone.iana_name(), Some("Europe/Berlin"));
                assert_eq!((end, footer.as_slice()), (77, b"footer".as_slice()));
                assert_eq!(Some(&whole_bytes), ends.get(whole - 1), "cut at {length}");
                assert!(same(&records, &first(&all, whole - 1)), "cut at {length}");
            }
        }
    }
}

#[test]
fn a_changed_byte_ends_a_journal_before_its_record() {
    let header = header(2);
    let all = records(2, 3, 0);
    let (bytes, ends) = journal(&header, &all);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let before = ends.iter().filter(|end| **end <= at).count();
            match journal::read(&changed) {
                Err(_) => assert_eq!(before, 0, "byte {at}"),
                Ok(journal) => assert_eq!(journal.records.len() + 1, before, "byte {at}"),
            }
        }
    }
}

#[test]
fn the_checksum_of_a_journal_stays_that_of_those_which_are_on_disk() {
    // The check value of CRC-32/ISO-HDLC.
    assert_eq!(crc32fast::hash(b"123456789"), 0xCBF4_3926);
}

#[test]
fn zeros_behind_a_journal_are_no_records() {
    let (mut bytes, ends) = journal(&header(0), &records(0, 2, 0));
    bytes.extend([0; 64]);
    let read = journal::read(&bytes).expect("a journal");
    assert_eq!((read.records.len(), Some(&read.whole_bytes)), (2, ends.last()));
}

#[test]
fn a_journal_has_a_most_of_columns() {
    let mut many = header(1);
    many.columns = vec![many.columns[0].clone(); journal::COLUMNS_MAX + 1];
    let refused = journal::begin(&many, 0, b"").expect_err("too many").to_string();
    assert_eq!(
        refused,
        "a log has 262145 columns; at most 262144 are written as Parquet: log fewer counters in one log"
    );
}

#[test]
fn names_that_leave_no_room_for_records_are_refused_as_such() {
    let half = journal::JOURNAL_BYTES_MAX / 2;
    let refused = journal::begin(&header(0), 4, &vec![0; half]).expect_err("too long").to_string();
    assert!(
        refused.starts_with("the names of the counters of a log, and the row groups of its file, take "),
        "{refused}"
    );
    assert!(refused.ends_with("log fewer counters in one log"), "{refused}");
}

#[test]
fn a_record_allocates_nothing_once_there_is_room() {
    let records = records(50, 1, 0);
    let row = records.row(0).expect("one was added");
    let mut bytes = Vec::new();
    journal::put_record(row, &mut bytes);
    bytes.clear();
    assert_eq!(allocation_counter::measure(|| journal::put_record(row, &mut bytes)).count_total, 0);
}
