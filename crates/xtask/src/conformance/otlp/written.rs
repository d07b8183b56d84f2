//! What a collector wrote down: requests, one a line, in the JSON of protocol buffers.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use serde_json::Value;

use super::points::{self, HistogramPoint, Point};
use super::records::{Event, Span};
use super::{Owner, labels, list, text_of};
use crate::Result;

/// A collector's file, as far as it was read: everything in the order in which it came.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) points: Vec<Rc<Point>>,
    pub(super) histograms: Vec<Rc<HistogramPoint>>,
    pub(super) events: Vec<Rc<Event>>,
    pub(super) spans: Vec<Rc<Span>>,
    bytes_read: u64,
}

impl Written {
    /// Reads what was added. A line that is not complete yet is left for later.
    pub(super) fn read_on(&mut self, path: &Path) -> Result<()> {
        let Ok(mut file) = File::open(path) else { return Ok(()) };
        file.seek(SeekFrom::Start(self.bytes_read))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        for line in whole.lines() {
            self.read_request(&serde_json::from_str(line)?)?;
        }
        self.bytes_read += whole.len() as u64;
        Ok(())
    }

    fn read_request(&mut self, request: &Value) -> Result<()> {
        each(request, ["resourceMetrics", "scopeMetrics", "metrics"], |owner, metric| {
            if metric["histogram"].is_object() {
                points::read_histograms(owner, metric, &mut self.histograms)
            } else {
                points::read(owner, metric, &mut self.points)
            }
        })?;
        each(request, ["resourceLogs", "scopeLogs", "logRecords"], |owner, record| {
            self.events.push(Rc::new(Event::read(owner, record)?));
            Ok(())
        })?;
        each(request, ["resourceSpans", "scopeSpans", "spans"], |owner, span| {
            self.spans.push(Rc::new(Span::read(owner, span)?));
            Ok(())
        })
    }
}

/// Has `read` look at everything in a request that lies below these three keys.
fn each(
    request: &Value,
    [resources, scopes, things]: [&str; 3],
    mut read: impl FnMut(&Owner, &Value) -> Result<()>,
) -> Result<()> {
    for of_resource in list(&request[resources]) {
        let resource = labels(&of_resource["resource"]["attributes"]);
        for of_scope in list(&of_resource[scopes]) {
            let owner = Owner { resource: resource.clone(), scope: text_of(&of_scope["scope"]["name"]) };
            list(&of_scope[things]).try_for_each(|thing| read(&owner, thing))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::points::Kind;
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
        let mut log = Written::default();
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
