//! Rules in a program that serves, and that reads them again.

use crate::program::{Exporter, Folder};

fn config(process: &str, changes: &str) -> String {
    format!(
        r#"
web: {{listen: ["127.0.0.1:0"], enable_lifecycle: true}}
plugins: {{path: ., load: [pulse]}}
scrape: {{interval: 1s}}
normalize: {process}
modules: {{beat: {{plugin: pulse}}}}
targets:
  - {{host: stays, modules: [beat]}}
  - {{host: changes, modules: [beat], normalize: {changes}}}
"#
    )
}

/// Waits for a line of the page that begins so.
fn wait_for(exporter: &Exporter, begin: &str) -> String {
    loop {
        let page = exporter.get("/metrics").body;
        if page.lines().any(|line| line.starts_with(begin)) {
            return page;
        }
        std::thread::yield_now();
    }
}

#[test]
fn changed_rules_make_their_targets_anew_and_leave_the_others() {
    let folder = Folder::new();
    let exporter = folder
        .plugin("pulse", "pulse.c")
        .serve(&config("{}", "{rename: [{from: perfmon_pulse_beats, to: taps}]}"));
    wait_for(&exporter, r#"perfmon_pulse_beats_total{target="stays","#);
    let page = wait_for(&exporter, r#"taps_total{target="changes","#);
    assert!(!page.contains(r#"beats_total{target="changes""#), "{page}");

    folder.write("perfmon.yml", &config("{}", "{drop: ['.*']}"));
    assert_eq!(exporter.reload().body, "reloaded: 2 targets, 0 added, 1 changed, 0 removed\n");
    let page = wait_for(&exporter, r#"perfmon_exporter_series_dropped_by_rule_total{target="changes"}"#);
    assert!(!page.contains("taps_total"), "{page}");
    wait_for(&exporter, r#"perfmon_exporter_collections_total{target="changes",outcome="full"} 1"#);
    let page = exporter.get("/metrics").body;
    for problem in ["perfmon_exporter_series_dropped_total{", "perfmon_exporter_module_matches_nothing{"] {
        assert!(!page.contains(problem), "what was asked for is no problem: {page}");
    }

    let tagged = "{naming: verbatim, metric_relabel_configs: [{target_label: site, replacement: ber}]}";
    folder.write("perfmon.yml", &config(tagged, "{naming: native}"));
    assert_eq!(exporter.reload().body, "reloaded: 2 targets, 0 added, 2 changed, 0 removed\n");
    let page = wait_for(
        &exporter,
        r#"perfmon_pulse_beats_total{target="changes",counter_instance="left chamber",site="ber"}"#,
    );
    assert!(page.contains(r#"perfmon_Pulse_Beats_total{target="stays","#), "{page}");

    folder.write("perfmon.yml", &config("{drop: ['(']}", "{}"));
    let answer = exporter.reload();
    assert_eq!(answer.status, 500);
    assert!(
        answer.body.contains("perfmon.yml:5:20: normalize.drop[0]: `(` is not a valid regular expression"),
        "{}",
        answer.body
    );
}
