//! Names of metrics and labels: which need quotes, and how readers that know no quotes get them.

use std::borrow::Cow;
use std::fmt::Write;

/// How names beyond `[a-zA-Z_:][a-zA-Z0-9_:]*` reach a reader. Names within it are the same in all schemes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Escaping {
    /// As they are, in quotes where the format needs them.
    AllowUtf8,
    /// Each character that is not allowed becomes `_`.
    #[default]
    Underscores,
    /// `.` becomes `_dot_`, `_` and whatever else is not allowed become `__`.
    Dots,
    /// `U__`, then `__` for `_` and `_<code point>_` for what is not allowed: it can be undone.
    Values,
}

impl Escaping {
    pub const ALL: [Self; 4] = [Self::AllowUtf8, Self::Underscores, Self::Dots, Self::Values];

    /// The word for the parameter `escaping` of a media type.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllowUtf8 => "allow-utf-8",
            Self::Underscores => "underscores",
            Self::Dots => "dots",
            Self::Values => "values",
        }
    }

    /// The scheme of that word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|escaping| escaping.as_str() == word)
    }

    /// A metric's name as the reader gets it.
    #[must_use]
    pub fn metric_name(self, name: &str) -> Cow<'_, str> {
        if self == Self::AllowUtf8 || is_legacy_name(name) {
            name.into()
        } else {
            self.escape(name, true).into()
        }
    }

    /// A label's name as the reader gets it. A colon is not allowed in it.
    #[must_use]
    pub fn label_name(self, name: &str) -> Cow<'_, str> {
        if self == Self::AllowUtf8 || is_legacy_label(name) {
            name.into()
        } else {
            self.escape(name, false).into()
        }
    }

    fn escape(self, name: &str, colon: bool) -> String {
        let mut out = String::with_capacity(name.len() + 8);
        if self == Self::Values {
            out.push_str("U__");
        }
        for (at, char) in name.char_indices() {
            let allowed = char.is_ascii_alphabetic()
                || char == '_'
                || (colon && char == ':')
                || (at > 0 && char.is_ascii_digit());
            match self {
                Self::Dots if char == '.' => out.push_str("_dot_"),
                Self::Dots if char == '_' || !allowed => out.push_str("__"),
                Self::Values if char == '_' => out.push_str("__"),
                // Writing into a string cannot fail.
                Self::Values if !allowed => drop(write!(out, "_{:x}_", u32::from(char))),
                _ => out.push(if allowed { char } else { '_' }),
            }
        }
        out
    }
}

/// Whether a metric may have the name in every version of every format.
#[must_use]
pub fn is_legacy_name(name: &str) -> bool {
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':';
    name.bytes().all(valid) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

/// Whether a label may have the name in every version of every format.
#[must_use]
pub fn is_legacy_label(name: &str) -> bool {
    is_legacy_name(name) && !name.contains(':')
}

/// A name as the model holds it: any UTF-8 but quotes, backslashes and control characters, which become U+FFFD.
#[must_use]
pub fn clean_name(name: &str) -> Cow<'_, str> {
    let unwanted = |char: char| char.is_control() || char == '"' || char == '\\';
    if name.contains(unwanted) { name.replace(unwanted, "\u{fffd}").into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected texts are those of Prometheus' documentation of escaping schemes and its examples.
    #[test]
    fn names_are_escaped_as_the_schemes_say() {
        for (name, underscores, dots, values) in [
            ("no:escaping_required", "no:escaping_required", "no:escaping_required", "no:escaping_required"),
            (
                "mysystem.prod.west.cpu.load",
                "mysystem_prod_west_cpu_load",
                "mysystem_dot_prod_dot_west_dot_cpu_dot_load",
                "U__mysystem_2e_prod_2e_west_2e_cpu_2e_load",
            ),
            (
                "mysystem.prod.west.cpu.load_total",
                "mysystem_prod_west_cpu_load_total",
                "mysystem_dot_prod_dot_west_dot_cpu_dot_load__total",
                "U__mysystem_2e_prod_2e_west_2e_cpu_2e_load__total",
            ),
            ("http.status:sum", "http_status:sum", "http_dot_status:sum", "U__http_2e_status:sum"),
            ("label with 😱", "label_with__", "label__with____", "U__label_20_with_20__1f631_"),
            ("花火", "__", "____", "U___82b1__706b_"),
            ("0a", "_a", "__a", "U___30_a"),
        ] {
            let escaped =
                [Escaping::Underscores, Escaping::Dots, Escaping::Values].map(|s| s.metric_name(name));
            assert_eq!(escaped, [underscores, dots, values]);
            assert_eq!(Escaping::AllowUtf8.metric_name(name), name);
        }
    }

    #[test]
    fn labels_have_no_colons() {
        assert_eq!(Escaping::Underscores.label_name("a:b"), "a_b");
        assert_eq!(Escaping::Values.label_name("a:b_c"), "U__a_3a_b__c");
        assert_eq!(Escaping::Dots.label_name("a_b"), "a_b");
    }

    #[test]
    fn a_clean_name_needs_no_escapes_in_quotes() {
        assert_eq!(clean_name("a\"b\\c\nd"), "a\u{fffd}b\u{fffd}c\u{fffd}d");
        assert_eq!(clean_name("a.b c"), "a.b c");
    }
}
