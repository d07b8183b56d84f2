//! The program while its targets change.

use crate::program::{Exporter, Folder};

const FLEET: &str = r#"
web: {listen: ["127.0.0.1:0"]}
plugins: {path: ., load: [pulse]}
scrape: {interval: 1s}
modules: {beat: {plugin: pulse}, tick: {plugin: pulse}}
target_defaults: {modules: [beat]}
targets: [{host: fixed}]
target_files: ['targets.d/*.yml']
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.plugin("pulse", "pulse.c");
    std::fs::create_dir(folder.path("targets.d")).unwrap();
    folder
}

fn replace(folder: &Folder, text: &str) {
    let beside = folder.write("targets.d/beside", text);
    std::fs::rename(beside, folder.path("targets.d/t.yml")).unwrap();
}

/// The value of a series on the page, if it is there.
fn value(page: &str, series: &str) -> Option<f64> {
    let line = page.lines().find(|line| line.starts_with(series))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// Reads the log until each part has come so often, in any order; answers the lines that hold one of them.
fn wait_for(exporter: &mut Exporter, parts: &[(&str, usize)]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let missing = |lines: &[String]| {
        parts.iter().any(|(part, count)| lines.iter().filter(|line| line.contains(part)).count() < *count)
    };
    while missing(&lines) {
        lines.push(exporter.wait_for_line(""));
    }
    lines.retain(|line| parts.iter().any(|(part, _)| line.contains(part)));
    lines
}

/// Waits until so many targets came up, and answers the page then.
fn page_with(exporter: &mut Exporter, targets: usize) -> String {
    wait_for(exporter, &[("Target is up", targets)]);
    exporter.get("/metrics").body
}

#[test]
fn targets_of_a_file_come_change_and_go_without_disturbing_the_others() {
    let folder = folder();
    replace(&folder, "- targets: [stays, changes, goes]\n  labels: {rack: '1'}\n");
    let mut exporter = folder.serve(FLEET);
    let page = page_with(&mut exporter, 4);
    let has = |page: &str, series: &str| assert!(value(page, series).is_some(), "{series}\n{page}");
    has(&page, "perfmon_exporter_target_up{target=\"fixed\"} 1");
    has(&page, "perfmon_exporter_target_file_last_read_success{file=\"targets.d/t.yml\"} 1");

    replace(
        &folder,
        "- targets: [stays, comes]\n  labels: {rack: '1'}\n- targets: [changes]\n  labels: {rack: '2', __param_module: tick}\n",
    );
    let lines = wait_for(&mut exporter, &[("Targets reloaded", 1), ("Target is up", 2)]).concat();
    assert!(lines.contains("targets=4 added=1 changed=1 removed=1"), "{lines}");
    let page = exporter.get("/metrics").body;
    assert!(!page.contains("target=\"goes\""), "{page}");
    let beats = |page: &str, target: &str, rack: &str| {
        let labels = format!("target=\"{target}\",rack=\"{rack}\",counter_instance=\"left chamber\"");
        let series = format!("perfmon_pulse_beats_total{{{labels}}}");
        value(page, &series)
    };
    // An instance that was made again counts from one; the one that stays goes on.
    assert!(beats(&page, "stays", "1") > beats(&page, "changes", "2"), "{page}");
    assert_eq!(beats(&page, "changes", "1"), None, "{page}");

    replace(&folder, "- targets: [stays, 'comes:445']\n");
    let line = exporter.wait_for_line("Target refused");
    assert!(line.contains("targets.d/t.yml:1:20: [0].targets[1]: `comes:445` is not a valid host"), "{line}");
    exporter.wait_for_line("Targets reloaded");
    let page = exporter.get("/metrics").body;
    has(&page, "perfmon_exporter_target_file_last_read_success{file=\"targets.d/t.yml\"} 1");
    has(&page, "perfmon_exporter_target_file_refused_targets{file=\"targets.d/t.yml\"} 1");
    assert!(!page.contains("target=\"comes\""), "{page}");

    replace(&folder, "targets: stays\n");
    let line = exporter.wait_for_line("Target file refused; its last good targets stay in use");
    assert!(line.contains("targets.d/t.yml:1:1: expected a list of groups, found a mapping"), "{line}");
    let page = exporter.get("/metrics").body;
    has(&page, "perfmon_exporter_target_file_last_read_success{file=\"targets.d/t.yml\"} 0");
    has(&page, "perfmon_exporter_target_up{target=\"stays\"}");

    std::fs::remove_file(folder.path("targets.d/t.yml")).unwrap();
    exporter.wait_for_line("Target file was removed");
    exporter.wait_for_line("Targets reloaded");
    let page = exporter.get("/metrics").body;
    assert!(!page.contains("target=\"stays\"") && !page.contains("target_file_targets{"), "{page}");
    has(&page, "perfmon_exporter_target_up{target=\"fixed\"} 1");
    exporter.terminate();
    assert_eq!(exporter.wait().code(), Some(0));
    let log = exporter.rest_of_log();
    assert!(!log.contains("Target is down"), "{log}");
}

#[test]
fn a_host_that_may_not_see_the_identity_costs_itself_and_not_the_file() {
    let folder = folder();
    std::fs::write(folder.path("targets.d/none.yml"), "no list\n").unwrap();
    replace(&folder, "- targets: [web1.corp, web2.other, web3.corp]\n");
    let config = FLEET
        .replace("{host: fixed}", "{host: fixed.corp}")
        .replace("{modules: [beat]}", "{identity: corp, modules: [beat]}")
        + "identities: {corp: {kind: ntlm, username: svc, password_env: NOBODYS, allow_hosts: ['*.corp']}}\n";
    folder.write("perfmon.yml", &config);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_perfmon-exporter"));
    let child = command
        .current_dir(folder.path(""))
        .args(["--config", "perfmon.yml"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut exporter = Exporter::of(child, ([127, 0, 0, 1], 0).into());
    let lines = wait_for(&mut exporter, &[("refused", 2), ("Listening", 1), ("Target is up", 3)]);
    let of =
        |part: &str| lines.iter().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{lines:?}"));
    let broken = of("Target file refused");
    assert!(broken.contains("it has no earlier targets to keep"), "{broken}");
    assert!(broken.contains("targets.d/none.yml:1:1: expected a list of groups, found text"), "{broken}");
    let refused = of("Target refused");
    assert!(refused.contains("targets.d/t.yml:1:24: [0].targets[1]: "), "{refused}");
    assert!(refused.contains("`web2.other`") && refused.contains("allow_hosts"), "{refused}");
    assert!(!lines.concat().contains("last good"), "{lines:?}");
    let address = of("Listening").split("address").nth(1).unwrap().trim_start_matches(['=', '"']);
    exporter.address = address.split(['"', ' ', '\n']).next().unwrap().parse().unwrap();
    let page = exporter.get("/metrics").body;
    let has = |line: &str| assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    has("perfmon_exporter_target_file_targets{file=\"targets.d/t.yml\"} 3");
    has("perfmon_exporter_target_file_refused_targets{file=\"targets.d/t.yml\"} 1");
    has("perfmon_exporter_target_up{target=\"web3.corp\"} 1");
    let overview = exporter.get("/").body;
    assert!(overview.contains("1 cannot be read, 1 targets are refused"), "{overview}");
    let files = exporter.get("/config").body;
    assert!(
        files.contains("t.yml:1:24: [0].targets[1]") && files.contains("The file cannot be read now.<"),
        "{files}"
    );
}

#[test]
fn a_target_shows_no_more_series_than_it_may_have() {
    let folder = folder();
    let mut exporter = folder.serve(&FLEET.replace("{host: fixed}", "{host: fixed, max_series: 1}"));
    let line = exporter.wait_for_line("Target has too many series");
    assert!(line.contains("target=\"fixed\" max_series=1 dropped=1"), "{line}");
    let page = exporter.get("/metrics").body;
    let has = |line: &str| assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    has("perfmon_exporter_series_dropped_total{target=\"fixed\",reason=\"series_limit\"} 1");
    has("perfmon_exporter_target_series{target=\"fixed\"} 1");
}

#[test]
fn the_page_tells_how_long_collections_take_and_what_waits() {
    let folder = folder();
    let counted = "perfmon_exporter_collection_duration_seconds_count{outcome=\"full\"}";
    // A target is told to be up a moment before its collection is counted.
    let page = folder.serve(FLEET).wait_for_page(|page| value(page, counted) >= Some(1.0));
    let has = |line: &str| assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    has("# TYPE perfmon_exporter_collection_duration_seconds histogram");
    has("perfmon_exporter_collection_duration_seconds_bucket{le=\"0.1\",outcome=\"failed\"} 0");
    has("perfmon_exporter_intervals_missed_total{cause=\"busy\"} 0");
    has("perfmon_exporter_intervals_missed_total{cause=\"connecting\"} 0");
    has("perfmon_exporter_connections_waiting 0");
    has("perfmon_exporter_target_collection_calls{target=\"fixed\",stage=\"plugin\"} 1");
    assert!(!page.contains("module_matches_nothing"), "{page}");
}

#[test]
fn check_config_looks_into_target_files() {
    let folder = folder();
    folder.write("perfmon.yml", FLEET);
    replace(&folder, "- targets: [a, b]\n");
    let good = folder.run(&["check-config", "perfmon.yml"]);
    let out = String::from_utf8(good.stdout).unwrap();
    assert!(good.status.success() && out.contains("OK: targets 3, modules 2"), "{out}");
    replace(&folder, "- targets: [a, fixed]\n- targets: [b]\n  labels: {__param_module: bea}\n");
    let bad = folder.run(&["check-config", "perfmon.yml"]);
    let errors = String::from_utf8(bad.stderr).unwrap();
    assert_eq!(bad.status.code(), Some(1), "{errors}");
    let expected =
        "targets.d/t.yml:3:28: [1].labels.__param_module: there is no module `bea`; did you mean `beat`?";
    assert!(errors.contains(expected), "{errors}");
}
