//! What is said about what rules do not say, and where it stands.

use super::{Document, Host, collector, document, thresholds, told, translated};

#[test]
fn a_document_that_is_no_set_is_refused_with_its_place() {
    let error =
        Document::read("a.xml", "a", b"<DataCollectorSet>\n <Duration>x</Duration></DataCollectorSet>");
    assert_eq!(
        error.unwrap_err(),
        "a.xml:2:2: `DataCollectorSet/Duration` has `x`, which is no number of 32 bits"
    );
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
