//! The annotations of an alert.

use std::collections::BTreeMap;
use std::sync::Arc;

use plugin_abi::Event;

use super::shortened;

/// What is said of an alert: `summary`, which is the event's sentence, and the fields that do not identify it.
///
/// Fields may have any name; Alertmanager wants those of labels. Other letters become `_`, and the first one counts
/// where that makes two of the same name.
pub(crate) fn annotations(event: &Event<'_>) -> Arc<[(String, String)]> {
    let mut annotations = BTreeMap::new();
    annotations.insert(SUMMARY.to_owned(), shortened(event.body, VALUE_BYTES_MAX));
    let mut bytes = 0;
    for (name, value) in event.details() {
        let name = if name == SUMMARY { format!("exported_{SUMMARY}") } else { name_of(name) };
        let value = shortened(&value.to_string(), VALUE_BYTES_MAX);
        bytes += name.len() + value.len();
        if bytes > ALL_BYTES_MAX {
            break;
        }
        annotations.entry(name).or_insert(value);
    }
    annotations.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

fn name_of(text: &str) -> String {
    let legal = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let name: String = text.chars().take(NAME_CHARS_MAX).map(legal).collect();
    if name.starts_with(|first: char| first.is_ascii_digit()) || name.is_empty() {
        format!("_{name}")
    } else {
        name
    }
}

pub(crate) const SUMMARY: &str = "summary";
const NAME_CHARS_MAX: usize = 128;
const VALUE_BYTES_MAX: usize = 2_048;
/// Of all but the summary. What is above is left out.
const ALL_BYTES_MAX: usize = 8_192;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plugin_abi::{Alert, AlertState, Comparison, Evaluation, Level};

    use super::*;

    #[test]
    fn names_of_details_become_those_of_labels() {
        let fields = [("host.name", "a"), ("host-name", "b"), ("1st", "c"), ("summary", "d"), ("é", "e")];
        let evaluation = Evaluation { value: None, comparison: Comparison::Below, threshold: 0.5 };
        let alert = Alert {
            evaluation: Some(evaluation),
            interval: Duration::from_millis(1_500),
            ..Alert::new("low", AlertState::Opened, &[("disk", "C:")])
        };
        let event = Event {
            name: "pla.alert",
            level: Level::Warn,
            time_unix_nanos: None,
            body: "It is full.",
            fields: &fields,
            alert: Some(alert),
        };
        let annotations = annotations(&event);
        let shown: Vec<(&str, &str)> =
            annotations.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("_", "e"),
                ("_1st", "c"),
                ("exported_summary", "d"),
                ("host_name", "a"),
                ("interval", "1.5"),
                ("operator", "<"),
                ("summary", "It is full."),
                ("threshold", "0.5"),
            ]
        );
    }
}
