//! Transports that the program does not know: a plugin declares them.

use crate::command_plugin::told;
use crate::program::Folder;

const FILE: &str = "
web: {listen: ['127.0.0.1:0'], enable_lifecycle: true}
plugins: {path: ., load: [cable]}
transports:
  default: {cable: {mood: wild, pin: hunter2}}
  other: {connect_timeout: 1s, cable: {port: 4712, long_nap: 2s}}
modules: {zoo: {plugin: cable, animals: [cow], keeper: hunter3}}
targets:
  - {host: a, modules: [zoo]}
  - {host: b, modules: [zoo], transport: other}
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.plugin("cable", "cable.c");
    folder
}

#[test]
fn a_mistake_in_them_is_told_with_line_and_column_by_every_command_and_by_a_reload() {
    let folder = folder();
    let exporter = folder.serve(FILE);
    let wrong = FILE.replace("mood: wild", "mood: mild, moood: wild").replace("4712", "0");
    folder.write("perfmon.yml", &wrong);
    let problems =
        "perfmon.yml:5:27: transports.default.cable.mood: `mild` is not a choice; did you mean `wild`?
perfmon.yml:5:33: transports.default.cable: unknown key `moood`; did you mean `mood`?
perfmon.yml:6:46: transports.other.cable.port: 0 is outside 1 to 65535
";
    for command in [&["check-config", "perfmon.yml"][..], &["check-config", "perfmon.yml", "--online"]] {
        assert_eq!(told(&folder.run(command)), (1, String::new(), problems.to_owned()), "{command:?}");
    }
    let answer = exporter.reload();
    assert!(answer.status == 500 && answer.body.contains(problems), "{}", answer.body);
    let installed = crate::command_plugin::Installed::new();
    installed.folder.plugin("cable", "cable.c").write("perfmon.yml", &wrong);
    let words = ["cable", "look", "--config", "perfmon.yml", "--target", "b"];
    assert_eq!(told(&installed.run(&words)), (1, String::new(), problems.to_owned()));
    installed.folder.write("perfmon.yml", FILE);
    let (code, out, err) = told(&installed.run(&words));
    assert_eq!(
        (code, out.lines().collect::<std::collections::BTreeSet<_>>(), &*err),
        (0, ["--cable-long-nap=2s", "--cable-mood=calm", "--port=4712", "--target=b"].into(), "",)
    );
}

#[test]
fn a_plugin_gets_what_it_declared_and_readers_see_what_it_declared_as_shown() {
    let folder = folder();
    let mut exporter = folder.serve(&FILE.replace("wild", "calm").replace("2s", "1s"));
    // What changes is made again, and nothing else is.
    let mut made = |file: &str| {
        folder.write("perfmon.yml", file);
        assert_eq!(exporter.reload().body, "reloaded: 2 targets, 0 added, 1 changed, 0 removed\n");
        let line = exporter.wait_for_line("Made for port").replace('\\', "");
        line.split_once("Made for port ").unwrap().1.to_owned()
    };
    let made = [made(&FILE.replace("2s", "1s")), made(FILE)];
    for (made, port, transport) in [
        (
            &made[0],
            0,
            r#"{"cable":{"long_nap":250,"mood":"wild","pin":"hunter2"},"connect_timeout_ms":3000}"#,
        ),
        (&made[1], 4712, r#"{"cable":{"long_nap":2000,"mood":"calm"},"connect_timeout_ms":1000}"#),
    ] {
        let expected =
            format!(r#"{port} of {{"animals":["cow"],"keeper":"hunter3","transport":{transport}}}"#);
        assert!(made.starts_with(&expected), "{made}");
    }
    let shown = exporter.get("/config").body;
    for line in ["mood: wild", "long_nap: 2s", "port: 4712", "animals: [cow]", "pin: <mark>hidden</mark>"] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    assert!(!shown.contains("hunter"), "{shown}");
    let report = exporter.get("/probe?target=a&debug=true").body;
    assert!(report.contains("\n    cable: mood wild, long_nap 250ms, pin hidden, port 4711\n"), "{report}");
    assert!(exporter.get("/targets/b").body.contains("<dt>Port</dt><dd><bdi>4712</bdi></dd>"));
    let refused = exporter.get("/probe?target=c:4711").body;
    assert!(refused.contains("a port goes into the transport: `cable: {port: …}`"), "{refused}");
}
