//! A plugin's histogram, from its C to each page.

use crate::program::Folder;

#[test]
fn a_plugins_histogram_is_on_every_page() {
    let folder = Folder::new();
    let exporter = folder.plugin("waits", "waits.c").serve(
        r#"
web: {listen: ["127.0.0.1:0"]}
plugins: {path: ., load: [waits]}
scrape: {interval: 1s}
probe: {allow_targets: ['127.0.0.0/8']}
modules: {queue: {plugin: waits}}
targets: [{name: gates, host: 127.0.0.1, modules: [queue]}]
"#,
    );
    let name = "perfmon_zoo_queue_wait_seconds";
    let page = exporter.wait_for_page(|page| page.contains("perfmon_zoo_queue_wait_seconds_count"));
    let values: Vec<(&str, u32)> = page
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix("_bucket{")?.split_once("le=\""))
        .map(|(labels, rest)| {
            assert_eq!(labels, r#"target="gates",gate="a \"b\" \\c","#);
            let (le, value) = rest.split_once("\"} ").expect("a value");
            (le, value.parse().expect("a count"))
        })
        .collect();
    let collections = values[0].1;
    let expected = [("0.25", 1), ("1.0", 3), ("10.0", 3), ("+Inf", 4)];
    assert_eq!(values, expected.map(|(le, count)| (le, count * collections)));
    assert!(page.contains(&format!("# TYPE {name} histogram\n")), "{page}");
    // Prometheus makes six series of it.
    assert!(page.contains("perfmon_exporter_target_series{target=\"gates\"} 6\n"), "{page}");
    assert!(!page.contains(
        "perfmon_exporter_plugin_violations_total{plugin=\"waits\",violation=\"bad_histogram\"} 1"
    ));

    let html = exporter.get(&format!("/targets/gates/values?counter={name}")).body;
    assert!(
        html.contains("<dt>Kind</dt><dd>histogram</dd>") && html.contains(" observations</td>"),
        "{html}"
    );
    let probed = exporter.get("/probe?target=127.0.0.9&module=queue").body;
    assert!(probed.contains(&format!("{name}_count{{gate=")), "{probed}");
}
