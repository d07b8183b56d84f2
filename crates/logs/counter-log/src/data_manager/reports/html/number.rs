use crate::data_manager::reports::xpath::to_number;

/// A number for people: groups of digits, and as many decimals as its size is worth. Nothing where it is no number.
pub(super) fn shown(text: &str) -> Option<String> {
    let number = to_number(text);
    if !number.is_finite() {
        return None;
    }
    let size = number.abs();
    let written = if size != 0.0 && !(1e-4..1e15).contains(&size) {
        return Some(format!("{number:.3e}").replace('-', "\u{2212}"));
    } else if number.fract() == 0.0 {
        format!("{size:.0}")
    } else if size >= 1000.0 {
        format!("{size:.1}")
    } else if size >= 1.0 {
        format!("{size:.2}")
    } else {
        format!("{size:.4}")
    };
    let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
    let mut shown = String::new();
    if number < 0.0 {
        shown.push('\u{2212}');
    }
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            shown.push('\u{202f}');
        }
        shown.push(digit);
    }
    if !fraction.is_empty() {
        shown.push('.');
        shown.push_str(fraction);
    }
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn numbers_are_written_for_people() {
        let cases = ["20261367808", "87.5", "-3", "0.00034", "0", "1234.56", "0.00000001", "-0", "text", ""];
        let shown: Vec<_> =
            cases.iter().map(|text| shown(text).unwrap_or_default().replace('\u{202f}', "_")).collect();
        assert_eq!(
            shown,
            [
                "20_261_367_808",
                "87.50",
                "\u{2212}3",
                "0.0003",
                "0",
                "1_234.6",
                "1.000e\u{2212}8",
                "0",
                "",
                ""
            ]
        );
    }
}
