//! How a collection ended, and what the plugin had sent by then.

use plugin_host::testing::{Recorded, RecordedOutcome, Value};

/// How one collection ended, and all that had arrived by then.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: RecordedOutcome,
    pub(crate) recorded: Recorded,
}

impl Ended {
    /// Why a collection is partial.
    #[track_caller]
    pub(crate) fn partial(&self) -> String {
        match &self.outcome {
            RecordedOutcome::Partial(families, Some(failure)) => {
                assert_eq!(families.len(), self.recorded.families.len(), "all families are complete");
                failure.message.clone()
            }
            other => panic!("it is not partial with a reason: {other:?}"),
        }
    }

    /// The word of the reason why a collection is partial.
    #[track_caller]
    pub(crate) fn reason(&self) -> String {
        match &self.outcome {
            RecordedOutcome::Partial(_, Some(failure)) => failure.reason.as_str().to_owned(),
            other => panic!("it is not partial with a reason: {other:?}"),
        }
    }

    /// The next step that belongs to the reason.
    #[track_caller]
    pub(crate) fn next_step(&self) -> String {
        match &self.outcome {
            RecordedOutcome::Partial(_, Some(failure)) => failure.reason.next_step().to_owned(),
            other => panic!("it is not partial with a reason: {other:?}"),
        }
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
        let live = self.recorded.series.iter().filter(|series| !series.retired);
        let of = live.filter(|series| {
            let family = &self.recorded.families[series.family as usize];
            assert_eq!(family.namespace, "pla");
            family.object == object && family.item == item
        });
        let mut found: Vec<(String, f64)> = of
            .filter_map(|series| {
                let labels: Vec<&str> = series.labels.iter().map(|(_, value)| value.as_str()).collect();
                let value = match series.value? {
                    Value::F64(value) => value,
                    Value::U64(value) => value as f64,
                    other => panic!("{other:?}"),
                };
                Some((labels.join("|"), value))
            })
            .collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
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
