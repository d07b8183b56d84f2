//! Times and numbers as digits, without allocation.

use jiff::civil::DateTime;

/// `MM/DD/YYYY HH:MM:SS.mmm`. What is below a millisecond is cut off.
pub(super) fn write_time(time: DateTime, text: &mut Vec<u8>) {
    let year = time.year().unsigned_abs();
    let [hundreds, years] = [year / 100, year % 100].map(u32::from);
    let millisecond = time.subsec_nanosecond().unsigned_abs() / 1_000_000;
    let two = |number: i8| pair(u32::from(number.unsigned_abs()));
    let [m1, m2] = two(time.month());
    let [d1, d2] = two(time.day());
    let ([y1, y2], [y3, y4]) = (pair(hundreds), pair(years));
    let ([h1, h2], [n1, n2], [s1, s2]) = (two(time.hour()), two(time.minute()), two(time.second()));
    let ([_, f1], [f2, f3]) = (pair(millisecond / 100), pair(millisecond % 100));
    text.extend_from_slice(&[
        m1, m2, b'/', d1, d2, b'/', y1, y2, y3, y4, b' ', h1, h2, b':', n1, n2, b':', s1, s2, b'.', f1, f2,
        f3,
    ]);
}

/// The least digits that are the same number when they are read, as integers without a point.
pub(super) fn write_value(value: f64, digits: &mut zmij::Buffer, text: &mut Vec<u8>) {
    let written = digits.format_finite(value);
    text.extend_from_slice(written.strip_suffix(".0").unwrap_or(written).as_bytes());
}

/// The two digits of a number below 100.
fn pair(number: u32) -> [u8; 2] {
    [digit(number / 10), digit(number)]
}

fn digit(number: u32) -> u8 {
    b"0123456789"[(number % 10) as usize]
}
