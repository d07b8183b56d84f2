//! A configuration that changes while the program runs.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::program::{Exporter, Folder};

/// Two targets and what a test adds at the top level.
fn config(targets: &str, more: &str) -> String {
    format!(
        r#"
web: {{listen: ["127.0.0.1:0"], enable_lifecycle: true}}
plugins: {{path: ., load: [pulse]}}
scrape: {{interval: 1s}}
modules: {{beat: {{plugin: pulse}}, again: {{plugin: pulse}}}}
{more}
targets:
{targets}
"#
    )
}

const BOTH: &str = "  - {host: stays, modules: [beat]}\n  - {host: changes, modules: [beat]}\n";

fn pulse(targets: &str, more: &str) -> (Folder, Exporter) {
    let folder = Folder::new();
    let exporter = folder.plugin("pulse", "pulse.c").serve(&config(targets, more));
    (folder, exporter)
}

/// Replaces the file in one go, so that nobody reads half of it.
fn put(folder: &Folder, text: &str) {
    let new = folder.write("new.yml", text);
    std::fs::rename(new, folder.path("perfmon.yml")).unwrap();
}

/// The value of a series, where a page has it.
fn value(page: &str, series: &str) -> Option<f64> {
    page.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok())
}

fn beats_on(page: &str, target: &str) -> Option<f64> {
    let series =
        format!("perfmon_pulse_beats_total{{target=\"{target}\",counter_instance=\"left chamber\"}}");
    value(page, &series)
}

fn beats(exporter: &Exporter, target: &str) -> Option<f64> {
    beats_on(&exporter.get("/metrics").body, target)
}

/// Waits until a target was collected so often.
fn wait_for_beats(exporter: &Exporter, target: &str, count: f64) {
    exporter.wait_for_page(|page| beats_on(page, target).unwrap_or_default() >= count);
}

fn own(exporter: &Exporter, name: &str) -> Option<f64> {
    value(&exporter.get("/metrics").body, &format!("perfmon_exporter_{name} "))
}

#[test]
fn targets_come_change_and_go_and_the_others_do_not_notice() {
    let (folder, mut exporter) = pulse(&format!("{BOTH}  - {{host: goes, modules: [beat]}}\n"), "");
    wait_for_beats(&exporter, "stays", 2.0);
    let began = own(&exporter, "config_last_reload_success_timestamp_seconds").unwrap();
    let targets = "  - {host: comes, modules: [beat]}\n  - {host: changes, modules: [again]}\n  - {host: stays, modules: [beat]}\n";
    folder.write("perfmon.yml", &config(targets, ""));
    let answer = exporter.reload();
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, "reloaded: 3 targets, 1 added, 1 changed, 1 removed\n")
    );
    exporter.wait_for_line("Configuration reloaded cause=\"HTTP\" targets=3 added=1 changed=1 removed=1");
    wait_for_beats(&exporter, "comes", 1.0);
    wait_for_beats(&exporter, "changes", 1.0);
    // An instance that was made again counts from one; the one that stays goes on.
    assert!(beats(&exporter, "stays") > beats(&exporter, "changes"));
    assert_eq!(beats(&exporter, "goes"), None);
    assert!(own(&exporter, "config_last_reload_success_timestamp_seconds").unwrap() > began);
    assert_eq!(own(&exporter, "config_last_reload_successful"), Some(1.0));
    assert_eq!(own(&exporter, "config_reloads_total{outcome=\"success\"}"), Some(1.0));
}

#[test]
fn a_broken_file_changes_nothing_and_is_told_where_it_is_broken() {
    let (folder, mut exporter) = pulse(BOTH, "");
    let broken = [
        (config("  - {host: other, modules: [baet]}\n", ""), "perfmon.yml:8:29: targets[0]"),
        (config("  - {host: [", ""), "perfmon.yml:"),
        (config(BOTH, "").replace("load: [pulse]", "load: [pulse, nothing]"), "plugins.load[1]"),
    ];
    for (text, place) in &broken {
        folder.write("perfmon.yml", text);
        let answer = exporter.reload();
        assert_eq!(answer.status, 500);
        assert!(
            answer.body.starts_with("configuration refused, the previous one stays in use:\nperfmon.yml")
        );
        assert!(answer.body.contains(place), "{}", answer.body);
        let line = exporter.wait_for_line("Configuration refused; the previous one stays in use");
        assert!(line.contains(place), "{line}");
    }
    std::fs::remove_file(folder.path("perfmon.yml")).unwrap();
    assert_eq!(exporter.reload().status, 500);
    assert_eq!(own(&exporter, "config_last_reload_successful"), Some(0.0));
    assert_eq!(own(&exporter, "config_reloads_total{outcome=\"failure\"}"), Some(4.0));
    let before = beats(&exporter, "stays").unwrap_or_default();
    wait_for_beats(&exporter, "stays", before + 2.0);
    assert_eq!(exporter.get("/-/ready").status, 200);

    folder.write("perfmon.yml", &config(BOTH, ""));
    assert_eq!(exporter.reload().body, "reloaded: 2 targets, 0 added, 0 changed, 0 removed\n");
    assert!(beats(&exporter, "stays").unwrap() >= before + 2.0, "it went on");
    assert_eq!(own(&exporter, "config_last_reload_successful"), Some(1.0));
}

#[test]
fn who_may_not_ask_over_http_is_told_how_to_ask() {
    let (folder, mut exporter) = pulse(BOTH, "");
    let get = exporter.get("/-/reload");
    assert_eq!(get.status, 405);
    assert!(get.head.contains("allow: POST, PUT"), "{}", get.head);
    // A page of another site, in the browser of somebody who reaches us. Without TLS browsers say less.
    let posted = |header: &str| {
        exporter.ask(&format!(
            "POST /-/reload HTTP/1.1\r\nHost: here:9483\r\n{header}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        ))
    };
    for forged in [
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site\r\nOrigin: http://here:9483",
        "Origin: http://evil.example",
        "Origin: http://here:8080",
        "Origin: null",
        "Origin: http://here:9483.evil.example",
    ] {
        assert_eq!(posted(forged).status, 403, "{forged}");
    }
    assert_eq!(own(&exporter, "config_reloads_total{outcome=\"success\"}"), Some(0.0));

    for ours in ["Origin: http://here:9483", "Sec-Fetch-Site: same-origin\r\nOrigin: https://proxy.example"] {
        assert_eq!(posted(ours).status, 200, "{ours}");
    }

    folder.write("perfmon.yml", &config(BOTH, "").replace(", enable_lifecycle: true", ""));
    assert_eq!(exporter.reload().status, 200);
    let refused = exporter.reload();
    assert_eq!(refused.status, 403);
    assert!(refused.body.contains("web.enable_lifecycle: true") && refused.body.contains("SIGHUP"));
    // SIGHUP comes from who may end the process as well.
    folder.write("perfmon.yml", &config(BOTH, ""));
    exporter.signal("HUP");
    exporter.wait_for_line("Configuration reloaded cause=\"SIGHUP\"");
    assert_eq!(exporter.reload().status, 200);
}

#[test]
fn what_needs_a_restart_is_told_and_the_rest_is_applied() {
    let (folder, mut exporter) = pulse(BOTH, "");
    let elsewhere = |listen: &str| {
        config("  - {host: stays, modules: [beat]}\n", "credentials: {state_dir: state}")
            .replace("127.0.0.1:0", listen)
    };
    // A backup that links to a library, and other rights, replace nothing.
    std::fs::hard_link(folder.path("libplugin_pulse.so"), folder.path("backup.so")).unwrap();
    std::fs::set_permissions(folder.path("backup.so"), Permissions::from_mode(0o700)).unwrap();
    assert_eq!(exporter.reload().body, "reloaded: 2 targets, 0 added, 0 changed, 0 removed\n");
    folder.write("perfmon.yml", &elsewhere("127.0.0.2:0"));
    // The same library, as an upgrade puts it in place of the old one.
    std::fs::copy(folder.path("libplugin_pulse.so"), folder.path("new.so")).unwrap();
    std::fs::rename(folder.path("new.so"), folder.path("libplugin_pulse.so")).unwrap();
    let answer = exporter.reload();
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (
            200,
            "reloaded: 1 targets, 0 added, 0 changed, 1 removed\nneeds a restart: `web.listen`\n\
             needs a restart: `credentials.state_dir`\nneeds a restart: plugin `pulse`, whose file has changed\n"
        )
    );
    exporter.wait_for_line("This part of the configuration needs a restart part=\"`web.listen`\"");
    assert_eq!(own(&exporter, "config_needs_restart"), Some(1.0));
    assert_eq!(beats(&exporter, "changes"), None);
}

#[test]
fn a_storm_of_signals_and_requests_is_a_few_reloads_and_all_are_answered() {
    let (folder, mut exporter) = pulse(BOTH, "");
    let targets: String =
        (0..200).map(|number| format!("  - {{host: t{number}, modules: [beat, again]}}\n")).collect();
    for round in 0..4 {
        let text = if round % 2 == 0 { config(&format!("{BOTH}{targets}"), "") } else { config(BOTH, "") };
        put(&folder, &text);
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let asking: Vec<_> = (0..8).map(|_| scope.spawn(|| exporter.reload().status)).collect();
            (0..20).for_each(|_| exporter.signal("HUP"));
            asking.into_iter().map(|asking| asking.join().unwrap()).collect()
        });
        assert_eq!(statuses, [200; 8]);
    }
    // What is asked for last is in use, and the log has a line for each reload.
    put(&folder, &config(BOTH, "config: {watch: false}"));
    assert_eq!(exporter.reload().body, "reloaded: 2 targets, 0 added, 0 changed, 0 removed\n");
    let reloads = own(&exporter, "config_reloads_total{outcome=\"success\"}").unwrap();
    assert!((5.0..=113.0).contains(&reloads), "{reloads}");
    assert_eq!(own(&exporter, "config_reloads_total{outcome=\"failure\"}"), Some(0.0));
    let before = beats(&exporter, "stays").unwrap_or_default();
    wait_for_beats(&exporter, "stays", before + 1.0);
    exporter.terminate();
    assert_eq!(exporter.wait().code(), Some(0));
    let log = exporter.rest_of_log();
    assert!(!log.contains("Target is down"), "{log}");
}

#[test]
fn a_file_under_watch_is_read_when_it_changes_and_a_broken_one_once() {
    let watch = "config: {watch: true, watch_interval: 1s}";
    let (folder, mut exporter) = pulse(BOTH, watch);
    put(&folder, &config("  - {host: stays, modules: [beat]}\n", watch));
    exporter
        .wait_for_line("Configuration reloaded cause=\"file changed\" targets=1 added=0 changed=0 removed=1");
    put(&folder, &config("  - {host: stays, modules: [baet]}\n", watch));
    exporter.wait_for_line("Configuration refused; the previous one stays in use cause=\"file changed\"");
    // The next thing that happens is another change, and not the same refusal again.
    put(&folder, &config("  - {host: stays, modules: [beat]}\n", ""));
    let line = exporter.wait_for_line("Configuration re");
    assert!(line.contains("Configuration reloaded cause=\"file changed\""), "{line}");
    assert_eq!(own(&exporter, "config_reloads_total{outcome=\"failure\"}"), Some(1.0));
}

#[test]
fn the_level_of_the_log_changes_unless_the_command_line_says_it() {
    let folder = Folder::new();
    folder.plugin("pulse", "pulse.c");
    let level = |level: &str| config(BOTH, &format!("log: {{level: {level}}}"));
    let program = env!("CARGO_BIN_EXE_perfmon-exporter");
    for (arguments, is_fixed) in [(&[][..], false), (&["--log.level", "info"], true)] {
        folder.write("perfmon.yml", &level("info"));
        let mut exporter = folder.begin(&mut std::process::Command::new(program), arguments);
        folder.write("perfmon.yml", &level("error"));
        assert_eq!(exporter.reload().status, 200);
        folder.write("perfmon.yml", &level("eror"));
        let refused = exporter.reload();
        assert!(
            refused.body.contains("log.level: `eror` is no level; did you mean `error`?"),
            "{}",
            refused.body
        );
        exporter.terminate();
        exporter.wait();
        assert_eq!(exporter.rest_of_log().contains("Stopped"), is_fixed);
    }
}

#[test]
fn plugins_are_added_and_those_that_are_named_again_are_still_there() {
    let (folder, exporter) = pulse(BOTH, "");
    folder.plugin("stall", "stall.c");
    let more = config(&format!("{BOTH}  - {{host: alive, modules: [all]}}\n"), "")
        .replace("load: [pulse]", "load: [pulse, stall]")
        .replace("modules: {beat", "modules: {all: {plugin: stall}, beat");
    for _ in 0..2 {
        folder.write("perfmon.yml", &more);
        assert_eq!(exporter.reload().body, "reloaded: 3 targets, 1 added, 0 changed, 0 removed\n");
        exporter.wait_for_page(|page| page.contains("perfmon_exporter_target_up{target=\"alive\"} 1\n"));
        assert!(exporter.get("/metrics").body.contains("plugin_info{plugin=\"stall\""));
        folder.write("perfmon.yml", &config(BOTH, ""));
        assert_eq!(exporter.reload().body, "reloaded: 2 targets, 0 added, 0 changed, 1 removed\n");
        assert!(!exporter.get("/metrics").body.contains("plugin_info{plugin=\"stall\""));
    }
}

#[test]
fn limits_of_the_server_and_of_the_schedule_change() {
    let (folder, exporter) = pulse(BOTH, "");
    wait_for_beats(&exporter, "stays", 1.0);
    let text = config(BOTH, "")
        .replace("enable_lifecycle", "metrics_targets: false, header_timeout: 100ms, enable_lifecycle");
    folder.write(
        "perfmon.yml",
        &text.replace("interval: 1s", "interval: 1s, max_concurrent: 1, connect_rate: 1"),
    );
    assert_eq!(exporter.reload().status, 200);
    assert!(!exporter.get("/metrics").body.contains("perfmon_pulse_beats"));
    let mut silent = exporter.connect();
    let mut answer = Vec::new();
    // Its end, or a reset, and not the patience of this test.
    let _ = std::io::Read::read_to_end(&mut silent, &mut answer);
    folder.write("perfmon.yml", &config(BOTH, ""));
    assert_eq!(exporter.reload().status, 200);
    let before = beats(&exporter, "stays").unwrap();
    wait_for_beats(&exporter, "stays", before + 1.0);
}

#[test]
fn a_target_file_that_is_broken_keeps_its_targets_over_a_reload() {
    let folder = Folder::new();
    folder.write("t.yml", "- targets: [a, b]\n- targets: [c]\n  labels: {__param_module: again}\n");
    let files = "target_defaults: {modules: [beat]}\ntarget_files: [t.yml]\n";
    let exporter = folder.plugin("pulse", "pulse.c").serve(&config("", files));
    wait_for_beats(&exporter, "a", 1.0);
    folder.write("t.yml", "- targets: [");
    // The module of `c` goes, and `c` with it.
    let fewer = config("", files).replace(", again: {plugin: pulse}", "");
    folder.write("perfmon.yml", &fewer);
    assert_eq!(exporter.reload().body, "reloaded: 2 targets, 0 added, 0 changed, 1 removed\n");
    folder.write("t.yml", "- targets: [a, d]\n");
    assert_eq!(exporter.reload().body, "reloaded: 2 targets, 1 added, 0 changed, 1 removed\n");
    folder.write("perfmon.yml", &config(BOTH, ""));
    assert_eq!(exporter.reload().body, "reloaded: 2 targets, 2 added, 0 changed, 2 removed\n");
}

#[test]
fn a_file_that_is_never_read_to_its_end_does_not_keep_the_program_from_its_own() {
    let (folder, mut exporter) = pulse(BOTH, "");
    let made = std::process::Command::new("mkfifo").arg(folder.path("new.yml")).status().unwrap();
    assert!(made.success());
    std::fs::rename(folder.path("new.yml"), folder.path("perfmon.yml")).unwrap();
    exporter.signal("HUP");
    // Opened once the program reads it, which it does from now on.
    let writer = std::fs::OpenOptions::new().write(true).open(folder.path("perfmon.yml")).unwrap();
    exporter.terminate();
    let (ended, patience) = std::sync::mpsc::channel::<()>();
    let letting_go = std::thread::spawn(move || {
        // A program that waits for the file would wait for ever.
        let _ = patience.recv_timeout(std::time::Duration::from_secs(30));
        drop(writer);
    });
    assert!(exporter.wait().success());
    let log = exporter.rest_of_log();
    assert!(log.contains("Stopped") && !log.contains("Configuration refused"), "{log}");
    drop(ended);
    letting_go.join().unwrap();
}

#[test]
fn a_configuration_that_became_a_pipe_fails_the_reload_and_not_those_after_it() {
    let (folder, mut exporter) = pulse(BOTH, "");
    let made = std::process::Command::new("mkfifo").arg(folder.path("new.yml")).status().unwrap();
    assert!(made.success());
    std::fs::rename(folder.path("new.yml"), folder.path("perfmon.yml")).unwrap();
    let answer = exporter.reload();
    assert!(
        answer.status == 500 && answer.body.contains("was not read to its end within 5 s"),
        "{}",
        answer.body
    );
    exporter.wait_for_line("Configuration refused");
    assert_eq!(own(&exporter, "config_last_reload_successful"), Some(0.0));
    put(&folder, &config(BOTH, ""));
    assert_eq!(exporter.reload().status, 200);
    assert_eq!(own(&exporter, "config_last_reload_successful"), Some(1.0));
}

#[test]
fn a_warning_of_a_plugin_is_logged_once_at_the_start_and_once_at_a_reload_as_the_check_says_it() {
    let text = |port: u16, more: &str| {
        format!(
            "web: {{listen: ['127.0.0.1:{port}'], enable_lifecycle: true}}\nplugins: {{path: ., load: [wary]}}\n\
             modules: {{os: {{plugin: wary, animals: [{{}}, {{food: hey}}]}}}}\n\
             targets:\n  - {{host: a, modules: [os]}}\n  - {{host: b, modules: [os]}}\n{more}"
        )
    };
    let twice = "  - {name: again, host: A, modules: [os]}\n";
    let folder = Folder::new();
    folder.plugin("wary", "wary.c");
    let words = [
        "modules.os.animals[1].food: stale food `hey`; did you mean `hay`?",
        "targets[2] (again): collects from host `A`, as target `a` on line 5 does; ",
    ];
    let counts = |log: &str| {
        let is_it = |line: &&str, words: &str| line.contains("WARN Configuration ") && line.contains(words);
        words.map(|words| log.lines().filter(|line| is_it(line, words)).count())
    };

    // A start that ends after its check.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    folder.write("busy.yml", &text(taken.local_addr().unwrap().port(), twice));
    let log = String::from_utf8(folder.run(&["--config", "busy.yml"]).stderr).unwrap();
    assert_eq!(counts(&log), [1, 1], "{log}");

    let mut exporter = folder.serve(&text(0, ""));
    put(&folder, &text(0, twice));
    assert_eq!(exporter.reload().status, 200);
    exporter.terminate();
    exporter.wait();
    let log = exporter.rest_of_log();
    assert_eq!(counts(&log), [1, 1], "{log}");

    let checked = String::from_utf8(folder.run(&["check-config", "perfmon.yml"]).stdout).unwrap();
    assert_eq!(words.map(|words| checked.matches(words).count()), [1, 1], "{checked}");
}
