//! The series of facts, kept from collection to collection.

use plugin_sdk::{FamilyId, Output, SeriesDef, SeriesId};

use super::fact::{Fact, Found, MISSING, Sample, Unread, Value};

/// The series of one host's facts.
#[derive(Debug, Default)]
pub(crate) struct FactSeries {
    /// By fact; `Some(None)` for one that the exporter dropped.
    families: [Option<Option<FamilyId>>; Fact::COUNT],
    missing_family: Option<Option<FamilyId>>,
    rows: Vec<(Sample, Option<SeriesId>)>,
    missing: Vec<(Fact, Unread, Option<SeriesId>)>,
}

impl FactSeries {
    /// The families that were registered.
    pub(crate) fn families(&self) -> impl Iterator<Item = FamilyId> {
        self.families.iter().chain([&self.missing_family]).filter_map(|family| family.flatten())
    }

    /// Whether there is a value of a fact.
    pub(crate) fn has(&self, fact: Fact) -> bool {
        self.rows.iter().any(|(sample, _)| sample.fact == fact)
    }

    /// A label of a fact that has one series.
    pub(crate) fn label(&self, fact: Fact, name: &str) -> Option<&str> {
        let row = self.rows.iter().find(|(sample, _)| sample.fact == fact);
        row?.0.labels.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str())
    }

    /// From now on these are all values of `facts`.
    pub(crate) fn replace(&mut self, facts: &[Fact], found: Found, output: &mut Output) {
        let is_same = |one: &Sample, other: &Sample| one.fact == other.fact && one.labels == other.labels;
        let is_gone = |sample: &Sample| {
            facts.contains(&sample.fact) && !found.samples.iter().any(|new| is_same(new, sample))
        };
        let gone = self.rows.extract_if(.., |(sample, _)| is_gone(sample)).filter_map(|(_, series)| series);
        let mut gone: Vec<SeriesId> = gone.collect();
        let is_mended =
            |fact: Fact, why: Unread| facts.contains(&fact) && !found.missing.contains(&(fact, why));
        gone.extend(self.missing.extract_if(.., |row| is_mended(row.0, row.1)).filter_map(|row| row.2));
        output.retire(&gone);
        for sample in found.samples {
            match self.rows.iter_mut().find(|(kept, _)| is_same(kept, &sample)) {
                Some((kept, _)) => kept.value = sample.value,
                None => {
                    let family = self.family(sample.fact, output);
                    let labels: Vec<(&str, &str)> =
                        sample.labels.iter().map(|(name, value)| (*name, value.as_str())).collect();
                    let series = register(family, &labels, output);
                    self.rows.push((sample, series));
                }
            }
        }
        for (fact, why) in found.missing {
            self.lack(fact, why, output);
        }
    }

    /// A fact could not be read.
    pub(crate) fn lack(&mut self, fact: Fact, why: Unread, output: &mut Output) {
        if self.missing.iter().any(|row| (row.0, row.1) == (fact, why)) {
            return;
        }
        let family = *self
            .missing_family
            .get_or_insert_with(|| output.register_families(&[MISSING]).into_iter().next().flatten());
        let labels = [("fact", fact.as_str()), ("reason", why.as_str())];
        self.missing.push((fact, why, register(family, &labels, output)));
    }

    pub(crate) fn end(&mut self, output: &mut Output) {
        let rows = self.rows.drain(..).filter_map(|(_, series)| series);
        let gone: Vec<SeriesId> = rows.chain(self.missing.drain(..).filter_map(|row| row.2)).collect();
        output.retire(&gone);
    }

    /// Sets the value of a fact that has one series, without labels; `None` if there is none now.
    pub(crate) fn set(&mut self, fact: Fact, value: Option<f64>, output: &mut Output) {
        let row = self.rows.iter_mut().find(|(sample, _)| sample.fact == fact);
        match (row, value) {
            (Some((sample, _)), Some(value)) => sample.value = Value::F64(value),
            (None, None) => {}
            (_, value) => {
                let samples = value.map(|value| Sample::plain(fact, Value::F64(value))).into_iter().collect();
                self.replace(&[fact], Found { samples, ..Found::default() }, output);
            }
        }
    }

    pub(crate) fn emit(&self, output: &mut Output) {
        for (sample, series) in &self.rows {
            match (series, sample.value) {
                (Some(series), Value::U64(value)) => output.push_u64(*series, value),
                (Some(series), Value::I64(value)) => output.push_i64(*series, value),
                (Some(series), Value::F64(value)) => output.push_f64(*series, value),
                (None, _) => {}
            }
        }
        for series in self.missing.iter().filter_map(|row| row.2) {
            output.push_u64(series, 1);
        }
    }

    fn family(&mut self, fact: Fact, output: &mut Output) -> Option<FamilyId> {
        *self.families[fact as usize]
            .get_or_insert_with(|| output.register_families(&[fact.family()]).into_iter().next().flatten())
    }
}

fn register(family: Option<FamilyId>, labels: &[(&str, &str)], output: &mut Output) -> Option<SeriesId> {
    let offered = [SeriesDef { family: family?, labels, start: None }];
    output.register_series(&offered).into_iter().next().flatten()
}
