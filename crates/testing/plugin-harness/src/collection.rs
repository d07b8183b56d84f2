//! How a collection ended, and all that had arrived by then.

use plugin_abi::{Failure, Level, Stage, StageReport};
use plugin_host::testing::{Recorded, RecordedFamily, RecordedOutcome, RecordedSeries, Value};

use super::sim_host::PASSWORD;

/// A collection that has ended.
#[derive(Debug)]
pub struct Collection {
    pub outcome: RecordedOutcome,
    /// The stages that it entered.
    pub stages: Vec<StageReport>,
    /// All that the instance has sent so far.
    pub recorded: Recorded,
}

impl Collection {
    /// The newest of these.
    pub(crate) fn last_of(recorded: Recorded) -> Self {
        let last = recorded.completions.last().expect("a completion").clone();
        Self { outcome: last.outcome, stages: last.stages, recorded }
    }

    /// Why it failed or is partial. All reasons have a next step, and no message has the password.
    #[track_caller]
    pub fn failure(&self) -> &Failure {
        let (RecordedOutcome::Failed(failure) | RecordedOutcome::Partial(_, Some(failure))) = &self.outcome
        else {
            panic!("it has no failure: {:?}", self.outcome)
        };
        assert!(!failure.message.is_empty(), "{failure}");
        assert!(!failure.message.contains(PASSWORD), "{failure}");
        failure
    }

    /// Stage, reason and message of a collection that failed.
    #[track_caller]
    pub fn failed(&self) -> (Stage, &str, &str) {
        assert!(matches!(self.outcome, RecordedOutcome::Failed(_)), "it did not fail: {:?}", self.outcome);
        in_words(self.failure())
    }

    /// Stage, reason and message of a collection that is partial, though all families that were registered are in it.
    #[track_caller]
    pub fn partial(&self) -> (Stage, &str, &str) {
        let (families, words) = self.incomplete();
        assert_eq!(families, self.recorded.families.len(), "what was read is shown");
        words
    }

    /// The number of families that are complete in a collection that is partial, and stage, reason and message of it.
    #[track_caller]
    pub fn incomplete(&self) -> (usize, (Stage, &str, &str)) {
        let RecordedOutcome::Partial(families, _) = &self.outcome else {
            panic!("it is not partial: {:?}", self.outcome)
        };
        (families.len(), in_words(self.failure()))
    }

    /// What to do about the failure.
    #[track_caller]
    pub fn next_step(&self) -> &str {
        self.failure().reason.next_step()
    }

    /// The series that are there, with their families.
    pub fn live(&self) -> impl Iterator<Item = (&RecordedFamily, &RecordedSeries)> {
        let live = self.recorded.series.iter().filter(|series| !series.retired);
        live.map(|series| (&self.recorded.families[series.family as usize], series))
    }

    /// The series of an item that are there and have a value: the values of their labels, and the value. They are sorted.
    #[must_use]
    pub fn rows(&self, object: &str, item: &str) -> Vec<(Vec<&str>, f64)> {
        let of_item = self.live().filter(|(family, _)| family.object == object && family.item == item);
        let mut rows: Vec<_> =
            of_item.filter_map(|(_, series)| Some((labels(series), number(series.value?)))).collect();
        rows.sort_by(|(one, _), (other, _)| one.cmp(other));
        rows
    }

    /// The value of a series that is there, by the object and item of its family and the values of its labels.
    #[must_use]
    pub fn value(&self, object: &str, item: &str, values: &[&str]) -> Option<f64> {
        self.rows(object, item).into_iter().find(|(labels, _)| labels == values).map(|(_, value)| value)
    }

    /// The bodies of events with this name, so far.
    #[must_use]
    pub fn events(&self, name: &str) -> Vec<&str> {
        let events = self.recorded.events.iter().filter(|(own, _)| own == name);
        events.map(|(_, body)| body.as_str()).collect()
    }

    /// How often this was logged, so far.
    #[must_use]
    pub fn logged(&self, message: &str) -> usize {
        self.lines(message).count()
    }

    /// Levels and fields of the lines with this message, so far.
    pub fn lines(&self, message: &str) -> impl Iterator<Item = (Level, Vec<(&str, &str)>)> {
        let lines = self.recorded.logs.iter().filter(move |log| log.message == message);
        lines.map(|log| (log.level, log.fields.iter().map(|(name, value)| (&**name, &**value)).collect()))
    }
}

fn in_words(failure: &Failure) -> (Stage, &str, &str) {
    (failure.stage, failure.reason.as_str(), &failure.message)
}

fn labels(series: &RecordedSeries) -> Vec<&str> {
    series.labels.iter().map(|(_, value)| value.as_str()).collect()
}

#[expect(clippy::cast_precision_loss, reason = "figures of tests are small")]
fn number(value: Value) -> f64 {
    match value {
        Value::U64(value) => value as f64,
        Value::F64(value) => value,
        other => panic!("{other:?} is not one number"),
    }
}
