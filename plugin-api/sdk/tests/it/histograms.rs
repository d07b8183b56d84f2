use std::time::Duration;

use plugin_sdk::testing::{FakeInstance, FakeOutcome};
use plugin_sdk::{
    Buckets, Collection, Coverage, Failure, FamilyDef, HistogramId, Problem, SeriesDef, SeriesId, Setup,
    Source, Stamp, Target,
};
use serde_json::json;

#[derive(serde::Deserialize)]
struct Settings {
    rows: usize,
}

/// Observes in each series a value more than in the one before.
struct Waits {
    settings: Settings,
    buckets: Buckets,
    known: Option<(HistogramId, Vec<SeriesId>)>,
}

impl Source for Waits {
    const NAME: &'static str = "waits";
    const HELP: &'static str = "Sends histograms";
    type Settings = Settings;

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        Ok(Self { settings: setup.settings, buckets: Buckets::new(WAITS.bounds), known: None })
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.settings = settings;
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        let output = collection.output();
        if self.known.is_none()
            && let Some(id) = output.register_histograms(&[WAITS])[0]
        {
            let names: Vec<String> = (0..self.settings.rows).map(|row| row.to_string()).collect();
            let labels: Vec<_> = names.iter().map(|name| [("counter_instance", name.as_str())]).collect();
            let series: Vec<_> =
                labels.iter().map(|labels| SeriesDef { family: id.family(), labels, start: None }).collect();
            self.known = Some((id, output.register_series(&series).into_iter().flatten().collect()));
        }
        let Some((id, series)) = &self.known else { return Ok(Coverage::Full) };
        for (row, series) in series.iter().enumerate() {
            self.buckets.observe(row as f64);
            let stamp = Stamp { start_unix_nanos: i64::from(row == 250), ..Stamp::default() };
            output.push_histogram_at(*id, *series, self.buckets.counts(), self.buckets.sum(), stamp);
        }
        output.push_histogram(*id, series[0], &[1, 2], 0.0);
        assert_eq!(output.rejected(), 1, "a bucket is missing");
        Ok(Coverage::Full)
    }
}

const WAITS: FamilyDef<'static> = FamilyDef {
    item: "Wait",
    unit: "seconds",
    help: "How long one waits.",
    ..FamilyDef::histogram("", "Waits", &[0.5, 1.0, 300.0])
};

#[test]
fn histograms_arrive_with_all_their_rows_and_times() {
    let fake = FakeInstance::create::<Waits>(Target::default(), &json!({"rows": 350})).expect("it is made");
    let done = fake.collect(Duration::from_secs(60)).expect("it ends");
    assert_eq!(done.outcome, FakeOutcome::Full);
    let seen = fake.seen();
    assert_eq!(seen.bounds, [[0.5, 1.0, 300.0]]);
    assert_eq!(seen.series.len(), 350);
    let expected = |row: u64| {
        let sum = (row * (row + 1) / 2) as f64;
        Some((vec![1, row.min(1), row.saturating_sub(1).min(299), row.saturating_sub(300)], sum))
    };
    for (row, series) in (0..).zip(&seen.series) {
        assert_eq!(series.histogram, expected(row), "{row}");
        assert_eq!(series.stamp.start_unix_nanos, i64::from(row == 250), "{row}");
    }
}

#[test]
fn an_observation_falls_into_the_first_bucket_that_takes_it() {
    let mut buckets = Buckets::new(&[0.1, 1.0]);
    for value in [0.0, 0.1, 0.2, 1.0, 1.5, f64::MAX, f64::NAN, f64::INFINITY, f64::MAX] {
        buckets.observe(value);
    }
    assert_eq!(buckets.counts(), [2, 2, 2], "what would leave no sum is passed over");
    assert_eq!(buckets.sum(), f64::MAX);
}
