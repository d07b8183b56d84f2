//! The exporter's side: it keeps all data, and checks that it is valid.

use plugin_abi::{
    Batch, BatchOutcome, CollectionId, Completion, DataSink, Event, FamilyDef, HistogramBatch, Kind, Level,
    NoRoom, Notices, Outcome, SeriesDef, ValueKind, Verdict,
};
use plugin_host::testing::RecordingSink;

use crate::plugin::guest::LIMITS;

/// The host catches panics in it; the call then returns FAILED, which no law allows.
#[derive(Default)]
pub(crate) struct Watch(pub(crate) RecordingSink);

impl Watch {
    fn families(&self) -> usize {
        self.0.recorded().families.len()
    }

    fn series(&self) -> usize {
        self.0.recorded().series.len()
    }
}

impl DataSink for Watch {
    fn register_families(&self, families: &[FamilyDef<'_>], verdicts: &mut Vec<Verdict>) {
        assert!(verdicts.is_empty() && families.len() <= LIMITS.register_rows_max as usize);
        for family in families {
            let FamilyDef { namespace, object, item, part, unit, help, origin, display, .. } = family;
            bounds(family);
            assert!(!object.is_empty() && !item.is_empty(), "a family without a name");
            assert_eq!(
                display.rule.needs_base(),
                !display.base.is_empty(),
                "a base that is not needed, or lacks"
            );
            assert!(display.base.is_empty() || display.base != *part, "a family that is its own base");
            for name in [namespace, object, item, part, unit, &display.base] {
                assert!(name.len() <= LIMITS.name_bytes_max as usize, "a name of {} bytes", name.len());
            }
            for text in [help, origin] {
                assert!(text.len() <= LIMITS.text_bytes_max as usize, "a text of {} bytes", text.len());
            }
        }
        self.0.register_families(families, verdicts);
        assert!(self.families() <= LIMITS.families_max as usize, "too many families");
    }

    fn register_series(&self, series: &[SeriesDef<'_>], verdicts: &mut Vec<Verdict>) {
        assert!(verdicts.is_empty() && series.len() <= LIMITS.register_rows_max as usize);
        for def in series {
            assert!(def.family.index() < self.families(), "a family that was never accepted");
            assert_ne!(def.start.map(|start| start.unix_nanos), Some(0));
            labels(def.labels);
        }
        self.0.register_series(series, verdicts);
        let live = self.0.recorded().series.iter().filter(|series| !series.retired).count();
        assert!(live <= LIMITS.series_max as usize, "too many series");
    }

    fn retire(&self, ids: &[u32]) {
        let recorded = self.0.recorded();
        for (index, id) in ids.iter().enumerate() {
            assert!(!recorded.series[*id as usize].retired && !ids[..index].contains(id), "retired twice");
        }
        self.0.retire(ids);
    }

    fn batch(&self, batch: &Batch<'_>) -> BatchOutcome {
        let rows = batch.ids.len();
        assert!(rows <= LIMITS.batch_rows_max as usize && batch.values.len() == rows);
        assert!(batch.timestamps.is_none_or(|times| times.len() == rows));
        assert!(batch.start_times.is_none_or(|times| times.len() == rows));
        let series = self.series();
        assert!(batch.ids.iter().all(|id| (*id as usize) < series), "an id that was never handed out");
        self.0.batch(batch)
    }

    fn histograms(&self, batch: &HistogramBatch<'_>) -> BatchOutcome {
        let rows = batch.ids.len();
        let recorded = self.0.recorded();
        let bounds = &recorded.families[batch.family as usize].bounds;
        let counts_max = (LIMITS.batch_rows_max as usize).max(batch.buckets);
        assert!(!bounds.is_empty() && batch.buckets == bounds.len() + 1, "the family is no histogram");
        assert!(batch.sums.len() == rows && batch.counts.len() == rows * batch.buckets);
        assert!(batch.counts.len() <= counts_max, "too much at a time");
        assert!(batch.timestamps.is_none_or(|times| times.len() == rows));
        assert!(batch.start_times.is_none_or(|times| times.len() == rows));
        assert!(batch.ids.iter().all(|id| (*id as usize) < recorded.series.len()), "an unknown id");
        let is_sum = |sum: &f64| sum.is_finite() && (*sum >= 0.0 || bounds[0] < 0.0);
        assert!(batch.sums.iter().all(is_sum), "{:?}", batch.sums);
        for counts in batch.counts.chunks(batch.buckets) {
            let total: u128 = counts.iter().map(|&count| u128::from(count)).sum();
            assert!(total <= u128::from(u64::MAX), "{total} observations");
        }
        self.0.histograms(batch)
    }

    fn complete(&self, collection: CollectionId, completion: Completion<'_>) {
        assert!(
            completion.stages.is_sorted_by(|one, next| one.stage < next.stage),
            "each stage once, in order"
        );
        let failure = match &completion.outcome {
            Outcome::Full => None,
            Outcome::Partial { families, failure } => {
                let count = self.families();
                assert!(families.len() <= LIMITS.families_max as usize);
                assert!(families.iter().all(|family| (*family as usize) < count), "an unknown family");
                failure.as_ref()
            }
            Outcome::Failed(failure) => Some(failure),
        };
        assert!(failure.is_none_or(|failure| failure.message.len() <= LIMITS.text_bytes_max as usize));
        self.0.complete(collection, completion);
    }

    fn reset(&self) {
        self.0.reset();
    }
}

impl Notices for Watch {
    fn log_enabled(&self, level: Level) -> bool {
        self.0.log_enabled(level)
    }

    fn log(&self, level: Level, message: &str, given: &[(&str, &str)]) {
        assert!(message.len() <= LIMITS.text_bytes_max as usize);
        fields(given);
        self.0.log(level, message, given);
    }

    fn event(&self, event: &Event<'_>) -> Result<(), NoRoom> {
        assert!(event.name.starts_with(|first: char| first.is_ascii_lowercase()));
        assert!(event.name.len() <= LIMITS.name_bytes_max as usize);
        assert!(event.body.len() <= LIMITS.text_bytes_max as usize && event.time_unix_nanos != Some(0));
        fields(event.fields);
        if let Some(alert) = event.alert {
            assert!(alert.labels.iter().all(|(name, _)| !name.is_empty() && !name.starts_with("__")));
            let compared = alert.evaluation;
            assert!(
                compared.is_none_or(|it| it.threshold.is_finite() && it.value.is_none_or(f64::is_finite))
            );
        }
        self.0.event(event)
    }

    fn is_open(&self, alert: &str) -> bool {
        self.0.is_open(alert)
    }

    fn fact(&self, name: &str, value: &str) {
        assert!(name.starts_with(|first: char| first.is_ascii_lowercase()));
        assert!(name.len() <= LIMITS.name_bytes_max as usize);
        assert!(value.len() <= LIMITS.label_value_bytes_max as usize && !value.contains(char::is_control));
        self.0.fact(name, value);
    }
}

/// Those of a histogram ascend, and others have none.
fn bounds(family: &FamilyDef<'_>) {
    let is_histogram = family.kind == Kind::Histogram;
    assert_eq!(is_histogram, family.value == ValueKind::Histogram);
    assert_eq!(is_histogram, !family.bounds.is_empty());
    assert!(family.bounds.len() <= plugin_abi::raw::HISTOGRAM_BOUNDS_MAX as usize);
    assert!(family.bounds.iter().all(|bound| bound.is_finite()) && family.bounds.is_sorted_by(|a, b| a < b));
}

fn labels(labels: &[(&str, &str)]) {
    assert!(labels.len() <= LIMITS.labels_max as usize, "too many labels");
    for (index, (name, value)) in labels.iter().enumerate() {
        assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{name}");
        assert!(name.starts_with(|first: char| !first.is_ascii_digit()), "{name}");
        assert!(name.len() <= LIMITS.name_bytes_max as usize);
        assert!(value.len() <= LIMITS.label_value_bytes_max as usize);
        assert!(labels[..index].iter().all(|(other, _)| other != name), "{name} twice");
    }
}

fn fields(fields: &[(&str, &str)]) {
    assert!(fields.len() <= LIMITS.fields_max as usize, "too many fields");
    for (key, value) in fields {
        assert!(key.len() <= LIMITS.name_bytes_max as usize && value.len() <= LIMITS.text_bytes_max as usize);
    }
}
