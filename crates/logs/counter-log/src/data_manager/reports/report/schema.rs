use ms_pla::xml::Element;

use super::pattern::Pattern;

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
