//! What a report of counters shows, by a schema or without one.

mod build;
mod header;
pub(crate) mod pattern;
mod rows;
pub(crate) mod schema;

use crate::Column;
use ms_pla::xml::Element;

use self::build::Builder;
use self::schema::Schema;
use crate::data_manager::reports::facts::RunFacts;
use crate::data_manager::reports::statistics::Statistics;
use crate::data_manager::reports::tree::{NodeId, Tree};

/// What a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The columns of the log.
    pub columns: &'a [Column],
    /// The figures of these columns.
    pub statistics: &'a Statistics,
    pub facts: &'a RunFacts,
}

/// How a report is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// [MS-PLA] 2.2.3.3: tables of a higher level are left out; 1 to 5.
    pub level: u8,
    /// Rows of all tables together; what is above is left out, and the report says so.
    pub rows_max: usize,
    /// Units of work for the tables of a schema: a look at a column of the log, and a step of a comparison with a pattern. Tables
    /// that take more are left out, and the report says so.
    pub work_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { level: 1, rows_max: 20_000, work_max: 100_000_000 }
    }
}

/// [MS-PLA] 2.2.3.3: the report of a run.
#[derive(Clone, Debug)]
pub struct Report {
    pub(crate) tree: Tree,
}

impl Report {
    /// Makes the report of a run: by a schema, the element `ReportSchema` or `Report`, else a section for each object.
    ///
    /// What of the schema cannot be used is named in the report. A schema without tables of counters counts as none.
    #[must_use]
    pub fn build(schema: Option<&Element>, source: &Source<'_>, options: &Options) -> Self {
        let mut schema = schema.map(Schema::read).unwrap_or_default();
        let name = schema.name.clone().unwrap_or_else(|| source.facts.set.clone());
        let mut tree = Tree::new();
        let report = tree.add_element(
            Tree::ROOT,
            "Report",
            &[
                ("name", &name),
                ("version", schema.version.as_deref().unwrap_or("1")),
                ("threshold", schema.threshold.as_deref().unwrap_or(THRESHOLD)),
                ("level", &options.level.to_string()),
            ],
        );
        let header = tree.add_element(report, "Section", &[("name", "header"), ("key", "0")]);
        add_advice(&mut tree, report);
        let dropped = Builder::new(&mut tree, source, options).sections(report, &mut schema);
        let mut remarks = source.facts.remarks.clone();
        remarks.append(&mut schema.remarks);
        if dropped.tables > 0 {
            remarks.push(format!(
                "{} tables of the report schema are left out, because they take more than {} units of work: it has too many \
                 tables, or patterns with too many `*`.",
                dropped.tables, options.work_max
            ));
        }
        if dropped.rows > 0 {
            remarks.push(format!(
                "{} counters are left out of this report, which has at most {}; the log has all of them.",
                dropped.rows, options.rows_max
            ));
        }
        header::fill(&mut tree, header, source.facts, &remarks);
        add_strings(&mut tree, report, &schema.strings);
        tree.put_in_order();
        Self { tree }
    }

    /// The report as a tree.
    #[must_use]
    pub const fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The report as XML in UTF-8.
    #[must_use]
    pub fn to_xml(&self) -> String {
        self.tree.to_xml(true)
    }

    /// The report as one page of HTML that needs nothing else.
    #[must_use]
    pub fn to_html(&self) -> String {
        crate::data_manager::reports::html::page(&self.tree)
    }

    /// Adds sentences for people to the section on the run.
    pub(crate) fn add_remarks(&mut self, remarks: &[String]) {
        if remarks.is_empty() {
            return;
        }
        let report = self.tree.document_element();
        let is_header = |section: &NodeId| self.tree.attribute(*section, "name") == Some("header");
        let known = self.tree.elements(report, "Section").find(is_header);
        // Rules may have deleted it.
        let section = known
            .unwrap_or_else(|| self.tree.add_element(report, "Section", &[("name", "header"), ("key", "0")]));
        header::add_remarks(&mut self.tree, section, remarks);
        self.tree.put_in_order();
    }
}

/// [MS-PLA] 2.2.3.3: rows that are shown of a table where nothing else is said.
const THRESHOLD: &str = "25";

/// [MS-PLA] 2.2.8: rules expect that the table of warnings exists. It is empty where there are none.
fn add_advice(tree: &mut Tree, report: NodeId) {
    let section =
        tree.add_element(report, "Section", &[("name", "advice"), ("key", "1"), ("expand", "true")]);
    tree.add_element(section, "Table", &[("name", "warning")]);
}

fn add_strings(tree: &mut Tree, report: NodeId, strings: &[(String, String)]) {
    if strings.is_empty() {
        return;
    }
    let table = tree.add_element(report, "StringTable", &[]);
    for (id, text) in strings {
        let string = tree.add_element(table, "String", &[("ID", id)]);
        tree.add_text(string, text);
    }
}
