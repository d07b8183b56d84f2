//! Values as text. Both formats write them alike.

use crate::model::Value;

/// Appends a value: integers exactly, doubles with the fewest digits that read back as the same.
#[inline]
pub(super) fn push_value(value: Value, out: &mut Vec<u8>) {
    match value {
        Value::F64(value) => push_f64(value, out),
        Value::U64(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        Value::I64(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
    }
}

#[inline]
fn push_f64(value: f64, out: &mut Vec<u8>) {
    if let Some(whole) = whole(value) {
        out.extend_from_slice(itoa::Buffer::new().format(whole).as_bytes());
    } else if value.is_finite() {
        out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
    } else if value.is_nan() {
        out.extend_from_slice(b"NaN");
    } else {
        out.extend_from_slice(if value > 0.0 { b"+Inf" } else { b"-Inf" });
    }
}

/// The value as an integer, where it is one that a double holds exactly. Most counters are, and integers are
/// shorter and faster to write.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "compared with the original"
)]
fn whole(value: f64) -> Option<i64> {
    let whole = value as i64;
    let exact = whole as f64 == value && whole.unsigned_abs() < 1 << 53;
    (exact && (whole != 0 || value.is_sign_positive())).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_short() {
        for (value, text) in [
            (Value::U64(u64::MAX), "18446744073709551615"),
            (Value::U64((1 << 53) + 1), "9007199254740993"),
            (Value::I64(i64::MIN), "-9223372036854775808"),
            (Value::F64(0.0), "0"),
            (Value::F64(-0.0), "-0.0"),
            (Value::F64(102_123_842_989.0), "102123842989"),
            (Value::F64(0.1), "0.1"),
            (Value::F64(-1.5), "-1.5"),
            (Value::F64(f64::INFINITY), "+Inf"),
            (Value::F64(f64::NEG_INFINITY), "-Inf"),
            (Value::F64(f64::NAN), "NaN"),
        ] {
            let mut out = Vec::new();
            push_value(value, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn every_double_reads_back_as_itself() {
        for value in [f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e21, 9_007_199_254_740_993.0, 1.0 / 3.0, -1e300] {
            let mut out = Vec::new();
            push_value(Value::F64(value), &mut out);
            let text = String::from_utf8(out).unwrap();
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
        }
    }
}
