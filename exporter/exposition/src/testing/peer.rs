//! The same series through prometheus-client's own encoder: a rival in benchmarks, a judge in tests.
#![allow(dead_code, reason = "each user takes what it needs")]

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use series::model::{Family, Kind, Snapshot, Value};

/// A series: whose it is, its id there, its labels.
type Series = (usize, u32, Vec<(&'static str, &'static str)>);

/// Families and labels of snapshots, as strings that are ready; made once.
pub struct Strings(Vec<(Arc<Family>, Vec<Series>)>);

impl Strings {
    /// Texts stay for the life of the process, each once.
    pub fn of(snapshots: &[Arc<Snapshot>]) -> Arc<Self> {
        let mut texts: HashSet<&'static str> = HashSet::new();
        let mut leak = |text: &str| -> &'static str {
            if let Some(known) = texts.get(text) {
                return known;
            }
            let text: &'static str = text.to_owned().leak();
            texts.insert(text);
            text
        };
        let mut families: BTreeMap<String, (Arc<Family>, Vec<Series>)> = BTreeMap::new();
        for (index, snapshot) in snapshots.iter().enumerate() {
            let ids = snapshot.layout().blocks().iter().map(|block| (block.family(), block.ids()));
            for (points, (family, ids)) in snapshot.families().zip(ids) {
                let entry = families.entry(family.name.clone());
                let (_, series) = entry.or_insert_with(|| (Arc::clone(family), Vec::new()));
                for (point, id) in points.points().zip(ids) {
                    let labels = point.labels().map(|(name, value)| (leak(name), leak(&value)));
                    series.push((index, id, labels.collect()));
                }
            }
        }
        Arc::new(Self(families.into_values().collect()))
    }

    /// All series, with their families, in the order of the page.
    pub fn series(&self) -> impl Iterator<Item = (&Family, &[(&'static str, &'static str)])> {
        let families = self.0.iter();
        families.flat_map(|(family, series)| series.iter().map(|(.., labels)| (&**family, labels.as_slice())))
    }
}

/// A collector over snapshots all of whose series have a value.
pub struct Peer {
    strings: Arc<Strings>,
    snapshots: Vec<Arc<Snapshot>>,
}

impl Peer {
    /// A registry with these snapshots.
    pub fn registry(strings: &Arc<Strings>, snapshots: &[Arc<Snapshot>]) -> Registry {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Self {
            strings: Arc::clone(strings),
            snapshots: snapshots.to_vec(),
        }));
        registry
    }
}

impl Collector for Peer {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for (family, series) in &self.strings.0 {
            // The crate appends unit and suffix itself.
            let unit = (!family.unit.is_empty()).then(|| Unit::Other(family.unit.clone()));
            let name = family.name.strip_suffix(&format!("_{}", family.unit)).unwrap_or(&family.name);
            let mut metric =
                encoder.encode_descriptor(name, &family.help, unit.as_ref(), kind(family.kind))?;
            for (snapshot, id, labels) in series {
                if let Some(value) = self.snapshots[*snapshot].values().value(*id) {
                    push(&mut metric, family.kind, labels, value)?;
                }
            }
        }
        Ok(())
    }
}

fn push(
    metric: &mut MetricEncoder<'_>,
    kind: Kind,
    labels: &[(&'static str, &'static str)],
    value: Value,
) -> Result<(), fmt::Error> {
    match (kind, value) {
        (Kind::Info, _) => metric.encode_info(&labels),
        (Kind::Counter, Value::U64(value)) => {
            metric.encode_family(&labels)?.encode_counter::<NoLabelSet, u64, f64>(&value, None)
        }
        (Kind::Counter, value) => {
            metric.encode_family(&labels)?.encode_counter::<NoLabelSet, f64, f64>(&value.as_f64(), None)
        }
        (_, Value::I64(value)) => metric.encode_family(&labels)?.encode_gauge(&value),
        (_, value) => metric.encode_family(&labels)?.encode_gauge(&value.as_f64()),
    }
}

fn kind(kind: Kind) -> MetricType {
    match kind {
        Kind::Gauge => MetricType::Gauge,
        Kind::Counter => MetricType::Counter,
        Kind::Info => MetricType::Info,
        Kind::Histogram => MetricType::Histogram,
        Kind::Unknown => MetricType::Unknown,
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Peer")
    }
}
