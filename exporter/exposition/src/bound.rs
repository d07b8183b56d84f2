/// A bucket's bound as OpenMetrics' canonical numbers are: `0.005`, `1.0`, `1e+06`.
pub(super) fn bound_text(bound: f64) -> String {
    let scientific = format!("{bound:e}");
    let parts =
        scientific.split_once('e').and_then(|(digits, power)| Some((digits, power.parse::<i32>().ok()?)));
    match parts {
        Some((digits, power)) if !(-4..6).contains(&power) => {
            format!("{digits}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
        }
        _ => format!("{bound:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_canonical() {
        for (bound, text) in [
            (0.005, "0.005"),
            (1.0, "1.0"),
            (25.0, "25.0"),
            (1e5, "100000.0"),
            (1e6, "1e+06"),
            (2.5e-5, "2.5e-05"),
        ] {
            assert_eq!(bound_text(bound), text);
        }
    }
}
