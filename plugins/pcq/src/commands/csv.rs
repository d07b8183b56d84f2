use counter_poll::paths::{Key, PathPlan, Sample, Value};
use counter_types::Cooked;

use super::clock;
use super::formatter::Formatter;

/// The format of typeperf: everything in quotes, the paths in the first line, then a line for each sample.
///
/// The columns are those of the first sample, because the first line cannot be changed later.
#[derive(Debug)]
pub(super) struct Csv {
    host: String,
    columns: Option<Vec<Key>>,
    left_out: bool,
}

impl Csv {
    pub(super) fn new(host: &str) -> Self {
        Self { host: host.to_owned(), columns: None, left_out: false }
    }
}

impl Formatter for Csv {
    fn format(&mut self, plan: &PathPlan, sample: &Sample) -> String {
        let mut text = String::new();
        let columns = self.columns.get_or_insert_with(|| {
            let columns: Vec<Key> = sample.values.iter().map(|(key, _)| key.clone()).collect();
            let paths = columns.iter().map(|key| format!("\\\\{}{}", self.host, key.path(plan)));
            let title = "(PDH-CSV 4.0) (Coordinated Universal Time)(0)".to_owned();
            text += &line(std::iter::once(title).chain(paths));
            columns
        });
        let values: std::collections::HashMap<&Key, &Value> =
            sample.values.iter().map(|(key, value)| (key, value)).collect();
        self.left_out = columns.iter().filter(|key| values.contains_key(key)).count() < values.len();
        let cells = columns.iter().map(|key| cell(values.get(key).copied()));
        text + &line(std::iter::once(clock::american(sample.time)).chain(cells))
    }

    fn note(&mut self) -> Option<String> {
        let note = "instances came after the first line was written, and are left out";
        self.left_out.then(|| note.to_owned())
    }
}

/// A space if there is no value, as in typeperf.
fn cell(value: Option<&Value>) -> String {
    match value {
        Some(Value::Number(_, Cooked::Value(value))) => format!("{value:.6}"),
        Some(Value::Text(text)) => text.clone(),
        _ => " ".to_owned(),
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let quoted: Vec<String> = cells.map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
    quoted.join(",") + "\r\n"
}
