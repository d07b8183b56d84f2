//! The table of the exporter's own metrics, and whether a running exporter shows what it says.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::expect_file;
use perfmon_exporter::process::own_metrics;
use support::telemetry::{Metric, MetricKind};

use crate::program::Folder;

/// The table of `METRICS.md`.
fn table() -> String {
    let mut table = String::from(
        "# The exporter's own metrics\n\n\
         All of them are on `/metrics`, after the targets' series; scrapes in the protobuf format get native histograms.\n\
         No histogram has a label for targets, so the number of their series does not grow with the number of targets.\n\
         `telemetry:` sends all of them to a collector, as OpenTelemetry writes them: `perfmon_exporter_series` is\n\
         `perfmon_exporter.series`, and a unit is not in the name but beside it. Metrics of the process are called as in the\n\
         semantic conventions: `process.cpu.time`.\n\n\
         Counters by reason of the push, of alerts and of the web server start at zero for each reason, once that part is\n\
         configured, so that `rate()` and `increase()` see the first event. `perfmon_exporter_failures_total` and\n\
         `perfmon_exporter_series_dropped_total` do not: a zero for each target, stage and reason would be hundreds of\n\
         series per target. Their series start with the first event, which `increase()` does not see; match new\n\
         series, too:\n\n\
         ```promql\n\
         increase(perfmon_exporter_failures_total[15m]) > 0 or (perfmon_exporter_failures_total unless \
         perfmon_exporter_failures_total offset 15m)\n\
         ```\n\n\
         This file is written by a test: `UPDATE_EXPECT=1 cargo test -p perfmon-exporter --test it metrics_table`.\n\n\
         | metric | type | unit | labels | meaning |\n| --- | --- | --- | --- | --- |\n",
    );
    for metric in own_metrics() {
        let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        let (name, labels) = (metric.shown_name(), labels.join(", "));
        table +=
            &format!("| `{name}` | {} | {} | {labels} | {} |\n", metric.as_str(), metric.unit(), metric.help);
    }
    table
}

#[test]
fn the_table_of_own_metrics_is_up_to_date() {
    expect_file!["../../METRICS.md"].assert_eq(&table());
}

#[test]
fn own_metrics_have_names_and_words_that_readers_can_rely_on() {
    let mut names = BTreeSet::new();
    for metric in own_metrics() {
        let name = metric.name;
        assert!(names.insert(name.to_owned()), "{name} is there twice");
        assert!(names.insert(metric.otel_name()), "{name} is another's in OpenTelemetry");
        assert!(name.starts_with("perfmon_exporter_") || name.starts_with("process_"), "{name}");
        assert!(metric.help.ends_with('.') && !metric.help.contains(['\n', '|']), "{name}: {}", metric.help);
        let reserved = ["_total", "_count", "_sum", "_bucket", "_created", "_info"];
        assert!(!reserved.iter().any(|suffix| name.ends_with(suffix)), "{name}");
        if let MetricKind::Histogram(bounds) = metric.kind {
            assert!(bounds.is_sorted() && !bounds.is_empty(), "{name}");
            assert!(!metric.labels.contains(&"target"), "{name} would have a histogram for each target");
        }
    }
}

/// Name, type and help of each family on a page of OpenMetrics, and the labels that its samples have.
fn families(page: &str) -> BTreeMap<String, (String, String, BTreeSet<String>)> {
    let mut families = BTreeMap::<String, (String, String, BTreeSet<String>)>::new();
    let mut last = String::new();
    for line in page.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("HELP"), Some(name), Some(help)) => {
                families.entry(name.to_owned()).or_default().1 = help.to_owned();
            }
            (Some("#"), Some("TYPE"), Some(name), Some(kind)) => {
                families.entry(name.to_owned()).or_default().0 = kind.to_owned();
                last = name.to_owned();
            }
            (Some("#"), ..) => {}
            _ => {
                let labels = line.split_once('{').map_or("", |(_, rest)| rest.rsplit_once('}').unwrap().0);
                let names = labels.split("\",").filter_map(|pair| Some(pair.split_once('=')?.0.to_owned()));
                families.entry(last.clone()).or_default().2.extend(names.filter(|name| name != "le"));
            }
        }
    }
    families
}

#[test]
fn a_running_exporter_shows_the_metrics_of_the_table_and_no_others() {
    let folder = Folder::new();
    folder.write("secret", "x\n");
    folder.write("t.yml", "- targets: [other]\n");
    let mut exporter = folder.plugin("pulse", "pulse.c").serve(
        r#"
web: {listen: ["127.0.0.1:0"]}
plugins: {path: ., load: [pulse]}
modules: {beat: {plugin: pulse}}
identities: {svc: {kind: ntlm, domain: CORP, username: svc, password_file: secret, allow_hosts: [heart]}}
targets: [{host: heart, modules: [beat], interval: 1s, identity: svc}]
target_files: ["t.yml"]
otlp: [{endpoint: 'http://127.0.0.1:9', interval: 1s}]
alerts: {alertmanagers: [{url: 'http://127.0.0.1:9'}]}
"#,
    );
    exporter.wait_for_line("Target is up");
    exporter.wait_for_line("Collector accepts no data");
    let ask = "GET /metrics HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\
               Accept: application/openmetrics-text;version=1.0.0\r\n\r\n";
    // The first page is not counted before it ends.
    exporter.ask(ask);
    let page = exporter.ask(ask).body;
    let shown = families(&page);
    let known: BTreeMap<&str, &Metric> =
        own_metrics().into_iter().map(|metric| (metric.name, metric)).collect();
    for (name, (kind, help, labels)) in &shown {
        if name.starts_with("perfmon_pulse") || name == "perfmon_target" {
            continue;
        }
        let metric = known.get(name.as_str()).unwrap_or_else(|| panic!("`{name}` is not in the table"));
        assert_eq!((kind.as_str(), help.as_str()), (metric.as_str(), metric.help), "{name}");
        let expected: BTreeSet<String> = metric.labels.iter().map(|&label| label.to_owned()).collect();
        assert_eq!(labels, &expected, "{name}");
    }
    // What did not happen has no series yet.
    let absent: Vec<&str> = known.keys().copied().filter(|name| !shown.contains_key(*name)).collect();
    expect_test::expect![[r#"
        perfmon_exporter_alerts_up
        perfmon_exporter_failures
        perfmon_exporter_kerberos_clock_skew_seconds
        perfmon_exporter_kerberos_failures
        perfmon_exporter_kerberos_fallback_targets
        perfmon_exporter_kerberos_ticket_expiry_timestamp_seconds
        perfmon_exporter_kerberos_ticket_obtained_timestamp_seconds
        perfmon_exporter_kerberos_tickets
        perfmon_exporter_module_matches_nothing
        perfmon_exporter_otlp_queue_spans
        perfmon_exporter_otlp_spans_accepted
        perfmon_exporter_otlp_spans_lost
        perfmon_exporter_plugin_violations
        perfmon_exporter_series_dropped
        perfmon_exporter_series_dropped_by_rule
        perfmon_exporter_target_collection_received_bytes
        perfmon_exporter_target_collection_sent_bytes
        perfmon_exporter_web_auth_failures
        perfmon_exporter_web_certificate_expiry_timestamp_seconds
        perfmon_exporter_web_config_failures
        perfmon_exporter_web_config_last_read_success
        perfmon_exporter_web_handshakes_refused"#]]
    .assert_eq(&absent.join("\n"));
}
