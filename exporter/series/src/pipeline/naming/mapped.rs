//! The names of a profile file: each [`Entry`] says which metric a family becomes.
//!
//! A file may come from a user, so that what it says is checked here: see [`NameMap::new`] and [`MappedMetric::check`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::label_map::LabelMap;
use super::{FamilyName, Nameable};
use crate::model::{Factor, Kind, OtlpNames, is_legacy_name};
use crate::pipeline::reserved_prefix;

/// What happens to the performance counters that no entry takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// They are dropped: there are the profile's metrics and no others.
    #[default]
    Drop,
    /// They have their native names.
    Native,
}

/// Which families become which metrics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NameMap {
    others: Others,
    metrics: HashMap<String, Arc<MappedMetric>>,
    /// The names of countersets that have a `*`, in the order of the file.
    starred: Vec<String>,
    /// In the order of the file.
    sources: Vec<MappedSource>,
}

/// What a metric is made of, for those who ask what a profile has.
#[derive(Clone, Debug, PartialEq)]
pub struct MappedSource {
    /// The name on the samples.
    pub metric: String,
    /// What its values mean.
    pub kind: Kind,
    /// Empty for performance counters.
    pub namespace: String,
    /// Names of the counterset, any of them.
    pub objects: Vec<String>,
    pub item: String,
    /// Empty, `base`, `inactive` …
    pub part: String,
    /// What becomes of its labels.
    pub labels: LabelMap,
}

/// The families that become one metric with the same labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Empty for performance counters.
    pub namespace: String,
    /// Names of the counterset: the family may come from any of them. A `*` stands for any characters.
    pub objects: Vec<String>,
    pub item: String,
    /// Empty, `base`, `inactive` …
    pub part: String,
    pub metric: MappedMetric,
}

/// What a family becomes.
#[derive(Clone, Debug, PartialEq)]
pub struct MappedMetric {
    /// The name on the samples: a counter's ends in `_total`, an info's in `_info`.
    pub name: String,
    /// Other names of the same values, each with the suffix and the unit that `name` has.
    pub also: Vec<String>,
    /// What the values mean.
    pub kind: Kind,
    /// The unit with which the name ends, or empty.
    pub unit: String,
    /// A sentence; where it is empty, HELP is what the source says.
    pub help: String,
    /// What values are multiplied with.
    pub factor: Option<Factor>,
    /// The mapping of its labels.
    pub labels: LabelMap,
    /// Whether several entries make it, which [`NameMap::new`] finds: HELP then names no source.
    pub is_shared: bool,
    /// The names for OTLP, where they are others.
    pub otlp: Option<Arc<OtlpNames>>,
}

/// Why an entry cannot be combined with an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub entry: usize,
    pub earlier: usize,
    pub reason: ConflictReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictReason {
    /// Both take the same family.
    SameFamily,
    /// Both make the same series: their labels do not tell them apart.
    SameSeries,
    /// They say different things of one metric.
    OtherMetric,
}

/// How a profile names a family.
#[derive(Debug)]
pub(in crate::pipeline) enum Mapped {
    Metric(Arc<MappedMetric>),
    Native,
    Dropped,
}

impl NameMap {
    /// The map with these entries, in which one family has one metric, and one series one family.
    ///
    /// # Errors
    /// Every entry that is at odds with an earlier one.
    pub fn new(others: Others, entries: Vec<Entry>) -> Result<Self, Vec<Conflict>> {
        let mut conflicts = Vec::new();
        let mut sources: HashMap<String, usize> = HashMap::new();
        let mut names: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let mut conflict = |earlier, reason| conflicts.push(Conflict { entry: index, earlier, reason });
            let keys: Vec<String> = entry.keys().collect();
            if let Some(&earlier) = keys.iter().find_map(|key| sources.get(key)) {
                conflict(earlier, ConflictReason::SameFamily);
                continue;
            }
            sources.extend(keys.into_iter().map(|key| (key, index)));
            let mut reported = false;
            for name in entry.metric.names() {
                let same = names.entry(name).or_default();
                let conflicts =
                    same.iter().map(|&earlier| (earlier, entries[earlier].metric.conflict(&entry.metric)));
                let first = conflicts.into_iter().find_map(|(earlier, reason)| Some((earlier, reason?)));
                if let Some((earlier, reason)) = first.filter(|_| !reported) {
                    conflict(earlier, reason);
                    reported = true;
                }
                same.push(index);
            }
        }
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        let shared: HashSet<String> = names
            .iter()
            .filter(|(_, entries)| entries.len() > 1)
            .map(|(name, _)| (*name).to_owned())
            .collect();
        let sources = entries.iter().flat_map(MappedSource::of).collect();
        let mut starred = Vec::new();
        for object in entries.iter().flat_map(|entry| &entry.objects).filter(|object| object.contains('*')) {
            if !starred.contains(object) {
                starred.push(object.clone());
            }
        }
        let metrics = entries.into_iter().flat_map(|entry| {
            let is_shared = entry.objects.iter().any(|object| object.contains('*'))
                || entry.metric.names().any(|name| shared.contains(name));
            let metric = Arc::new(MappedMetric { is_shared, ..entry.metric.clone() });
            entry.keys().map(|key| (key, Arc::clone(&metric))).collect::<Vec<_>>()
        });
        Ok(Self { others, metrics: metrics.collect(), starred, sources })
    }

    /// Its metrics, each with everything that it is made of, in the order of the file.
    #[must_use]
    pub fn sources(&self) -> &[MappedSource] {
        &self.sources
    }

    /// What happens to the performance counters that it does not name.
    #[must_use]
    pub const fn others(&self) -> Others {
        self.others
    }

    /// What a family becomes. Histograms only become the like, and so do texts, but
    /// that they may be a gauge that is 1. What is no performance counter, such as what a
    /// plugin says of its work, is none of the other exporter's either, and keeps its native name.
    pub(in crate::pipeline) fn of(&self, family: &Nameable<'_>) -> Mapped {
        let metric = self.metric(family).filter(|metric| {
            let is_odd = |kind| matches!(kind, Kind::Info | Kind::Histogram);
            let is_one = (family.kind, metric.kind) == (Kind::Info, Kind::Gauge);
            family.kind == metric.kind || is_one || !(is_odd(family.kind) || is_odd(metric.kind))
        });
        match (metric, self.others) {
            (Some(metric), _) => Mapped::Metric(metric),
            (None, Others::Native) => Mapped::Native,
            (None, Others::Drop) if !family.namespace.is_empty() => Mapped::Native,
            (None, Others::Drop) => Mapped::Dropped,
        }
    }

    /// The metric of an entry that has the counterset's name, else of the first one whose `*` makes it the counterset's.
    fn metric(&self, family: &Nameable<'_>) -> Option<Arc<MappedMetric>> {
        let of = |object| self.metrics.get(&source_key(family.namespace, object, family.item, family.part));
        let starred = || {
            self.starred.iter().find_map(|object| {
                let star = star(object, family.object)?;
                let metric = of(object)?;
                Some(Arc::new(MappedMetric { labels: metric.labels.with_star(star), ..(**metric).clone() }))
            })
        };
        of(family.object).map(Arc::clone).or_else(starred)
    }
}

impl MappedSource {
    /// One for each name of the metric.
    fn of(entry: &Entry) -> impl Iterator<Item = Self> {
        entry.metric.names().map(|name| Self {
            metric: name.to_owned(),
            kind: entry.metric.kind,
            namespace: entry.namespace.clone(),
            objects: entry.objects.clone(),
            item: entry.item.clone(),
            part: entry.part.clone(),
            labels: entry.metric.labels.clone(),
        })
    }

    /// Whether both are made of the same counter of the same counterset.
    #[must_use]
    pub fn is_same_source(&self, other: &Self) -> bool {
        let same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
        let shares_object =
            || self.objects.iter().any(|object| other.objects.iter().any(|other| same(object, other)));
        same(&self.namespace, &other.namespace)
            && same(&self.item, &other.item)
            && same(&self.part, &other.part)
            && shares_object()
    }
}

impl Entry {
    /// A text for each family that it takes: the same text is the same family.
    pub fn keys(&self) -> impl Iterator<Item = String> {
        self.objects.iter().map(|object| source_key(&self.namespace, object, &self.item, &self.part))
    }
}

impl MappedMetric {
    /// What is wrong with the name and the unit: the part of the entry, and the mistake.
    ///
    /// # Errors
    /// The first mistake.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        self.check_name("name", &self.name)?;
        self.also.iter().try_for_each(|name| self.check_name("also", name))
    }

    fn check_name(&self, key: &'static str, name: &str) -> Result<(), (&'static str, String)> {
        let suffix = self.kind.sample_suffix();
        let stem = self.stem_of(name);
        if !is_legacy_name(name) {
            return Err((key, format!("`{name}` is not a valid metric name")));
        } else if let Some(prefix) = reserved_prefix(name) {
            return Err((key, format!("names that begin with `{prefix}` are the exporter's own")));
        } else if stem.is_empty() || (stem.len() == name.len() && !suffix.is_empty()) {
            return Err((key, format!("does not end in `{suffix}`, as one of this type does")));
        } else if !self.unit.is_empty() && !stem.ends_with(&format!("_{}", self.unit)) {
            let key = if key == "name" { "unit" } else { key };
            return Err((key, format!("`{}` is not at the end of the name", self.unit)));
        }
        Ok(())
    }

    /// All names of the values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.also).map(String::as_str)
    }

    /// The name of a family whose values come in this unit.
    pub(in crate::pipeline) fn family_name(&self, source_unit: &str) -> FamilyName {
        let name = self.stem_of(&self.name).to_owned();
        let is_source = self.unit.is_empty() && self.factor.is_none() && self.kind != Kind::Info;
        let unit = if is_source { source_unit } else { &self.unit };
        let unit = if name.ends_with(&format!("_{unit}")) { unit.to_owned() } else { String::new() };
        FamilyName { name, unit }
    }

    /// The family's name: without the suffix of its kind.
    fn stem_of<'a>(&self, name: &'a str) -> &'a str {
        name.strip_suffix(self.kind.sample_suffix()).unwrap_or(name)
    }

    /// Why a later one cannot have one of its names.
    fn conflict(&self, later: &Self) -> Option<ConflictReason> {
        if (self.kind, &self.unit, &self.help) != (later.kind, &later.unit, &later.help) {
            return Some(ConflictReason::OtherMetric);
        }
        (!self.labels.differs(&later.labels)).then_some(ConflictReason::SameSeries)
    }
}

/// What the `*` of a name stands for in an object's name.
fn star<'a>(name: &str, object: &'a str) -> Option<&'a str> {
    let (before, behind) = name.split_once('*')?;
    let middle = before.len()..object.len().checked_sub(behind.len())?;
    let (head, star, tail) =
        (object.get(..before.len())?, object.get(middle.clone())?, object.get(middle.end..)?);
    (head.eq_ignore_ascii_case(before) && tail.eq_ignore_ascii_case(behind)).then_some(star)
}

/// A family by the names of its source, for which case does not matter.
fn source_key(namespace: &str, object: &str, item: &str, part: &str) -> String {
    [namespace, object, item, part].join("\0").to_lowercase()
}
