//! Points of metrics, as a collector wrote them down.

use std::rc::Rc;

use serde_json::Value;

use super::{Owner, labels, list, nanoseconds, text_of};
use crate::Result;
use crate::scraped::Labels;

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Gauge,
    Cumulative,
    Delta,
}

/// One point of one request.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) owner: Owner,
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) kind: Kind,
    pub(super) labels: Labels,
    /// Unix nanoseconds; 0 is "unknown".
    pub(super) start: u64,
    /// In nanoseconds since 1970.
    pub(super) time: u64,
    /// Nothing where the flag "no recorded value" says so.
    pub(super) value: Option<f64>,
}

/// One histogram of one request, which holds a value: none of those that are looked at here vanishes.
#[derive(Clone, Debug)]
pub(super) struct HistogramPoint {
    pub(super) owner: Owner,
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) kind: Kind,
    pub(super) labels: Labels,
    /// In nanoseconds since 1970.
    pub(super) start: u64,
    pub(super) count: u64,
    pub(super) sum: f64,
    pub(super) counts: Vec<u64>,
    pub(super) bounds: Vec<f64>,
}

/// What a point is a point of.
pub(super) type Series = (String, String, Labels);

impl Point {
    pub(super) fn target(&self) -> &str {
        self.owner.target()
    }

    pub(super) fn series(&self) -> Series {
        (self.target().to_owned(), self.name.clone(), self.labels.clone())
    }
}

/// Reads all points of a metric that is a histogram.
pub(super) fn read_histograms(
    owner: &Owner,
    metric: &Value,
    points: &mut Vec<Rc<HistogramPoint>>,
) -> Result<()> {
    let data = &metric["histogram"];
    let kind = if data["aggregationTemporality"] == DELTA { Kind::Delta } else { Kind::Cumulative };
    for point in list(&data["dataPoints"]) {
        let bounds = list(&point["explicitBounds"]).map(|bound| double(bound).ok_or("no bound"));
        points.push(Rc::new(HistogramPoint {
            owner: owner.clone(),
            name: text_of(&metric["name"]),
            unit: text_of(&metric["unit"]),
            kind,
            labels: labels(&point["attributes"]),
            start: nanoseconds(&point["startTimeUnixNano"])?,
            count: nanoseconds(&point["count"])?,
            sum: double(&point["sum"]).ok_or_else(|| format!("no sum: {point}"))?,
            counts: list(&point["bucketCounts"]).map(nanoseconds).collect::<Result<_>>()?,
            bounds: bounds.collect::<std::result::Result<_, _>>()?,
        }));
    }
    Ok(())
}

/// Reads all points of a metric.
pub(super) fn read(owner: &Owner, metric: &Value, points: &mut Vec<Rc<Point>>) -> Result<()> {
    let (kind, data) = match (&metric["gauge"], &metric["sum"]) {
        (gauge, Value::Null) if gauge.is_object() => (Kind::Gauge, gauge),
        (Value::Null, sum) if sum["isMonotonic"] == true && sum["aggregationTemporality"] == CUMULATIVE => {
            (Kind::Cumulative, sum)
        }
        (Value::Null, sum) if sum["isMonotonic"] == true && sum["aggregationTemporality"] == DELTA => {
            (Kind::Delta, sum)
        }
        _ => return Err(format!("neither a gauge nor a monotonic sum: {metric}").into()),
    };
    for point in list(&data["dataPoints"]) {
        let is_gone = point["flags"].as_u64().unwrap_or(0) & NO_RECORDED_VALUE != 0;
        points.push(Rc::new(Point {
            owner: owner.clone(),
            name: text_of(&metric["name"]),
            unit: text_of(&metric["unit"]),
            kind,
            labels: labels(&point["attributes"]),
            start: nanoseconds(&point["startTimeUnixNano"])?,
            time: nanoseconds(&point["timeUnixNano"])?,
            value: if is_gone { None } else { Some(number(point)?) },
        }));
    }
    Ok(())
}

/// JSON has doubles as numbers, and integers of 64 bits as text.
fn number(point: &Value) -> Result<f64> {
    let integer = point["asInt"].as_str().and_then(|text| text.parse().ok());
    Ok(integer.or_else(|| double(&point["asDouble"])).ok_or_else(|| format!("no value: {point}"))?)
}

/// JSON has no word for infinities; protocol buffers' JSON writes them as text.
fn double(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

const DELTA: u64 = 1;
const CUMULATIVE: u64 = 2;
const NO_RECORDED_VALUE: u64 = 1;
