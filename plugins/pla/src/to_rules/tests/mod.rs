//! Rules made of sets, over the counters of a simulated host, by the exporter's own names.

mod any;
mod expressions;
mod instances;
mod judged;
mod remarks;

use plugin_abi::FamilyDef;
use series::model::Target;
use series::pipeline::{Normalize, metric_name};

use super::host::Host;
use super::matchers::Matcher;
use super::translate::{Setting, translate};
use super::{Document, Remark, Translated, write_yaml};

/// What `discover` printed about a simulated host, without explain texts.
const WEB1: &str = include_str!("../../../tests/data/to_rules/web1.json");

fn web1() -> Host {
    Host::read(WEB1.as_bytes()).expect("discover printed it")
}

/// The names that the exporter gives metrics by default.
fn native(family: &FamilyDef<'_>) -> Option<String> {
    metric_name(Normalize::default(), Target::new("target"), family).ok()
}

fn document(xml: &str) -> Document {
    Document::read("alerts.xml", "alerts", xml.as_bytes()).expect("it is a set")
}

/// A set with one alert data collector of these elements.
fn collector(elements: &str) -> Document {
    document(&format!(
        "<DataCollectorSet><Name>Nightly</Name><AlertDataCollector>{elements}</AlertDataCollector></DataCollectorSet>"
    ))
}

fn thresholds(thresholds: &[&str]) -> Document {
    let escaped = thresholds.iter().map(|text| text.replace('&', "&amp;").replace('<', "&lt;"));
    collector(&escaped.map(|text| format!("<Alert>{text}</Alert>")).collect::<String>())
}

fn translated(document: Document) -> Translated {
    translated_with(document, |_| {})
}

fn translated_with(document: Document, change: impl FnOnce(&mut Setting<'_>)) -> Translated {
    let host = web1();
    let mut setting = Setting {
        host: &host,
        names: &native,
        scrape_s: 15,
        severity: None,
        matchers: Vec::<Matcher>::new(),
    };
    change(&mut setting);
    translate(&[document], &setting)
}

fn translated_by(host: &Host, document: Document) -> Translated {
    let (severity, matchers) = (None, Vec::new());
    translate(&[document], &Setting { host, names: &native, scrape_s: 15, severity, matchers })
}

/// The expressions, in order, and then what was said.
fn told(translated: &Translated) -> Vec<String> {
    let groups = translated.sets.iter().flat_map(|set| &set.groups);
    let rules = groups.flat_map(|group| &group.rules);
    let notes = rules.clone().flat_map(|rule| rule.notes.iter().map(|note| format!("# {note}")));
    let remarks = translated.sets.iter().flat_map(|set| &set.remarks);
    let rules = rules.clone().map(|rule| rule.expr.clone());
    rules.chain(notes).chain(remarks.map(Remark::with_file)).collect()
}

fn told_of(text: &str) -> Vec<String> {
    told(&translated(thresholds(&[text])))
}

#[test]
fn an_exported_set_becomes_a_group_of_rules_and_a_list_of_what_they_do_not_say() {
    let xml = include_str!("../../../tests/data/to_rules/nightly.xml");
    let translated = translated_with(document(xml), |setting| setting.severity = Some("warning".to_owned()));
    let text = write_yaml(&translated, "web1");
    expect_test::expect_file!["../../../tests/data/to_rules/nightly.rules.yaml"].assert_eq(&text);
    assert!(!translated.is_complete());
}
