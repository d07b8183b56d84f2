//! Every type of counter, over a script of raw samples: what `pla-engine` judges is written as a test for promtool, which
//! judges the same samples, as they are exported, by the rules. `cargo xtask test` runs promtool; here is seen to it that the
//! files are up to date.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use counter_poll::FamilyGroup;
use counter_types::{
    Clock, Cooked, Formula, Part, Properties, RawClocks, Reading, Size, Value, Widen, Width, cook, properties,
};
use pla_engine::{Comparison, Judge, Rule, Threshold};

use super::super::quoted;
use super::{Document, native, translated, web1, write_yaml};
use crate::to_rules::expression::{name_of, select};
use crate::to_rules::host::{Counter, Counterset};
use crate::to_rules::matchers::{Matcher, string};

const INTERVAL_S: u64 = 15;
const SAMPLES: u64 = 12;
const INSTANCES: [&str; 2] = ["1", "2"];
const PERF_FREQ: u64 = 10_000_000;
const OBJECT_FREQ: u64 = 1_000_000;
/// 1970 in 100 ns since 1601: promtool's time begins there.
const UNIX_EPOCH: u64 = 116_444_736_000_000_000;
/// Counters of 32 bits soon go round.
const SOON_ROUND: u64 = (1 << 32) - 2_000;

/// Numbers that look random and are always the same.
struct Script(u64);

impl Script {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn clocks(step: u64) -> RawClocks {
    let seconds = step * INTERVAL_S;
    RawClocks {
        perf_time: (seconds + 1_000) * PERF_FREQ,
        perf_freq: PERF_FREQ,
        time_100ns: UNIX_EPOCH + seconds * 10_000_000,
        object_time: Some((seconds + 1_000) * OBJECT_FREQ),
        object_freq: Some(OBJECT_FREQ),
    }
}

/// The raw samples of one instance.
fn readings(row: &Properties, script: &mut Script) -> Vec<Reading> {
    let is_32_bits = row.wraps_at_32_bits();
    let ticks = INTERVAL_S * if row.clock == Clock::Object { OBJECT_FREQ } else { PERF_FREQ };
    let (mut value, mut base) = if is_32_bits { (SOON_ROUND, SOON_ROUND) } else { (7, 7) };
    let mut readings = Vec::new();
    for step in 0..SAMPLES {
        // Once, in the middle, the base stands still, or is zero, and the counter does not.
        let operations = if step == SAMPLES / 2 { 0 } else { 1 + script.below(900) };
        match row.formula {
            Formula::Delta | Formula::Rate => value += script.below(3_000),
            Formula::QueueLength => value += script.below(4 * ticks),
            // The time in which nothing runs is read some moments after the clock.
            Formula::Busy | Formula::Idle => value += script.below(ticks + ticks / 10),
            Formula::BusyOfMany | Formula::IdleOfMany => (value, base) = (value + script.below(4 * ticks), 4),
            Formula::Part => (value, base) = (1 + script.below(1_000), operations.min(1) * 1_000),
            Formula::Share if row.measure == counter_types::Measure::Time => {
                (value, base) = (value + script.below(ticks), base + ticks);
            }
            Formula::Share => {
                (value, base) = (value + script.below(operations + 1).max(1), base + operations);
            }
            Formula::MeanTime => {
                (value, base) =
                    (value + operations.max(1) * (1 + script.below(PERF_FREQ / 10)), base + operations);
            }
            Formula::Mean => {
                (value, base) = (value + operations.max(1) * (1 + script.below(4_096)), base + operations);
            }
            Formula::Elapsed => value = 940 * OBJECT_FREQ,
            Formula::Value | Formula::Double | Formula::Nothing => value = script.below(1_000),
        }
        let wrapped = |number: u64| if is_32_bits { number % (1 << 32) } else { number };
        let has_base = row.needs.base || row.needs.multi;
        let base = has_base.then_some(wrapped(base));
        readings.push(Reading { value: wrapped(value), base, clocks: clocks(step) });
    }
    readings
}

/// A limit that some of the values are across: one of them, where values are exact, else between two.
fn limit(row: &Properties, samples: &[Vec<Reading>]) -> f64 {
    let mut values: Vec<f64> = Vec::new();
    for readings in samples {
        let pairs = readings.iter().enumerate();
        values.extend(pairs.filter_map(|(index, newer)| {
            let older = index.checked_sub(1).map(|older| &readings[older]);
            match cook(row.counter_type, older, newer) {
                Cooked::Value(value) => Some(value),
                _ => None,
            }
        }));
    }
    values.sort_by(f64::total_cmp);
    values.dedup();
    let middle = values.len() / 2;
    match row.formula {
        Formula::Value | Formula::Part | Formula::Elapsed => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// The values of a family as they are exported, over time.
fn exported(family: &counter_types::Family, readings: &[Reading]) -> String {
    let is_base = family.exposition.part == Part::Base;
    let mut widen = Widen::new();
    let width = if family.exposition.wraps { Width::Bits32 } else { Width::Bits64 };
    let values = readings.iter().map(|reading| {
        let raw = if is_base { reading.base.unwrap_or_default() } else { reading.value };
        let raw = if family.exposition.wraps { widen.update(raw, width).total } else { raw };
        match family.exposition.export(raw, &reading.clocks) {
            Some(Value::U64(value)) => value.to_string(),
            Some(Value::F64(value)) => value.to_string(),
            None => "_".to_owned(),
        }
    });
    values.collect::<Vec<_>>().join(" ")
}

/// One counter with everything that is known of it.
struct WatchedAlert<'a> {
    counter: &'a Counter,
    threshold: Threshold,
    samples: Vec<Vec<Reading>>,
}

fn watched(counterset: &Counterset) -> Vec<WatchedAlert<'_>> {
    let mut script = Script(1);
    let mut watched = Vec::new();
    for counter in counterset.counters() {
        let Some(row) = properties(counter.info.counter_type) else { continue };
        let is_usable = !row.is_base && !matches!(row.size, Size::Zero | Size::Variable);
        if !is_usable || counterset.families_of(counter).next().is_none() {
            continue;
        }
        let samples: Vec<_> = INSTANCES.iter().map(|_| readings(row, &mut script)).collect();
        let comparison = if watched.len() % 2 == 0 { '>' } else { '<' };
        let text = format!(r"\Counter Types(*)\{}{comparison}{}", counter.name, limit(row, &samples));
        watched.push(WatchedAlert {
            counter,
            threshold: text.parse().expect("a path and a number"),
            samples,
        });
    }
    watched
}

/// The instances that each alert triggers for, at each step, by the engine.
fn triggered(watched: &[WatchedAlert<'_>], alerts: &[String]) -> Vec<Vec<(String, &'static str)>> {
    let mut steps = vec![Vec::new(); usize::try_from(SAMPLES).expect("it is small")];
    for (one, alert) in watched.iter().zip(alerts) {
        let mut judge = Judge::new(Rule::new(one.threshold.clone(), Duration::from_secs(INTERVAL_S)));
        for (name, readings) in INSTANCES.into_iter().zip(&one.samples) {
            for (step, reading) in readings.iter().enumerate() {
                let now = Duration::from_secs(INTERVAL_S * step as u64);
                let slot = judge.instance(name, now).expect("there are two");
                if judge.sample(slot, one.counter.info.counter_type, reading, now).is_some() {
                    steps[step].push((alert.clone(), name));
                }
            }
        }
    }
    steps
}

fn test_file(counterset: &Counterset, watched: &[WatchedAlert<'_>], alerts: &[String]) -> String {
    let mut text = format!(
        "# For `promtool test rules`: what pla-engine judges of the same samples. A test of plugins/pla writes it.\n\
         rule_files: [counter_types.rules.yaml]\nevaluation_interval: {INTERVAL_S}s\ntests:\n  - interval: {INTERVAL_S}s\n    \
         input_series:\n"
    );
    for one in watched {
        for family in counterset.families_of(one.counter) {
            let name =
                name_of(counterset, (one.counter, FamilyGroup::Instances), &family.exposition, &native)
                    .expect("nothing is dropped");
            for (instance, readings) in INSTANCES.into_iter().zip(&one.samples) {
                let series = select(
                    &name,
                    &[Matcher::equal("counter_instance", instance), Matcher::equal("target", "web1")],
                );
                let _ = writeln!(
                    text,
                    "      - {{series: {}, values: '{}'}}",
                    quoted(&series),
                    exported(family, readings)
                );
            }
        }
    }
    text.push_str("    promql_expr_test:\n");
    for (step, triggered) in triggered(watched, alerts).into_iter().enumerate() {
        let _ = writeln!(
            text,
            "      - expr: 'count by (alertname, counter_instance) (ALERTS{{alertstate=\"firing\"}})'\n        \
             eval_time: {}s\n        exp_samples:",
            INTERVAL_S * step as u64
        );
        for (alert, instance) in triggered {
            let labels = format!("{{alertname={}, counter_instance=\"{instance}\"}}", string(&alert));
            let _ = writeln!(text, "          - {{labels: {}, value: 1}}", quoted(&labels));
        }
    }
    text
}

#[test]
fn the_rules_of_every_type_are_tested_with_what_the_engine_judges() {
    let host = web1();
    let path = r"\Counter Types(*)\Counter".parse().unwrap();
    let counterset = host.find(&path).unwrap()[0].0;
    let watched = watched(counterset);
    let formulas: BTreeMap<&str, usize> = watched.iter().fold(BTreeMap::new(), |mut formulas, one| {
        let row = properties(one.counter.info.counter_type).unwrap();
        *formulas.entry(row.formula.as_str()).or_default() += 1;
        formulas
    });
    assert!(formulas.len() >= 13 && watched.len() >= 28, "{formulas:?}");
    assert!(watched.iter().any(|one| one.threshold.comparison == Comparison::Below));

    let escaped = |text: String| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut xml = "<DataCollectorSet>\n  <Name>Counter Types</Name>\n  <AlertDataCollector>\n".to_owned();
    for one in &watched {
        let _ = writeln!(xml, "    <Alert>{}</Alert>", escaped(one.threshold.to_string()));
    }
    xml += "  </AlertDataCollector>\n</DataCollectorSet>\n";
    let translated = translated(Document::read("counter_types.xml", "", xml.as_bytes()).unwrap());
    assert!(translated.is_complete(), "{:?}", translated.sets[0].remarks);
    let alerts: Vec<String> =
        translated.sets[0].groups[0].rules.iter().map(|rule| rule.alert.clone()).collect();
    assert_eq!(alerts.len(), watched.len());

    expect_test::expect_file!["../../../tests/data/to_rules/counter_types.xml"].assert_eq(&xml);
    expect_test::expect_file!["../../../tests/data/to_rules/counter_types.rules.yaml"]
        .assert_eq(&write_yaml(&translated, &host.name));
    expect_test::expect_file!["../../../tests/data/to_rules/counter_types.test.yaml"]
        .assert_eq(&test_file(counterset, &watched, &alerts));
}
