use std::time::{Duration, SystemTime};

/// What `Retry-After` asks for: seconds, or a date.
#[must_use]
pub fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    match text.trim().parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => httpdate::parse_http_date(text).ok()?.duration_since(now).ok(),
    }
}

/// What a stranger wrote, fit for a log.
#[must_use]
pub fn shown(text: &str) -> String {
    text.trim()
        .chars()
        .map(|char| if char.is_control() { ' ' } else { char })
        .take(MESSAGE_CHARS_MAX)
        .collect()
}

const MESSAGE_CHARS_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_stranger_wrote_is_short_and_of_one_line() {
        assert_eq!(shown("a\nb\u{1b}[31m"), "a b [31m");
        assert_eq!(shown(&"x".repeat(10_000)).len(), MESSAGE_CHARS_MAX);
    }
}
