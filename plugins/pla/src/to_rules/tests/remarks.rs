//! What is said about what rules do not say, and where it is.

use super::{Document, Host, collector, document, thresholds, told, translated, write_yaml};

#[test]
fn a_document_that_is_no_set_is_refused_with_its_place() {
    let error = Document::read("a.xml", "a", b"\n <Other/>");
    assert_eq!(error.unwrap_err(), "a.xml:2:2: `Other` is the root, where `DataCollectorSet` should be");
    let error = Host::read(b"{\"host\": \"x\",\n \"countersets\": [7]}").unwrap_err();
    assert_eq!((error.line(), error.column() > 0), (2, true));
}

#[test]
fn thresholds_that_are_left_out_are_told_with_their_places() {
    let check = |text: &str, expected: &str| {
        assert_eq!(
            told(&translated(thresholds(&[text]))),
            [format!("alerts.xml:1:59: left out: `{text}`: {expected}")]
        );
    };
    check(
        r"\Memory\Available MBytes<1,5",
        "threshold: a comma: write decimals with a point, and thousands without a separator, at character 27",
    );
    check(r"\Memori\Available MBytes<1", "web1 has no counterset `Memori`; did you mean `Memory`?");
    check(
        r"\Memory\Available Bites<1",
        "`Memory` of web1 has no counter `Available Bites`; did you mean `Available Bytes`?",
    );
}

#[test]
fn a_set_that_samples_once_or_hardly_ever_has_no_rules() {
    let check = |interval: &str, expected: &str| {
        let told = told(&translated(collector(&format!(
            "<SampleInterval>{interval}</SampleInterval><Alert>\\Memory\\Available MBytes&gt;1</Alert>"
        ))));
        assert!(told.len() == 1 && told[0].contains(expected), "{told:?}");
    };
    check(
        "-1",
        "left out: `\\Memory\\Available MBytes>1`: its SampleInterval of 0xFFFFFFFF means one sample",
    );
    check("2592001", "its SampleInterval of 2592001 s is longer than Prometheus keeps its samples");
}

#[test]
fn what_a_rule_cannot_do_is_a_note_and_not_a_failure() {
    let translated = translated(collector(
        "<SampleInterval>5</SampleInterval><Task>Tell</Task><TriggerDataCollectorSet>More</TriggerDataCollectorSet>\
         <Alert>\\Memory\\Available MBytes&gt;1</Alert>",
    ));
    assert_eq!(
        told(&translated),
        [
            "perfmon_memory_available_mbytes > 1",
            "alerts.xml:1:39: note: it samples every 5 s, and Prometheus every 15 s",
            "alerts.xml:1:39: note: the task `Tell` is not started: Alertmanager can call a webhook instead",
            "alerts.xml:1:39: note: the data collector set `More` is not started",
        ]
    );
    assert!(translated.is_complete());
    let empty = super::translated(document("<DataCollectorSet/>"));
    assert_eq!(told(&empty), ["alerts.xml:1:1: note: it has no alerts"]);
    assert!(!empty.is_complete(), "there is no rule");
}

#[test]
fn alerts_and_groups_have_names_of_their_own() {
    let twice = "<Alert>\\Memory\\Available MBytes&gt;1</Alert>".repeat(3);
    let translated = translated(document(&format!(
        "<DataCollectorSet><DisplayName> Night </DisplayName><AlertDataCollector>{twice}</AlertDataCollector>\
         <AlertDataCollector><SampleInterval>60</SampleInterval>{twice}</AlertDataCollector></DataCollectorSet>"
    )));
    let groups: Vec<_> = translated.sets[0].groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(groups, ["Night (15s)", "Night (60s)"]);
    let rules = translated.sets[0].groups.iter().flat_map(|group| &group.rules);
    let mut alerts: Vec<_> = rules.map(|rule| rule.alert.as_str()).collect();
    assert_eq!(alerts[..2], ["\\Memory\\Available MBytes>1", "\\Memory\\Available MBytes>1 (2)"]);
    alerts.sort_unstable();
    alerts.dedup();
    assert_eq!(alerts.len(), 6);
}

#[test]
fn rules_say_what_the_configuration_has_to_export_for_them() {
    let totals = "totals such as `_Total` are left out by default: write `totals: keep` at the counterset";
    let translated = translated(thresholds(&[
        r"\Processor Information(0,_Total)\% Processor Time>80",
        r"\Processor Information(*)\% Processor Time>90",
        r"\Memory\Available MBytes<100",
    ]));
    let text = write_yaml(&translated, "web1");
    assert_eq!(text.matches(totals).count(), 1, "{text}");
    let needs = "#   - {name: 'Memory'}\n#   - {name: 'Processor Information', totals: keep}\n";
    assert!(text.contains(needs), "{text}");
}

#[test]
fn a_value_that_cannot_be_read_costs_no_rule() {
    let told = told(&translated(collector(
        r"<SampleInterval>often</SampleInterval><Alert>\Memory\Available MBytes&lt;100</Alert>",
    )));
    assert!(told[0].ends_with("< 100"), "{told:?}");
    assert!(
        told[1].contains("SampleInterval` has `often`, which is no number of 32 bits: it counts as missing"),
        "{told:?}"
    );
}
