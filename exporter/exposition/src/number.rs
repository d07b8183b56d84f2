//! Values as text. Both formats write them alike.
//!
//! Integers are exact; doubles have the fewest digits that read back as the same double. Most values of a page are
//! integers or have a few decimals (seconds made of ticks of 100 ns): those are turned into digits eight at a
//! time, straight into the page. The others take the general way through `zmij`.
//!
//! `zmij` and `itoa` alone, with a whole number's `.0` cut off and small decimals written without an exponent, give the same
//! bytes in 100 lines less and take longer: 49 ns a line and not 34 with values like those of the benchmark of pages, 48 and not 22
//! where they are whole, 41 and not 27 where they are ticks.

use series::model::Value;

use super::room::{put_byte, put_eight, put_short};

/// Writes a sample line into `room` from `at`: what `prefix` writes, then the value. Answers where it ends.
///
/// The value's text is ready before the prefix is copied: read back at once, its bytes would not have reached the
/// cache.
#[inline]
pub(super) fn put_sample(
    room: &mut [u8],
    at: usize,
    prefix: impl FnOnce(&mut [u8], usize) -> usize,
    value: Value,
) -> usize {
    let (mut double, mut integer) = (zmij::Buffer::new(), itoa::Buffer::new());
    let decimal = match value {
        Value::F64(value) => Decimal::exactly(value),
        Value::U64(value) => Decimal::of_whole(value),
        Value::I64(value) => u64::try_from(value).ok().and_then(Decimal::of_whole),
    };
    let end = if let Some(decimal) = decimal {
        let at = prefix(room, at);
        decimal.put(room, at)
    } else {
        let text = match value {
            Value::F64(value) if value.is_finite() => double.format_finite(value),
            Value::F64(value) if value.is_nan() => "NaN",
            Value::F64(value) => {
                if value > 0.0 {
                    "+Inf"
                } else {
                    "-Inf"
                }
            }
            Value::U64(value) => integer.format(value),
            Value::I64(value) => integer.format(value),
        };
        let at = prefix(room, at);
        put_short(room, at, text.as_bytes())
    };
    put_line_end(room, end)
}

#[inline]
pub(super) fn put_line_end(room: &mut [u8], at: usize) -> usize {
    put_byte(room, at, b'\n')
}

/// Writes nanoseconds as seconds, exactly, and ends the line.
pub(super) fn put_unix_seconds(room: &mut [u8], at: usize, nanos: u64) -> usize {
    let at = put_whole(room, at, nanos / 1_000_000_000);
    let (high, low) = ((nanos % 1_000_000_000) / 10, nanos % 10);
    let mut text = [b'.'; 10];
    let digits = eight_digits(u32::try_from(high).unwrap_or(0)) | ASCII_ZEROS;
    text[1..9].copy_from_slice(&digits.to_le_bytes());
    text[9] = low.to_le_bytes()[0] | b'0';
    let zeros = text.iter().rev().take_while(|&&digit| digit == b'0').count();
    let kept = if zeros == 9 { 0 } else { text.len() - zeros };
    let at = put_short(room, at, &text[..kept]);
    put_line_end(room, at)
}

/// A number with at most seven decimals and fifteen digits.
///
/// Two such numbers are never the same double, so if a double is one of them at all, no shorter text means it.
#[derive(Clone, Copy, Debug)]
struct Decimal {
    negative: bool,
    whole: u64,
    /// In units of 10⁻⁷.
    fraction: u32,
}

impl Decimal {
    #[inline]
    fn of_whole(value: u64) -> Option<Self> {
        (value < WHOLE_END).then_some(Self { negative: false, whole: value, fraction: 0 })
    }

    #[inline(always)]
    fn exactly(value: f64) -> Option<Self> {
        let size = value.abs();
        let is_minus_zero = value.to_bits() == MINUS_ZERO;
        if size < DIGITS_END && !is_minus_zero { Self::of_size(value < 0.0, size) } else { None }
    }

    #[inline(always)]
    fn of_size(negative: bool, size: f64) -> Option<Self> {
        let (whole, whole_bits) = nearest_whole(size);
        if whole == size {
            return Some(Self { negative, whole: whole_bits, fraction: 0 });
        }
        let scaled = size * FRACTIONS;
        if scaled >= DIGITS_END {
            return None;
        }
        // Dividing two integers that are exact gives the double next to the decimal: the one that its text reads as.
        let (units, units_bits) = nearest_whole(scaled);
        let fraction = u32::try_from(units_bits % FRACTION_UNITS).ok()?;
        let exact = units / FRACTIONS == size;
        exact.then_some(Self { negative, whole: units_bits / FRACTION_UNITS, fraction })
    }

    #[inline(always)]
    fn put(self, room: &mut [u8], mut at: usize) -> usize {
        if self.negative {
            at = put_byte(room, at, b'-');
        }
        at = put_whole(room, at, self.whole);
        if self.fraction != 0 {
            at = put_byte(room, at, b'.');
            let digits = eight_digits(self.fraction * 10);
            let zeros = digits.leading_zeros() / 8;
            at = put_eight(room, at, digits | ASCII_ZEROS, 8 - zeros as usize);
        }
        at
    }
}

/// Writes an integer of at most 16 digits.
#[inline(always)]
fn put_whole(room: &mut [u8], at: usize, value: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "the quotient and the remainder have eight digits")]
    let (high, low) = ((value / EIGHT_DIGITS) as u32, (value % EIGHT_DIGITS) as u32);
    if high == 0 {
        put_leading(room, at, low)
    } else {
        let at = put_leading(room, at, high);
        put_eight(room, at, eight_digits(low) | ASCII_ZEROS, 8)
    }
}

/// Writes a number of at most eight digits without its leading zeros.
#[inline(always)]
fn put_leading(room: &mut [u8], at: usize, value: u32) -> usize {
    let digits = eight_digits(value);
    let zeros = (digits.trailing_zeros() / 8).min(7);
    put_eight(room, at, (digits | ASCII_ZEROS) >> (8 * zeros), 8 - zeros as usize)
}

/// The eight decimal digits of a number below 10⁸, one in each byte, the first in the lowest.
///
/// Halves are split in parallel: into groups of four digits, of two, of one. The multiplications stand for divisions
/// by 100 and by 10 and are exact in the range of their lanes.
#[inline(always)]
fn eight_digits(value: u32) -> u64 {
    let fours = u64::from(value / 10_000) | u64::from(value % 10_000) << 32;
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (twos - 10 * tens) << 8
}

/// The whole number next to a positive value below 2⁵¹, as a double and as an integer.
///
/// Above 2⁵² doubles have no bits for fractions: the sum is rounded, and its lowest bits are the integer.
#[inline(always)]
fn nearest_whole(value: f64) -> (f64, u64) {
    let sum = value + TWO_POW_52;
    (sum - TWO_POW_52, sum.to_bits() & ((1 << 52) - 1))
}

const MINUS_ZERO: u64 = 1 << 63;
const TWO_POW_52: f64 = 4_503_599_627_370_496.0;
const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;
const EIGHT_DIGITS: u64 = 100_000_000;
const WHOLE_END: u64 = EIGHT_DIGITS * EIGHT_DIGITS;
const FRACTION_UNITS: u64 = 10_000_000;
const FRACTIONS: f64 = 1e7;
/// What has fifteen digits is below it.
const DIGITS_END: f64 = 1e15;

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Value) -> String {
        let mut room = [0; 64];
        let end = put_sample(&mut room, 0, |_, at| at, value);
        String::from_utf8(room[..end].to_vec()).unwrap().strip_suffix('\n').unwrap().to_owned()
    }

    #[test]
    fn numbers_are_exact_and_short() {
        for (value, expected) in [
            (Value::U64(u64::MAX), "18446744073709551615"),
            (Value::U64((1 << 53) + 1), "9007199254740993"),
            (Value::I64(i64::MIN), "-9223372036854775808"),
            (Value::F64(0.0), "0"),
            (Value::F64(-0.0), "-0.0"),
            (Value::F64(102_123_842_989.0), "102123842989"),
            (Value::F64(0.1), "0.1"),
            (Value::F64(0.000_000_1), "0.0000001"),
            (Value::F64(12.000_000_7), "12.0000007"),
            (Value::F64(-99_999_999.25), "-99999999.25"),
            (Value::F64(999_999_999_999_999.0), "999999999999999"),
            (Value::U64(9_999_999_999_999_999), "9999999999999999"),
            (Value::U64(10_000_000_000_000_000), "10000000000000000"),
            (Value::U64(100_000_000), "100000000"),
            (Value::U64(7), "7"),
            (Value::I64(-7), "-7"),
            (Value::I64(70), "70"),
            (Value::F64(-1.5), "-1.5"),
            (Value::F64(f64::INFINITY), "+Inf"),
            (Value::F64(f64::NEG_INFINITY), "-Inf"),
            (Value::F64(f64::NAN), "NaN"),
        ] {
            assert_eq!(text(value), expected);
        }
    }

    #[test]
    fn times_are_exact_and_short() {
        for (nanos, expected) in [
            (0, "0\n"),
            (1, "0.000000001\n"),
            (1_700_000_000_000_000_000, "1700000000\n"),
            (1_700_000_000_120_000_000, "1700000000.12\n"),
            (1_700_000_000_123_456_780, "1700000000.12345678\n"),
            (1_700_000_000_123_456_789, "1700000000.123456789\n"),
        ] {
            let mut room = [0; 64];
            let end = put_unix_seconds(&mut room, 0, nanos);
            assert_eq!(String::from_utf8_lossy(&room[..end]), expected);
        }
    }

    #[test]
    fn every_double_reads_back_as_itself() {
        for value in [f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e21, 9_007_199_254_740_993.0, 1.0 / 3.0, -1e300] {
            let text = text(Value::F64(value));
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
        }
    }

    #[test]
    fn no_shorter_text_means_the_same_double() {
        let mut ticks = 1_u64;
        for round in 0..20_000_u32 {
            ticks = ticks.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            #[expect(clippy::cast_precision_loss, reason = "at most fifteen digits")]
            let whole = ((ticks >> 16) % 10_u64.pow(1 + round % 15)) as f64;
            let value = whole / 10_f64.powi((round % 9).cast_signed());
            let text = text(Value::F64(value));
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
            // The standard library writes the shortest text, too.
            let digits = |text: &str| text.trim_start_matches('0').bytes().filter(u8::is_ascii_digit).count();
            if !text.contains('e') {
                assert!(digits(&text) <= digits(&value.to_string()), "{text} for {value}");
            }
        }
    }
}
