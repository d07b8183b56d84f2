//! What a collector wrote down, as points that can be looked up.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use serde_json::Value;

use crate::Result;
use crate::judges::scraped::Labels;

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
    pub(super) resource: Labels,
    pub(super) scope: String,
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) kind: Kind,
    pub(super) labels: Labels,
    /// Unix nanoseconds; 0 is "unknown".
    pub(super) start: u64,
    /// Unix nanoseconds.
    pub(super) time: u64,
    /// Nothing where the flag "no recorded value" says so.
    pub(super) value: Option<f64>,
}

/// What a point is a point of.
pub(super) type Series = (String, String, Labels);

impl Point {
    pub(super) fn target(&self) -> &str {
        self.resource.get("service.instance.id").map_or("", String::as_str)
    }

    pub(super) fn series(&self) -> Series {
        (self.target().to_owned(), self.name.clone(), self.labels.clone())
    }
}

/// A collector's file, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// In the order in which they came.
    pub(super) points: Vec<Rc<Point>>,
    bytes_read: u64,
}

impl Log {
    /// Reads what was added. A line that is not complete yet is left for later.
    pub(super) fn read_on(&mut self, path: &Path) -> Result<()> {
        let Ok(mut file) = File::open(path) else { return Ok(()) };
        file.seek(SeekFrom::Start(self.bytes_read))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        for line in whole.lines() {
            read_request(&serde_json::from_str(line)?, &mut self.points)?;
        }
        self.bytes_read += whole.len() as u64;
        Ok(())
    }
}

fn read_request(request: &Value, points: &mut Vec<Rc<Point>>) -> Result<()> {
    for of_resource in list(&request["resourceMetrics"]) {
        let resource = labels(&of_resource["resource"]["attributes"]);
        for of_scope in list(&of_resource["scopeMetrics"]) {
            for metric in list(&of_scope["metrics"]) {
                read_metric(metric, &resource, &text_of(&of_scope["scope"]["name"]), points)?;
            }
        }
    }
    Ok(())
}

fn read_metric(metric: &Value, resource: &Labels, scope: &str, points: &mut Vec<Rc<Point>>) -> Result<()> {
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
            resource: resource.clone(),
            scope: scope.to_owned(),
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

fn nanoseconds(value: &Value) -> Result<u64> {
    match value.as_str() {
        Some(text) => Ok(text.parse()?),
        None => Ok(0),
    }
}

fn labels(attributes: &Value) -> Labels {
    let pair = |pair: &Value| (text_of(&pair["key"]), text_of(&pair["value"]["stringValue"]));
    list(attributes).map(pair).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// `AggregationTemporality` of opentelemetry-proto.
const DELTA: u64 = 1;
const CUMULATIVE: u64 = 2;
/// `DataPointFlags` of opentelemetry-proto.
const NO_RECORDED_VALUE: u64 = 1;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_line_is_read_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("points.json");
        let line = r#"{"resourceMetrics":[{"resource":{"attributes":[{"key":"service.instance.id","value":{"stringValue":"web1"}}]},
            "scopeMetrics":[{"scope":{"name":"pcq"},"metrics":[{"name":"m","unit":"s","sum":{"aggregationTemporality":2,"isMonotonic":true,
            "dataPoints":[{"timeUnixNano":"5","asInt":"9007199254740993"},{"timeUnixNano":"6","flags":1}]}}]}]}]}"#;
        let line = line.replace('\n', " ");
        fs::write(&file, format!("{line}\n{}", &line[..20])).unwrap();
        let mut log = Log::default();
        log.read_on(&file).unwrap();
        let points = &log.points;
        assert_eq!((points.len(), points[0].target(), points[0].kind), (2, "web1", Kind::Cumulative));
        assert_eq!((points[0].time, points[1].value), (5, None));
        assert_eq!(points[0].value, Some(9_007_199_254_740_992.0));
        fs::write(&file, format!("{line}\n{line}\n")).unwrap();
        log.read_on(&file).unwrap();
        assert_eq!(log.points.len(), 4);
    }
}
