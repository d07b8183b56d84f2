//! Laws of `pla-engine`: what it reads of texts that people and files write.

use jiff::{Timestamp, tz::Offset};
use pla_engine::{NameFormat, NameParts, PathPattern, TaskArguments, TaskValues, Threshold};
use safe_text::{COMPONENT_BYTES_MAX, component};

use crate::input::Input;

/// A threshold: it is written as it is read again; its limit is a number that values can be compared with; a mistake is in the
/// text.
pub fn thresholds(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(Input::new(bytes).rest()) else { return };
    match text.parse::<Threshold>() {
        Ok(threshold) => {
            assert_eq!(threshold.to_string().parse().as_ref(), Ok(&threshold), "it is read as it is written");
            let is_across = |value| threshold.comparison.is_across(value, threshold.limit);
            assert!(threshold.limit.is_finite() && !is_across(threshold.limit) && !is_across(f64::NAN));
            assert!(is_across(f64::INFINITY) != is_across(f64::NEG_INFINITY), "one side is across");
            let path = threshold.path.to_string();
            let without = path.strip_prefix('\\').unwrap_or(&path);
            assert!(text.contains(without), "the path is the text's, whose first backslash may be missing");
        }
        Err(error) => {
            assert!(error.position <= text.chars().count() && !error.reason.is_empty(), "{error}");
        }
    }
}

/// Arguments of a task: no value makes a word, ends one or is read as a variable; a mistake is where it is said to be.
pub fn arguments(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(Input::new(bytes).rest()) else { return };
    let arguments = match text.parse::<TaskArguments>() {
        Ok(arguments) => arguments,
        Err(error) => {
            let at = text.chars().nth(error.position);
            assert!(
                at.is_none_or(|at| at == '"' || at.is_control()) || error.position >= 8192,
                "{error}: {at:?}"
            );
            return;
        }
    };
    // The whole text is the value of each variable, and of none.
    let all = TaskValues {
        name: text,
        counter: text,
        date: text,
        threshold: text,
        value: text,
        logs: text,
        state: text,
        user_text: text,
    };
    let (filled, empty) = (arguments.words(&all), arguments.words(&TaskValues::default()));
    assert_eq!(filled.len(), empty.len(), "no value adds a word");
    for (filled, empty) in filled.iter().zip(&empty) {
        let inserted = filled.len() - empty.len();
        assert!(text.is_empty() || inserted % text.len() == 0, "values are inserted whole, and once");
    }
    // Where values have no braces, what is a variable and what is not can be told apart.
    let marked = TaskValues {
        name: "1",
        counter: "2",
        date: "3",
        threshold: "4",
        value: "5",
        logs: "7",
        state: "8",
        user_text: "6",
    };
    for (marked, empty) in arguments.words(&marked).iter().zip(&empty) {
        assert!(marked.len() >= empty.len());
        let names =
            ["{name}", "{counter}", "{date}", "{threshold}", "{value}", "{logs}", "{state}", "{usertext}"];
        let low = marked.to_ascii_lowercase();
        assert!(names.iter().all(|name| !low.contains(name)), "{marked}: each variable has its value");
    }
}

/// Names of files: a pattern is read or its mistake is in the text; each name is one component of a path, which no file system
/// refuses or takes for anything else, and from which the text can be told.
pub fn names(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (bits, serial_number) = (input.number(), input.number());
    let second = i64::try_from(input.number() % 4_000_000_000).unwrap_or_default();
    let Ok(text) = str::from_utf8(input.rest()) else { return };
    let low = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
    let zone = Offset::from_hours(i8::try_from(second % 27 - 12).unwrap_or_default()).unwrap_or(Offset::UTC);
    let time = Timestamp::from_second(second).unwrap_or_default().to_zoned_datetime(zone.to_time_zone());
    match text.parse::<PathPattern>() {
        Ok(pattern) => {
            let written = pattern.text(low(serial_number), &time);
            assert_eq!(written.is_empty(), text.is_empty(), "each piece is written");
            assert!(written.len() <= 10 * text.len() && text.chars().count() <= 255);
        }
        Err(error) => {
            assert!(error.position < text.chars().count() && !error.reason.is_empty(), "{error}");
        }
    }
    assert_harmless(text, &component(text));
    let parts = NameParts { computer: "web1", base: text, serial_number: low(serial_number), time: &time };
    if let Ok(format) = NameFormat::new(low(bits), text) {
        let whole = format.text(&parts);
        assert!(whole.contains(text));
        match format.component(&parts) {
            Some(name) => assert_harmless(&whole, &name),
            None => assert!(whole.is_empty()),
        }
    }
}

fn assert_harmless(text: &str, name: &str) {
    assert!((1..=COMPONENT_BYTES_MAX).contains(&name.len()));
    assert!(!name.contains(|c: char| c.is_control() || r#"/\<>:"|?*"#.contains(c)), "{name}");
    assert!(!name.starts_with(['.', ' ']) && !name.ends_with(['.', ' ']), "{name}");
    assert!(!["con", "prn", "aux", "nul"].iter().any(|device| name.eq_ignore_ascii_case(device)), "{name}");
    if !(text.is_empty() || name.contains("%~")) {
        assert_eq!(unescaped(name), text.as_bytes());
    }
}

/// What the escaped bytes of a name stand for.
fn unescaped(name: &str) -> Vec<u8> {
    let mut pieces = name.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2).unwrap_or_default();
        bytes.extend(u8::from_str_radix(digits, 16));
        bytes.extend(rest.bytes());
    }
    bytes
}
