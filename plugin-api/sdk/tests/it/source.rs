use std::time::Duration;

use plugin_sdk::testing::{FakeIdentity, FakeInstance, FakeOutcome, SeenSeries, SeenValue};
use plugin_sdk::{
    Collection, Coverage, Display, Failure, FamilyDef, GeneralReason, Kind, Problem, SeriesDef, SeriesId,
    Setup, Source, Stage, Stamp, Target, ValueKind, parse_settings,
};
use serde_json::json;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    rows: usize,
    #[serde(default)]
    log_in: bool,
    /// Sends the doubles of the rows in columns, after it pushed them.
    #[serde(default)]
    in_columns: bool,
}

/// Sends as many rows as it is told, and retires what it sends no more.
struct Rows {
    settings: Settings,
    ids: Vec<SeriesId>,
}

impl Source for Rows {
    const NAME: &'static str = "rows";
    const HELP: &'static str = "Sends rows";
    type Settings = Settings;

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        Ok(Self { settings: setup.settings, ids: Vec::new() })
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.settings = settings;
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        collection.enter(Stage::Auth);
        if self.settings.log_in {
            let credential = collection.credential().await?;
            if credential.secret() != "open" {
                credential.rejected();
                return Err(Failure::new(Stage::Auth, GeneralReason::WrongCredentials, ""));
            }
            credential.accepted();
        }
        collection.enter(Stage::Query);
        collection.stages().add(2, 30, 10);
        let rows = self.settings.rows;
        let output = collection.output();
        if self.ids.is_empty() {
            let Some(family) = output.register_families(&[FAMILY])[0] else { return Ok(Coverage::Full) };
            let names: Vec<String> = (0..rows).map(|row| row.to_string()).collect();
            let labels: Vec<_> = names.iter().map(|name| [("counter_instance", name.as_str())]).collect();
            let series: Vec<_> =
                labels.iter().map(|labels| SeriesDef { family, labels, start: None }).collect();
            self.ids = output.register_series(&series).into_iter().flatten().collect();
        }
        for (row, id) in self.ids.iter().take(rows).enumerate() {
            match stamp_of(row) {
                Some(stamp) => output.push_f64_at(*id, row as f64, stamp),
                None => output.push_f64(*id, row as f64),
            }
        }
        if self.settings.in_columns {
            let doubles: Vec<f64> = (0..rows).map(|row| row as f64 * 2.0).collect();
            output.send_f64(&self.ids, &doubles);
            output.send_f64(&self.ids[..2], &doubles[..1]);
            assert_eq!(output.rejected(), 1);
        }
        let gone = self.ids.split_off(rows.min(self.ids.len()));
        output.retire(&gone);
        Ok(Coverage::Full)
    }
}

/// Every fifth row has a time, every seventh a start.
fn stamp_of(row: usize) -> Option<Stamp> {
    let nanos = |is: bool| if is { i64::try_from(row).expect("few rows") } else { 0 };
    let stamp = Stamp {
        time_unix_nanos: nanos(row.is_multiple_of(5)),
        start_unix_nanos: nanos(row.is_multiple_of(7)),
    };
    (stamp != Stamp::default()).then_some(stamp)
}

const FAMILY: FamilyDef<'static> = FamilyDef {
    namespace: "",
    object: "Rows",
    item: "Row",
    part: "",
    kind: Kind::Gauge,
    unit: "",
    help: "The number of the row.",
    origin: "",
    value: ValueKind::F64,
    bounds: &[],
    display: Display::NONE,
};

const DEADLINE: Duration = Duration::from_secs(60);

#[test]
fn more_rows_than_a_buffer_holds_all_arrive() {
    let fake = FakeInstance::create::<Rows>(Target::default(), &json!({"rows": 20_001})).expect("it is made");
    let done = fake.collect(DEADLINE).expect("it ends");
    assert_eq!(done.outcome, FakeOutcome::Full);
    assert_eq!(done.stages, [(Stage::Auth, 0, 0, 0), (Stage::Query, 2, 30, 10)]);
    let seen = fake.seen();
    assert_eq!(seen.series.len(), 20_001);
    let expected = |row: usize| Some(SeenValue::F64(row as f64));
    assert!(seen.series.iter().enumerate().all(|(row, series)| series.value == expected(row)));
    let stamps = |(row, series): (usize, &SeenSeries)| series.stamp == stamp_of(row).unwrap_or_default();
    assert!(seen.series.iter().enumerate().all(stamps), "times stay with their rows, over batches too");
    assert_eq!(seen.series[20_000].labels, [("counter_instance".to_owned(), "20000".to_owned())]);
    assert!(fake.destroy(), "it says that it is destroyed");
}

#[test]
fn columns_arrive_behind_what_was_pushed_before() {
    let settings = json!({"rows": 9_001, "in_columns": true});
    let fake = FakeInstance::create::<Rows>(Target::default(), &settings).expect("it is made");
    let done = fake.collect(DEADLINE).expect("it ends");
    assert_eq!(done.outcome, FakeOutcome::Full);
    let expected = |row: usize| Some(SeenValue::F64(row as f64 * 2.0));
    assert!(fake.seen().series.iter().enumerate().all(|(row, series)| series.value == expected(row)));
}

#[test]
fn what_vanished_is_retired() {
    let fake = FakeInstance::create::<Rows>(Target::default(), &json!({"rows": 3})).expect("it is made");
    fake.collect(DEADLINE).expect("it ends");
    fake.reconfigure(&json!({"rows": 1})).expect("it is accepted");
    fake.collect(DEADLINE).expect("it ends");
    let retired: Vec<_> = fake.seen().series.iter().map(|series| series.retired).collect();
    assert_eq!(retired, [false, true, true]);
}

#[test]
fn a_secret_is_lent_and_its_verdict_told() {
    for (password, verdict) in [("open", "accepted"), ("shut", "rejected")] {
        let identity = FakeIdentity { password: password.to_owned(), ..FakeIdentity::default() };
        let settings = json!({"rows": 1, "log_in": true});
        let fake =
            FakeInstance::create_with::<Rows>(Target::default(), &settings, identity).expect("it is made");
        fake.collect(DEADLINE).expect("it ends");
        assert_eq!(fake.seen().verdicts, [verdict]);
    }
}

#[test]
fn a_secret_that_is_withheld_fails_the_collection_at_its_stage() {
    let fake = FakeInstance::create::<Rows>(Target::default(), &json!({"rows": 1, "log_in": true}))
        .expect("it is made");
    let done = fake.collect(DEADLINE).expect("it ends");
    let FakeOutcome::Failed(failure) = done.outcome else { panic!("it fails") };
    assert_eq!((failure.stage, failure.reason), (Stage::Auth, GeneralReason::CredentialsWithheld.into()));
}

#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Shape {
    Point,
    Circle { radius: f64 },
    Named(String),
}

#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Drawing {
    shapes: Vec<Shape>,
    title: Option<String>,
    #[serde(default)]
    sizes: std::collections::BTreeMap<String, i16>,
}

#[test]
fn settings_of_every_shape_are_read() {
    let text = r#"{"shapes": ["point", {"circle": {"radius": 2}}, {"named": "x"}], "title": null, "sizes": {"a/b": -3}}"#;
    let expected = Drawing {
        shapes: vec![Shape::Point, Shape::Circle { radius: 2.0 }, Shape::Named("x".to_owned())],
        title: None,
        sizes: [("a/b".to_owned(), -3)].into(),
    };
    assert_eq!(parse_settings::<Drawing>(text), Ok(expected));
}

#[test]
fn what_serde_refuses_is_told_with_its_place() {
    let place = |text: &str| {
        let problem = parse_settings::<Drawing>(text).expect_err("it is refused");
        format!("{}: {} {}", problem.pointer, problem.message, problem.suggestion)
    };
    assert_eq!(
        place(r#"{"shapes": [{"circle": {"radius": "x"}}]}"#),
        "/shapes/0/circle/radius: expected a number, found text "
    );
    assert_eq!(
        place(r#"{"shapes": ["point", "cirkle"]}"#),
        "/shapes/1: `cirkle` is not a choice did you mean `circle`?"
    );
    assert_eq!(
        place(r#"{"shapes": [], "sizes": {"a/b": 70000}}"#),
        "/sizes/a~1b: `70000` is too large or too small "
    );
    assert_eq!(place(r#"{"shapes": [], "titel": ""}"#), "/titel: unknown key `titel` did you mean `title`?");
    for (text, expected) in [
        (r#"{"shapes": [{"point": {"x": 1}}]}"#, "/shapes/0/point: has no content "),
        (r#"{"shapes": ["named"]}"#, "/shapes/0/named: expected text, found nothing "),
        (r#"{"shapes": ["circle"]}"#, "/shapes/0/circle: expected a mapping, found nothing "),
        (r#"{"shapes": [{"named": 3}]}"#, "/shapes/0/named: expected text, found a number "),
        (r#"{"shapes": [{"cirkle": {}}]}"#, "/shapes/0: `cirkle` is not a choice did you mean `circle`?"),
        (
            r#"{"shapes": [{"circle": {"radus": 1}}]}"#,
            "/shapes/0/circle/radus: unknown key `radus` did you mean `radius`?",
        ),
        (r#"{"shapes": [{"circle": {}}]}"#, "/shapes/0/circle: `radius` is missing "),
        (r#"{"shapes": [{}]}"#, "/shapes/0: expected text, or a mapping with one key "),
        (r#"{"shapes": [7]}"#, "/shapes/0: expected text, or a mapping with one key "),
        (r#"{"shapes": 7}"#, "/shapes: expected a list, found a number "),
        (r#"{"shapes": [], "title": 7}"#, "/title: expected text, found a number "),
        (r#"{"shapes": [], "sizes": {"a": 1.5}}"#, "/sizes/a: expected a whole number, found a number "),
        (r#"{"shapes": [], "sizes": []}"#, "/sizes: expected a mapping, found a list "),
        (r#"{"title": ""}"#, ": `shapes` is missing "),
        ("[]", ": expected a mapping, found a list "),
    ] {
        assert_eq!(place(text), expected, "{text}");
    }
    assert_eq!(place("{"), ": the settings are not JSON: EOF while parsing an object at line 1 column 1 ");
}
