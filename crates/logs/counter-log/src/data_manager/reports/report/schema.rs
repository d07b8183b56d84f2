use ms_pla::xml::Element;

use super::super::xpath::{Error, Work};

/// [MS-PLA] 2.2.3.3: what a report schema asks for, as far as it is known here.
#[derive(Debug, Default)]
pub(super) struct Schema {
    pub(super) name: Option<String>,
    pub(super) version: Option<String>,
    pub(super) threshold: Option<String>,
    pub(super) sections: Vec<Section>,
    /// Ids and their texts.
    pub(super) strings: Vec<(String, String)>,
    /// Sentences on what cannot be used.
    pub(super) remarks: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) key: Option<u64>,
    pub(super) note: Option<String>,
    pub(super) tables: Vec<CounterTable>,
}

#[derive(Debug)]
pub(super) struct CounterTable {
    pub(super) name: String,
    pub(super) topic: Option<String>,
    pub(super) object: String,
    pub(super) level: u8,
    pub(super) key: Option<u64>,
    pub(super) note: Option<String>,
    pub(super) threshold: Option<String>,
    pub(super) without_counters: Vec<Pattern>,
    pub(super) without_columns: Vec<String>,
    pub(super) instances: Vec<Pattern>,
}

/// Sentences of one kind; what is above is counted in one more.
const REMARKS_MAX: usize = 50;
/// Characters of a name in a sentence.
const NAME_CHARS_MAX: usize = 120;
/// Patterns of one table.
const PATTERNS_MAX: usize = 256;

impl Schema {
    /// Reads the element `Report`, or one that contains it. What is not known is named in the remarks.
    pub(super) fn read(element: &Element) -> Self {
        let mut schema = Self::default();
        let inner = element.elements().find(|inner| inner.local_name() == "Report");
        let Some(report) = inner.or_else(|| Some(element).filter(|element| element.local_name() == "Report"))
        else {
            schema.remark("The report schema has no element Report, so that it is not used.".to_owned());
            return schema;
        };
        schema.name = named(report, "name");
        schema.version = named(report, "version");
        schema.threshold = count(report, "threshold");
        for part in report.elements() {
            match part.local_name() {
                "Sections" => part.elements().for_each(|section| schema.section(section)),
                "StringTable" => schema.strings.extend(strings(part)),
                "Import" => schema.remark(format!(
                    "The report schema imports `{}`, a file of the host, which is not read here.",
                    shown(part.attribute("file").unwrap_or_default())
                )),
                other => schema.unknown(other),
            }
        }
        schema
    }

    fn section(&mut self, section: &Element) {
        if section.local_name() != "Section" {
            return self.unknown(section.local_name());
        }
        let mut tables = Vec::new();
        for table in section.elements() {
            match table.local_name() {
                "CounterTable" => tables.extend(self.counter_table(table)),
                "EventTable" => self.remark(format!(
                    "The table `{}` of the report schema is made of events, which are traced on the host; only counters are \
                     recorded here.",
                    shown(table.attribute("name").unwrap_or_default())
                )),
                other => self.unknown(other),
            }
        }
        self.sections.push(Section {
            name: named(section, "name").unwrap_or_else(|| "section".to_owned()),
            key: section.attribute("key").and_then(|key| key.trim().parse().ok()),
            note: named(section, "note"),
            tables,
        });
    }

    fn counter_table(&mut self, table: &Element) -> Option<CounterTable> {
        let name = named(table, "name").unwrap_or_else(|| "table".to_owned());
        let Some(object) = named(table, "object") else {
            self.remark(format!("The table `{}` of the report schema names no object.", shown(&name)));
            return None;
        };
        let level = table.attribute("level").map_or(Some(1), |level| level.trim().parse().ok());
        let Some(level) = level.filter(|level| (1..=5).contains(level)) else {
            self.remark(format!(
                "The level of the table `{}` of the report schema is none of 1 to 5.",
                shown(&name)
            ));
            return None;
        };
        let mut read = CounterTable {
            topic: named(table, "topic"),
            object,
            level,
            key: table.attribute("key").and_then(|key| key.trim().parse().ok()),
            note: named(table, "note"),
            threshold: count(table, "threshold"),
            without_counters: Vec::new(),
            without_columns: Vec::new(),
            instances: Vec::new(),
            name,
        };
        for part in table.elements().take(PATTERNS_MAX) {
            match part.local_name() {
                "Exclude" => {
                    read.without_counters.extend(part.attribute("counter").map(Pattern::read));
                    read.without_columns
                        .extend(part.attribute("column").map(|column| column.trim().to_lowercase()));
                }
                "Include" => read.instances.extend(part.attribute("instance").map(Pattern::read)),
                other => self.unknown(other),
            }
        }
        Some(read)
    }

    fn unknown(&mut self, name: &str) {
        self.remark(format!("The report schema has an element `{}`, which is not known here.", shown(name)));
    }

    fn remark(&mut self, sentence: String) {
        if self.remarks.len() < REMARKS_MAX && !self.remarks.contains(&sentence) {
            self.remarks.push(sentence);
        }
    }
}

/// The entries of a `StringTable`.
pub(crate) fn strings(table: &Element) -> impl Iterator<Item = (String, String)> + '_ {
    let strings = table.elements().filter(|string| string.local_name() == "String");
    strings.filter_map(|string| {
        Some((string.attribute("ID")?.to_owned(), string.text().unwrap_or_default().to_owned()))
    })
}

fn named(element: &Element, name: &str) -> Option<String> {
    element.attribute(name).map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned)
}

/// An attribute that is a number.
fn count(element: &Element, name: &str) -> Option<String> {
    element.attribute(name)?.trim().parse().ok().map(|count: u32| count.to_string())
}

/// As much of a name as a sentence shows.
pub(crate) fn shown(name: &str) -> &str {
    let end = name.char_indices().nth(NAME_CHARS_MAX).map_or(name.len(), |(end, _)| end);
    name.get(..end).unwrap_or(name)
}

// Patterns of names in the schema of a report.

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
