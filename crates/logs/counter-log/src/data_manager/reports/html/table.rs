use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::warnings::{Tags, sign, text};
use super::{Labels, escaped, is_full, push};
use crate::data_manager::reports::tree::{NodeId, Tree};
use crate::data_manager::reports::xpath::to_number;

/// Columns of a table.
const COLUMNS_MAX: usize = 64;

/// What tables are written with.
pub(super) struct Writer<'a> {
    pub(super) tree: &'a Tree,
    pub(super) labels: Labels<'a>,
    pub(super) tags: Tags<'a>,
    /// Rows that are shown at once where a table does not say it.
    pub(super) threshold: usize,
    /// Tables and rows of a higher level are not shown.
    pub(super) level: u32,
}

/// A column: its name, and what the header says of it.
struct Column<'a> {
    name: &'a str,
    label: &'a str,
    units: Option<&'a str>,
    is_number: bool,
}

impl<'a> Writer<'a> {
    /// The rows of a table that are shown.
    pub(super) fn items(&self, table: NodeId) -> Vec<NodeId> {
        self.tree.elements(table, "Item").filter(|item| self.is_visible(*item)).collect()
    }

    pub(super) fn is_visible(&self, node: NodeId) -> bool {
        let level = self.tree.attribute(node, "level").and_then(|level| level.trim().parse::<u32>().ok());
        self.tree.attribute(node, "visible") != Some("false") && level.is_none_or(|level| level <= self.level)
    }

    pub(super) fn table(&self, table: NodeId, out: &mut String) {
        if !self.is_visible(table) {
            return;
        }
        let items = self.items(table);
        let title = self.labels.of_element(self.tree, table);
        if items.is_empty() {
            let _ = write!(out, "<p class=\"empty\">{}: there are no values.</p>", escaped(title));
        } else if self.tree.attribute(table, "style") == Some("info") {
            self.info(table, title, &items, out);
        } else {
            self.rows(table, title, &items, out);
        }
    }

    /// A table whose rows are names and values.
    fn info(&self, table: NodeId, title: &str, items: &[NodeId], out: &mut String) {
        self.begin(table, title, None, out);
        out.push_str("<tbody>");
        for data in items
            .iter()
            .flat_map(|item| self.tree.elements(*item, "Data"))
            .filter(|data| self.is_visible(*data))
        {
            if is_full(out) {
                break;
            }
            let label = escaped(self.labels.of_element(self.tree, data));
            let _ = write!(out, "<tr><th scope=\"row\">{label}</th>");
            self.cell(data, false, "td", out);
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div>");
    }

    fn rows(&self, table: NodeId, title: &str, items: &[NodeId], out: &mut String) {
        let columns = self.columns(table, items);
        let own = self.tree.attribute(table, "threshold").and_then(|rows| rows.trim().parse().ok());
        let shown = own.unwrap_or(self.threshold).clamp(1, items.len());
        let (first, others) = items.split_at(shown);
        let count = (items.len() > 1).then(|| format!("{} rows", items.len()));
        let ranges = Ranges::of(self.tree, items);
        self.begin(table, title, count.as_deref(), out);
        self.body(&columns, ranges.as_ref(), first, out);
        if !others.is_empty() {
            let _ =
                write!(out, "<details><summary>Show {} more of {}</summary>", others.len(), escaped(title));
            let (title, region) = (escaped(title), self.region(table, title));
            let _ = write!(
                out,
                "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{region}, more rows\"><table><caption>\
                 <strong>{title}</strong><span class=\"count\">more rows</span></caption>"
            );
            self.body(&columns, ranges.as_ref(), others, out);
            out.push_str("</details>");
        }
    }

    /// What a table is called among all those of the page: with its section, unless that has the same name.
    fn region(&self, table: NodeId, title: &str) -> String {
        let section = self.tree.parent(table).map(|section| self.labels.of_element(self.tree, section));
        match section.filter(|section| *section != title) {
            Some(section) => escaped(&format!("{title}, {section}")),
            None => escaped(title),
        }
    }

    /// The beginning of a table, with its caption.
    fn begin(&self, table: NodeId, title: &str, count: Option<&str>, out: &mut String) {
        let (title, region) = (escaped(title), self.region(table, title));
        let tag = self.tree.attribute(table, "warning");
        let id = tag.map(|tag| self.tags.id(table, tag)).unwrap_or_default();
        let is_info = self.tree.attribute(table, "style") == Some("info");
        let class = if is_info { " class=\"info\"" } else { "" };
        // The heading of the section is directly above.
        let unseen = if region == title { " class=\"unseen\"" } else { "" };
        let _ = write!(
            out,
            "<div class=\"wide\"{id} tabindex=\"0\" role=\"region\" aria-label=\"{region}\"><table{class}><caption>\
             <strong{unseen}>{title}</strong>"
        );
        out.push_str(&tag.map(|tag| self.tags.flag(tag)).unwrap_or_default());
        if let Some(count) = count {
            let _ = write!(out, "<span class=\"count\">{count}</span>");
        }
        if let Some(note) = self.tree.attribute(table, "note") {
            let _ = write!(out, "<span class=\"note\">{}</span>", escaped(self.labels.label(note)));
        }
        out.push_str("</caption>");
    }

    /// The columns that the header names, and those that only rows have.
    fn columns(&'a self, table: NodeId, items: &[NodeId]) -> Vec<Column<'a>> {
        let mut columns: Vec<Column<'a>> = Vec::new();
        let header =
            self.tree.elements(table, "Header").flat_map(|header| self.tree.elements(header, "Data"));
        let rows = items.iter().flat_map(|item| self.tree.elements(*item, "Data"));
        let mut hidden = HashSet::new();
        for (data, is_header) in header.map(|data| (data, true)).chain(rows.map(|data| (data, false))) {
            let name = self.tree.attribute(data, "name").unwrap_or_default();
            let is_known = columns.iter().any(|column| column.name == name) || hidden.contains(name);
            if is_known || columns.len() >= COLUMNS_MAX {
                continue;
            }
            if !self.is_visible(data) && is_header {
                hidden.insert(name);
                continue;
            }
            let class = self.tree.attribute(data, "class").unwrap_or_default();
            columns.push(Column {
                name,
                label: self.labels.of_element(self.tree, data),
                units: self.tree.attribute(data, "units").filter(|_| is_header),
                is_number: class == "number"
                    || (!is_header && super::shown_number(&self.tree.text(data)).is_some()),
            });
        }
        columns
    }

    fn body(&self, columns: &[Column<'_>], ranges: Option<&Ranges>, items: &[NodeId], out: &mut String) {
        out.push_str("<thead><tr>");
        for column in columns {
            let class = if column.is_number { " class=\"number\"" } else { "" };
            let _ = write!(out, "<th scope=\"col\"{class}>{}", escaped(column.label));
            if let Some(units) = column.units {
                let _ = write!(out, " ({})", escaped(self.labels.label(units)));
            }
            out.push_str("</th>");
        }
        if ranges.is_some() {
            out.push_str("<th scope=\"col\" class=\"range\">Range</th>");
        }
        out.push_str("</tr></thead><tbody>");
        for item in items {
            if is_full(out) {
                break;
            }
            self.row(columns, ranges, *item, out);
        }
        out.push_str("</tbody></table></div>");
    }

    fn row(&self, columns: &[Column<'_>], ranges: Option<&Ranges>, item: NodeId, out: &mut String) {
        let tag = self.tree.attribute(item, "warning");
        let is_warned = tag.is_some()
            || self.tree.elements(item, "Data").any(|data| self.tree.attribute(data, "warning").is_some());
        let class = if is_warned { " class=\"warned\"" } else { "" };
        let id = tag.map(|tag| self.tags.id(item, tag)).unwrap_or_default();
        let _ = write!(out, "<tr{class}{id}>");
        for (index, column) in columns.iter().enumerate() {
            let is_meant =
                |data: &NodeId| self.tree.attribute(*data, "name").unwrap_or_default() == column.name;
            let element = if index == 0 && !column.is_number { "th scope=\"row\"" } else { "td" };
            match self.tree.elements(item, "Data").find(is_meant).filter(|data| self.is_visible(*data)) {
                Some(data) => self.cell(data, column.is_number, element, out),
                None => {
                    let _ = write!(out, "<{element}></{}>", &element[..2]);
                }
            }
        }
        if let Some(ranges) = ranges {
            ranges.cell(self.tree, item, out);
        }
        out.push_str("</tr>");
    }

    fn cell(&self, data: NodeId, is_number: bool, element: &str, out: &mut String) {
        let tree = self.tree;
        let tag = tree.attribute(data, "warning");
        let id = tag.map(|tag| self.tags.id(data, tag)).unwrap_or_default();
        let title = tag
            .map(|tag| self.tags.message(tag))
            .or_else(|| tree.attribute(data, "note").map(|note| self.labels.label(note)));
        let title = title.map(|title| format!(" title=\"{}\"", escaped(title))).unwrap_or_default();
        let class = if is_number { " class=\"number\"" } else { "" };
        let _ = write!(out, "<{element}{class}{id}{title}>");
        let flag = tag.map(|tag| self.tags.flag(tag)).unwrap_or_default();
        // In front of a number, it leaves the digits in line.
        if is_number {
            out.push_str(&flag);
        }
        out.push_str(&tree.attribute(data, "img").map(sign).unwrap_or_default());
        let text = text(tree, data, &self.labels);
        let link = tree.attribute(data, "link").and_then(|tag| self.tags.link(tag));
        if let Some(link) = &link {
            let _ = write!(out, "<a href=\"{link}\">");
        }
        match super::shown_number(&text).filter(|_| is_number) {
            Some(number) => {
                let _ = write!(out, "<data value=\"{}\">{number}</data>", escaped(text.trim()));
            }
            None if text.is_empty() => out.push_str("<span class=\"none\">\u{2013}</span>"),
            None => push(&text, out),
        }
        if link.is_some() {
            out.push_str("</a>");
        }
        if let Some(units) = tree.attribute(data, "units") {
            let _ = write!(out, " <span class=\"units\">{}</span>", escaped(self.labels.label(units)));
        }
        if !is_number {
            out.push_str(&flag);
        }
        let _ = write!(out, "</{}>", &element[..2]);
    }
}

/// Pictures of rows with a minimum, a mean and a maximum. Rows of one counter have one scale, from zero to their largest value.
pub(super) struct Ranges {
    /// The largest value of each counter.
    largest: HashMap<String, f64>,
}

const WIDTH: f64 = 120.0;

impl Ranges {
    /// Nothing where no row has all three values.
    pub(super) fn of(tree: &Tree, items: &[NodeId]) -> Option<Self> {
        let mut largest = HashMap::new();
        for item in items {
            if let Some((counter, [.., max])) = figures(tree, *item) {
                let known = largest.entry(counter).or_insert(max);
                *known = known.max(max);
            }
        }
        (!largest.is_empty()).then_some(Self { largest })
    }

    /// The cell of a row. What it shows is in the cells beside it, too.
    fn cell(&self, tree: &Tree, item: NodeId, out: &mut String) {
        out.push_str("<td class=\"range\">");
        if let Some((counter, [min, mean, max])) = figures(tree, item)
            && let Some(largest) = self.largest.get(&counter).filter(|largest| **largest > 0.0)
        {
            let at = |value: f64| value / largest * WIDTH;
            let (left, right) = (at(min), at(max));
            let _ = write!(
                out,
                "<svg width=\"126\" height=\"12\" viewBox=\"-3 0 126 12\" aria-hidden=\"true\"><line class=\"axis\" x1=\"0\" \
                 y1=\"6\" x2=\"{WIDTH}\" y2=\"6\"/><line class=\"span\" x1=\"{left:.1}\" y1=\"6\" x2=\"{right:.1}\" y2=\"6\"/>\
                 <circle cx=\"{:.1}\" cy=\"6\" r=\"3\"/></svg>",
                at(mean)
            );
        }
        out.push_str("</td>");
    }
}

/// The counter of a row, and its minimum, mean and maximum, where they are on one scale from zero.
fn figures(tree: &Tree, item: NodeId) -> Option<(String, [f64; 3])> {
    let value = |name: &str| {
        let data = tree.elements(item, "Data").find(|data| tree.attribute(*data, "name") == Some(name))?;
        Some(tree.text(data))
    };
    let [min, mean, max] = [value("min")?, value("mean")?, value("max")?].map(|text| to_number(&text));
    (0.0 <= min && min <= mean && mean <= max && max.is_finite())
        .then_some((value("counter")?, [min, mean, max]))
}
