use jiff::tz::TimeZone;

use super::*;
use crate::batch::{Batch, Sample};
use crate::header::Column;

fn column(object: &str, instance: Option<&str>, counter: &str) -> Column {
    Column {
        machine: "WEB1".to_owned(),
        object: object.to_owned(),
        parent: None,
        instance: instance.map(str::to_owned),
        instance_index: 0,
        counter: counter.to_owned(),
        counter_type: 0,
        default_scale: 0,
        time_base: 10_000_000,
    }
}

fn header(zone: &str, columns: Vec<Column>, description: &str) -> LogHeader {
    let zone = TimeZone::get(zone).expect("a zone of the bundled database");
    LogHeader { columns, zone, description: description.to_owned() }
}

fn time(text: &str) -> Timestamp {
    text.parse().expect("a time of a test")
}

fn first_line(format: TextFormat, header: &LogHeader, start: &str) -> String {
    String::from_utf8(TextLog::new(format, header, time(start)).header().to_vec()).expect("UTF-8")
}

fn rows(header: &LogHeader, rows: &[(&str, &[Option<f64>])]) -> String {
    let log = TextLog::new(TextFormat::Csv, header, time(rows[0].0));
    let mut batch = Batch::new(header.columns.len());
    for (at, values) in rows {
        batch.push(time(at), values.iter().map(|value| Sample { value: *value, raw: None }));
    }
    let mut text = Vec::new();
    for row in batch.rows() {
        log.write_row(row, &mut text);
    }
    String::from_utf8(text).expect("UTF-8")
}

fn one(value: f64) -> String {
    let header = header("UTC", vec![column("A", None, "B")], "");
    let line = rows(&header, &[("2026-01-01T00:00:00Z", &[Some(value)])]);
    line.strip_prefix("\"01/01/2026 00:00:00.000\",\"")
        .expect("the time first")
        .trim_end_matches("\"\r\n")
        .to_owned()
}

/// Headers of public files, see `tests/data/README.md`.
const PUBLIC: &str = include_str!("../../tests/data/public_headers.csv");

#[test]
fn headers_are_those_of_public_files() {
    let line = |number: usize| PUBLIC.lines().nth(number).expect("a line of the file").to_owned() + "\r\n";
    let check = |number, format, zone, start, paths: &[(&str, &str, Option<&str>, &str)]| {
        let columns = paths.iter().map(|(machine, object, instance, counter)| Column {
            machine: (*machine).to_owned(),
            ..column(object, *instance, counter)
        });
        let header = header(zone, columns.collect(), "");
        assert_eq!(first_line(format, &header, start), line(number), "line {number}");
    };
    let berlin =
        [("SELBY", "LogicalDisk", Some("E:"), "% Disk Time"), ("SELBY", "Memory", None, "Available Bytes")];
    check(0, TextFormat::Csv, "Europe/Berlin", "2026-07-01T00:00:00Z", &berlin);
    let new_york =
        [("SQL01", "Memory", None, "Pages/sec"), ("SQL01", "PhysicalDisk", Some("0 D:"), "% Disk Time")];
    check(1, TextFormat::Csv, "America/New_York", "2002-09-08T16:35:45Z", &new_york);
    let mysql = [("LT501BES02", "Process", Some("mysqld"), "% Processor Time")];
    check(2, TextFormat::Tsv, "America/New_York", "2026-07-01T00:00:00Z", &mysql);
    let harness = [
        ("HARNESS", "Processor", Some("_Total"), "% Processor Time"),
        ("HARNESS", "Memory", None, "Available MBytes"),
    ];
    check(3, TextFormat::Csv, "America/Los_Angeles", "2026-07-23T13:04:43Z", &harness);
    check(4, TextFormat::Csv, "Asia/Singapore", "2026-07-01T00:00:00Z", &[]);
    check(5, TextFormat::Csv, "Europe/Paris", "2026-01-01T00:00:00Z", &[]);
}

#[test]
fn zones_have_the_names_of_windows_and_a_bias_that_is_added_to_local_time() {
    let zone = |name: &str, start: &str| {
        let text = first_line(TextFormat::Csv, &header(name, Vec::new(), ""), start);
        text.trim_start_matches("\"(PDH-CSV 4.0) ").trim_end_matches("\"\r\n").to_owned()
    };
    let (winter, summer) = ("2026-01-15T12:00:00Z", "2026-07-15T12:00:00Z");
    for (name, start, expected) in [
        ("Europe/Berlin", winter, "(W. Europe Standard Time)(-60)"),
        ("Europe/Berlin", summer, "(W. Europe Daylight Time)(-120)"),
        ("Europe/Dublin", winter, "(GMT Standard Time)(0)"),
        ("Europe/Dublin", summer, "(GMT Daylight Time)(-60)"),
        ("America/St_Johns", winter, "(Newfoundland Standard Time)(210)"),
        ("Asia/Kolkata", summer, "(India Standard Time)(-330)"),
        ("Australia/Sydney", winter, "(AUS Eastern Daylight Time)(-660)"),
        ("Europe/Moscow", summer, "(Russia TZ 2 Standard Time)(-180)"),
        ("Asia/Jerusalem", summer, "(Jerusalem Daylight Time)(-180)"),
        ("Etc/UTC", winter, "(Coordinated Universal Time)(0)"),
        ("GMT", winter, "(Coordinated Universal Time)(0)"),
        ("EST5EDT", summer, "(Eastern Daylight Time)(240)"),
        ("Antarctica/Troll", winter, "(Antarctica/Troll)(0)"),
    ] {
        assert_eq!(zone(name, start), expected, "{name}");
    }
}

#[test]
fn a_zone_without_a_name_is_an_offset() {
    let offset = |minutes: i32| {
        let zone = TimeZone::fixed(Offset::from_seconds(minutes * 60).expect("in range"));
        first_line(
            TextFormat::Csv,
            &LogHeader { columns: Vec::new(), zone, description: String::new() },
            "2026-01-01T00:00:00Z",
        )
    };
    assert_eq!(offset(0), "\"(PDH-CSV 4.0) (Coordinated Universal Time)(0)\"\r\n");
    assert_eq!(offset(-90), "\"(PDH-CSV 4.0) (UTC-01:30)(90)\"\r\n");
}

#[test]
fn values_are_missing_as_blanks_and_the_description_is_the_last_column() {
    let columns = || vec![column("Memory", None, "Pages/sec"), column("Process", Some("a#1"), "ID")];
    let with = header("UTC", columns(), "Night \"shift\"");
    let first = "\"(PDH-CSV 4.0) (Coordinated Universal Time)(0)\",\"\\\\WEB1\\Memory\\Pages/sec\",\"\\\\WEB1\\Process(a#1)\\ID\"";
    assert_eq!(
        first_line(TextFormat::Csv, &with, "2026-01-01T00:00:00Z"),
        format!("{first},\"Night \"\"shift\"\"\"\r\n")
    );
    let lines: &[(&str, &[Option<f64>])] = &[
        ("2026-01-31T23:59:59.9999Z", &[None, Some(4.0)]),
        ("2026-02-01T00:00:01Z", &[Some(0.5), Some(f64::NAN)]),
        ("2026-02-01T00:00:02Z", &[Some(f64::INFINITY)]),
    ];
    assert_eq!(
        rows(&with, lines),
        concat!(
            "\"01/31/2026 23:59:59.999\",\" \",\"4\",\"\"\r\n",
            "\"02/01/2026 00:00:01.000\",\"0.5\",\" \",\"\"\r\n",
            "\"02/01/2026 00:00:02.000\",\" \",\" \",\"\"\r\n",
        )
    );
    let without = header("UTC", columns(), "");
    assert_eq!(rows(&without, &lines[..1]), "\"01/31/2026 23:59:59.999\",\" \",\"4\"\r\n");
}

#[test]
fn times_of_a_file_neither_jump_nor_repeat_when_daylight_saving_ends() {
    let berlin = header("Europe/Berlin", vec![column("A", None, "B")], "");
    let lines: &[(&str, &[Option<f64>])] =
        &[("2026-10-25T00:59:59Z", &[Some(1.0)]), ("2026-10-25T01:00:00Z", &[Some(2.0)])];
    assert_eq!(
        rows(&berlin, lines),
        "\"10/25/2026 02:59:59.000\",\"1\"\r\n\"10/25/2026 03:00:00.000\",\"2\"\r\n"
    );
    // A file that begins later has the other bias.
    assert_eq!(rows(&berlin, &lines[1..]), "\"10/25/2026 02:00:00.000\",\"2\"\r\n");
}

#[test]
fn numbers_have_the_least_digits_that_are_the_same_number() {
    // The first is a value of typeperf's, the next two of a log of Windows XP.
    for (value, expected) in [
        (20_261_367_808.0, "20261367808"),
        (0.266_796_539_059_971_97, "0.26679653905997197"),
        (11.296_813_511_113_458, "11.296813511113458"),
        (0.390_624_999_999_999_94, "0.39062499999999994"),
        (0.0, "0"),
        (-0.0, "-0"),
        (-12.5, "-12.5"),
        (1e15, "1000000000000000"),
        (1e16, "1e+16"),
        (1e-5, "0.00001"),
        (1e-6, "1e-6"),
        (1e300, "1e+300"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e+308"),
    ] {
        assert_eq!(one(value), expected);
        assert_eq!(one(value).parse::<f64>().expect("a number").to_bits(), value.to_bits());
    }
}

#[test]
fn a_name_with_line_breaks_stays_in_its_line_and_others_than_ascii_are_marked_as_utf_8() {
    let odd = header("UTC", vec![column("A", Some("x\r\n\ty\0"), "B")], "");
    assert!(
        first_line(TextFormat::Tsv, &odd, "2026-01-01T00:00:00Z")
            .ends_with("(0)\"\t\"\\\\WEB1\\A(x   y )\\B\"\r\n")
    );
    let german = header("UTC", vec![column("Prozessor", None, "Prozessorzeit für %")], "");
    let line = TextLog::new(TextFormat::Csv, &german, time("2026-01-01T00:00:00Z"));
    assert_eq!(line.header()[..4], [0xEF, 0xBB, 0xBF, b'"']);
}

#[test]
fn a_row_allocates_nothing_once_there_is_room() {
    let header = header("UTC", vec![column("A", None, "B"); 100], "d");
    let log = TextLog::new(TextFormat::Csv, &header, time("2026-01-01T00:00:00Z"));
    let mut batch = Batch::new(100);
    batch.push(
        time("2026-01-01T00:00:00Z"),
        (0..100_u32).map(|value| Sample { value: Some(f64::from(value) / 3.0), raw: None }),
    );
    let row = batch.row(0).expect("one was added");
    let mut text = Vec::new();
    log.write_row(row, &mut text);
    text.clear();
    let allocations = allocation_counter::measure(|| log.write_row(row, &mut text)).count_total;
    assert_eq!(allocations, 0);
}
