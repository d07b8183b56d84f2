//! Numbers, sizes and durations in a form for people.

use std::time::Duration;

use series::model::{Kind, Shown, ShownUnit, Value};

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

/// A duration in whole seconds: `12 s`, `5 min 10 s`, `14 h 24 min`, `3 d 4 h`.
pub(super) fn span(time: Duration) -> String {
    const UNITS: [(u64, &str); 4] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let seconds = time.as_secs();
    let first = UNITS.iter().position(|&(size, _)| seconds >= size).unwrap_or(UNITS.len() - 1);
    let (size, unit) = UNITS[first];
    let (whole, rest) = (count(seconds / size), seconds % size);
    match UNITS.get(first + 1).map(|&(smaller, name)| (rest / smaller, name)) {
        Some((more @ 1.., name)) => format!("{whole} {unit} {more} {name}"),
        _ => format!("{whole} {unit}"),
    }
}

/// A measured duration: `840 µs`, `12.4 ms`, `3.21 s`; like [`span`] from one minute on.
pub(super) fn took(time: Duration) -> String {
    seconds(time.as_secs_f64())
}

/// A configured duration: `5 s`, `1 min 30 s`, `500 ms`.
pub(super) fn setting(time: Duration) -> String {
    if time.subsec_nanos() == 0 { span(time) } else { took(time) }
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

/// `50 Hz`, `2.40 GHz`
fn hertz(hertz: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz")];
    match UNITS.iter().find(|(size, _)| hertz.abs() >= *size) {
        Some((size, unit)) => format!("{} {unit}", three_digits(hertz / size)),
        None => format!("{} Hz", number(hertz)),
    }
}

/// A shown value with its unit. `unit` is the unit of its family.
pub(super) fn shown(Shown { value, unit: shown }: Shown, kind: Kind, unit: &str) -> String {
    match shown {
        ShownUnit::Percent => format!("{} %", percent(value)),
        ShownUnit::None => number(value),
        ShownUnit::Family => with_unit(value, kind, unit),
        ShownUnit::FamilyPerSecond => match unit {
            "bytes" => format!("{}/s", bytes(value)),
            "seconds" => format!("{}/s", seconds(value)),
            "" => format!("{}/s", number(value)),
            unit => format!("{} {unit}/s", number(value)),
        },
    }
}

fn with_unit(value: f64, kind: Kind, unit: &str) -> String {
    match unit {
        "bytes" => bytes(value),
        "hertz" => hertz(value),
        "celsius" => format!("{} °C", number(value)),
        "seconds" if kind == Kind::Gauge && is_moment(value) => moment(value),
        "seconds" => seconds(value),
        "ratio" => format!("{} %", percent(value * 100.0)),
        "" => number(value),
        unit => format!("{} {unit}", number(value)),
    }
}

/// The value as it is exported, so that a query finds the same text.
pub(super) fn exported(value: Value) -> String {
    match value {
        Value::F64(value) if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.0}"),
        Value::F64(value) if (1e-5..1e15).contains(&value.abs()) => value.to_string(),
        Value::F64(value) => format!("{value:e}"),
        Value::U64(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
    }
}

/// Values in seconds that are taken for Unix time: from 2001 to 2100. No measured duration is thirty years long.
const MOMENTS: std::ops::Range<f64> = 978_307_200.0..4_102_444_800.0;

/// Whether a value in seconds is taken for Unix time.
pub(super) fn is_moment(seconds: f64) -> bool {
    MOMENTS.contains(&seconds)
}

pub(super) fn moment(unix_s: f64) -> String {
    let since = Duration::try_from_secs_f64(unix_s).unwrap_or_default();
    let text = humantime::format_rfc3339_seconds(std::time::UNIX_EPOCH + since).to_string();
    text.replace('T', " ").replace('Z', " UTC")
}

fn seconds(seconds: f64) -> String {
    match seconds.abs() {
        0.0 => "0 s".to_owned(),
        size if size < 1e-6 => format!("{} ns", three_digits(seconds * 1e9)),
        size if size < 1e-3 => format!("{} µs", three_digits(seconds * 1e6)),
        size if size < 1.0 => format!("{} ms", three_digits(seconds * 1e3)),
        size if size < 60.0 => format!("{} s", three_digits(seconds)),
        size => {
            let sign = if seconds < 0.0 { "−" } else { "" };
            // Durations longer than the age of the universe are shown as plain numbers.
            Duration::try_from_secs_f64(size.round())
                .ok()
                .filter(|time| time.as_secs() < 1 << 59)
                .map_or_else(|| format!("{} s", number(seconds)), |time| format!("{sign}{}", span(time)))
        }
    }
}

/// `26`, `3.4`, `0.05`: percent, with decimals only if they are significant.
fn percent(value: f64) -> String {
    let text = match value.abs() {
        0.95.. if value.abs() < 1e6 => format!("{value:.1}"),
        0.0 => "0".to_owned(),
        0.005..0.95 => format!("{value:.2}"),
        _ => number(value),
    };
    match text.split_once('.') {
        Some((whole, decimals)) if decimals.bytes().all(|byte| byte == b'0') => whole.to_owned(),
        _ => text,
    }
}

/// A number without a unit: whole ones in full, others with four digits.
pub(super) fn number(value: f64) -> String {
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
        0.01.. => 3,
        0.001.. => 4,
        _ => 5,
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
        assert_eq!(number(-12.0), "−12");
        assert_eq!(number(0.123_456), "0.12");
        assert_eq!(number(0.012_34), "0.012");
        assert_eq!(number(0.001_234), "0.0012");
        assert_eq!(number(0.000_312), "3.12e-4");
        assert_eq!(number(123_456.7), "123,457");
        assert_eq!(number(1_010.4), "1,010");
        assert_eq!(number(f64::NAN), "NaN");
    }

    #[test]
    fn durations_have_one_style_on_all_pages() {
        for (seconds, expected) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (312, "5 min 12 s"),
            (3_600, "1 h"),
            (3_659, "1 h"),
            (51_899, "14 h 24 min"),
            (86_400, "1 d"),
            (273_599, "3 d 3 h"),
            (u64::MAX, "213,503,982,334,601 d 7 h"),
        ] {
            assert_eq!(span(Duration::from_secs(seconds)), expected);
        }
        assert_eq!(seconds(0.000_84), "840 µs");
        assert_eq!(seconds(0.0124), "12.4 ms");
        assert_eq!(seconds(3.214), "3.21 s");
        assert_eq!(seconds(51_850.1), "14 h 24 min");
        assert_eq!(seconds(-312.0), "−5 min 12 s");
        assert_eq!(seconds(1e300), "1.000e300 s");
        assert_eq!(setting(Duration::from_secs(5)), "5 s");
        assert_eq!(setting(Duration::from_millis(2_500)), "2.50 s");
        assert_eq!(took(Duration::from_secs(90)), span(Duration::from_secs(90)));
    }

    #[test]
    fn a_value_says_its_unit_once_and_in_the_one_that_people_think_in() {
        let is = |value, unit, of| shown(Shown { value, unit }, Kind::Gauge, of);
        assert_eq!(is(26.0, ShownUnit::Percent, "seconds"), "26 %");
        assert_eq!(is(25.96, ShownUnit::Percent, "seconds"), "26 %");
        assert_eq!(is(3.44, ShownUnit::Percent, ""), "3.4 %");
        assert_eq!(is(0.054, ShownUnit::Percent, ""), "0.05 %");
        assert_eq!(is(0.0, ShownUnit::Percent, ""), "0 %");
        assert_eq!(is(0.25, ShownUnit::Family, "ratio"), "25 %");
        assert_eq!(is(77_541_376.0, ShownUnit::Family, "bytes"), "73.9 MiB");
        assert_eq!(is(40.0, ShownUnit::Family, "celsius"), "40 °C");
        assert_eq!(is(2_400_000_000.0, ShownUnit::Family, "hertz"), "2.40 GHz");
        assert_eq!(is(50.0, ShownUnit::Family, "hertz"), "50 Hz");
        assert_eq!(is(1_700_000_000.0, ShownUnit::Family, "seconds"), "2023-11-14 22:13:20 UTC");
        assert_eq!(is(724.0, ShownUnit::Family, "seconds"), "12 min 4 s");
        assert_eq!(is(2.5, ShownUnit::None, "seconds"), "2.50");
        assert_eq!(is(12.0, ShownUnit::FamilyPerSecond, ""), "12/s");
        assert_eq!(is(3_072.0, ShownUnit::FamilyPerSecond, "bytes"), "3.00 KiB/s");
    }

    #[test]
    fn an_exported_value_is_the_one_that_a_query_finds() {
        assert_eq!(exported(Value::U64(u64::MAX)), "18446744073709551615");
        assert_eq!(exported(Value::I64(-7)), "-7");
        assert_eq!(exported(Value::F64(57.4)), "57.4");
        assert_eq!(exported(Value::F64(1_700_000_000.0)), "1700000000");
        assert_eq!(exported(Value::F64(1e300)), "1e300");
        assert_eq!(exported(Value::F64(f64::NAN)), "NaN");
    }
}
