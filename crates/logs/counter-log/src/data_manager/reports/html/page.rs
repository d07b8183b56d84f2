use std::fmt::Write;

use super::table::Writer;
use super::warnings::{self, Tags};
use super::{Labels, escaped, is_full, push};
use crate::data_manager::reports::tree::{NodeId, Tree};

/// [MS-PLA] 2.2.3.3: rows that are shown of a table where nothing else is said.
const THRESHOLD: usize = 25;

/// The page of a report.
pub(crate) fn page(tree: &Tree) -> String {
    let report = tree.document_element();
    let number =
        |name: &str| tree.attribute(report, name).and_then(|value| value.trim().parse::<usize>().ok());
    let writer = Writer {
        tree,
        labels: Labels::of(tree),
        tags: Tags::of(tree),
        threshold: number("threshold").unwrap_or(THRESHOLD),
        level: number("level").and_then(|level| u32::try_from(level).ok()).unwrap_or(1),
    };
    let name = escaped(writer.labels.of_element(tree, report));
    let mut out = String::from("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    let _ = write!(
        out,
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{name} \u{2013} report</title>\
         <style>{}</style></head><body><a class=\"skip\" href=\"#main\">Skip to the report</a>",
        include_str!("style.css")
    );
    writer.top(&name, &mut out);
    out.push_str("<main id=\"main\" tabindex=\"-1\">");
    writer.sections(report, &mut out);
    if is_full(&out) {
        out.push_str(
            "<p class=\"empty\">This page ends here, because it would be too large. The report in XML beside it has all.</p>",
        );
    }
    out.push_str("</main><footer>A report of the counters of this run. In a mean, each record has the same weight.</footer></body></html>\n");
    out
}

impl Writer<'_> {
    /// The title, and the values that belong to it.
    fn top(&self, name: &str, out: &mut String) {
        let _ = write!(
            out,
            "<header class=\"top\"><div class=\"inner\"><p class=\"kind\">Report of a data collector set</p><h1>{name}</h1>"
        );
        let facts: Vec<NodeId> =
            self.tree.descendants(Tree::ROOT).filter(|node| self.is_fact(*node)).collect();
        if !facts.is_empty() {
            out.push_str("<dl class=\"facts\">");
            for data in facts {
                if is_full(out) {
                    break;
                }
                let label = self.labels.label(self.tree.attribute(data, "header").unwrap_or_default());
                let _ = write!(out, "<div><dt>{}</dt><dd>", escaped(label));
                let text = warnings::text(self.tree, data, &self.labels);
                match (self.tree.attribute(data, "units"), text.parse()) {
                    (Some("s"), Ok(seconds)) => out.push_str(&duration(seconds)),
                    _ => push(&super::shown_number(&text).unwrap_or(text), out),
                }
                out.push_str("</dd></div>");
            }
            out.push_str("</dl>");
        }
        out.push_str("</div></header>");
    }

    fn is_fact(&self, node: NodeId) -> bool {
        self.tree.name(node) == "Data"
            && self.tree.attribute(node, "header").is_some()
            && self.is_visible(node)
    }

    fn sections(&self, report: NodeId, out: &mut String) {
        let is_named = |section: &NodeId, name: &str| self.tree.attribute(*section, "name") == Some(name);
        let mut sections: Vec<NodeId> =
            self.tree.elements(report, "Section").filter(|section| self.is_visible(*section)).collect();
        // Sections without a key come after the others; the run is what people look for last.
        let key = |section: &NodeId| {
            let key = self.tree.attribute(*section, "key").and_then(|key| key.trim().parse::<u64>().ok());
            (is_named(section, "header"), key.unwrap_or(u64::MAX))
        };
        sections.sort_by_key(key);
        let sections: Vec<NodeId> =
            sections.into_iter().filter(|section| self.has_content(*section)).collect();
        self.contents(&sections, out);
        for (index, section) in sections.iter().enumerate() {
            if is_full(out) {
                return;
            }
            let label = escaped(self.labels.of_element(self.tree, *section));
            let _ = write!(out, "<section id=\"s{index}\"><h2>{label}</h2>");
            if let Some(note) = self.tree.attribute(*section, "note") {
                let _ = write!(out, "<p>{}</p>", escaped(self.labels.label(note)));
            }
            self.section(*section, out);
            out.push_str("</section>");
        }
        for other in self
            .tree
            .children(report)
            .iter()
            .filter(|node| !matches!(self.tree.name(**node), "Section" | "StringTable"))
        {
            self.other(*other, out);
        }
    }

    /// Whether people see anything of a section.
    fn has_content(&self, section: NodeId) -> bool {
        self.tree.children(section).iter().any(|node| {
            let is_quiet = self.is_in_top(*node) || (self.is_warnings(*node) && self.items(*node).is_empty());
            !is_quiet && self.is_visible(*node)
        })
    }

    /// Whether all of a table is in the title.
    fn is_in_top(&self, table: NodeId) -> bool {
        let mut data =
            self.tree.elements(table, "Item").flat_map(|item| self.tree.elements(item, "Data")).peekable();
        data.peek().is_some() && data.all(|data| self.tree.attribute(data, "header").is_some())
    }

    /// [MS-PLA] 2.2.8: whether a table has warnings, which have symptoms.
    fn is_warnings(&self, table: NodeId) -> bool {
        let has_symptom = |item: &NodeId| {
            self.tree.elements(*item, "Data").any(|data| self.tree.attribute(data, "name") == Some("symptom"))
        };
        self.tree.attribute(table, "name") == Some("warning")
            || self.items(table).first().is_some_and(has_symptom)
    }

    fn contents(&self, sections: &[NodeId], out: &mut String) {
        if sections.len() < 2 {
            return;
        }
        out.push_str("<nav class=\"contents\" aria-label=\"Contents\"><ul>");
        for (index, section) in sections.iter().enumerate() {
            if is_full(out) {
                break;
            }
            let label = escaped(self.labels.of_element(self.tree, *section));
            let _ = write!(out, "<li><a href=\"#s{index}\">{label}</a></li>");
        }
        out.push_str("</ul></nav>");
    }

    fn section(&self, section: NodeId, out: &mut String) {
        let tree = self.tree;
        let mut tables: Vec<NodeId> = tree.elements(section, "Table").collect();
        tables.sort_by_key(|table| {
            let key = tree.attribute(*table, "key").and_then(|key| key.trim().parse::<u64>().ok());
            (!self.is_warnings(*table), key.unwrap_or(u64::MAX))
        });
        let mut topic = None;
        for table in tables.into_iter().filter(|table| !self.is_in_top(*table)) {
            if is_full(out) {
                return;
            }
            let own = tree.attribute(table, "topic");
            if own.is_some() && own != topic {
                let _ = write!(out, "<h3>{}</h3>", escaped(self.labels.label(own.unwrap_or_default())));
            }
            topic = own;
            let items = self.items(table);
            if tree.attribute(table, "name") == Some("remarks") {
                self.remarks(&items, out);
            } else if self.is_warnings(table) {
                if !items.is_empty() {
                    warnings::list(tree, &items, &self.labels, &self.tags, out);
                }
            } else {
                self.table(table, out);
            }
        }
        for other in tree.children(section).iter().filter(|node| tree.name(**node) != "Table") {
            self.other(*other, out);
        }
    }

    fn remarks(&self, items: &[NodeId], out: &mut String) {
        out.push_str("<h3>Remarks</h3><ul class=\"remarks\">");
        for item in items {
            if is_full(out) {
                break;
            }
            let _ = write!(out, "<li>{}</li>", escaped(&self.tree.text(*item)));
        }
        out.push_str("</ul>");
    }

    /// What rules have inserted that is no table, as text.
    fn other(&self, node: NodeId, out: &mut String) {
        let text = self.tree.text(node);
        if !text.trim().is_empty() {
            let _ = write!(out, "<p>{}</p>", escaped(text.trim()));
        }
    }
}

fn duration(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let parts = [(hours, "h"), (minutes, "min"), (rest, "s")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count} {unit}")).collect();
    if parts.is_empty() { "0 s".to_owned() } else { parts.join(" ") }
}
