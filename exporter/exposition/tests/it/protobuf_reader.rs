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

/// Reads a page, or says what is wrong with it. Only single values, no histograms.
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
            let value =
                value(family.r#type(), metric).ok_or(format!("{name}: the value does not fit the type"))?;
            let mut labels = BTreeMap::new();
            for label in &metric.label {
                let valid = escaping.label_name(&label.name) == label.name && label.name != "__name__";
                let new = labels.insert(label.name.clone(), label.value.clone()).is_none();
                if !valid || !new || label.value.is_empty() {
                    return Err(format!("{name}: the label {:?} is invalid", label.name));
                }
            }
            if samples.insert((name.clone(), labels), value.to_string()).is_some() {
                return Err(format!("{name}: a series twice"));
            }
        }
    }
    Ok(samples)
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
    samples.iter().map(|(series, text)| (series.clone(), double(text))).collect()
}
