//! What the whole program writes down.

use serde_json::{Map, Value};

use crate::command_plugin::{Installed, PASSWORD, Sim, config};
use crate::program::Folder;

/// Every line of a log, each of which is an object with the fields that all lines have.
fn lines(log: &str) -> Vec<Map<String, Value>> {
    let parse = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let Value::Object(object) = value else { panic!("{line}") };
        for field in ["timestamp", "level", "message", "logger"] {
            assert!(object.get(field).is_some_and(Value::is_string), "{field}: {line}");
        }
        object
    };
    log.lines().map(parse).collect()
}

/// The fields of the only line with this message about this target.
fn one<'a>(lines: &'a [Map<String, Value>], message: &str, target: &str) -> &'a Map<String, Value> {
    let found =
        lines.iter().filter(|line| line["message"] == message && line.get("target") == Some(&target.into()));
    let found: Vec<_> = found.collect();
    assert_eq!(found.len(), 1, "{message}, {target}: {found:?}");
    found[0]
}

#[test]
fn every_line_about_a_target_names_it_and_a_failure_is_one_line() {
    let (installed, sim) = (Installed::new(), Sim::new());
    // A port that nobody listens on.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = taken.local_addr().unwrap().port();
    drop(taken);
    let more = "  - {name: gone, host: 127.0.0.1, identity: corp, transport: closed, modules: [os]}
  - {host: shouts, modules: [loud]}
web: {listen: ['127.0.0.1:0']}
scrape: {interval: 1s}
";
    let text = config(sim.port, more)
        .replace("load: [pcq]", "load: [pcq, noisy]")
        .replace("transports:\n", &format!("transports:\n  closed: {{smb: {{port: {closed}}}}}\n"))
        .replace("modules:\n", "modules:\n  loud: {plugin: noisy}\n");
    installed.folder.plugin("noisy", "noisy.c").write("perfmon.yml", &text);
    let mut exporter = installed.folder.begin(&mut installed.command(&[]), &["--log.format", "json"]);
    let log = exporter.read_log();
    let failures =
        "perfmon_exporter_failures_total{target=\"gone\",stage=\"tcp\",reason=\"connection_refused\"} ";
    // The second one says nothing new.
    exporter.wait_for_page(|page| {
        let count = page.lines().find_map(|line| line.strip_prefix(failures)?.parse::<u32>().ok());
        let has = |part: &str| page.contains(part);
        count >= Some(2) && has("target_up{target=\"shouts\"} 1") && has("target_up{target=\"web1\"} 1")
    });
    exporter.terminate();
    exporter.wait();
    let lines = lines(&log.join().unwrap());
    let down = one(&lines, "Target is down", "gone");
    let field = |line: &Map<String, Value>, name: &str| line[name].as_str().unwrap().to_owned();
    assert_eq!(
        (field(down, "module"), field(down, "stage"), field(down, "reason")),
        ("os".into(), "tcp".into(), "connection_refused".into())
    );
    assert!(!field(down, "next_step").is_empty() && field(down, "level") == "WARN");
    assert!(one(&lines, "Target is up", "web1")["series"].is_u64());
    // What a plugin says of a target has its name as well, and is bounded.
    let shouted = lines
        .iter()
        .filter(|line| field(line, "logger") == "perfmon_exporter::plugin" && line.contains_key("target"));
    let shouted: Vec<_> = shouted.collect();
    assert!((1..1000).contains(&shouted.len()), "{}", shouted.len());
    for line in shouted {
        assert_eq!(
            (field(line, "target"), field(line, "module"), field(line, "plugin")),
            ("shouts".into(), "loud".into(), "noisy".into())
        );
    }
}

/// The password as it may show up.
fn disguises() -> Vec<String> {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let list = |bytes: &[u8]| bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    let utf16: Vec<u8> = PASSWORD.encode_utf16().flat_map(u16::to_le_bytes).collect();
    [PASSWORD.as_bytes(), &utf16]
        .into_iter()
        .flat_map(|bytes| [hex(bytes), list(bytes)])
        .chain([PASSWORD.to_owned()])
        .collect()
}

#[test]
fn no_level_of_the_log_shows_a_password() {
    let (installed, sim) = (Installed::new(), Sim::new());
    let wrong = "  - {name: web2, host: 127.0.0.1, identity: typo, transport: here, modules: [os]}
web: {listen: ['127.0.0.1:0'], enable_lifecycle: true}
scrape: {interval: 1s}
";
    let text = config(sim.port, wrong).replace(
        "identities:\n",
        "identities:\n  typo: {kind: ntlm, domain: CORP, username: other, password_file: password, allow_hosts: [127.0.0.1]}\n",
    );
    installed.folder.write("perfmon.yml", &text);
    let mut exporter = installed
        .folder
        .begin(&mut installed.command(&[]), &["--log.level", "trace", "--log.format", "json"]);
    exporter.wait_for_page(|page| {
        page.contains("target_up{target=\"web1\"} 1\n") && page.contains("target_up{target=\"web2\"} 0\n")
    });
    assert_eq!(exporter.reload().status, 200);
    exporter.terminate();
    exporter.wait();
    let log = exporter.rest_of_log();
    for disguise in disguises() {
        assert!(!log.contains(&disguise), "{disguise}");
    }
    let lines = lines(&log);
    assert!(lines.iter().any(|line| line["level"] == "TRACE" || line["level"] == "DEBUG"));
    // The broker names whom the secret was shown to.
    assert_eq!(one(&lines, "Credential accepted", "web1")["identity"], "corp");
    let refused = "Credential refused; it is withheld from every target";
    // Once, and once more for the reload if it came to that.
    let refusals: Vec<_> =
        lines.iter().filter(|line| line["message"] == refused && line["target"] == "web2").collect();
    assert!((1..=2).contains(&refusals.len()), "{refusals:?}");
    assert!(refusals.iter().all(|line| line["identity"] == "typo"), "{refusals:?}");
}

#[test]
fn a_log_that_nobody_reads_stops_nothing() {
    let folder = Folder::new();
    let mut exporter = folder.plugin("noisy", "noisy.c").serve(
        r#"
web: {listen: ["127.0.0.1:0"]}
plugins: {path: ., load: [noisy]}
modules: {loud: {plugin: noisy}}
scrape: {interval: 1s}
targets: [{host: a, modules: [loud]}, {host: b, modules: [loud]}, {host: c, modules: [loud]}]
"#,
    );
    // Each of them says 64 KiB a second, and a pipe holds as much.
    let collections = "perfmon_exporter_collections_total{target=\"a\",outcome=\"full\"} ";
    exporter.wait_for_page(|page| {
        let count = page.lines().find_map(|line| line.strip_prefix(collections)?.parse::<u32>().ok());
        count >= Some(5)
    });
    exporter.terminate();
    assert_eq!(exporter.wait().code(), Some(0));
}
