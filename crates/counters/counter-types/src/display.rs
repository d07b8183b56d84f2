use ms_pcq::types::{Attrib, CounterType};

/// A cooked value as a person reads it: times ten to the power of `default_scale`, and in the form that `attrib` asks
/// for.
///
/// - [`Attrib::DISPLAY_AS_HEX`]: `0x1f`, rounded down. [`display_exact`] keeps the bits beyond 2⁵³.
/// - [`Attrib::DISPLAY_AS_REAL`]: always three decimals. Without it a number that is whole has none, and of others
///   zeros at the end are left out; rounding all to whole numbers would make nothing of a rate below one.
/// - [`Attrib::NO_GROUP_SEPARATOR`]: `1234567`, else `1,234,567`.
///
/// [MS-PCQ] 2.2.4.2 allows scales from -10 to 10; what is outside is not applied.
///
/// ```
/// use counter_types::display;
/// use ms_pcq::types::Attrib;
///
/// assert_eq!(display(10.0, 2, Attrib(0)), "1,000");
/// assert_eq!(display(1234.5678, 0, Attrib::NO_GROUP_SEPARATOR), "1234.568");
/// assert_eq!(display(31.0, 0, Attrib::DISPLAY_AS_HEX), "0x1f");
/// ```
#[must_use]
pub fn display(value: f64, default_scale: i32, attrib: Attrib) -> String {
    let scaled = value * 10_f64.powi(valid(default_scale));
    if !scaled.is_finite() {
        return scaled.to_string();
    }
    if attrib.contains(Attrib::DISPLAY_AS_HEX) && scaled >= 0.0 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rounded down, not below zero"
        )]
        return format!("{:#x}", scaled as u128);
    }
    let digits = format!("{scaled:.DECIMALS$}");
    let (whole, decimals) = digits.split_once('.').unwrap_or((&digits, ""));
    let decimals =
        if attrib.contains(Attrib::DISPLAY_AS_REAL) { decimals } else { decimals.trim_end_matches('0') };
    let mut text = if whole.trim_start_matches('-') == "0" && decimals.chars().all(|digit| digit == '0') {
        // No minus before what was rounded to zero.
        "0".to_owned()
    } else {
        grouped(whole, attrib)
    };
    if !decimals.is_empty() {
        text.push('.');
        text.push_str(decimals);
    }
    text
}

/// The same of a value that is an integer: all of its 64 bits are shown.
#[must_use]
pub fn display_exact(value: u64, default_scale: i32, attrib: Attrib) -> String {
    let scale = valid(default_scale);
    let Ok(scale) = u32::try_from(scale) else {
        #[expect(clippy::cast_precision_loss, reason = "it gets decimals")]
        return display(value as f64, default_scale, attrib);
    };
    // 2⁶⁴ · 10¹⁰ is below 2¹²⁸.
    let scaled = u128::from(value) * 10_u128.pow(scale);
    if attrib.contains(Attrib::DISPLAY_AS_HEX) {
        return format!("{scaled:#x}");
    }
    let mut text = grouped(&scaled.to_string(), attrib);
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

fn valid(scale: i32) -> i32 {
    if (-SCALE_MAX..=SCALE_MAX).contains(&scale) { scale } else { 0 }
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

/// [MS-PCQ] 2.2.4.2 `DefaultScale`.
const SCALE_MAX: i32 = 10;
const DECIMALS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Attrib = Attrib(0);

    // [MS-PCQ] 2.2.4.2: a value of 0x0000000A and a scale of 0x00000002 are 0x000003E8.
    #[test]
    fn the_example_of_the_specification_is_a_thousand() {
        assert_eq!(display(10.0, 2, Attrib::NO_GROUP_SEPARATOR), "1000");
        assert_eq!(display_exact(10, 2, Attrib::DISPLAY_AS_HEX), "0x3e8");
    }

    #[test]
    fn a_scale_makes_smaller_and_larger_within_its_bounds() {
        let scaled = |scale| display(5.0, scale, Attrib::NO_GROUP_SEPARATOR);
        assert_eq!(scaled(-3), "0.005");
        assert_eq!(scaled(10), "50000000000");
        assert_eq!(scaled(-10), "0");
        let outside = [11, -11, i32::MAX, i32::MIN];
        assert!(outside.iter().all(|scale| scaled(*scale) == "5"));
    }

    #[test]
    fn digits_stand_in_groups_unless_told_otherwise() {
        let check = |value, expected| assert_eq!(display(value, 0, PLAIN), expected);
        check(0.0, "0");
        check(999.0, "999");
        check(1000.0, "1,000");
        check(1_234_567.25, "1,234,567.25");
        check(-123_456.0, "-123,456");
        check(-0.000_01, "0");
        assert_eq!(display(1_234_567.0, 0, Attrib::NO_GROUP_SEPARATOR), "1234567");
    }

    #[test]
    fn reals_have_their_decimals_and_whole_numbers_have_none() {
        assert_eq!(display(2.0, 0, Attrib::DISPLAY_AS_REAL), "2.000");
        assert_eq!(display_exact(2000, 0, Attrib::DISPLAY_AS_REAL), "2,000.000");
        assert_eq!(display(2.0, 0, PLAIN), "2");
        assert_eq!(display(0.5, 0, PLAIN), "0.5");
    }

    #[test]
    fn hexadecimal_values_keep_all_of_their_bits() {
        let hex = shown_as(CounterType::PERF_COUNTER_LARGE_RAWCOUNT_HEX, PLAIN);
        assert_eq!(display_exact(0xFEED_C0DE_0000_0001, 0, hex), "0xfeedc0de00000001");
        assert_eq!(display(255.9, 0, hex), "0xff");
        assert_eq!(display(-1.0, 0, hex), "-1", "there is no such thing");
        assert_eq!(shown_as(CounterType::PERF_COUNTER_RAWCOUNT, PLAIN), PLAIN);
    }

    #[test]
    fn what_is_no_number_is_shown_as_such() {
        assert_eq!(display(f64::NAN, 0, Attrib::DISPLAY_AS_HEX), "NaN");
        assert_eq!(display(f64::INFINITY, 3, PLAIN), "inf");
    }

    #[test]
    fn the_largest_integer_takes_the_largest_scale() {
        assert_eq!(display_exact(u64::MAX, 10, Attrib::NO_GROUP_SEPARATOR), "184467440737095516150000000000");
    }
}
