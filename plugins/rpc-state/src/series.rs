//! The series of a target, made from samples: what has a sample has a series, until it has none.

use std::collections::HashMap;

use plugin_sdk::{FamilyDef, FamilyId, Output, SeriesDef, SeriesId};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    /// Of a family of integers.
    Count(u64),
    /// Of a family of seconds.
    Seconds(f64),
}

/// Name and value of each label.
pub(crate) type Labels = Vec<(&'static str, String)>;

/// A value with its labels. In one collection there is one sample for a family with these labels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    /// The index of its family.
    pub(crate) family: usize,
    pub(crate) labels: Labels,
    pub(crate) value: Value,
}

/// The families of a source and their series, kept from collection to collection.
#[derive(Debug)]
pub(crate) struct SeriesTable {
    declared: &'static [FamilyDef<'static>],
    /// Empty before the first collection; `None` for those that the exporter dropped.
    families: Vec<Option<FamilyId>>,
    rows: HashMap<(usize, Labels), Row>,
    collection: u64,
}

#[derive(Debug)]
struct Row {
    /// `None` if the exporter dropped it.
    series: Option<SeriesId>,
    /// The collection that had a sample of it last.
    seen: u64,
}

impl SeriesTable {
    pub(crate) fn new(declared: &'static [FamilyDef<'static>]) -> Self {
        Self { declared, families: Vec::new(), rows: HashMap::new(), collection: 0 }
    }

    /// Sends the samples of a collection, and ends the series that have none.
    pub(crate) fn send(&mut self, samples: &[Sample], output: &mut Output) {
        if self.families.is_empty() {
            self.families = output.register_families(self.declared);
        }
        self.collection += 1;
        self.register(samples, output);
        for Sample { family, labels, value } in samples {
            // The key borrows nothing, so it is made for the search; there are few enough samples.
            let Some(row) = self.rows.get_mut(&(*family, labels.clone())) else { continue };
            row.seen = self.collection;
            match (row.series, *value) {
                (Some(id), Value::Count(value)) => output.push_u64(id, value),
                (Some(id), Value::Seconds(value)) => output.push_f64(id, value),
                (None, _) => {}
            }
        }
        let collection = self.collection;
        let gone = self.rows.extract_if(|_, row| row.seen != collection);
        let gone: Vec<SeriesId> = gone.filter_map(|(_, row)| row.series).collect();
        output.retire(&gone);
    }

    /// The families that were accepted.
    pub(crate) fn families(&self) -> Vec<FamilyId> {
        self.families.iter().copied().flatten().collect()
    }

    /// Registers the series that are new, all at once.
    fn register(&mut self, samples: &[Sample], output: &mut Output) {
        let mut new = Vec::new();
        for Sample { family, labels, .. } in samples {
            let key = (*family, labels.clone());
            if let Some(id) = self.families.get(*family).copied().flatten()
                && !self.rows.contains_key(&key)
            {
                new.push((id, key));
            }
        }
        let labels: Vec<Vec<(&str, &str)>> = new
            .iter()
            .map(|(_, (_, labels))| labels.iter().map(|(name, value)| (*name, value.as_str())).collect())
            .collect();
        let offered: Vec<SeriesDef<'_>> = new
            .iter()
            .zip(&labels)
            .map(|((family, _), labels)| SeriesDef { family: *family, labels, start: None })
            .collect();
        let ids = output.register_series(&offered);
        for ((_, key), series) in new.into_iter().zip(ids) {
            self.rows.insert(key, Row { series, seen: self.collection });
        }
    }
}
