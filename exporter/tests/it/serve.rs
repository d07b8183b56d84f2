//! The whole program with plugins written in C.

use std::io::{Read, Write};

use crate::program::{Exporter, Folder};

const PULSE: &str = r#"
web: {listen: ["127.0.0.1:0"]}
plugins: {path: ., load: [pulse]}
modules: {beat: {plugin: pulse}}
targets:
  - {host: heart, modules: [beat], interval: 1s, labels: {ward: "a<b>&\"c\""}}
"#;

#[test]
fn a_plugin_in_c_is_collected_and_served() {
    let folder = Folder::new();
    let mut exporter = folder.plugin("pulse", "pulse.c").serve(PULSE);
    let line = exporter.wait_for_line("Target is up");
    assert!(line.contains(r#"target="heart""#) && line.contains("series=2"), "{line}");
    let page = exporter.get("/metrics");
    assert!(page.head.contains("content-type: text/plain; version=0.0.4"), "{}", page.head);
    let has = |line: &str| assert!(page.body.lines().any(|found| found == line), "{line}\n{}", page.body);
    has(
        "perfmon_pulse_beats_total{target=\"heart\",ward=\"a<b>&\\\"c\\\"\",counter_instance=\"left chamber\"} 1",
    );
    has("perfmon_exporter_target_up{target=\"heart\"} 1");
    has("perfmon_exporter_collections_total{target=\"heart\",outcome=\"full\"} 1");
    has("perfmon_exporter_plugin_info{plugin=\"pulse\",version=\"1.0\",abi=\"1.0\"} 1");
    has("perfmon_exporter_config_last_reload_successful 1");
}

#[test]
fn the_format_follows_the_accept_header() {
    let folder = Folder::new();
    let mut exporter = folder.plugin("pulse", "pulse.c").serve(PULSE);
    exporter.wait_for_line("Target is up");
    let page = exporter.ask(
        "GET /metrics HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\
         Accept: application/openmetrics-text;version=1.0.0\r\n\r\n",
    );
    assert!(page.head.contains("application/openmetrics-text; version=1.0.0"), "{}", page.head);
    assert!(page.body.ends_with("# EOF\n"));
    assert!(page.body.contains("# TYPE perfmon_exporter_collections counter\n"));
}

#[test]
fn a_page_without_targets_still_tells_how_they_are() {
    let folder = Folder::new();
    let configuration = PULSE.replace("web: {", "web: {metrics_targets: false, ");
    let mut exporter = folder.plugin("pulse", "pulse.c").serve(&configuration);
    exporter.wait_for_line("Target is up");
    let page = exporter.get("/metrics").body;
    assert!(page.contains("perfmon_exporter_target_up{target=\"heart\"} 1\n"), "{page}");
    assert!(!page.contains("perfmon_pulse_"), "{page}");
}

#[test]
fn every_address_answers_and_knows_what_it_serves() {
    let folder = Folder::new();
    let mut exporter = folder.plugin("pulse", "pulse.c").serve(PULSE);
    exporter.wait_for_line("Target is up");
    assert_eq!((exporter.get("/-/healthy").status, exporter.get("/-/ready").status), (200, 200));
    let index = exporter.get("/");
    assert_eq!(index.status, 200);
    assert!(index.head.contains("content-security-policy: default-src 'none'"), "{}", index.head);
    assert!(index.body.contains("<a href=\"targets/heart\"><bdi>heart</bdi></a>"), "{}", index.body);
    for path in ["/targets/heart", "/targets/heart/values", "/plugins", "/config", "/page.js", "/icon.svg"] {
        assert_eq!(exporter.get(path).status, 200, "{path}");
    }
    assert_eq!(exporter.get("/targets/lung").status, 404);
    assert_eq!(exporter.get("/page.css").status, 200);
    assert_eq!(exporter.get("/metricsx").status, 404);
    let post = exporter
        .ask("POST /metrics HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(post.status, 405);
    assert!(post.head.contains("allow: GET, HEAD"), "{}", post.head);
    let head = exporter.ask("HEAD /metrics HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    // Looking at the head costs no page.
    let page = exporter.get("/metrics").body;
    assert!(page.contains("perfmon_exporter_scrapes_total{outcome=\"aborted\"} 0\n"));
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let folder = Folder::new();
    let exporter = folder.plugin("pulse", "pulse.c").serve(PULSE);
    let padding = "x".repeat(64 << 10);
    let mut stream = exporter.connect();
    // The server may close before it has read all of it.
    let _ = write!(stream, "GET /metrics HTTP/1.1\r\nHost: here\r\nX-Padding: {padding}\r\n\r\n");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    assert!(text.is_empty() || text.starts_with("HTTP/1.1 431"), "{text}");
    assert_eq!(exporter.get("/-/healthy").status, 200);
}

#[test]
fn a_reader_that_never_asks_is_dropped() {
    let folder = Folder::new();
    let config = PULSE.replace("listen:", "header_timeout: 100ms, listen:");
    let exporter = folder.plugin("pulse", "pulse.c").serve(&config);
    let mut stream = exporter.connect();
    stream.write_all(b"GET /metrics HT").unwrap();
    let mut answer = Vec::new();
    // Its end, or a reset, and not the patience of this test.
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}"),
    }
    assert!(!String::from_utf8_lossy(&answer).contains("200 OK"));
}

#[test]
fn a_target_that_hangs_does_not_delay_another() {
    let folder = Folder::new();
    let mut exporter = folder.plugin("stall", "stall.c").serve(
        r#"
web: {listen: ["127.0.0.1:0"]}
plugins: {path: ., load: [stall]}
scrape: {interval: 1s}
modules: {all: {plugin: stall}}
targets:
  - {host: tomb, modules: [all], deadline: 500ms}
  - {host: alive, modules: [all]}
"#,
    );
    let down = exporter.wait_for_line("Target is down");
    assert!(down.contains(r#"target="tomb""#) && down.contains("timeout"), "{down}");
    assert!(down.contains("next_step="), "{down}");
    let page = exporter.get("/metrics").body;
    let has = |part: &str| assert!(page.contains(part), "{part}\n{page}");
    has("perfmon_exporter_target_up{target=\"tomb\"} 0\n");
    has("perfmon_exporter_target_up{target=\"alive\"} 1\n");
    has("perfmon_exporter_failures_total{target=\"tomb\",stage=\"plugin\",reason=\"timeout\"} 1\n");
    has("perfmon_zoo_number{target=\"alive\"} 1\n");
    assert!(!page.contains("perfmon_zoo_number{target=\"tomb\"}"));
    assert!(exporter.get("/").body.contains("Check that the host is up"));
}

#[test]
fn sigterm_drains_and_ends_with_0() {
    let folder = Folder::new();
    let mut exporter = folder.plugin("pulse", "pulse.c").serve(PULSE);
    exporter.wait_for_line("Target is up");
    exporter.terminate();
    let status = exporter.wait();
    let log = exporter.rest_of_log();
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains(r#"signal="SIGTERM""#) && log.trim_end().ends_with("Stopped"), "{log}");
    assert!(!log.contains("WARN"), "{log}");
}

#[test]
fn a_plugin_that_hangs_does_not_keep_the_process_from_ending() {
    let folder = Folder::new();
    let mut exporter = folder.plugin("stall", "stall.c").serve(
        r#"
web: {listen: ["127.0.0.1:0"]}
plugins: {path: ., load: [stall]}
scrape: {interval: 1s, drain: 100ms}
modules: {all: {plugin: stall}}
targets: [{host: tomb, modules: [all], deadline: 500ms}]
"#,
    );
    exporter.wait_for_line("Target is down");
    exporter.terminate();
    assert_eq!(exporter.wait().code(), Some(0));
}

/// A target whose collections take as long as they may.
const TOMB: &str = r#"
web: {listen: ["127.0.0.1:0"]}
plugins: {path: ., load: [stall]}
scrape: {interval: 60s, drain: 60s}
modules: {all: {plugin: stall}}
targets: [{host: tomb, modules: [all], deadline: 60s}]
"#;

#[test]
fn while_a_slow_collection_ends_it_is_healthy_and_not_ready_and_a_second_signal_ends_it_at_once() {
    let folder = Folder::new();
    let mut exporter = folder.plugin("stall", "stall.c").serve(TOMB);
    exporter.wait_for_page(|page| page.contains("perfmon_exporter_collections_running 1\n"));
    exporter.terminate();
    exporter.wait_for_line("Shutting down: nothing new is started");
    // It takes its minute.
    assert_eq!(exporter.get("/-/healthy").status, 200);
    while exporter.get("/-/ready").status == 200 {
        std::thread::yield_now();
    }
    assert!(exporter.get("/metrics").body.contains("perfmon_exporter_collections_running 1\n"));
    exporter.signal("INT");
    assert_eq!(exporter.wait().code(), Some(130));
    assert!(exporter.rest_of_log().contains("Stopped at once signal=\"SIGINT\""));
}

/// A page that is larger than what sockets hold.
fn many_targets(drain: &str) -> String {
    let targets: String =
        (0..2000).map(|number| format!("  - {{host: heart{number}, modules: [beat]}}\n")).collect();
    format!(
        "web: {{listen: ['127.0.0.1:0']}}\nplugins: {{path: ., load: [pulse]}}\nscrape: {{interval: 60s, drain: {drain}}}\n\
         modules: {{beat: {{plugin: pulse}}}}\ntargets:\n{targets}"
    )
}

/// Reads the beginning of a page and no more.
fn begin_to_read(exporter: &crate::program::Exporter) -> std::net::TcpStream {
    let mut reader = exporter.connect();
    reader.write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n").unwrap();
    reader.read_exact(&mut [0; 15]).unwrap();
    reader
}

#[test]
fn who_reads_slowly_gets_the_whole_page_although_the_program_ends() {
    let folder = Folder::new();
    let mut exporter = folder.plugin("pulse", "pulse.c").serve(&many_targets("60s"));
    let mut reader = begin_to_read(&exporter);
    exporter.terminate();
    exporter.wait_for_line("Shutting down: nothing new is started");
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    assert!(rest.ends_with(b"0\r\n\r\n"), "the last chunk");
    assert_eq!(exporter.wait().code(), Some(0));
    assert!(!exporter.rest_of_log().contains("Connections dropped"));
}

#[test]
fn who_does_not_read_on_does_not_keep_the_program() {
    let folder = Folder::new();
    let mut exporter = folder.plugin("pulse", "pulse.c").serve(&many_targets("200ms"));
    let reader = begin_to_read(&exporter);
    let log = exporter.read_log();
    exporter.terminate();
    assert_eq!(exporter.wait().code(), Some(0));
    drop(reader);
    assert!(log.join().unwrap().trim_end().ends_with("Stopped"));
}

#[test]
fn a_configuration_may_come_through_a_pipe() {
    // As a shell's `--config <(…)`: whoever reads it leaves nothing for the next one.
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_perfmon-exporter"))
        .args(["--config", "/dev/stdin"])
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"web: {listen: ['127.0.0.1:0']}\nconfig: {watch: true}\n").unwrap();
    drop(pipe);
    Exporter::of(child, ([127, 0, 0, 1], 0).into()).wait_for_line("Ready");
}

#[test]
fn a_server_begins_without_its_password_or_with_one_that_others_can_read_and_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let open = folder.write("open", "made up");
    std::fs::set_permissions(open, std::fs::Permissions::from_mode(0o604)).unwrap();
    folder.write(
        "perfmon.yml",
        "web: {listen: ['127.0.0.1:0']}\nidentities:\n  \
         corp: {kind: ntlm, username: a, password_file: nowhere, allow_hosts: ['*']}\n  \
         dmz: {kind: ntlm, username: a, password_file: open, allow_hosts: ['*']}\n",
    );
    let program = std::process::Command::new(env!("CARGO_BIN_EXE_perfmon-exporter"))
        .current_dir(folder.path(""))
        .args(["--config", "perfmon.yml"])
        .stderr(std::process::Stdio::piped())
        .spawn();
    let mut exporter = Exporter::of(program.unwrap(), ([127, 0, 0, 1], 0).into());
    let line = exporter.wait_for_line("Secret cannot be read");
    assert!(line.contains("identities.corp.password_file") && line.contains("nowhere"), "{line}");
    let line = exporter.wait_for_line("is open to all users of this machine");
    assert!(line.contains("identity `dmz`") && line.contains("chmod 600 open"), "{line}");
    exporter.wait_for_line("Ready");
}

#[test]
fn a_pipe_in_the_place_of_the_state_file_ends_the_start() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("state")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path("state/credentials.json")).status();
    assert!(made.unwrap().success());
    folder.write("perfmon.yml", "web: {listen: ['127.0.0.1:0']}\ncredentials: {state_dir: state}\n");
    let output = folder.run(&["--config", "perfmon.yml"]);
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(log.contains("state/credentials.json: is a pipe, not a file"), "{log}");
}
