//! Figures as people read them.

use std::time::Duration;

use crate::model::{Kind, Value};

/// `1,234,567`
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `12 s`, `5 min`, `3 h`, `2 d`: as much as matters of something that is long ago.
pub(super) fn ago(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// `840 µs`, `12.4 ms`, `3.21 s`: what something took.
pub(super) fn took(time: Duration) -> String {
    seconds(time.as_secs_f64())
}

/// `512 B`, `1.50 KiB`, `23.1 MiB`
pub(super) fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes.abs() < 1024.0 {
        return format!("{} B", number(bytes));
    }
    let mut scaled = bytes / 1024.0;
    let mut units = UNITS.iter();
    let mut unit = units.next().unwrap_or(&"");
    while scaled.abs() >= 1024.0 {
        let Some(next) = units.next() else { break };
        (scaled, unit) = (scaled / 1024.0, next);
    }
    format!("{} {unit}", three_digits(scaled))
}

/// A value with its unit.
pub(super) fn value(value: Value, kind: Kind, unit: &str) -> String {
    let float = as_f64(value);
    match unit {
        "bytes" => bytes(float),
        "seconds" if kind == Kind::Gauge && MOMENTS.contains(&float) => moment(float),
        "seconds" => seconds(float),
        "ratio" => format!("{} %", three_digits(float * 100.0)),
        _ => {
            let number = match value {
                Value::F64(value) => number(value),
                Value::U64(value) => count(value),
                Value::I64(value) if value < 0 => format!("−{}", count(value.unsigned_abs())),
                Value::I64(value) => count(value.unsigned_abs()),
            };
            if unit.is_empty() { number } else { format!("{number} {unit}") }
        }
    }
}

/// What a counter gains in a second.
pub(super) fn rate(per_second: f64, unit: &str) -> String {
    match unit {
        "bytes" => format!("{}/s", bytes(per_second)),
        "seconds" => format!("{} s/s", three_digits(per_second)),
        "" => format!("{}/s", number(per_second)),
        unit => format!("{} {unit}/s", number(per_second)),
    }
}

/// The value as a number to draw and to divide; above 2⁵³ it is rounded.
pub(super) fn as_f64(value: Value) -> f64 {
    match value {
        Value::F64(value) => value,
        #[expect(clippy::cast_precision_loss, reason = "charts have fewer pixels than 2⁵³")]
        Value::U64(value) => value as f64,
        #[expect(clippy::cast_precision_loss, reason = "charts have fewer pixels than 2⁵³")]
        Value::I64(value) => value as f64,
    }
}

/// Seconds that are a moment in Unix time: from 2001 to 2100. Nothing measured takes thirty years.
const MOMENTS: std::ops::Range<f64> = 978_307_200.0..4_102_444_800.0;

fn moment(unix_s: f64) -> String {
    httpdate::fmt_http_date(std::time::UNIX_EPOCH + Duration::from_secs_f64(unix_s))
}

fn seconds(seconds: f64) -> String {
    match seconds.abs() {
        0.0 => "0 s".to_owned(),
        size if size < 1e-6 => format!("{} ns", three_digits(seconds * 1e9)),
        size if size < 1e-3 => format!("{} µs", three_digits(seconds * 1e6)),
        size if size < 1.0 => format!("{} ms", three_digits(seconds * 1e3)),
        size if size < 600.0 => format!("{} s", three_digits(seconds)),
        size if size < 36_000.0 => format!("{} min", three_digits(seconds / 60.0)),
        size if size < 864_000.0 => format!("{} h", three_digits(seconds / 3_600.0)),
        _ => format!("{} d", three_digits(seconds / 86_400.0)),
    }
}

/// A number without a unit: whole ones in full, others with four digits.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let size = value.abs();
    let sign = if value < 0.0 { "−" } else { "" };
    if size.fract() == 0.0 && size < 1e15 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is whole, positive and small"
        )]
        let whole = count(size as u64);
        return format!("{sign}{whole}");
    }
    match size {
        1e15.. => format!("{value:.3e}"),
        1e3.. => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is positive and below 1e15"
            )]
            let whole = count(size.round() as u64);
            format!("{sign}{whole}")
        }
        1e-3.. => three_digits(value),
        _ => format!("{value:.2e}"),
    }
}

fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 | 99.95.. => 0,
        9.995.. => 1,
        0.1.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_as_long_as_they_matter() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(bytes(1_023.0), "1,023 B");
        assert_eq!(bytes(1_536.0), "1.50 KiB");
        assert_eq!(bytes(24.2 * 1_048_576.0), "24.2 MiB");
        assert_eq!(seconds(0.000_84), "840 µs");
        assert_eq!(seconds(0.0124), "12.4 ms");
        assert_eq!(seconds(48_211.1), "13.4 h");
        assert_eq!(number(-12.0), "−12");
        assert_eq!(number(0.123_456), "0.12");
        assert_eq!(number(123_456.7), "123,457");
        assert_eq!(number(1_010.4), "1,010");
        assert_eq!(number(f64::NAN), "NaN");
        assert_eq!(ago(Duration::from_secs(7_199)), "119 min");
    }

    #[test]
    fn a_value_says_its_unit_once() {
        let gauge = |number, unit| value(Value::F64(number), Kind::Gauge, unit);
        assert_eq!(gauge(0.25, "ratio"), "25.0 %");
        assert_eq!(gauge(2_048.0, "bytes"), "2.00 KiB");
        assert_eq!(gauge(40.0, "celsius"), "40 celsius");
        assert_eq!(gauge(1_700_000_000.0, "seconds"), "Tue, 14 Nov 2023 22:13:20 GMT");
        assert_eq!(value(Value::U64(u64::MAX), Kind::Counter, ""), "18,446,744,073,709,551,615");
        assert_eq!(rate(0.5, "seconds"), "0.50 s/s");
        assert_eq!(rate(3_072.0, "bytes"), "3.00 KiB/s");
    }
}
