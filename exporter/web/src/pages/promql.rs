//! The query that computes the value that a page shows: between the two last samples, as the page and Windows do.

use series::model::{DisplayRule, Family, Kind, escape_label_value, is_legacy_name};

/// The PromQL expression for the shown values of a counter on a target; `base` is the divisor.
pub(super) fn expression(family: &Family, base: Option<&Family>, target: &str) -> Option<String> {
    use DisplayRule as R;
    if family.kind == Kind::Histogram {
        let rate = |suffix| format!("irate({}[5m])", selector(&format!("{}{suffix}", family.name), target));
        return Some(format!("{} / ({} > 0)", rate("_sum"), rate("_count")));
    }
    let selected = |family: &Family| selector(&family.sample_name(), target);
    let (n, b) = (selected(family), base.map(selected));
    let rate = |series: &str| format!("irate({series}[5m])");
    // Where nothing happened Windows has 0, and PromQL divides by zero.
    let share = |factor: &str, n: &str, b: &str| {
        let [n, b] = [n, b].map(rate);
        format!("{factor}{n} / ({b} > 0) or {b} == 0")
    };
    Some(match family.display_rule() {
        R::None | R::Base | R::Value => n,
        R::Percent => format!("100 * {n}"),
        R::Delta if family.kind == Kind::Counter => format!("increase({n}[5m])"),
        R::Delta => format!("delta({n}[5m])"),
        R::Rate | R::QueueLength => rate(&n),
        R::PercentOfTime => format!("100 * {}", rate(&n)),
        R::PercentNotOfTime => format!("100 * clamp_min(1 - {}, 0)", rate(&n)),
        R::PercentOfTimeOfMany => format!("100 * {} / ({} > 0)", rate(&n), b?),
        R::PercentNotOfTimeOfMany => format!("100 * clamp_min({} - {}, 0)", b?, rate(&n)),
        R::PercentOfBase => format!("100 * {n} / ({} > 0)", b?),
        R::PercentOfBaseDelta => share("100 * ", &n, &b?),
        R::Average => share("", &n, &b?),
        R::Elapsed => format!("time() - {n}"),
    })
}

fn selector(name: &str, target: &str) -> String {
    let mut escaped = Vec::new();
    escape_label_value(target, &mut escaped);
    let target = String::from_utf8_lossy(&escaped);
    if is_legacy_name(name) {
        return format!("{name}{{target=\"{target}\"}}");
    }
    let mut quoted = Vec::new();
    escape_label_value(name, &mut quoted);
    format!("{{\"{}\", target=\"{target}\"}}", String::from_utf8_lossy(&quoted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(name: &str, kind: Kind, display: DisplayRule) -> Family {
        Family { name: name.into(), kind, display, ..Family::default() }
    }

    fn check(display: DisplayRule, expected: &str) {
        let base = family("base", Kind::Counter, DisplayRule::Base);
        let found = expression(&family("n", Kind::Counter, display), Some(&base), "web1");
        let expected =
            expected.replace('N', "n_total{target=\"web1\"}").replace('B', "base_total{target=\"web1\"}");
        assert_eq!(found, Some(expected), "{display:?}");
    }

    #[test]
    fn the_query_computes_what_the_page_shows() {
        check(DisplayRule::PercentNotOfTime, "100 * clamp_min(1 - irate(N[5m]), 0)");
        check(DisplayRule::PercentOfTime, "100 * irate(N[5m])");
        check(DisplayRule::Average, "irate(N[5m]) / (irate(B[5m]) > 0) or irate(B[5m]) == 0");
        check(DisplayRule::PercentOfBase, "100 * N / (B > 0)");
        let percent = "100 * irate(N[5m]) / (irate(B[5m]) > 0) or irate(B[5m]) == 0";
        check(DisplayRule::PercentOfBaseDelta, percent);
        check(DisplayRule::PercentOfTimeOfMany, "100 * irate(N[5m]) / (B > 0)");
        check(DisplayRule::PercentNotOfTimeOfMany, "100 * clamp_min(B - irate(N[5m]), 0)");
        check(DisplayRule::None, "irate(N[5m])");
        check(DisplayRule::Elapsed, "time() - N");
        let histogram = family("n", Kind::Histogram, DisplayRule::None);
        let expected = r#"irate(n_sum{target="web1"}[5m]) / (irate(n_count{target="web1"}[5m]) > 0)"#;
        assert_eq!(expression(&histogram, None, "web1").as_deref(), Some(expected));
    }

    #[test]
    fn without_its_base_there_is_no_query_and_names_are_quoted_where_they_must() {
        assert_eq!(expression(&family("n", Kind::Counter, DisplayRule::Average), None, "w"), None);
        let verbatim = family("Web Service.Bytes", Kind::Gauge, DisplayRule::Value);
        assert_eq!(
            expression(&verbatim, None, "a\"b").as_deref(),
            Some(r#"{"Web Service.Bytes", target="a\"b"}"#)
        );
    }
}
