use counters::pcq::types::{Attrib, CounterType};

/// A cooked value as text for people, in the form that `attrib` selects.
///
/// - [`Attrib::DISPLAY_AS_HEX`]: `0x1f`, rounded down. [`display_exact`] keeps the bits beyond 2⁵³.
/// - [`Attrib::DISPLAY_AS_REAL`]: always three decimals. Without it whole numbers have none, and others have no
///   trailing zeros; rounding everything to whole numbers would show small rates as zero.
/// - Below 0.1 there are as many decimals as three digits take, because 0.3 ms is 0.0003 of a second; below a millionth
///   there is an exponent.
/// - [`Attrib::NO_GROUP_SEPARATOR`]: `1234567`, else `1,234,567`.
///
/// `DefaultScale` of [MS-PCQ] 2.2.4.2 is not applied: it scales values for a graph. typeperf and the numbers of the
/// Performance Monitor ignore it, and a counter in bytes would no longer show bytes.
///
/// ```
/// use counter_types::display;
/// use counters::pcq::types::Attrib;
///
/// assert_eq!(display(1000.0, Attrib(0)), "1,000");
/// assert_eq!(display(1234.5678, Attrib::NO_GROUP_SEPARATOR), "1234.568");
/// assert_eq!(display(31.0, Attrib::DISPLAY_AS_HEX), "0x1f");
/// ```
#[must_use]
pub fn display(value: f64, attrib: Attrib) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    if attrib.contains(Attrib::DISPLAY_AS_HEX) && value >= 0.0 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rounded down, not below zero"
        )]
        return format!("{:#x}", value as u128);
    }
    let size = value.abs();
    if size > 0.0 && size < EXPONENT_BELOW {
        return format!("{value:.2e}");
    }
    let decimals = if size > 0.0 { decimals_of(size) } else { DECIMALS };
    let digits = format!("{value:.decimals$}");
    let (whole, decimals) = digits.split_once('.').unwrap_or((&digits, ""));
    let decimals =
        if attrib.contains(Attrib::DISPLAY_AS_REAL) { decimals } else { decimals.trim_end_matches('0') };
    let mut text = grouped(if value == 0.0 { "0" } else { whole }, attrib);
    if !decimals.is_empty() {
        text.push('.');
        text.push_str(decimals);
    }
    text
}

/// Like [`display`], for integers: all 64 bits are shown.
#[must_use]
pub fn display_exact(value: u64, attrib: Attrib) -> String {
    if attrib.contains(Attrib::DISPLAY_AS_HEX) {
        return format!("{value:#x}");
    }
    let mut text = grouped(&value.to_string(), attrib);
    if attrib.contains(Attrib::DISPLAY_AS_REAL) {
        text.push_str(".000");
    }
    text
}

/// How a counter of this type is shown: the types whose names end in `_HEX` are always hexadecimal.
#[must_use]
pub fn shown_as(counter_type: CounterType, attrib: Attrib) -> Attrib {
    match counter_type {
        CounterType::PERF_COUNTER_RAWCOUNT_HEX | CounterType::PERF_COUNTER_LARGE_RAWCOUNT_HEX => {
            attrib | Attrib::DISPLAY_AS_HEX
        }
        _ => attrib,
    }
}

/// `whole` is a sign and digits.
fn grouped(whole: &str, attrib: Attrib) -> String {
    if attrib.contains(Attrib::NO_GROUP_SEPARATOR) {
        return whole.to_owned();
    }
    let digits = whole.trim_start_matches('-');
    let mut text = String::with_capacity(whole.len() + digits.len() / 3);
    text.push_str(&whole[..whole.len() - digits.len()]);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Decimals of a number so that at least three of its digits are seen.
fn decimals_of(size: f64) -> usize {
    let mut decimals = DECIMALS;
    let mut limit = 0.1;
    while size < limit {
        decimals += 1;
        limit /= 10.0;
    }
    decimals
}

const DECIMALS: usize = 3;
const EXPONENT_BELOW: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Attrib = Attrib(0);

    #[test]
    fn digits_stand_in_groups_unless_told_otherwise() {
        let check = |value, expected| assert_eq!(display(value, PLAIN), expected);
        check(0.0, "0");
        check(999.0, "999");
        check(1000.0, "1,000");
        check(1_234_567.25, "1,234,567.25");
        check(-123_456.0, "-123,456");
        check(-0.0, "0");
        assert_eq!(display(1_234_567.0, Attrib::NO_GROUP_SEPARATOR), "1234567");
    }

    #[test]
    fn a_small_value_keeps_its_digits() {
        for (value, expected) in [
            (0.1, "0.1"),
            (0.123_456, "0.123"),
            (0.1 - 1e-9, "0.1"),
            (0.012_345, "0.0123"),
            (0.0003, "0.0003"),
            (-0.000_312_345, "-0.000312"),
            (0.000_001, "0.000001"),
            (0.000_000_312, "3.12e-7"),
            (5e-324, "4.94e-324"),
        ] {
            assert_eq!(display(value, PLAIN), expected);
        }
        assert_eq!(display(0.0003, Attrib::DISPLAY_AS_REAL), "0.000300");
    }

    #[test]
    fn reals_have_their_decimals_and_whole_numbers_have_none() {
        assert_eq!(display(2.0, Attrib::DISPLAY_AS_REAL), "2.000");
        assert_eq!(display_exact(2000, Attrib::DISPLAY_AS_REAL), "2,000.000");
        assert_eq!(display(2.0, PLAIN), "2");
        assert_eq!(display(0.5, PLAIN), "0.5");
    }

    #[test]
    fn hexadecimal_values_keep_all_of_their_bits() {
        let hex = shown_as(CounterType::PERF_COUNTER_LARGE_RAWCOUNT_HEX, PLAIN);
        assert_eq!(display_exact(0xFEED_C0DE_0000_0001, hex), "0xfeedc0de00000001");
        assert_eq!(display(255.9, hex), "0xff");
        assert_eq!(display(-1.0, hex), "-1", "a negative value is not written in hexadecimal");
        assert_eq!(shown_as(CounterType::PERF_COUNTER_RAWCOUNT, PLAIN), PLAIN);
    }

    #[test]
    fn what_is_no_number_is_shown_as_such() {
        assert_eq!(display(f64::NAN, Attrib::DISPLAY_AS_HEX), "NaN");
        assert_eq!(display(f64::INFINITY, PLAIN), "inf");
    }
}
