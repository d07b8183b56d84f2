//! What a report of counters shows, by a schema or without one.

mod build;
mod header;
pub(crate) mod schema;

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ms_pla::xml::Element;

use self::build::Builder;
use self::schema::{CounterTable, Schema};
use super::Statistics;
use super::xpath::{Error, Work};
use crate::Column;
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

/// What a report says of the run itself.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// The name of the data collector set.
    pub set: String,
    pub host: String,
    /// When the run began.
    pub start: Timestamp,
    pub end: Timestamp,
    /// The time zone in which the report shows times.
    pub zone: TimeZone,
    /// [MS-PLA] 3.2.4.1: the serial number of the run; nothing where the set has none.
    pub serial_number: Option<u32>,
    /// The files of the run, in their order.
    pub files: Vec<RunFile>,
    /// Times in which nothing was recorded.
    pub gaps: Vec<Gap>,
    /// Records that were written; nothing where that is not known.
    pub records: Option<u64>,
    /// Records that were taken and could not be written; nothing where that is not known.
    pub records_lost: Option<u64>,
    /// Sentences on what was otherwise than the set asks for, such as a format that was replaced.
    pub remarks: Vec<String>,
}

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFile {
    /// Its name, without folders.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its records, where they were counted.
    pub records: Option<u64>,
}

/// A time in which nothing was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub start: Timestamp,
    pub end: Timestamp,
    /// Why, as a phrase: `the host did not answer`.
    pub reason: String,
}

/// Which columns of a log belong to which object, in the order of the log.
struct Objects<'a> {
    /// The name of each object as the log has it first, and its columns.
    objects: Vec<(&'a str, Vec<usize>)>,
    places: HashMap<String, usize>,
}

impl<'a> Objects<'a> {
    fn of(source: &Source<'a>) -> Self {
        let mut found = Self { objects: Vec::new(), places: HashMap::new() };
        for (index, column) in source.columns.iter().enumerate() {
            let place = *found.places.entry(column.object.to_lowercase()).or_insert(found.objects.len());
            match found.objects.get_mut(place) {
                Some((_, columns)) => columns.push(index),
                None => found.objects.push((&column.object, vec![index])),
            }
        }
        found
    }

    /// The columns of an object, whose name is compared without case, as Windows does.
    fn columns(&self, object: &str) -> &[usize] {
        let place = self.places.get(&object.to_lowercase());
        place.and_then(|place| self.objects.get(*place)).map_or(&[], |(_, columns)| columns)
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.objects.iter().map(|(name, _)| *name)
    }
}

/// The rows of a table, and which columns it has.
struct Rows {
    /// Columns of the log, one a row.
    columns: Vec<usize>,
    shown: Vec<&'static str>,
}

/// [MS-PLA] 2.2.3.3: the columns of a counter table.
const NAMES: [&str; 6] = ["machine", "counter", "instance", "mean", "min", "max"];

impl Rows {
    /// The rows that a table asks for. The instance is shown where the object has instances, and the machine where there are
    /// several.
    ///
    /// # Errors
    /// [`Error::Work`] alone: each column of the log that is looked at is work, as its comparison with patterns is.
    fn of(
        table: &CounterTable,
        objects: &Objects<'_>,
        log: &[Column],
        work: &mut Work,
    ) -> Result<Self, Error> {
        let all = objects.columns(&table.object).iter();
        work.charge(1 + COLUMN_WORK * all.len())?;
        let all: Vec<(usize, &Column)> = all.filter_map(|index| Some((*index, log.get(*index)?))).collect();
        let has_instances = all.iter().any(|(_, column)| column.instance.is_some());
        let machines: HashSet<&str> = all.iter().map(|(_, column)| &*column.machine).collect();
        let shown = NAMES.into_iter().filter(|name| match *name {
            "machine" => machines.len() > 1,
            "instance" => has_instances,
            _ => true,
        });
        let shown =
            shown.filter(|name| !table.without_columns.iter().any(|without| without == name)).collect();
        // Rows of one counter stand side by side, in the order in which the log has the counters.
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut rows: Vec<(usize, usize)> = Vec::new();
        for (index, column) in all {
            if takes(table, column, work)? {
                let next = places.len();
                rows.push((*places.entry(&column.counter).or_insert(next), index));
            }
        }
        rows.sort_unstable();
        Ok(Self { columns: rows.into_iter().map(|(_, index)| index).collect(), shown })
    }
}

/// Units of work for a look at a column, whose names are hashed and copied.
const COLUMN_WORK: usize = 10;

fn takes(table: &CounterTable, column: &Column, work: &mut Work) -> Result<bool, Error> {
    for pattern in &table.without_counters {
        if pattern.matches(&column.counter, work)? {
            return Ok(false);
        }
    }
    let label = instance_label(column);
    let bare = column.instance.as_deref().unwrap_or_default();
    for pattern in &table.instances {
        if pattern.matches(bare, work)? || pattern.matches(&label, work)? {
            return Ok(true);
        }
    }
    Ok(table.instances.is_empty())
}

/// [MS-PLA] 2.2.10: the instance as a counter path has it.
fn instance_label(column: &Column) -> String {
    let mut label = String::new();
    if let Some(parent) = &column.parent {
        label.push_str(parent);
        label.push('/');
    }
    label.push_str(column.instance.as_deref().unwrap_or_default());
    if column.instance_index > 0 {
        label.push('#');
        label.push_str(&column.instance_index.to_string());
    }
    label
}
