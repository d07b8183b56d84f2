use crate::Column;

use super::super::Figures;
use super::schema::{CounterTable, Schema, Section};
use super::{Objects, Options, Rows, Source, instance_label};
use crate::data_manager::reports::tree::{NodeId, Tree};
use crate::data_manager::reports::xpath::{Work, number_text};

/// Fills a tree with a report.
pub(super) struct Builder<'a> {
    pub(super) tree: &'a mut Tree,
    pub(super) source: &'a Source<'a>,
    pub(super) options: &'a Options,
    objects: Objects<'a>,
    rows_left: usize,
    work: Work,
    dropped: Dropped,
}

/// What is left out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dropped {
    pub(super) rows: usize,
    pub(super) tables: usize,
}

impl<'a> Builder<'a> {
    pub(super) fn new(tree: &'a mut Tree, source: &'a Source<'a>, options: &'a Options) -> Self {
        let objects = Objects::of(source);
        let (rows_left, work) = (options.rows_max, Work::new(options.work_max));
        Self { tree, source, options, objects, rows_left, work, dropped: Dropped::default() }
    }

    /// The sections of a schema, else one for each object. Returns what was left out.
    pub(super) fn sections(&mut self, report: NodeId, schema: &mut Schema) -> Dropped {
        if schema.sections.iter().all(|section| section.tables.is_empty()) {
            schema.sections.extend(self.default_sections());
        }
        schema.sections.sort_by_key(|section| section.key.unwrap_or(u64::MAX));
        for section in &mut schema.sections {
            let level = self.options.level;
            section.tables.retain(|table| table.level <= level);
            // Tables without a key come after the others.
            section.tables.sort_by_key(|table| table.key.unwrap_or(u64::MAX));
            if !section.tables.is_empty() {
                self.section(report, section);
            }
        }
        self.dropped
    }

    fn default_sections(&self) -> Vec<Section> {
        let table = |object: &str| CounterTable {
            name: object.to_owned(),
            topic: None,
            object: object.to_owned(),
            level: 1,
            key: None,
            note: None,
            threshold: None,
            without_counters: Vec::new(),
            without_columns: Vec::new(),
            instances: Vec::new(),
        };
        let section = |(index, object): (u64, &str)| Section {
            name: object.to_owned(),
            key: Some(index),
            note: None,
            tables: vec![table(object)],
        };
        (FIRST_KEY..).zip(self.objects.names()).map(section).collect()
    }

    fn section(&mut self, report: NodeId, section: &Section) {
        let key = section.key.map(|key| key.to_string());
        let attributes =
            [("name", Some(&section.name)), ("key", key.as_ref()), ("note", section.note.as_ref())];
        let element = self.add(report, "Section", &attributes);
        for table in &section.tables {
            self.table(element, table);
        }
    }

    fn table(&mut self, section: NodeId, table: &CounterTable) {
        let Ok(rows) = Rows::of(table, &self.objects, self.source.columns, &mut self.work) else {
            self.dropped.tables += 1;
            return;
        };
        let (key, level) =
            (table.key.map(|key| key.to_string()), (table.level > 1).then(|| table.level.to_string()));
        let attributes = [
            ("name", Some(&table.name)),
            ("topic", table.topic.as_ref()),
            ("object", Some(&table.object)),
            ("level", level.as_ref()),
            ("key", key.as_ref()),
            ("note", table.note.as_ref()),
            ("threshold", table.threshold.as_ref()),
        ];
        let element = self.add(section, "Table", &attributes);
        self.header(element, &rows, table.threshold.as_deref());
        let taken = rows.columns.len().min(self.rows_left);
        self.rows_left -= taken;
        self.dropped.rows += rows.columns.len() - taken;
        for index in rows.columns.iter().take(taken) {
            if let Some(column) = self.source.columns.get(*index) {
                self.row(element, column, self.source.statistics.figures(*index), &rows.shown);
            }
        }
    }

    fn header(&mut self, table: NodeId, rows: &Rows, threshold: Option<&str>) {
        let header = self.tree.add_element(table, "Header", &[]);
        if let Some(threshold) = threshold {
            self.tree.add_element(header, "Threshold", &[("type", "top"), ("value", threshold)]);
        }
        for name in &rows.shown {
            let class = if matches!(*name, "mean" | "min" | "max") { "number" } else { "string" };
            self.tree.add_element(header, "Data", &[("name", name), ("class", class)]);
        }
    }

    fn row(&mut self, table: NodeId, column: &Column, figures: Option<Figures>, shown: &[&str]) {
        let item = self.tree.add_element(table, "Item", &[]);
        for name in shown {
            let number = |pick: fn(&Figures) -> f64| {
                figures.map_or_else(String::new, |figures| number_text(pick(&figures)))
            };
            let text = match *name {
                "machine" => column.machine.clone(),
                "counter" => column.counter.clone(),
                "instance" => instance_label(column),
                "mean" => number(|figures| figures.mean),
                "min" => number(|figures| figures.min),
                _ => number(|figures| figures.max),
            };
            let data = self.tree.add_element(item, "Data", &[("name", name)]);
            self.tree.add_text(data, &text);
        }
    }

    /// An element with those attributes that have values.
    fn add(&mut self, parent: NodeId, name: &str, attributes: &[(&str, Option<&String>)]) -> NodeId {
        let attributes =
            attributes.iter().filter_map(|(name, value)| Some((*name, value.as_ref()?.as_str())));
        self.tree.add_element(parent, name, &attributes.collect::<Vec<_>>())
    }
}

/// The key of the first section of counters, after those of the run and the advice.
const FIRST_KEY: u64 = 2;
