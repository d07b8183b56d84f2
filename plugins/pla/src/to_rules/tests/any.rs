//! Whatever is in a set or is called by a host: the file is YAML, says what it should, and its expressions are PromQL.

use std::collections::{BTreeMap, HashSet};

use ms_pla::xml::{AlertDataCollector, DataCollectorSet};
use promql_parser::parser;
use proptest::collection::vec;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::{Document, Host, Setting, native, translate, write_yaml};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    name: String,
    interval: String,
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    alert: String,
    expr: String,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
}

/// Texts with what means something to XML, YAML, PromQL, regular expressions or templates. XML has them all.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = [
        "{{", "}}", "{", "'", "\"", "\\\\", "\n", "\r\n", "\t", ": ", " #", "- ", "&", "<", ">", "%", "*",
        "?", "(", ")", "[", "]", "|", "!", "`", ",", "---", "\u{85}", "\u{2028}", "\u{feff}", "\u{202e}",
        "\u{7f}", "ü", "😀", "null", "0x1F", "=", "/", ".", "$", "^", " ",
    ];
    vec(prop_oneof![prop::sample::select(pieces.to_vec()).prop_map(str::to_owned), "[a-z0-9]{1,3}"], 0..6)
        .prop_map(|pieces| pieces.concat())
}

/// A name that is in a path and is found again.
fn part() -> impl Strategy<Value = String> {
    let is_fit = |c: char| !c.is_control() && !['\\', '(', ')', '#', '/'].contains(&c);
    hostile().prop_map(move |text| format!("x{}x", text.replace(|c| !is_fit(c), "")))
}

fn host(counterset: &str, counter: &str, instance: &str) -> Host {
    let json = json!({"host": instance, "countersets": [{
        "name": counterset, "provider": "v1", "instance_type": "MULTIPLE", "instances": [{"name": instance}],
        "counters": [{"id": 1, "name": counter, "type": "PERF_COUNTER_RAWCOUNT", "is_helper": false, "metrics": []}],
    }]});
    Host::read(json.to_string().as_bytes()).expect("it is as discover prints it")
}

proptest! {
    #[test]
    fn every_set_becomes_a_file_that_says_what_it_should(
        names in vec(hostile(), 3),
        (counterset, counter) in (part(), part()),
        instance in part(),
        rough in vec(hostile(), 0..3),
        interval in any::<Option<u32>>(),
    ) {
        let found = format!(r"\{counterset}({instance})\{counter}>8.5");
        let alerts: Vec<String> = [found.clone(), found].into_iter().chain(rough).collect();
        let alert = AlertDataCollector {
            alert_display_names: alerts.iter().map(|_| names[0].clone()).collect(),
            alerts,
            task: Some(names[1].clone()),
            sample_interval_s: interval,
            ..AlertDataCollector::default()
        };
        let set = DataCollectorSet { name: Some(names[2].clone()), alerts: vec![alert.clone()], ..DataCollectorSet::default() };
        let xml = set.to_xml().unwrap();
        let document = Document::read(&names[1], &names[0], xml.as_bytes()).unwrap();
        let host = host(&counterset, &counter, &instance);
        let severity = Some(names[1].clone());
        let setting = Setting { host: &host, names: &native, scrape_s: 15, severity, matchers: Vec::new() };
        let translated = translate(&[document], &setting);

        let text = write_yaml(&translated, &host.name);
        let file: File = serde_saphyr::from_str(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        let wanted = &translated.sets[0];
        prop_assert_eq!(file.groups.len(), wanted.groups.len());
        let mut alerts = HashSet::new();
        for (group, wanted) in file.groups.iter().zip(&wanted.groups) {
            prop_assert_eq!((&group.name, &group.interval), (&wanted.name, &format!("{}s", wanted.interval_s)));
            for (rule, wanted) in group.rules.iter().zip(&wanted.rules) {
                prop_assert_eq!((&rule.alert, &rule.expr), (&wanted.alert, &wanted.expr));
                prop_assert_eq!(&rule.annotations["summary"], &wanted.summary);
                let labels: BTreeMap<String, String> =
                    wanted.labels.iter().map(|(label, value)| ((*label).to_owned(), value.clone())).collect();
                prop_assert_eq!(&rule.labels, &labels);
                prop_assert!(alerts.insert(&rule.alert), "{} twice", rule.alert);
                parser::parse(&rule.expr).map_err(|error| TestCaseError::fail(format!("{error}: {}", rule.expr)))?;
            }
        }
        // No threshold goes without a word.
        let left_out = wanted.remarks.iter().filter(|remark| remark.is_left_out).count();
        prop_assert_eq!(alerts.len() + left_out, alert.alerts.len(), "{}", text);
        if interval.is_none() {
            prop_assert!(alerts.len() >= 2, "{}", text);
        }
        // Whoever reads the comments sees one line for each.
        prop_assert!(text.chars().all(|char| char == '\n' || !char.is_control()));
    }
}
