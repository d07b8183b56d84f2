//! Patterns of rules.

use regex::{Captures, Regex, RegexBuilder};

use super::syntax::translated;

/// An expression that a whole text must match, as in Prometheus: anchored at both ends, `.` matches newlines too.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Pattern {
    text: String,
    /// Nothing for the expression that takes everything.
    regex: Option<Regex>,
}

impl Pattern {
    pub(in crate::pipeline) fn new(text: &str) -> Result<Self, String> {
        if text == ANYTHING {
            return Ok(Self::anything());
        }
        let wanted = format!("^(?s:{})$", translated(text)?);
        let made = RegexBuilder::new(&wanted).size_limit(REGEX_BYTES_MAX).build();
        let regex = made.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => {
                format!("it takes more than {REGEX_BYTES_MAX} bytes when compiled")
            }
            // The last line is the reason; those before draw the expression, which is not the user's any more.
            error => {
                error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
            }
        })?;
        Ok(Self { text: text.to_owned(), regex: Some(regex) })
    }

    pub(super) fn anything() -> Self {
        Self { text: ANYTHING.to_owned(), regex: None }
    }

    pub(in crate::pipeline) fn matches(&self, text: &str) -> bool {
        self.regex.as_ref().is_none_or(|regex| regex.is_match(text))
    }

    /// The groups of a match, if it is one.
    pub(in crate::pipeline) fn groups<'t>(&'t self, text: &'t str) -> Option<Groups<'t>> {
        match &self.regex {
            Some(regex) => regex.captures(text).map(Groups::Captured),
            None => Some(Groups::Whole(text)),
        }
    }

    /// The number of a group.
    pub(in crate::pipeline) fn index(&self, name: &str) -> Option<usize> {
        let number = name.parse().ok().filter(|_| name == "0" || !name.starts_with('0'));
        let count = self.regex.as_ref().map_or(2, Regex::captures_len);
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            return number.filter(|&number| number < count);
        }
        self.regex.as_ref()?.capture_names().position(|group| group == Some(name))
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// What the groups of an expression matched.
pub(in crate::pipeline) enum Groups<'t> {
    Captured(Captures<'t>),
    Whole(&'t str),
}

impl Groups<'_> {
    pub(in crate::pipeline) fn group(&self, index: usize) -> &str {
        match self {
            Self::Captured(captures) => captures.get(index).map_or("", |group| group.as_str()),
            Self::Whole(text) => text,
        }
    }
}

pub(super) const ANYTHING: &str = "(.*)";
/// Maximum size of a compiled expression, in bytes.
const REGEX_BYTES_MAX: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// Each is what Prometheus says to the same pair.
    #[test]
    fn expressions_mean_what_they_mean_to_prometheus() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("a", "ab", false),
            ("a|b", "b", true),
            (".*", "a\nb", true),
            ("a.b", "a\nb", true),
            (r"\d+", "12", true),
            (r"\d", "٣", false),
            (r"\w+", "é", false),
            (r"[\w.]+", "a.b", true),
            (r"[^\d]", "é", true),
            (r"\s", "\u{a0}", false),
            ("a{2}", "aa", true),
            ("a{,2}", "a{,2}", true),
            ("{a}", "{a}", true),
            ("a{b", "a{b", true),
            ("a{2,3}?", "aaa", true),
            (r"\Qa.b*\E+", "a.b***", true),
            (r"\101\x42\x{43}", "ABC", true),
            (r"\<\>\_\-\%", "<>_-%", true),
            ("[[]", "[", true),
            ("[a&&b]", "&", true),
            ("[+--]", ",", true),
            ("[]a]+", "]a", true),
            ("[^]]", "a", true),
            ("[a-]", "-", true),
            ("[[:digit:][:^alpha:]_]+", "1_!", true),
            (r"[\]\\]+", r"]\", true),
            ("(?i)straße", "STRAßE", true),
            ("(?i:a)b", "Ab", true),
            (r"\pL+", "é日", true),
            (r"\p{Greek}\P{Greek}\p{^Greek}", "αaa", true),
            (r"a\bb|a\b", "a", true),
            (r"é\b.", "éa", true),
            ("x.*y(?P<n>z)?", "xy", true),
            ("a)|(b", "ax", true),
            (r"C:\\.*", r"C:\Windows", true),
            ("#~ ", "#~ ", true),
        ] {
            assert_eq!(
                Pattern::new(pattern).map(|pattern| pattern.matches(text)),
                Ok(expected),
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn what_prometheus_does_not_take_is_refused() {
        for pattern in [
            "(",
            "a**",
            "a{2}{3}",
            "a{1001}",
            "a{2,1}",
            "*",
            r"\1",
            r"\8",
            r"\y",
            r"\",
            "[a",
            "[b-a]",
            r"[a-\d]",
            "[[:no:]]",
            "(?=a)",
            "(?x)a",
            "(?R)a",
            r"\C",
            r"\p{Nobody}",
            r"\pé",
            "[",
            "[^",
            r"(?P<1",
            r"\xg",
            r"\Q[",
        ] {
            assert!(Pattern::new(pattern).is_err(), "{pattern}");
        }
        // One look for the end of a class is enough for all of them.
        assert!(Pattern::new(&"[[:".repeat(1 << 18)).is_err());
        let bomb = "(((a{100}){100}){100})";
        assert!(Pattern::new(bomb).unwrap_err().contains("bytes when compiled"));
    }
}
