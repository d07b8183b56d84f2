//! A reader of protobuf pages: prometheus-client's generated model and prost do the decoding, which share nothing with
//! the encoders; what is left to check is checked here.

use std::collections::{BTreeMap, HashSet};

use exposition::Escaping;
use prometheus_client::encoding::prometheus_protobuf::prometheus_data_model as model;
use prost::Message;

use crate::text_reader::Samples;

/// All messages of a page.
pub(crate) fn families(mut page: &[u8]) -> Result<Vec<model::MetricFamily>, String> {
    let mut families = Vec::new();
    while !page.is_empty() {
        families.push(
            model::MetricFamily::decode_length_delimited(&mut page).map_err(|error| error.to_string())?,
        );
    }
    Ok(families)
}

/// Reads a page, or says what is wrong with it. Histograms become the samples that text has of them.
pub(crate) fn parse(escaping: Escaping, page: &[u8]) -> Result<Samples, String> {
    let (mut samples, mut names) = (Samples::new(), HashSet::new());
    for family in families(page)? {
        let name = &family.name;
        if name.is_empty() || escaping.metric_name(name) != *name || !names.insert(name.clone()) {
            return Err(format!("the name {name:?} is invalid or was there before"));
        }
        if family.metric.is_empty() {
            return Err(format!("{name} has no metrics"));
        }
        for metric in &family.metric {
            let mut labels = BTreeMap::new();
            for label in &metric.label {
                let valid = escaping.label_name(&label.name) == label.name && label.name != "__name__";
                let new = labels.insert(label.name.clone(), label.value.clone()).is_none();
                if !valid || !new || label.value.is_empty() {
                    return Err(format!("{name}: the label {:?} is invalid", label.name));
                }
            }
            let values =
                values(family.r#type(), metric).ok_or(format!("{name}: the value does not fit the type"))?;
            for (suffix, le, value) in values {
                let mut labels = labels.clone();
                labels.extend(le.map(|le| ("le".to_owned(), le.to_string())));
                if samples.insert((format!("{name}{suffix}"), labels), value.to_string()).is_some() {
                    return Err(format!("{name}: a series twice"));
                }
            }
        }
    }
    Ok(samples)
}

/// Suffix, bound and value of each sample.
type Values = Vec<(&'static str, Option<f64>, f64)>;

fn values(kind: model::MetricType, metric: &model::Metric) -> Option<Values> {
    if kind != model::MetricType::Histogram {
        return Some(vec![("", None, value(kind, metric)?)]);
    }
    let histogram = metric.histogram.as_ref()?;
    let count = histogram.sample_count as f64;
    let buckets = histogram.bucket.iter().map(|bucket| (bucket.upper_bound, bucket.cumulative_count as f64));
    let buckets = buckets.chain([(f64::INFINITY, count)]);
    let mut values: Values = buckets.map(|(le, count)| ("_bucket", Some(le), count)).collect();
    values.extend([("_sum", None, histogram.sample_sum), ("_count", None, count)]);
    Some(values)
}

fn value(kind: model::MetricType, metric: &model::Metric) -> Option<f64> {
    use model::MetricType::{Counter, Gauge, Untyped};
    match (kind, &metric.counter, &metric.gauge, &metric.untyped) {
        (Counter, Some(counter), None, None) => Some(counter.value).filter(|&value| value >= 0.0),
        (Gauge, None, Some(gauge), None) => Some(gauge.value),
        (Untyped, None, None, Some(untyped)) => Some(untyped.value),
        _ => None,
    }
}

/// The values of text as protobuf has them.
pub(crate) fn as_doubles(samples: &Samples) -> Samples {
    let double = |text: &String| text.parse::<f64>().unwrap().to_string();
    let bound = |(name, value): (&String, &String)| {
        let le = value.parse::<f64>().ok().filter(|_| name == "le");
        (name.clone(), le.map_or_else(|| value.clone(), |le| le.to_string()))
    };
    let series = |(name, labels): &(String, BTreeMap<String, String>)| match name.ends_with("_bucket") {
        true => (name.clone(), labels.iter().map(bound).collect()),
        false => (name.clone(), labels.clone()),
    };
    samples.iter().map(|(of, text)| (series(of), double(text))).collect()
}
