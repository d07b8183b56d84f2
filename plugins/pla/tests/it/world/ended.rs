//! How a collection ended, and what the plugin had sent by then.

use std::ops::Deref;

use plugin_harness::Collection;

/// A collection of the plugin.
#[derive(Debug)]
pub(crate) struct Ended(pub(super) Collection);

impl Deref for Ended {
    type Target = Collection;

    fn deref(&self) -> &Collection {
        &self.0
    }
}

impl Ended {
    /// Why a collection is partial.
    #[track_caller]
    pub(crate) fn partial(&self) -> &str {
        self.0.partial().2
    }

    /// The word of the reason.
    #[track_caller]
    pub(crate) fn reason(&self) -> &str {
        self.failure().reason.as_str()
    }

    /// All values, a line each, but for times.
    pub(crate) fn page(&self) -> String {
        let items = self.recorded.families.iter().map(|family| (&*family.object, &*family.item));
        let lines = items.filter(|(_, item)| *item != "Last Change Timestamp").flat_map(|(object, item)| {
            let values = self.of(object, item).into_iter();
            values.map(move |(labels, value)| format!("{object} {item} {labels} {value}\n"))
        });
        lines.collect()
    }

    /// The series of an item that are there and have a value: labels without names, and the value.
    pub(crate) fn of(&self, object: &str, item: &str) -> Vec<(String, f64)> {
        assert!(self.live().all(|(family, _)| family.namespace == "pla"));
        let rows = self.rows(object, item).into_iter().map(|(labels, value)| (labels.join("|"), value));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by(|one, other| one.0.cmp(&other.0));
        rows
    }

    /// The states of the alerts by name and instance.
    pub(crate) fn states(&self) -> Vec<String> {
        let all = self.of("Alert", "State Info").into_iter();
        all.map(|(labels, _)| {
            let parts: Vec<&str> = labels.split('|').collect();
            format!("{}({}) {}", parts[1], parts[3], parts[4])
        })
        .collect()
    }
}
