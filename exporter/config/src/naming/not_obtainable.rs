//! The metrics of windows_exporter that no configuration of this program makes, each with the reason.

use std::sync::OnceLock;

use support::input::wildcard;

use crate::node::{Entry, Node, Value};

/// Why some metrics cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotObtainable {
    pub reason: String,
    /// What says the same or nearly the same; empty if nothing does.
    pub instead: String,
}

/// Why a metric of another exporter cannot be had. `None` if nothing is known of it.
#[must_use]
pub fn not_obtainable(metric: &str) -> Option<&'static NotObtainable> {
    let rows = rows().iter();
    rows.filter(|(patterns, _)| patterns.iter().any(|pattern| wildcard::matches(pattern, metric)))
        .map(|(_, why)| why)
        .next()
}

type Row = (Vec<String>, NotObtainable);

fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    // A test reads it.
    ROWS.get_or_init(|| read(TEXT).unwrap_or_default())
}

const TEXT: &str = include_str!("../../profiles/not_obtainable.yaml");

/// The rows of the file. `None` if one of them is wrong.
fn read(text: &str) -> Option<Vec<Row>> {
    let Value::List(rows) = Node::parse(text).ok()?.value else { return None };
    rows.into_iter().map(|row| row_of(&row)).collect()
}

fn row_of(row: &Node) -> Option<Row> {
    let Value::Map(entries) = &row.value else { return None };
    let (mut patterns, mut reason, mut instead) = (Vec::new(), None, String::new());
    for Entry { key, node, .. } in entries {
        match (key.as_str(), &node.value) {
            ("metrics", Value::List(items)) => {
                patterns = items.iter().map(text_of).collect::<Option<_>>()?;
            }
            ("reason", _) => reason = Some(text_of(node)?),
            ("instead", _) => instead = text_of(node)?,
            _ => return None,
        }
    }
    Some((patterns, NotObtainable { reason: reason?, instead }))
}

fn text_of(node: &Node) -> Option<String> {
    if let Value::Text(text) = &node.value { Some(text.clone()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naming::{BUILT_IN_PROFILES, built_in_profile};

    #[test]
    fn every_row_has_metrics_and_a_sentence() {
        let rows = read(TEXT).unwrap();
        assert!(!rows.is_empty());
        for (patterns, NotObtainable { reason, .. }) in rows {
            assert!(!patterns.is_empty(), "{reason}");
            assert!(reason.ends_with('.'), "{reason}");
        }
    }

    #[test]
    fn no_metric_of_a_profile_is_said_to_be_unobtainable_by_its_name() {
        let rows = read(TEXT).unwrap();
        for profile in BUILT_IN_PROFILES {
            let map = built_in_profile(profile, true).unwrap();
            for source in map.sources() {
                let exact = rows.iter().any(|(names, _)| names.contains(&source.metric));
                assert!(!exact, "{} of {profile} has a row of its own", source.metric);
            }
        }
    }

    #[test]
    fn the_first_row_that_fits_gives_the_reason() {
        assert!(not_obtainable("windows_service_state").unwrap().reason.contains("service control manager"));
        assert_eq!(not_obtainable("windows_cpu_time_total"), None);
    }
}
