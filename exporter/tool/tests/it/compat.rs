//! `compat`: what dashboards and rules read, and whether it is there.

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::Folder;

/// A dashboard with a panel for each expression, the first of which is in a row.
fn dashboard(expressions: &[&str]) -> String {
    let panel = |(index, expression): (usize, &&str)| {
        let panel = serde_json::json!({
            "type": "timeseries", "title": format!("Panel {index}"), "targets": [{"expr": expression}]
        });
        if index == 0 { serde_json::json!({"type": "row", "title": "Row", "panels": [panel]}) } else { panel }
    };
    let panels: Vec<Value> = expressions.iter().enumerate().map(panel).collect();
    serde_json::json!({"title": "Hosts", "panels": panels}).to_string()
}

fn check(folder: &Folder, arguments: &[&str], expected: &Expect) {
    let output = folder.run(&[&["compat"], arguments].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap();
    expected.assert_eq(&format!("{code}\n{}{}", text(&output.stdout), text(&output.stderr)));
}

#[test]
fn a_dashboard_whose_metrics_are_all_there_ends_with_0() {
    let folder = Folder::new();
    folder.write(
        "a.json",
        &dashboard(&[
            "sum by (core) (rate(windows_cpu_time_total{mode!=\"idle\"}[$__rate_interval]))",
            "windows_memory_available_bytes / windows_memory_physical_total_bytes and on (instance) up",
        ]),
    );
    check(
        &folder,
        &["a.json"],
        &expect![[r#"
            0
            a.json: 3 of 3 metrics are there
            (judged by profile windows_exporter@0.31, as if all were collected)

            Not from counters of Windows hosts: 1
              up

            To be collected for what is there:
              countersets: Memory, Processor Information
              facts of `host`: Memory
            `--config FILE` judges by a configuration, and says what to add to it.
        "#]],
    );
}

#[test]
fn a_matcher_of_an_instance_that_is_not_collected_is_told_with_what_to_set() {
    let folder = Folder::new();
    folder.built_plugin("pcq");
    folder.write(
        "perfmon.yml",
        "plugins: {path: ., load: [pcq]}
identities: {corp: {kind: ntlm, username: u, password_file: secret, allow_hosts: ['*']}}
modules: {os: {plugin: pcq, countersets: [{name: LogicalDisk}, {name: Processor Information, totals: keep}]}}
targets: [{host: web1, identity: corp, modules: [os]}]
",
    );
    let free = "perfmon_logical_disk_free_space_ratio";
    let config = ["--config", "perfmon.yml"];
    // Whether it is well with the configuration, and with none.
    for (expression, with_config, without) in [
        (format!("{free}{{counter_instance=\"_Total\"}}"), false, false),
        (format!("{free}{{counter_instance=~\"(?i:_total)\"}}"), false, false),
        (format!("{free}{{counter_instance=~\"C:|_Total\"}}"), true, true),
        (format!("{free}{{counter_instance!=\"_Total\"}}"), true, true),
        (format!("{free}{{counter_instance=~\".*Total\"}}"), true, true),
        (format!("{free}{{counter_instance=\"$disk\"}}"), true, true),
        (format!("{free}{{instance=\"_Total\"}}"), true, true),
        (
            "perfmon_processor_information_processor_time_ratio{counter_instance=\"_Total\"}".to_owned(),
            true,
            false,
        ),
        ("windows_logical_disk_free_bytes{volume=\"_Total\"}".to_owned(), false, false),
        ("windows_logical_disk_free_bytes{volume=\"C:\"}".to_owned(), false, true),
    ] {
        folder.write("a.json", &dashboard(&[&expression]));
        let is_good = |more: &[&str]| folder.run(&[&["compat", "a.json"], more].concat()).status.success();
        assert_eq!((is_good(&config), is_good(&[])), (with_config, without), "{expression}");
    }
    folder.write("a.json", &dashboard(&[&format!("{free}{{counter_instance=\"_Total\"}}")]));
    check(
        &folder,
        &["a.json", "--config", "perfmon.yml"],
        &expect![[r#"
        1
        a.json: 0 of 1 metrics are there
        (judged by configuration perfmon.yml, 1 target)

        Obtainable: 1
          perfmon_logical_disk_free_space_ratio{counter_instance="_Total"}
            The metric is exported, but not with counter_instance="_Total".
            next: modules.os.countersets[0].totals: keep totals, which are left out: `keep`
            read by a.json: panel "Panel 0"

        Not checked: 1
          perfmon_logical_disk_free_space_ratio
            It is a native name, which the hosts' counters decide.
            read by a.json: panel "Panel 0"

        Next steps:
          modules.os.countersets[0].totals: keep totals, which are left out: `keep`
    "#]],
    );
    check(
        &folder,
        &["a.json"],
        &expect![[r#"
        1
        a.json: 0 of 1 metrics are there
        (judged by profile windows_exporter@0.31, as if all were collected)

        Obtainable: 1
          perfmon_logical_disk_free_space_ratio{counter_instance="_Total"}
            The metric is exported, but not with counter_instance="_Total".
            next: add `totals: keep` to the counterset of `perfmon_logical_disk_free_space_ratio`: by default totals are left out
            read by a.json: panel "Panel 0"

        Not checked: 1
          perfmon_logical_disk_free_space_ratio
            It is a native name, which the hosts' counters decide.
            read by a.json: panel "Panel 0"
    "#]],
    );
}

#[test]
fn each_metric_that_is_not_there_has_a_reason_and_a_next_step() {
    let folder = Folder::new();
    folder.write(
        "a.json",
        &dashboard(&[
            "windows_cs_logical_processors",
            "windows_service_state{state=\"running\"}",
            "windows_exporter_collector_success",
            "windows_memory_availble_bytes",
            "system_memory_usage_bytes + windows_system_boot_time_timestamp_seconds",
            "perfmon_exporter_target_upp or perfmon_exporter_target_up",
            "$metric + windows_cpu_time_total",
        ]),
    );
    check(
        &folder,
        &["a.json"],
        &expect![[r#"
            1
            a.json: 2 of 10 metrics are there
            (judged by profile windows_exporter@0.31, as if all were collected)

            Renamed: 2
              windows_cs_logical_processors
                use windows_cpu_logical_processor
                It is under another collector: `cs` became `cpu`.
                read by a.json: panel "Panel 0"
              windows_system_boot_time_timestamp_seconds
                use windows_system_boot_time_timestamp
                read by a.json: panel "Panel 4"

            Obtainable: 1
              system_memory_usage_bytes
                `otel` has it.
                next: normalize.naming: otel
                read by a.json: panel "Panel 4"

            Not obtainable: 4
              perfmon_exporter_target_upp
                instead: perfmon_exporter_target_up
                The exporter has no metric of its own with this name.
                read by a.json: panel "Panel 5"
              windows_exporter_collector_success
                instead: perfmon_exporter_target_up
                It is windows_exporter's own. This program collects by target.
                read by a.json: panel "Panel 2"
              windows_memory_availble_bytes
                instead: windows_memory_available_bytes
                No naming profile of this program has it.
                read by a.json: panel "Panel 3"
              windows_service_state
                instead: perfmon_host_service_info has names and start types of services, with `max_services` in the module and `naming: {profile: windows_exporter@0.31, others: native}`
                The service control manager has it, whose protocol is not read.
                read by a.json: panel "Panel 1"

            Not checked: 1
              ${metric}
                The metric's name is the value of a variable.
                read by a.json: panel "Panel 6"

            To be collected for what is there:
              countersets: Processor Information
            `--config FILE` judges by a configuration, and says what to add to it.
        "#]],
    );
}

#[test]
fn rules_that_record_a_metric_make_it() {
    let folder = Folder::new();
    folder.write(
        "rules.yml",
        "groups:\n- name: hosts\n  rules:\n  - record: instance:windows_cpu:rate5m\n    expr: rate(windows_cpu_time_total[5m])\n  \
         - alert: Busy\n    expr: instance:windows_cpu:rate5m > 0.9\n    for: 5m\n",
    );
    folder.write("a.json", &dashboard(&["instance:windows_cpu:rate5m"]));
    check(
        &folder,
        &["a.json", "rules.yml"],
        &expect![[r#"
        0
        a.json: 1 of 1 metrics are there
        rules.yml: 2 of 2 metrics are there
        (judged by profile windows_exporter@0.31, as if all were collected)

        To be collected for what is there:
          countersets: Processor Information
        `--config FILE` judges by a configuration, and says what to add to it.
    "#]],
    );
}

#[test]
fn rules_of_kubernetes_and_mere_lists_of_rules_are_read() {
    let folder = Folder::new();
    let rule = "{alert: A, expr: windows_memory_available_bytes < 1}";
    folder.write("list.yml", &format!("- {rule}\n"));
    folder.write(
        "kubernetes.yml",
        &format!("kind: PrometheusRule\nspec: {{groups: [{{name: a, rules: [{rule}]}}]}}\n"),
    );
    folder.write(
        "object.json",
        &format!(
            "{{\"groups\": [{{\"rules\": [{}]}}]}}",
            rule.replace("alert: A, expr: ", "\"expr\": \"").replace('}', "\"}")
        ),
    );
    let output = folder.run(&["compat", "list.yml", "kubernetes.yml", "object.json"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), shown.matches("1 of 1 metrics are there").count()),
        (Some(0), 3),
        "{shown}"
    );
}

/// The only metric that is read, and the place.
fn read_by(file: &str, content: &str) -> (String, Option<i32>) {
    let folder = Folder::new();
    folder.write(file, content);
    let output = folder.run(&["compat", "--format", "json", file]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let metrics = report["metrics"].as_array().unwrap().iter();
    let read = metrics.map(|metric| format!("{} {}", metric["name"], metric["read_by"][0]["place"]));
    let refused = report["unreadable"].as_array().unwrap().iter();
    let refused = refused.map(|refused| format!("{}: {}", refused["place"], refused["message"]));
    (
        read.chain(refused).collect::<Vec<_>>().join("; ").replace("\\\"", "'").replace('"', ""),
        output.status.code(),
    )
}

#[test]
fn expressions_are_found_in_whatever_grafana_and_kubernetes_keep_them() {
    const EXPR: &str = "windows_memory_available_bytes";
    let alert = format!(
        "{{uid: a, title: Low, condition: B, data: [{{refId: A, model: {{expr: {EXPR}}}}}, \
         {{refId: B, datasourceUid: __expr__, model: {{type: threshold, expression: A}}}}]}}"
    );
    let query = |group: &str, expr: &str| {
        serde_json::json!({"kind": "PanelQuery", "spec": {"refId": "A", "query": {
            "kind": "DataQuery", "group": group, "spec": {"expr": expr}}}})
    };
    let panel = |group: &str| {
        serde_json::json!({"kind": "Panel", "spec": {"id": 1, "title": "p", "data": {
            "kind": "QueryGroup", "spec": {"queries": [query(group, EXPR)]}}}})
    };
    let v2 = |parts: &Value| {
        serde_json::json!({"apiVersion": "dashboard.grafana.app/v2beta1", "kind": "Dashboard", "spec": parts})
            .to_string()
    };
    let elements = |panel: Value| serde_json::json!({"elements": {"panel-1": panel}, "variables": []});
    let classic = dashboard(&[EXPR]);
    let indented = |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
    let config_map = format!(
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  unit: 'a {{'\n  a.json: |\n{}",
        indented(&classic)
    );
    let rules = format!("groups: [{{name: a, rules: [{{record: x, expr: {EXPR}}}]}}]\n");
    let table = [
        (
            "alerts.yml",
            format!("apiVersion: 1\ngroups: [{{name: g, rules: [{alert}]}}]\n"),
            "alert 'Low' on line 2",
        ),
        (
            "rule.yml",
            format!("title: Low\ncondition: B\ndata: [{{model: {{expr: {EXPR}}}}}]\n"),
            "alert 'Low' on line 3",
        ),
        ("rules.yml", format!("- {alert}\n"), "alert 'Low' on line 1"),
        (
            "operator.yml",
            format!("kind: GrafanaAlertRuleGroup\nspec: {{rules: [{alert}]}}\n"),
            "alert 'Low' on line 2",
        ),
        ("v2.json", v2(&elements(panel("prometheus"))), "panel 'p'"),
        (
            "v2.yml",
            format!("---\n# A dashboard as code\n{}\n", v2(&elements(panel("prometheus")))),
            "panel 'p'",
        ),
        ("bare.json", elements(panel("prometheus")).to_string(), "panel 'p'"),
        (
            "variable.json",
            v2(&serde_json::json!({"elements": {}, "variables": [
                {"kind": "IntervalVariable", "spec": {"name": "i", "query": "1m"}},
                {"kind": "QueryVariable", "spec": {"name": "l", "query": {
                    "kind": "DataQuery", "group": "loki", "spec": {"query": "no promql ("}}}},
                {"kind": "QueryVariable", "spec": {"name": "host", "query": {
                    "kind": "DataQuery", "group": "prometheus", "spec": {"query": format!("label_values({EXPR}, a)")}}}},
            ]})),
            "variable 'host'",
        ),
        (
            "annotation.json",
            v2(&serde_json::json!({"elements": {}, "annotations": [
                {"kind": "AnnotationQuery", "spec": {"name": "boots", "query": query("prometheus", EXPR)}}]})),
            "annotation 'boots'",
        ),
        ("map.yml", config_map.clone(), "a.json: panel 'Panel 0'"),
        (
            "map.json",
            serde_json::json!({"kind": "ConfigMap", "data": {"a.json": classic}}).to_string(),
            "a.json: panel 'Panel 0'",
        ),
        (
            "list.yml",
            format!(
                "kind: List\nitems:\n- {{kind: ConfigMap, data: {{r.yml: {}}}}}\n",
                serde_json::json!(rules)
            ),
            "r.yml: rule 'x' on line 1",
        ),
        (
            "stream.yml",
            format!("kind: Deployment\n---\nkind: PrometheusRule\nspec:\n  {rules}---\n"),
            "rule 'x' on line 5",
        ),
        (
            "resource.yml",
            format!("kind: GrafanaDashboard\nspec:\n  json: |\n{}", indented(&classic)),
            "panel 'Panel 0'",
        ),
    ];
    for (file, content, place) in table {
        assert_eq!(read_by(file, &content), (format!("{EXPR} {place}"), Some(0)), "{file}: {content}");
    }
}

#[test]
fn a_file_without_an_expression_that_was_read_is_never_good() {
    let library = serde_json::json!({"panels": [{"title": "L", "libraryPanel": {"uid": "u"}}]});
    let in_v2 = serde_json::json!({"elements": {"a": {"kind": "LibraryPanel", "spec": {"title": "L", "libraryPanel": {}}}}});
    let nothing = ": has no PromQL expression; what is read is in docs/naming.md";
    let away = "panel 'L': is a library panel, whose queries are not in the file; export the dashboard for sharing, \
                which has them";
    for (file, content, expected, code) in [
        ("a.json", r#"{"panels": [{"type": "text", "title": "x"}]}"#.to_owned(), nothing, 2),
        (
            "b.json",
            r#"{"panels": [{"targets": [{"datasource": {"type": "loki"}, "expr": "{a=\"b\"}"}]}]}"#
                .to_owned(),
            nothing,
            2,
        ),
        ("c.yml", "groups: []\n".to_owned(), nothing, 2),
        (
            "d.yml",
            "kind: ConfigMap\ndata: {a.txt: b}\n".to_owned(),
            ": is neither a Grafana dashboard (`panels`) nor a rule file (`groups`)",
            2,
        ),
        (
            "e.yml",
            "kind: ConfigMap\ndata: {a.json: '{'}\n".to_owned(),
            "a.json: is no JSON: EOF while parsing an object at line 1 column 1",
            1,
        ),
        ("f.json", library.to_string(), away, 1),
        ("g.json", in_v2.to_string(), away, 1),
        (
            "h.yml",
            "groups: [{rules: [{alert: A}]}]\n".to_owned(),
            "alert 'A' on line 1: the rule has no `expr`",
            1,
        ),
    ] {
        assert_eq!(read_by(file, &content), (expected.to_owned(), Some(code)), "{file}: {content}");
    }
    let with_its_panels = serde_json::json!({
        "__elements": {"u": {"model": {"title": "L", "type": "stat", "targets": [{"expr": "windows_os_info"}]}}},
        "panels": [{"title": "L", "libraryPanel": {"uid": "u"}}],
    });
    let read = read_by("shared.json", &with_its_panels.to_string());
    assert_eq!(read, ("windows_os_info panel 'L'".to_owned(), Some(0)));
}

#[test]
fn what_is_said_of_services_is_true_of_what_is_read() {
    let folder = Folder::new();
    folder.write(
        "a.json",
        &dashboard(&["windows_service_start_mode or windows_service_info or windows_service_state"]),
    );
    let output = folder.run(&["compat", "a.json"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        shown.matches("The service control manager has it, whose protocol is not read.").count(),
        1,
        "{shown}"
    );
    assert_eq!(shown.matches("instead: perfmon_host_service_info").count(), 3, "{shown}");
}

#[test]
fn variables_and_annotations_of_a_dashboard_are_read() {
    let folder = Folder::new();
    let text = serde_json::json!({
        "panels": [],
        "templating": {"list": [
            {"name": "host", "type": "query", "query": {"query": "label_values(windows_os_infos, instance)"}},
            {"name": "logs", "type": "query", "datasource": {"type": "loki"}, "query": "no promql ("},
            {"name": "step", "type": "interval", "query": "1m,5m"},
        ]},
        "annotations": {"list": [{"name": "Boots", "expr": "changes(windows_system_boot_times[5m])"}]},
    });
    folder.write("a.json", &text.to_string());
    let output = folder.run(&["compat", "--format", "json", "a.json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let read: Vec<(&str, &str)> = report["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|metric| (metric["name"].as_str().unwrap(), metric["read_by"][0]["place"].as_str().unwrap()))
        .collect();
    let expected =
        [("windows_os_infos", "variable \"host\""), ("windows_system_boot_times", "annotation \"Boots\"")];
    assert_eq!(read, expected);
}

#[test]
fn json_has_what_the_documents_promise() {
    let folder = Folder::new();
    folder.write("a.json", &dashboard(&["windows_cs_logical_processors", "rate("]));
    check(
        &folder,
        &["--format", "json", "a.json"],
        &expect![[r#"
            1
            {
              "files": [
                {
                  "file": "a.json",
                  "metrics": 1,
                  "there": 0,
                  "unreadable": 1
                }
              ],
              "judged_by": "profile windows_exporter@0.31, as if all were collected",
              "metrics": [
                {
                  "instead": "windows_cpu_logical_processor",
                  "name": "windows_cs_logical_processors",
                  "next_steps": [],
                  "read_by": [
                    {
                      "file": "a.json",
                      "place": "panel \"Panel 0\""
                    }
                  ],
                  "reason": "It is under another collector: `cs` became `cpu`.",
                  "verdict": "renamed"
                }
              ],
              "ok": false,
              "schema_version": 1,
              "unreadable": [
                {
                  "file": "a.json",
                  "message": "unclosed left parenthesis",
                  "place": "panel \"Panel 1\""
                }
              ]
            }
        "#]],
    );
}

#[test]
fn an_expression_that_is_no_promql_is_reported_with_its_place() {
    let folder = Folder::new();
    folder.write(
        "rules.yml",
        "groups:\n- rules:\n  - alert: A\n    expr: up\n  - alert: B\n    expr: 'rate(up'\n",
    );
    check(
        &folder,
        &["rules.yml"],
        &expect![[r#"
        1
        rules.yml: 0 of 0 metrics are there, 1 expression cannot be read
        (judged by profile windows_exporter@0.31, as if all were collected)

        Not from counters of Windows hosts: 1
          up

        Not readable: 1
          rules.yml: alert "B" on line 6: unclosed left parenthesis
    "#]],
    );
}

#[test]
fn files_that_cannot_be_read_and_profiles_that_do_not_exist_end_with_2() {
    let folder = Folder::new();
    folder.write("list.json", "[1]");
    folder.write("other.json", "{\"a\": 1}");
    folder.write("empty.yml", "");
    folder.write("half.json", "{\"panels\": [");
    folder.write("deep.json", &format!("{{\"panels\": {}", "[".repeat(100_000)));
    folder.write("bytes.yml", "groups:\n- rules: \u{7}\n");
    check(
        &folder,
        &["missing.json", "list.json", "other.json", "half.json", "empty.yml", "deep.json", "bytes.yml", "."],
        &expect![[r#"
            2
            (judged by profile windows_exporter@0.31, as if all were collected)

            Not readable: 8
              missing.json: cannot be read: No such file or directory (os error 2)
              list.json: is neither a Grafana dashboard (`panels`) nor a rule file (`groups`)
              other.json: is neither a Grafana dashboard (`panels`) nor a rule file (`groups`)
              half.json: is no JSON: EOF while parsing a list at line 1 column 12
              empty.yml: is empty
              deep.json: is no JSON: recursion limit exceeded at line 1 column 138
              bytes.yml: 2:10: unexpected character: `\u{7}'
              .: is a folder, not a file
        "#]],
    );
    check(
        &folder,
        &["--naming", "windows_exporter@0.13", "other.json"],
        &expect![[r#"
        2
        --naming windows_exporter@0.13: there is no such profile; did you mean `windows_exporter@0.31`?
    "#]],
    );
}

#[test]
fn what_a_file_says_cannot_change_the_terminal() {
    let folder = Folder::new();
    let text = serde_json::json!({"panels": [
        {"type": "row\u{1b}", "title": "\u{1b}[2Jcleared\u{202e}\n", "targets": [{"expr": "windows_a\u{1b}("}]}
    ]});
    folder.write("a.json", &text.to_string());
    let output = folder.run(&["compat", "a.json"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("cleared"), "{shown}");
    assert!(
        !shown.contains(|char: char| (char.is_control() && char != '\n') || char == '\u{202e}'),
        "{shown:?}"
    );
}

#[test]
fn a_configuration_is_judged_by_what_its_plugins_say() {
    let folder = Folder::new();
    folder.plugin("selects");
    folder.write(
        "zoo.yml",
        "objects:\n- namespace: zoo\n  object: cow\n  metrics:\n  \
         - {name: windows_cow_milk, type: gauge, item: milk, part: base}\n  - {name: windows_cow_age, type: gauge, item: age}\n\
         - object: horse\n  metrics: [{name: windows_horse_speed, type: gauge, item: speed}]\n\
         - object: stone\n  metrics: [{name: windows_stone_size, type: gauge, item: size}]\n",
    );
    folder.write(
        "perfmon.yml",
        "plugins: {path: ., load: [selects]}\nnormalize: {naming: {file: zoo.yml}}\nmodules: {farm: {plugin: selects}}\n\
         targets: [{host: a, modules: [farm]}]\n",
    );
    folder.write(
        "a.json",
        &dashboard(&[
            "windows_cow_milk + windows_cow_age",
            "windows_horse_speed",
            "windows_stone_size",
            "windows_cs_logical_processors",
        ]),
    );
    check(
        &folder,
        &["--config", "perfmon.yml", "a.json"],
        &expect![[r#"
            1
            a.json: 1 of 5 metrics are there
            (judged by configuration perfmon.yml, 1 target)

            Obtainable: 2
              windows_cs_logical_processors
                `windows_exporter@0.30` has it.
                next: normalize.naming: windows_exporter@0.30
                read by a.json: panel "Panel 3"
              windows_horse_speed
                No module collects everything that it is made of.
                next: modules.farm.food: feed it: `hay`
                read by a.json: panel "Panel 1"

            Not obtainable: 1
              windows_stone_size
                No module collects everything that it is made of.
                read by a.json: panel "Panel 2"

            Not checked: 1
              windows_cow_age
                Only a host can tell whether the module collects what it is made of.
                read by a.json: panel "Panel 0"

            Next steps:
              modules.farm.food: feed it: `hay`
              normalize.naming: windows_exporter@0.30
        "#]],
    );
    check(
        &folder,
        &["--config", "missing.yml", "a.json"],
        &expect![[r#"
        2
        missing.yml: cannot be read: No such file or directory (os error 2); name a readable file with --config
    "#]],
    );
}
