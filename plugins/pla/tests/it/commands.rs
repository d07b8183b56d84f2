//! Commands on the sets of a host: what they print, what they refuse, and what the host says.

use std::fs;
use std::sync::Arc;

use ms_pla::Category;
use parking_lot::Mutex;
use plugin_abi::TargetInfo;
use plugin_host::{CommandOutput, CommandRequest, ConfiguredModule, InstanceConfig};
use serde_json::{Value, json};
use tempfile::TempDir;
use windows_sim::ActivationMode;

use crate::objects::Objects;
use crate::world::{PASSWORD, Plugin, SimHost};

#[derive(Default)]
struct SetState {
    out: Mutex<String>,
    err: Mutex<String>,
}

impl CommandOutput for SetState {
    fn out(&self, bytes: &[u8]) {
        *self.out.lock() += std::str::from_utf8(bytes).unwrap();
    }

    fn err(&self, bytes: &[u8]) {
        *self.err.lock() += std::str::from_utf8(bytes).unwrap();
    }

    fn progress(&self, _line: &str) {}
}

/// A host, and who runs commands on it.
struct World {
    sim: SimHost,
    objects: Objects,
    plugin: Plugin,
}

impl World {
    fn new() -> Self {
        let sim = SimHost::new();
        let objects = Objects::of(&sim);
        Self { sim, objects, plugin: Plugin::new() }
    }

    /// Exit code, standard output and standard error. `control` is that of the target's module.
    fn run(&self, command: &str, args: &[&str], control: &Value) -> (i32, String, String) {
        let port = self.objects.port.to_string();
        let way = ["--target", "127.0.0.1", "--identity", "corp", "--dcom-port", &port];
        let settings = json!({"sets": [{"host": ["*"]}], "control": control});
        let config = InstanceConfig { target: TargetInfo::default(), settings, is_on_demand: false };
        let request = CommandRequest {
            command: command.to_owned(),
            args: way.iter().chain(args).map(|word| (*word).to_owned()).collect(),
            configured: vec![ConfiguredModule { source: "pla".to_owned(), config }],
            ..CommandRequest::default()
        };
        let kept = Arc::new(SetState::default());
        let running = self.plugin.library.run(&request, Arc::clone(&kept) as Arc<dyn CommandOutput>);
        let code = running.expect("it runs").wait();
        let (out, err) = (kept.out.lock().clone(), kept.err.lock().clone());
        assert!(!out.contains(PASSWORD) && !err.contains(PASSWORD));
        (code, out, err)
    }

    fn is_running(&self, name: &str) -> bool {
        let now = self.sim.clock.now();
        let found = self.sim.host.data_collector_sets().find(Category::Server, name, now);
        found.expect("the host has it").is_running(now)
    }
}

#[test]
fn sets_are_listed_for_people_and_for_programs() {
    let world = World::new();
    let (code, out, err) = world.run("list", &[], &json!([]));
    assert_eq!((code, err.as_str()), (0, ""));
    let expected = "data collector sets of 127.0.0.1 (user_defined): 3
  Low Memory       stopped    1 alert
  Order Service    stopped    1 trace, 1 configuration, 1 api_trace
  Web Server Load  stopped    1 counter, 1 alert, 2 schedules
";
    assert_eq!(out, expected);
    let (code, out, _) = world.run("list", &["--format", "json", "--category", "session"], &json!([]));
    let read: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, read["sets"][0]["name"].as_str()), (0, Some("EventLog-Orders")));
    assert_eq!(read["sets"][0]["status"], "running");
    assert_eq!(read["sets"][0]["collectors"]["trace"], 1);
}

#[test]
fn a_set_is_shown_with_all_that_people_look_for() {
    let world = World::new();
    let (code, out, err) = world.run("show", &["web server load"], &json!([]));
    assert_eq!((code, err.as_str()), (0, ""));
    for line in [
        "data collector set Web Server Load",
        "  status       stopped",
        "  schedules    in force, in the host's local time",
        "    every day at 04:00:00, from 2020-09-14",
        "    Sunday at 16:30:00, from 2020-09-14 to 2020-12-31",
        "  counter Load: every 15 s",
        r"    \Memory\Available MBytes",
        "  alert Busy: every 5 s, event, task Page the Operator, starts set Order Service",
        r"    \Processor(_Total)\% Processor Time>80",
    ] {
        assert!(out.lines().any(|own| own == line), "`{line}` is missing: {out}");
    }
    let (_, out, _) = world.run("show", &["Order Service", "--format", "json"], &json!([]));
    let read: Value = serde_json::from_str(&out).expect("JSON");
    let kinds: Vec<&str> =
        read["collectors"].as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["trace", "configuration", "api_trace"]);
    assert!(read["collectors"][0]["providers"][0]["guid"].is_string());
    let (code, out, err) = world.run("show", &["Nothing"], &json!([]));
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("set_not_found") && err.contains("PLA_E_DCS_NOT_FOUND"), "{err}");
    assert!(err.contains("next: List the sets"), "{err}");
}

#[test]
fn a_set_can_be_named_as_it_is_listed_unless_that_may_mean_another_category() {
    let world = World::new();
    let names = [r"Mill\Night watch", r"a\b\c", r"\first", r"last\", r"Systems\a", "Mill/Day"];
    for name in names {
        world.objects.store(name, &[r"\Memory\Available MBytes<500"]);
    }
    let (_, out, _) = world.run("list", &["--format", "json"], &json!([]));
    let read: Value = serde_json::from_str(&out).expect("JSON");
    let listed: Vec<&str> =
        read["sets"].as_array().unwrap().iter().filter_map(|set| set["name"].as_str()).collect();
    for name in names {
        assert!(listed.contains(&name), "{name}: {listed:?}");
        for control in [json!([name]), json!(["*"])] {
            for (command, is_running) in
                [("show", false), ("export", false), ("start", true), ("stop", false)]
            {
                let (code, _, err) = world.run(command, &[name], &control);
                assert_eq!((code, err.as_str()), (0, ""), "{command} {name}");
                assert_eq!(world.is_running(name), is_running, "{command} {name}");
            }
        }
    }
    for name in
        [r"System\System Diagnostics", r"service\Low Memory", r"SESSION\a", r"autosession\a", "a\nb", ""]
    {
        for command in ["show", "export", "start", "stop"] {
            let (code, out, err) = world.run(command, &[name], &json!(["*", name]));
            assert_eq!((code, out.as_str()), (2, ""), "{command} {name}");
            assert!(err.contains("SET is the name of a data collector set"), "{err}");
        }
    }
}

#[test]
fn a_set_is_exported_as_the_host_sent_it() {
    let world = World::new();
    let (code, out, err) = world.run("export", &["Low Memory"], &json!([]));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains(r"<Alert>\Memory\Available MBytes&lt;500</Alert>"), "{out}");
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("low.xml");
    let (code, nothing, err) =
        world.run("export", &["Low Memory", "--output", path.to_str().unwrap()], &json!([]));
    assert_eq!((code, nothing.as_str(), err.as_str()), (0, "", ""));
    let bytes = fs::read(&path).expect("the file is there");
    let units = bytes.chunks(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect::<Vec<_>>();
    assert_eq!((units[0], String::from_utf16(&units[1..]).unwrap()), (0xfeff, out));
    // The module's settings read it.
    let settings = json!({"sets": [{"file": path}]});
    let config = InstanceConfig { settings, ..InstanceConfig::default() };
    assert_eq!(world.plugin.library.validate("pla", &config).expect("it answers"), []);
    let (code, _, err) = world.run("export", &["Low Memory", "--output", "/nowhere/a.xml"], &json!([]));
    assert!(code == 1 && err.contains("/nowhere/a.xml: No such file"), "{err}");
}

#[test]
fn a_set_whose_xml_nobody_can_read_is_exported_all_the_same() {
    let world = World::new();
    let (_, sound, _) = world.run("export", &["Low Memory"], &json!([]));
    world.sim.behave(|behaviour| behaviour.cuts_set_xml = true);
    let (code, out, err) = world.run("show", &["Low Memory"], &json!([]));
    assert!((code, out.as_str()) == (1, "") && err.contains("the XML of the set: "), "{err}");
    let (code, out, err) = world.run("export", &["Low Memory"], &json!([]));
    assert_eq!((code, out.as_str()), (0, sound.trim_end().strip_suffix("</DataCollectorSet>").unwrap()));
    assert!(
        err.starts_with("note: the XML of the set is as the host sent it, and cannot be read: "),
        "{err}"
    );
}

#[test]
fn what_a_host_calls_its_sets_cannot_command_a_terminal() {
    let world = World::new();
    let name = "Night\u{202e}gpj";
    world.objects.store(name, &["\\Water(\u{2066}a)\\Level<60"]);
    for (command, arguments) in [("list", &[][..]), ("show", &[name])] {
        let (code, out, _) = world.run(command, arguments, &json!([]));
        assert!(code == 0 && out.contains(r"Night\u{202e}gpj"), "{out:?}");
        assert!(!out.contains(['\u{202e}', '\u{2066}']), "{out:?}");
    }
}

#[test]
fn a_set_is_started_and_stopped_where_the_settings_have_its_name() {
    let world = World::new();
    let allowed = json!(["Low*"]);
    let (code, out, err) = world.run("start", &["low memory"], &allowed);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, "127.0.0.1: the data collector set `low memory` was started\n");
    assert!(world.is_running("Low Memory"));
    let (code, _, err) = world.run("start", &["Low Memory"], &allowed);
    assert!(code == 1 && err.contains("set_in_use") && err.contains("PLA_E_DCS_IN_USE"), "{err}");
    let (code, ..) = world.run("stop", &["Low Memory"], &allowed);
    assert!(code == 0 && !world.is_running("Low Memory"));
    let (code, _, err) = world.run("stop", &["Low Memory"], &allowed);
    assert!(code == 1 && err.contains("PLA_E_DCS_NOT_RUNNING"), "{err}");
}

#[test]
fn a_set_that_the_settings_do_not_name_is_refused_before_anybody_logs_on() {
    let world = World::new();
    for (command, control) in [("start", json!([])), ("start", json!(["Low*"])), ("stop", json!(["Order"]))] {
        let (code, out, err) = world.run(command, &["Order Service"], &control);
        assert_eq!((code, out.as_str()), (1, ""));
        let sentence = format!(
            "the configuration does not allow to {command} the data collector set `Order Service` of 127.0.0.1"
        );
        assert!(err.contains(&sentence), "{err}");
        assert!(err.contains("can add `control: ['Order Service']` to a module"), "{err}");
    }
    assert_eq!(world.objects.logons(), (0, 0));
    assert!(!world.is_running("Order Service"));
}

#[test]
fn a_host_that_refuses_says_what_to_change() {
    let world = World::new();
    world.sim.behave(|behaviour| behaviour.activation = ActivationMode::AccessDenied);
    let (code, out, err) = world.run("list", &[], &json!([]));
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("pla_access_denied") && err.contains("Performance Log Users"), "{err}");
}
