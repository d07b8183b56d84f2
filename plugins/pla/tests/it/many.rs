//! Many alerts, and many instances.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use plugin_abi::{
    AlertState, Batch, BatchOutcome, CollectionId, Completion, DataSink, Event, FamilyDef, HistogramBatch,
    Level, NoRoom, Notices, Outcome, SeriesDef, Verdict,
};
use plugin_host::testing::{Recorded, RecordingSink};
use plugin_host::{InstanceConfig, Violation, monotonic_ns};
use serde_json::{Value, json};

use crate::logging::Place;
use crate::objects::Objects;
use crate::steered::Mill;
use crate::world::{Plugin, config, set};

/// Counts what arrives: a sink that keeps all of it takes too long for this.
#[derive(Default)]
struct Tally {
    counts: Mutex<Counts>,
    changed: Condvar,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    families: Vec<String>,
    series: HashMap<String, usize>,
    alerts: HashMap<AlertState, usize>,
    rows: usize,
    series_all: u32,
    completions: usize,
    full: usize,
    /// What is said at the level WARN.
    warnings: Vec<String>,
}

impl Tally {
    fn change(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts.lock());
        self.changed.notify_all();
    }

    fn wait(&self, completions: usize) -> Counts {
        let mut counts = self.counts.lock();
        let patience = Duration::from_secs(60);
        let waits = |counts: &mut Counts| counts.completions < completions;
        let waited = self.changed.wait_while_for(&mut counts, waits, patience);
        assert!(!waited.timed_out(), "the collection ends");
        counts.clone()
    }
}

impl DataSink for Tally {
    fn register_families(&self, families: &[FamilyDef<'_>], verdicts: &mut Vec<Verdict>) {
        verdicts.extend((0..).take(families.len()).map(Verdict::Accepted));
        self.change(|counts| counts.families.extend(families.iter().map(|family| family.item.to_owned())));
    }

    fn register_series(&self, series: &[SeriesDef<'_>], verdicts: &mut Vec<Verdict>) {
        self.change(|counts| {
            for one in series {
                let item = counts.families[one.family.index()].clone();
                *counts.series.entry(item).or_default() += 1;
                verdicts.push(Verdict::Accepted(counts.series_all));
                counts.series_all += 1;
            }
        });
    }

    fn retire(&self, _ids: &[u32]) {}

    fn batch(&self, batch: &Batch<'_>) -> BatchOutcome {
        self.change(|counts| counts.rows += batch.ids.len());
        BatchOutcome { stored: batch.ids.len() as u64, ..BatchOutcome::default() }
    }

    fn histograms(&self, _batch: &HistogramBatch<'_>) -> BatchOutcome {
        BatchOutcome::default()
    }

    fn complete(&self, _collection: CollectionId, completion: Completion<'_>) {
        self.change(|counts| {
            counts.completions += 1;
            counts.full += usize::from(matches!(completion.outcome, Outcome::Full));
        });
    }

    fn reset(&self) {}
}

impl Notices for Tally {
    fn log_enabled(&self, level: Level) -> bool {
        level == Level::Warn
    }

    fn log(&self, _level: Level, message: &str, fields: &[(&str, &str)]) {
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.change(|counts| counts.warnings.push(format!("{message} {}", fields.join(" "))));
    }

    fn event(&self, event: &Event<'_>) -> Result<(), NoRoom> {
        let state = event.alert.as_ref().expect("all are about alerts").state;
        self.change(|counts| *counts.alerts.entry(state).or_default() += 1);
        Ok(())
    }

    fn is_open(&self, _alert: &str) -> bool {
        true
    }
}

#[test]
fn ten_thousand_alerts_are_judged_by_one_call_and_report_a_bounded_number_of_events() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let alerts: Vec<Value> = (0..10_000)
        .map(|number| {
            let wheel = number % 100;
            json!({"name": number.to_string(), "counter": format!(r"\Wheels({wheel})\Load"), "above": 80})
        })
        .collect();
    for number in 0..100 {
        mill.wheel(&number.to_string(), |wheel| wheel.load = 90);
    }
    let tally = Arc::new(Tally::default());
    let config = config(&mill.sim, set(&json!(alerts)));
    let instance =
        plugin.library.create("pla", &config, Arc::<Tally>::clone(&tally)).expect("the settings are good");
    let mut before = 0;
    for round in 1..=5 {
        let calls = mill.sim.calls(6);
        instance.collect(monotonic_ns() + 60_000_000_000).expect("the collection begins");
        let counts = tally.wait(round);
        // The first reply may be larger than its room.
        assert!(round == 1 || mill.sim.calls(6) - calls == 1);
        assert_eq!(counts.full, round);
        let opened = counts.alerts.get(&AlertState::Opened).copied().unwrap_or_default();
        assert!(opened > 0 && opened - before <= 600, "{opened} events after {before}");
        before = opened;
        mill.pass(15);
    }
    let counts = tally.wait(5);
    for item in ["Firing", "State Info", "Value", "Triggered", "Threshold", "Evaluation Lag"] {
        assert_eq!(counts.series.get(item), Some(&10_000), "{item}: nothing is registered twice");
    }
    assert_eq!(instance.violations().of(Violation::OverLimit), 0);
}

#[test]
fn ends_are_reported_at_once_however_many_there_are() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let load = |load| (0..100).for_each(|wheel| mill.wheel(&wheel.to_string(), |wheel| wheel.load = load));
    let alert =
        |number: usize| json!({"name": number.to_string(), "counter": r"\Wheels(*)\Load", "above": 80});
    load(90);
    let tally = Arc::new(Tally::default());
    let config = config(&mill.sim, set(&json!((0..10).map(alert).collect::<Vec<_>>())));
    let instance =
        plugin.library.create("pla", &config, Arc::<Tally>::clone(&tally)).expect("the settings are good");
    let collect = |round| {
        instance.collect(monotonic_ns() + 60_000_000_000).expect("the collection begins");
        let counts = tally.wait(round);
        mill.pass(15);
        counts
    };
    let counts = (1..=4).map(collect).last().expect("there are four");
    assert_eq!(counts.alerts[&AlertState::Opened], 1_000);
    load(10);
    assert_eq!(collect(5).alerts[&AlertState::Closed], 1_000);
}

#[test]
fn an_alert_that_finds_no_room_is_reported_once_another_is_over() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let load = |wheel: &str, load| mill.wheel(wheel, |wheel| wheel.load = load);
    ["a", "b", "c", "d"].into_iter().for_each(|wheel| load(wheel, 90));
    let sink = Arc::new(RecordingSink::with_alerts_max(2));
    let alert = json!([{"name": "High", "counter": r"\Wheels(*)\Load", "above": 80}]);
    let config = config(&mill.sim, set(&alert));
    let instance = plugin.library.create("pla", &config, Arc::<RecordingSink>::clone(&sink));
    let instance = instance.expect("the settings are good");
    let collect = |round| {
        instance.collect(monotonic_ns() + 60_000_000_000).expect("the collection begins");
        let recorded = sink.wait_completions(round).expect("the collection ends");
        mill.pass(15);
        recorded
    };
    let open = |recorded: &Recorded| {
        let wheel = |id: &str| id.split('/').nth(2).expect("an id has four parts").to_owned();
        recorded.open_alerts().into_iter().map(wheel).collect::<Vec<_>>()
    };
    let first = open(&collect(1));
    let recorded = collect(2);
    assert_eq!((open(&recorded), recorded.alerts.len()), (first.clone(), 2));
    let mut before = first;
    for round in 3..5 {
        load(&before[0], 10);
        // What ends in a collection makes room for the next one.
        collect(2 * round - 3);
        let after = open(&collect(2 * round - 2));
        assert!(after.len() == 2 && !after.contains(&before[0]) && after.contains(&before[1]), "{after:?}");
        before = after;
    }
    let recorded = sink.recorded();
    assert_eq!(recorded.evaluations[0].and_then(|compared| compared.value), Some(90.0));
}

#[test]
fn more_alerts_than_that_are_refused() {
    let plugin = Plugin::new();
    let alerts: Vec<Value> = (0..10_001)
        .map(|number| json!({"name": number.to_string(), "counter": r"\Wheels(*)\Load", "above": 80}))
        .collect();
    let config = InstanceConfig { settings: set(&json!(alerts)), ..InstanceConfig::default() };
    let found = plugin.library.validate("pla", &config).expect("it answers");
    assert_eq!(found[0].message, "all sets together have more than 10000 alerts");
}

#[test]
fn instances_above_the_limit_are_not_judged() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    for number in 0..300 {
        mill.wheel(&number.to_string(), |_| {});
    }
    let alerts: Vec<Value> = (0..100)
        .map(|number| json!({"name": number.to_string(), "counter": r"\Wheels(*)\Load", "above": 80}))
        .collect();
    let tally = Arc::new(Tally::default());
    let config = config(&mill.sim, set(&json!(alerts)));
    let instance =
        plugin.library.create("pla", &config, Arc::<Tally>::clone(&tally)).expect("the settings are good");
    instance.collect(monotonic_ns() + 60_000_000_000).expect("the collection begins");
    let judged = tally.wait(1).series["Firing"];
    assert!((19_000..=20_100).contains(&judged), "{judged} instances");
}

#[test]
fn what_a_limit_leaves_out_is_said_once_with_the_next_step() {
    let place = Place::new();
    let tasks = json!({"Wait": {"command": ["/bin/sleep", "1000"]}});
    let alert = json!({"name": "High", "counter": r"\Wheels(*)\Load", "above": 80});
    let with = |key: &str, value: &str| {
        let mut alert = alert.clone();
        alert[key] = json!(value);
        alert
    };
    let alerts = |alerts: Vec<Value>| json!([{"name": "Mill", "alerts": alerts}]);
    let starts = (0..10).map(|number| with("start_set", &format!("Trace {number}"))).enumerate();
    let starts = starts.map(|(number, mut alert)| {
        alert["name"] = json!(number.to_string());
        alert
    });
    for (wheels, sets, said) in [
        (
            300,
            alerts((0..100).map(|number| with("name", &number.to_string())).collect()),
            "Instances of alerts are not judged",
        ),
        (100, alerts(vec![with("task", "Wait")]), "Tasks are skipped"),
        (1, alerts(starts.collect()), "The host is not told to start a set"),
        (
            7_000,
            json!([{"name": "Mill", "counters": [r"\Wheels(*)\*"]}]),
            "A log has no room for all of its counters",
        ),
    ] {
        let (mill, plugin) = (Mill::new(), Plugin::new());
        for number in 0..wheels {
            mill.wheel(&number.to_string(), |wheel| wheel.load = 90);
        }
        let objects = Objects::of(&mill.sim);
        let mut settings = objects.settings(&sets);
        settings["tasks"] = tasks.clone();
        settings["control"] = json!(["*"]);
        settings["storage"] = json!({"directory": place.directory()});
        let tally = Arc::new(Tally::default());
        let config = config(&mill.sim, settings);
        let instance = plugin
            .library
            .create("pla", &config, Arc::<Tally>::clone(&tally))
            .expect("the settings are good");
        for round in 1..=5 {
            instance.collect(monotonic_ns() + 60_000_000_000).expect("the collection begins");
            tally.wait(round);
            mill.pass(15);
        }
        let counts = tally.wait(5);
        let (warnings, full) = (&counts.warnings, counts.full);
        let about = warnings.iter().filter(|warning| warning.starts_with(said)).collect::<Vec<_>>();
        assert!(about.len() == 1 && about[0].contains("next_step="), "{said}: {full} full: {warnings:?}");
    }
}
