//! Instances as matchers.

use super::{Host, thresholds, told, told_of, translated_by, translated_with, write_yaml};
use crate::to_rules::matchers::Matcher;

/// The matchers of a path, or why it has no rule.
fn matchers(path: &str) -> String {
    let told = told_of(&format!("{path}>1"));
    let first = &told[0];
    match (first.split_once('{'), first.split_once("left out: ")) {
        (_, Some((_, reason))) => reason.split_once("`: ").map_or(reason, |it| it.1).to_owned(),
        (Some((_, matchers)), _) => matchers.split('}').next().unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

#[test]
fn a_name_is_written_as_the_host_does_and_in_any_case_where_the_host_lacks_it() {
    let check = |instance, expected: &str| {
        assert_eq!(matchers(&format!(r"\LogicalDisk({instance})\% Free Space")), expected, "{instance}");
    };
    check("c:", r#"counter_instance="C:""#);
    check("_total", r#"counter_instance="_Total""#);
    check("E:", r#"counter_instance=~"(?i:E:)""#);
    check("*", "");
    check("Hard*", r#"counter_instance=~"(?i:Hard.*)""#);
    check("?:", r#"counter_instance=~"(?i:.:)""#);
    check("a.b|c (d)", r#"counter_instance=~"(?i:a\\.b\\|c \\(d\\))""#);
    check("a\"b", r#"counter_instance=~"(?i:a\"b)""#);
    check("parent/child", r#"counter_instance=~"(?i:parent/child)""#);
}

#[test]
fn a_name_with_an_identifier_is_two_labels() {
    let check = |instance, expected: &str| {
        assert_eq!(matchers(&format!(r"\Process V2({instance})\Working Set")), expected, "{instance}");
    };
    check("*", "");
    check("SMSS:320", r#"process="smss",process_id="320""#);
    check("svchost:*", r#"process="svchost",process_id!="""#);
    check("*:4", r#"process_id="4""#);
    check("svchost*", r#"process=~"(?i:svchost.*)""#);
    check("s*host", r#"process=~"(?i:s.*host)",process_id="""#);
    check("_Total", r#"process=~"(?i:_Total)",process_id="""#);
    let refused = "name and identifier are two labels";
    for instance in ["*4", "*4*", "s??*", "a:*b"] {
        assert!(matchers(&format!(r"\Process V2({instance})\Working Set")).contains(refused), "{instance}");
    }
}

#[test]
fn instances_that_share_a_name_are_watched_all() {
    let told = told_of(r"\Process(svchost)\Thread Count>1");
    assert_eq!(
        told,
        [
            r#"perfmon_process_threads{process="svchost"} > 1"#,
            "# Windows watches the first of the instances of this name, the rule each of them",
        ]
    );
    assert_eq!(matchers(r"\Process(svchost#*)\Thread Count"), r#"process="svchost""#);
    assert_eq!(
        matchers(r"\Process(svchost#2)\Thread Count"),
        "`#2`: no label says which of the instances of one name it is"
    );
}

#[test]
fn a_path_needs_an_instance_exactly_where_there_are_some() {
    assert_eq!(
        matchers(r"\Memory(x)\Available MBytes"),
        "`Memory` has no instances: write the path without one"
    );
    assert_eq!(matchers(r"\LogicalDisk\% Free Space"), "`LogicalDisk` has instances: name one, or write `*`");
}

#[test]
fn a_path_without_an_instance_means_the_sum_of_an_aggregate_counterset() {
    let host = |kind: &str, functions: [&str; 4]| {
        let counter = |id: u32, name: &str, kind: &str, base: Option<u32>, function: &str| {
            let mut counter = serde_json::json!({
                "id": id, "name": name, "type": kind, "is_helper": false, "base_id": base, "metrics": ["m"],
            });
            if !function.is_empty() {
                counter["aggregate"] = function.into();
            }
            counter
        };
        let [queue, version, size, base] = functions;
        let counters = [
            counter(3, "Queue Length", "PERF_COUNTER_RAWCOUNT", None, queue),
            counter(8, "Version", "PERF_COUNTER_RAWCOUNT", None, version),
            counter(9, "Request Size", "PERF_AVERAGE_BULK", Some(10), size),
            counter(10, "Request Size Base", "PERF_AVERAGE_BASE", None, base),
        ];
        let instances = [serde_json::json!({"name": "one"})];
        let counterset = serde_json::json!({
            "name": "Workers", "provider": "v2", "instance_type": kind, "instances": instances, "counters": counters,
        });
        serde_json::json!({"host": "web1", "countersets": [counterset]}).to_string()
    };
    let known = ["TOTAL", "UNDEFINED", "TOTAL", "TOTAL"];
    let sums = "# sums of instances are not exported by default: write `aggregate: true` at the counterset";
    let mean = "(irate(perfmon_workers_aggregate_request_size_total[60s]) / \
                (irate(perfmon_workers_aggregate_request_size_base_total[60s]) > 0) \
                or irate(perfmon_workers_aggregate_request_size_base_total[60s]) == 0) > 1";
    for (kind, functions, path, expected) in [
        ("GLOBAL_AGGREGATE", known, r"\Workers\Queue Length", "perfmon_workers_aggregate_queue_length > 1"),
        ("MULTIPLE_AGGREGATE", known, r"\Workers\Queue Length", "perfmon_workers_aggregate_queue_length > 1"),
        ("GLOBAL_AGGREGATE_HISTORY", known, r"\Workers\Request Size", mean),
        (
            "GLOBAL_AGGREGATE",
            known,
            r"\Workers(ONE)\Queue Length",
            "perfmon_workers_queue_length{counter_instance=\"one\"} > 1",
        ),
        (
            "GLOBAL_AGGREGATE",
            known,
            r"\Workers\Version",
            "the instances of `Version` cannot be added up: name one",
        ),
        ("GLOBAL_AGGREGATE", ["", "", "", ""], r"\Workers\Version", "run `discover` of this version again"),
        (
            "INSTANCE_AGGREGATE",
            known,
            r"\Workers\Queue Length",
            "`Workers` has instances: name one, or write `*`",
        ),
    ] {
        let read = Host::read(host(kind, functions).as_bytes()).unwrap();
        let translated = translated_by(&read, thresholds(&[&format!("{path}>1")]));
        let told = told(&translated);
        assert!(told[0].contains(expected), "{kind} {path}: {told:?}");
        let is_sum = told[0].contains("_aggregate_");
        assert_eq!(told.iter().any(|line| line == sums), is_sum, "{told:?}");
        let needs = "#   - {name: 'Workers', aggregate: true}\n";
        assert_eq!(write_yaml(&translated, "web1").contains(needs), is_sum, "{path}");
    }
}

#[test]
fn a_machine_and_labels_of_the_command_line_restrict_the_series() {
    let expected = r#"target=~"(?i:web-7\\.corp)""#;
    assert_eq!(matchers(r"\\web-7.corp\Memory\Available MBytes"), expected);
    let told = told(&translated_with(thresholds(&[r"\Memory\Available MBytes>1"]), |setting| {
        setting.matchers = vec![Matcher::parse("site=a\"b").unwrap()];
    }));
    assert_eq!(told, [r#"perfmon_memory_available_mbytes{site="a\"b"} > 1"#]);
    for wrong in ["site", "=x", "a-b=x", "1a=x"] {
        assert!(Matcher::parse(wrong).is_err(), "{wrong}");
    }
}
