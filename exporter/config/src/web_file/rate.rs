use std::time::Duration;

use crate::item::Item;
use crate::node::Value;

/// `rate_limit`: a bucket of tokens, one for each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// `interval`: one token comes back each.
    pub interval: Duration,
    pub burst: u32,
}

const BURST_MAX: u32 = 1_000_000;
const INTERVAL_MAX: Duration = Duration::from_secs(24 * 3600);

/// Reads `rate_limit`. An interval of zero switches it off, as the format says.
pub(super) fn limit(item: &Item<'_>) -> Option<RateLimit> {
    let mut section = item.section(&[])?;
    let hint = "write `interval: 1s` for a request a second, or `interval: 0` for no limit";
    let interval = section.require("interval", hint).and_then(|item| interval(&item));
    let burst = section.get("burst");
    let burst_given = burst.as_ref().and_then(|item| item.count(0..=BURST_MAX));
    section.finish();
    let interval = interval.filter(|interval| !interval.is_zero())?;
    match (burst, burst_given) {
        (Some(burst), Some(0)) => {
            burst.problem("nothing would ever be answered", Some("write `burst: 1` or more".to_owned()));
            None
        }
        (Some(_), given) => given.map(|burst| RateLimit { interval, burst }),
        (None, _) => {
            item.problem("`burst` is missing", Some("write `burst: 20`".to_owned()));
            None
        }
    }
}

fn interval(item: &Item<'_>) -> Option<Duration> {
    let text = match &item.node.value {
        Value::Integer(0) => "0",
        Value::Text(text) => text,
        _ => return item.duration(Duration::ZERO..=INTERVAL_MAX),
    };
    match go_duration(text) {
        Some(interval) if interval <= INTERVAL_MAX => Some(interval),
        Some(_) => {
            item.problem(format!("`{text}` is longer than a day"), None);
            None
        }
        None => {
            item.problem(
                format!("`{text}` is not a valid time"),
                Some("write it like `1s` or `250ms`".to_owned()),
            );
            None
        }
    }
}

/// A time as Go's programs write it: `1s`, `1m30s`, `1.5s`, `0`.
fn go_duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (mut total, mut rest) = (Duration::ZERO, text);
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?);
        let (unit, after) =
            after.split_at(after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len()));
        let unit_s = match unit {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        let part = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit_s).ok()?;
        total = total.checked_add(part)?;
        rest = after;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_go_writes_them() {
        for (text, ms) in [("1s", 1_000), ("1m30s", 90_000), ("1.5s", 1_500), ("250ms", 250), ("0", 0)] {
            assert_eq!(go_duration(text), Some(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "1", "s", "1 s", "-1s", "1d", "1e9s", "1..5s", "99999999999999999999h"] {
            assert_eq!(go_duration(text), None, "{text}");
        }
    }
}
