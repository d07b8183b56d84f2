use jiff::ZonedDateTime;
use pla_engine::{NameFormat, NameParts, PathPattern};
use proptest::prelude::*;

fn time(text: &str) -> ZonedDateTime {
    text.parse().expect("a time with its zone")
}

fn text(pattern: &str, serial_number: u32, at: &str) -> String {
    let pattern: PathPattern = pattern.parse().unwrap_or_else(|error| panic_with(pattern, &error));
    pattern.text(serial_number, &time(at))
}

#[expect(clippy::panic, reason = "the pattern is the test's own")]
fn panic_with(pattern: &str, error: &dyn core::fmt::Display) -> PathPattern {
    panic!("{pattern}: {error}")
}

#[test]
fn each_letter_is_what_the_document_says() {
    let early = "2005-01-31T04:05:06[Europe/Berlin]";
    let late = "2016-12-05T16:45:56[America/New_York]";
    for (pattern, expected_early, expected_late) in [
        ("D", "31", "340"),
        ("DDD", "031", "340"),
        ("d", "31", "5"),
        ("dd", "31", "05"),
        ("ddd", "Mon", "Mon"),
        ("dddd", "Monday", "Monday"),
        ("M", "1", "12"),
        ("MM", "01", "12"),
        ("MMM", "Jan", "Dec"),
        ("MMMM", "January", "December"),
        ("y", "5", "16"),
        ("yy", "05", "16"),
        ("yyyy", "2005", "2016"),
        ("h", "4", "4"),
        ("hh", "04", "04"),
        ("H", "4", "16"),
        ("HH", "04", "16"),
        ("m", "5", "45"),
        ("mm", "05", "45"),
        ("s", "6", "56"),
        ("ss", "06", "56"),
        ("t", "A", "P"),
        ("tt", "AM", "PM"),
        ("z", "+1", "-5"),
        ("zz", "+01", "-05"),
        ("N", "32", "32"),
        ("NNN", "032", "032"),
        (r"\y\\\é", r"y\é", r"y\é"),
        ("", "", ""),
    ] {
        assert_eq!(text(pattern, 32, early), expected_early, "{pattern}");
        assert_eq!(text(pattern, 32, late), expected_late, "{pattern}");
    }
}

#[test]
fn the_example_of_the_document_has_its_result() {
    // [MS-PLA] 2.2.3.1
    assert_eq!(text(r"MMMM d, yyyy \a\t h:mmTt", 1, "2005-01-31T04:20[UTC]"), "January 31, 2005 at 4:20AM");
}

#[test]
fn noon_and_midnight_are_twelve_and_offsets_are_whole_hours() {
    assert_eq!(text("h tt", 1, "2026-01-01T00:00[UTC]"), "12 AM");
    assert_eq!(text("hh tt", 1, "2026-01-01T12:00[UTC]"), "12 PM");
    assert_eq!(text("h tt", 1, "2026-01-01T13:00[UTC]"), "1 PM");
    assert_eq!(text("z zz", 1, "2026-01-01T13:00[UTC]"), "+0 +00");
    assert_eq!(text("z", 1, "2026-01-01T13:00[Asia/Kathmandu]"), "+5");
    assert_eq!(text("z", 1, "2026-01-01T13:00[America/St_Johns]"), "-3");
    // Summer time counts.
    assert_eq!(text("z", 1, "2026-07-01T13:00[Europe/Berlin]"), "+2");
}

#[test]
fn a_serial_number_has_more_digits_if_it_needs_them() {
    assert_eq!(text("NN", 4_294_967_295, "2026-01-01T00:00[UTC]"), "4294967295");
}

#[test]
fn a_mistake_is_told_with_its_position() {
    for (pattern, position, reason) in [
        (
            "yyyyMMdd-NNN",
            8,
            "this character has no meaning: write a backslash before it to have it in the name",
        ),
        (
            "yyyyMMdd_HH",
            8,
            "this character has no meaning: write a backslash before it to have it in the name",
        ),
        ("é", 0, "this character has no meaning: write a backslash before it to have it in the name"),
        ("n", 0, "this character has no meaning: write a backslash before it to have it in the name"),
        (r"\é\éyyy", 4, "a year is `y`, `yy` or `yyyy`"),
        ("DD", 0, "the day of the year is `D` or `DDD`"),
        ("ddddd", 0, "a day is `d`, `dd`, `ddd` or `dddd`"),
        ("MMMMM", 0, "a month is `M`, `MM`, `MMM` or `MMMM`"),
        ("HH hhh", 3, "this letter is written once or twice"),
        ("tTt", 0, "this letter is written once or twice"),
        ("NNNNNNNNNNNNNNNNN", 0, "more than 16 digits of the serial number"),
        (r"NN\", 2, "a character is missing behind this backslash"),
    ] {
        let error = pattern.parse::<PathPattern>().expect_err("a mistake");
        assert_eq!((error.position, error.reason), (position, reason), "{pattern}");
    }
    let long = " ".repeat(256);
    assert_eq!(long.parse::<PathPattern>().map_err(|error| error.position), Err(255));
    assert!(long[1..].parse::<PathPattern>().is_ok());
}

/// A name of a run with the number 10 at 16:30 of 2020-09-14.
fn name(bits: u32, pattern: &str, computer: &str, base: &str) -> String {
    let format = NameFormat::new(bits, pattern).expect("a pattern");
    let time = time("2020-09-14T16:30[Europe/Berlin]");
    format.text(&NameParts { computer, base, serial_number: 10, time: &time })
}

#[test]
fn names_are_those_that_windows_gives() {
    for (bits, pattern, base, expected) in [
        // Folders of exported sets, for example `LT4036_20230419-000009`.
        (3, r"yyyyMMdd\-NNNNNN", "", "WEB1_20200914-000010"),
        (1, r"yyyyMMdd\-NNNNNN", "", "20200914-000010"),
        // Files of `logman`, for example `Perf-Log_000001.blg`.
        (0x0200, "", "Perf-Log", "Perf-Log_000010"),
        (0x4000, "", "Perf-Log", "Perf-Log_09141630"),
        (0x0202, "", "FULL", "WEB1_FULL_000010"),
        // Patterns of exported sets begin with an underscore of their own.
        (3, r"\_yyyyMMdd\_HHmm", "RDIPDC", "WEB1_RDIPDC_20200914_1630"),
        (0, "yyyy", "DataCollector01", "DataCollector01"),
        (2, "", "DataCollector01", "WEB1_DataCollector01"),
    ] {
        assert_eq!(name(bits, pattern, "WEB1", base), expected, "{bits:#x} {pattern} {base}");
    }
}

#[test]
fn all_bits_come_in_the_order_of_the_document() {
    assert_eq!(
        name(0x7f03, r"\-N", "WEB1", "Base"),
        "WEB1_Base-10_091416_000010_2020258_202009_20200914_2020091416_09141630"
    );
    for (bit, expected) in [
        (0x0100, "Base_091416"),
        (0x0200, "Base_000010"),
        (0x0400, "Base_2020258"),
        (0x0800, "Base_202009"),
        (0x1000, "Base_20200914"),
        (0x2000, "Base_2020091416"),
        (0x4000, "Base_09141630"),
    ] {
        assert_eq!(name(bit, "", "WEB1", "Base"), expected, "{bit:#x}");
    }
    // Bits without a meaning add nothing.
    assert_eq!(name(0xffff_80fc, "", "WEB1", "Base"), "Base");
}

#[test]
fn underscores_stand_between_parts_only() {
    assert_eq!(name(2, "", "WEB1", ""), "WEB1");
    assert_eq!(name(0x0200, "", "WEB1", ""), "000010");
    assert_eq!(name(0x0202, "", "WEB1", ""), "WEB1_000010");
    assert_eq!(name(0x0203, "", "", ""), "000010");
    assert_eq!(name(0, "", "WEB1", ""), "");
}

#[test]
fn a_pattern_counts_only_with_its_bit() {
    assert!(NameFormat::new(0x0202, "no pattern").is_ok());
    assert!(NameFormat::new(1, "no pattern").is_err());
}

#[test]
fn a_name_becomes_one_component_whatever_the_set_says() {
    let time = time("2020-09-14T16:30[Europe/Berlin]");
    let component = |bits, pattern: &str, computer: &str, base: &str| {
        let format = NameFormat::new(bits, pattern).expect("a pattern");
        format.component(&NameParts { computer, base, serial_number: 10, time: &time })
    };
    assert_eq!(
        component(2, "", "../../etc", r"C:\Windows"),
        Some("%2E./../etc_C:\\Windows".replace('/', "%2F").replace(':', "%3A").replace('\\', "%5C"))
    );
    assert_eq!(component(1, "h:mmtt", "", ""), Some("4%3A30PM".to_owned()));
    assert_eq!(component(1, "", "", ""), None);
}

proptest! {
    #[test]
    fn a_pattern_is_refused_or_written_with_any_number_and_time(
        pattern in r"[DdMyhHmstTzN\\ ,:é-]{0,40}", serial_number: u32, seconds in 0..4_000_000_000_i64,
    ) {
        let time = jiff::Timestamp::from_second(seconds).expect("a second").to_zoned_datetime(jiff::tz::TimeZone::UTC);
        match pattern.parse::<PathPattern>() {
            Ok(parsed) => {
                let text = parsed.text(serial_number, &time);
                prop_assert_eq!(text.is_empty(), pattern.is_empty());
                prop_assert!(text.chars().count() <= pattern.len() * 10);
            }
            Err(error) => prop_assert!(error.position < pattern.chars().count()),
        }
    }

    #[test]
    fn characters_with_backslashes_are_the_text(text in "\\PC{0,100}") {
        let pattern: String = text.chars().flat_map(|c| ['\\', c]).collect();
        let parsed: PathPattern = pattern.parse().expect("all are escaped");
        prop_assert_eq!(parsed.text(1, &time("2026-01-01T00:00[UTC]")), text);
    }

    #[test]
    fn numbers_in_names_are_those_of_the_calendar(seconds in 0..4_000_000_000_i64) {
        let time = jiff::Timestamp::from_second(seconds).expect("a second").to_zoned_datetime(jiff::tz::TimeZone::UTC);
        let text = |pattern: &str| pattern.parse::<PathPattern>().expect("a pattern").text(1, &time);
        // By another formatter.
        let expected = time.strftime("%Y%m%d %j %I %H %M %S %p %B %a").to_string();
        prop_assert_eq!(text("yyyyMMdd DDD hh HH mm ss tt MMMM ddd"), expected);
    }
}
