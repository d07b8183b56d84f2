//! Patterns of names in the schema of a report.

use crate::data_manager::reports::xpath::{Error, Work};

/// [MS-PLA] 2.2.3.3: a pattern of names in `Include` and `Exclude`, such as `i/avg*/`.
///
/// `i` in front of the first `/` ignores case, `/` begins and ends the pattern, `?` is any character, `*` any number of them,
/// and `\` takes the meaning from what comes after it. A pattern matches whole names. Without slashes, all of the text is
/// the pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    parts: Vec<Part>,
    ignores_case: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Char(char),
    AnyChar,
    AnyText,
}

impl Pattern {
    pub(crate) fn read(text: &str) -> Self {
        let (ignores_case, text) = match text.split_once('/') {
            Some((modifiers @ ("" | "i" | "I"), rest)) => (!modifiers.is_empty(), rest),
            _ => return Self::of(text, false, false),
        };
        Self::of(text, ignores_case, true)
    }

    fn of(text: &str, ignores_case: bool, ends_at_slash: bool) -> Self {
        let mut parts = Vec::new();
        let mut chars = text.chars();
        while let Some(char) = chars.next() {
            parts.push(match char {
                '/' if ends_at_slash => break,
                '*' => Part::AnyText,
                '?' => Part::AnyChar,
                // At the end, there is nothing whose meaning could be taken.
                '\\' => Part::Char(fold(chars.next().unwrap_or('\\'), ignores_case)),
                char => Part::Char(fold(char, ignores_case)),
            });
        }
        Self { parts, ignores_case }
    }

    /// Whether the pattern matches a name. Each step is work: there are at most as many as the lengths of both, multiplied.
    ///
    /// # Errors
    /// [`Error::Work`] alone.
    pub(crate) fn matches(&self, name: &str, work: &mut Work) -> Result<bool, Error> {
        let name: Vec<char> = name.chars().map(|char| fold(char, self.ignores_case)).collect();
        let (mut at, mut part) = (0, 0);
        // Where the last `*` is, and up to where it has taken the name.
        let mut star: Option<(usize, usize)> = None;
        while let Some(char) = name.get(at) {
            work.charge(1)?;
            match self.parts.get(part) {
                Some(Part::AnyText) => {
                    star = Some((part, at));
                    part += 1;
                    continue;
                }
                Some(Part::AnyChar) => {}
                Some(Part::Char(meant)) if meant == char => {}
                _ => {
                    let Some((known, taken)) = star else { return Ok(false) };
                    star = Some((known, taken + 1));
                    (part, at) = (known + 1, taken + 1);
                    continue;
                }
            }
            (part, at) = (part + 1, at + 1);
        }
        let rest = self.parts.get(part..).unwrap_or_default();
        work.charge(1 + rest.len())?;
        Ok(rest.iter().all(|part| *part == Part::AnyText))
    }
}

/// One character without case, where its lower case is one.
fn fold(char: char, ignores_case: bool) -> char {
    let mut lower = char.to_lowercase();
    match (ignores_case, lower.next(), lower.next()) {
        (true, Some(lower), None) => lower,
        _ => char,
    }
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Work};

    /// The names of these that a pattern matches.
    fn check(pattern: &str, names: &[&str]) -> Vec<String> {
        let (pattern, mut work) = (Pattern::read(pattern), Work::new(100_000_000));
        let mut matches = |name: &str| pattern.matches(name, &mut work).expect("the work is not too much");
        names.iter().filter(|name| matches(name)).map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_example_of_the_specification_matches_names_that_begin_with_avg_in_any_case() {
        assert_eq!(
            check("i/avg*/", &["Avg. Disk sec/Read", "AVG", "avg", "% Avg", "av"]),
            ["Avg. Disk sec/Read", "AVG", "avg"]
        );
    }

    #[test]
    fn without_the_modifier_case_counts() {
        assert_eq!(check("/Avg*/", &["Avg. Disk", "avg. disk"]), ["Avg. Disk"]);
    }

    #[test]
    fn a_pattern_matches_the_whole_name() {
        assert_eq!(check("/Total/", &["Total", "_Total", "Total 2"]), ["Total"]);
        assert_eq!(check("/*Total/", &["Total", "_Total", "Total 2"]), ["Total", "_Total"]);
    }

    #[test]
    fn a_question_mark_is_one_character() {
        assert_eq!(check("/cpu?/", &["cpu", "cpu1", "cpu12", "cpuß"]), ["cpu1", "cpuß"]);
    }

    #[test]
    fn escaped_signs_are_characters() {
        assert_eq!(check(r"/Bytes\/sec/", &["Bytes/sec", "Bytes"]), ["Bytes/sec"]);
        assert_eq!(check(r"/a\*/", &["a*", "ab"]), ["a*"]);
        assert_eq!(check(r"/a\\b/", &[r"a\b"]), [r"a\b"]);
    }

    #[test]
    fn text_without_slashes_in_front_is_a_pattern_itself() {
        assert_eq!(check("% Idle Time", &["% Idle Time", "% idle time"]), ["% Idle Time"]);
        assert_eq!(check("Bytes/sec", &["Bytes/sec"]), ["Bytes/sec"]);
    }

    #[test]
    fn many_stars_end_in_time() {
        let pattern = format!("/{}b/", "*a".repeat(2000));
        assert_eq!(check(&pattern, &[&"a".repeat(10_000)]), [""; 0]);
    }
}
